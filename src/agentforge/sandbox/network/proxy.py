"""The one way out of a run that may use the network: a small HTTP proxy in the driver that knows where the
run may go.

It carries tunnels (CONNECT) and plain requests with a whole address. Names are looked up here, once, and the
address that was judged is the one that is connected to. What is refused is answered in one sentence and kept
for the caller.
"""

import base64
import hmac
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from http import HTTPStatus

from agentforge.sandbox.network.destinations import Destination, admitted, is_address, is_public
from agentforge.sandbox.network.relay import Flow, pour, relay
from agentforge.sandbox.network.request import END, LONGEST_HEAD, Asked, Bad, read_fields, read_request
from agentforge.sandbox.network.upstream import Upstream, Upstreams

MOST_CONNECTIONS = 128
MOST_REMEMBERED = 50
HEAD_S = 30.0
CONNECT_S = 30.0
IDLE_S = 300.0
CLOSE_S = 2.0
USER = "run"

Resolve = Callable[[str, int], Sequence[str]]


def resolve(host: str, port: int) -> Sequence[str]:
    """Every address of a host, as this machine sees it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Proxy:
    """Serves one run, from `serve` until `close`."""

    def __init__(
        self,
        allowed: Sequence[Destination],
        *,
        upstreams: Upstreams | None = None,
        secret: str | None = None,
        resolver: Resolve = resolve,
        idle_s: float = IDLE_S,
    ) -> None:
        self._allowed, self._upstreams, self._resolve, self._idle_s = (
            tuple(allowed),
            upstreams or Upstreams(),
            resolver,
            idle_s,
        )
        self._key = (
            None
            if secret is None
            else "Basic " + base64.b64encode(f"{USER}:{secret}".encode()).decode("ascii")
        )
        self._refused: dict[str, None] = {}
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        self._closed = False
        self._threads: list[threading.Thread] = []

    @property
    def refused(self) -> tuple[str, ...]:
        """The places that were asked for and are not on the list, in order."""
        with self._lock:
            return tuple(self._refused)

    def serve(self, door: socket.socket) -> None:
        """Answer at `door`, a listening socket that is the proxy's from now on, until `close`."""
        if self._keep(door):
            self._start(self._accept, door)

    def close(self) -> None:
        """End every connection. Nothing is served afterwards."""
        with self._lock:
            self._closed = True
            held, threads = tuple(self._open), tuple(self._threads)
        for each in held:
            with suppress(OSError):  # wakes whoever waits on it
                each.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + CLOSE_S
        for thread in (
            threads
        ):  # one that looks up a name cannot be woken; it ends by itself and finds the proxy closed
            thread.join(max(0.0, deadline - time.monotonic()))

    def _start(self, work: Callable[[socket.socket], None], subject: socket.socket) -> None:
        thread = threading.Thread(target=work, args=(subject,), name="agentforge-proxy", daemon=True)
        with self._lock:
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def _keep(self, held: socket.socket) -> bool:
        """Remember a socket, so that `close` can end it; too late, it is closed now."""
        with self._lock:
            if not self._closed:
                self._open.add(held)
                return True
        held.close()
        return False

    def _let_go(self, held: socket.socket) -> None:
        with self._lock:
            self._open.discard(held)
        held.close()

    def _accept(self, door: socket.socket) -> None:
        try:
            while not self._closed:
                if not self._slots.acquire(timeout=0.2):
                    continue
                try:
                    client, _ = door.accept()
                except OSError:
                    self._slots.release()
                    if not self._closed:
                        time.sleep(0.05)  # out of descriptors, most likely: the ones in use come back
                    continue
                if self._keep(client):
                    self._start(self._serve_one, client)
                else:
                    self._slots.release()
        finally:
            self._let_go(door)

    def _serve_one(self, client: socket.socket) -> None:
        try:
            with suppress(OSError):
                self._converse(client)
        finally:
            self._let_go(client)
            self._slots.release()

    def _converse(self, client: socket.socket) -> None:
        """One request: what a client asks for next, it asks on a new connection."""
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        read = _read_head(client, HEAD_S)
        if read is None:
            return
        head, rest = read
        asked = read_request(head) if head else Bad(431, "The head of the request is too long.")
        if isinstance(asked, Asked):
            asked = self._judge(asked)
        if isinstance(asked, Bad):
            self._remember(asked)
            _answer(client, asked)
            return
        with ExitStack() as stack:
            found = self._connect(asked, stack)
            if isinstance(found, Bad):
                self._remember(found)
                _answer(client, found)
                return
            server, upstream = found
            if asked.is_tunnel:
                self._tunnel(asked, client, rest, server, upstream)
            else:
                self._exchange(asked, client, rest, server, upstream)

    def _judge(self, asked: Asked) -> Asked | Bad:
        if self._key is not None and not hmac.compare_digest(
            (asked.field("proxy-authorization") or "").encode(), self._key.encode()
        ):
            return Bad(407, "This proxy serves one run, and you are not it.")
        if admitted(self._allowed, asked.host, asked.port) is None:
            return _not_listed(asked)
        return asked

    def _remember(self, bad: Bad) -> None:
        if bad.status != 403:
            return
        text = "".join(letter if letter.isprintable() else "?" for letter in bad.wanted)[:100]
        with self._lock:
            if len(self._refused) < MOST_REMEMBERED:
                self._refused[text] = None

    def _connect(self, asked: Asked, stack: ExitStack) -> tuple[socket.socket, Upstream | None] | Bad:
        """A connection to the place itself, or to the user's own proxy before it."""
        upstream = self._upstreams.for_host("https" if asked.is_tunnel else "http", asked.host)
        host, port = (asked.host, asked.port) if upstream is None else (upstream.host, upstream.port)
        try:
            addresses = (host,) if is_address(host) else self._resolve(host, port)
        except (OSError, UnicodeError):
            return Bad(502, f"{host} cannot be found.", asked.place)
        place = admitted(self._allowed, asked.host, asked.port)
        if upstream is None and not (place and place.private) and not all(map(is_public, addresses)):
            return Bad(
                403,
                f"{asked.host} leads to this machine or its own network, which only you can allow.",
                asked.place,
            )
        for address in addresses:
            try:
                server = socket.create_connection((address, port), CONNECT_S)
            except OSError:
                continue
            if not self._keep(server):
                break
            stack.callback(self._let_go, server)
            # Small pieces are the beginnings of conversations: held back on both sides, each would cost a
            # round trip.
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return server, upstream
        return Bad(502, f"{host} cannot be reached.", asked.place)

    def _tunnel(
        self,
        asked: Asked,
        client: socket.socket,
        rest: bytes,
        server: socket.socket,
        upstream: Upstream | None,
    ) -> None:
        early = b""
        if upstream is not None:
            said = f"Proxy-Authorization: {upstream.authorization}\r\n" if upstream.authorization else ""
            server.sendall(
                f"CONNECT {asked.place} HTTP/1.1\r\nHost: {asked.place}\r\n{said}\r\n".encode("latin-1")
            )
            read = _read_head(server, CONNECT_S)
            code = read[0].partition(b" ")[2][:3] if read else b""
            if read is None or not (code.isdigit() and code.startswith(b"2")):
                _answer(
                    client,
                    Bad(
                        502,
                        "The proxy of your environment did not open the way: "
                        f"{code.decode('ascii', 'replace') or 'silence'}.",
                    ),
                )
                return
            early = read[1]
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        relay(Flow(client, server, held=rest), Flow(server, client, held=early), self._idle_s)

    def _exchange(
        self,
        asked: Asked,
        client: socket.socket,
        rest: bytes,
        server: socket.socket,
        upstream: Upstream | None,
    ) -> None:
        """One request and its answer. Beyond the body that was announced nothing of the client's is sent
        on.
        """
        server.settimeout(self._idle_s)
        server.sendall(
            asked.head(
                absolute=upstream is not None, authorization=upstream.authorization if upstream else None
            )
        )
        body = rest[: asked.length]
        with suppress(OSError):  # a server may answer before it has read all; then its answer says why
            server.sendall(body)
            pour(client, server, asked.length - len(body), self._idle_s)
        head, early = _read_head(server, self._idle_s) or (b"", b"")
        first, *lines = head.split(b"\r\n")
        fields = read_fields(lines)
        if not first.startswith(b"HTTP/1.") or fields is None:
            _answer(client, Bad(502, f"{asked.host} gave no answer that can be passed on.", asked.place))
            return
        kept = (
            f"{key}: {value}".encode("latin-1")
            for key, value in fields
            if key.lower() not in ("connection", "keep-alive", "upgrade")
        )
        client.settimeout(self._idle_s)
        client.sendall(b"\r\n".join((first, *kept, b"Connection: close", b"", b"")) + early)
        pour(server, client, None, self._idle_s)
        _part(client)


def _not_listed(asked: Asked) -> Bad:
    return Bad(403, f"{asked.place} is not on the list of places that this run may reach.", asked.place)


def _read_head(source: socket.socket, limit_s: float) -> tuple[bytes, bytes] | None:
    """A head and what came behind it; empty, if it is too long; None if it does not come to its end in
    time.
    """
    deadline, data = time.monotonic() + limit_s, bytearray()
    while END not in data:
        if len(data) > LONGEST_HEAD:
            return b"", b""
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        source.settimeout(left)
        try:
            chunk = source.recv(4096)
        except TimeoutError:
            return None
        if not chunk:
            return None
        data += chunk
    head, _, rest = bytes(data).partition(END)
    return head, rest


def _answer(client: socket.socket, bad: Bad) -> None:
    text = f"{bad.sentence}\n".encode("utf-8", "replace")
    asking = 'Proxy-Authenticate: Basic realm="agentforge"\r\n' if bad.status == 407 else ""
    head = (
        f"HTTP/1.1 {bad.status} {HTTPStatus(bad.status).phrase}\r\nContent-Type: text/plain; "
        "charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\n{asking}Connection: close\r\n\r\n"
    )
    client.settimeout(5)
    client.sendall(head.encode("ascii") + text)
    _part(client)


def _part(client: socket.socket) -> None:
    """Take leave: closed with unread bytes, the connection would be reset and the answer lost."""
    client.settimeout(5)
    client.shutdown(socket.SHUT_WR)
    with suppress(OSError):
        for _ in range(16):
            if not client.recv(65_536):
                break
