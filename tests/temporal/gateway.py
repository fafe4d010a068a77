"""A gateway as production has one: TLS in front of the development server, and a key that every call must
carry.

What is let in goes through byte by byte. Of HTTP/2 only frames and headers are read. A connection whose first
call has no good key never reaches the server: each of its calls is answered `UNAUTHENTICATED` here. If a
later one has none, the connection is closed.
"""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self

from hpack import Decoder, Encoder

from tests.temporal.certificates import Pair

_PREFACE = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
_HEADERS, _SETTINGS, _PING, _CONTINUATION = 1, 4, 6, 9
_ACK, _END_STREAM, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
_NO = [
    (":status", "200"),
    ("content-type", "application/grpc"),
    ("grpc-status", "16"),
    ("grpc-message", "Request unauthorized."),
]


class _Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes

    def spell(self) -> bytes:
        head = (
            len(self.payload).to_bytes(3, "big")
            + bytes((self.kind, self.flags))
            + self.stream.to_bytes(4, "big")
        )
        return head + self.payload


class Gateway:
    """Listens on this machine until the block ends."""

    def __init__(self, server: int, tls: ssl.SSLContext, key: str = "") -> None:
        self.key = key
        """The good one; empty if every call is let in. A test may change it."""
        self.let_in, self.refused = 0, 0
        """Calls."""
        self._server, self._tls = server, tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _listen(self) -> None:
        while not self._over.is_set():
            if select.select([self._listener], [], [], 0.1)[0]:
                plain, _ = self._listener.accept()
                self._threads.append(threading.Thread(target=self._meet, args=[plain], daemon=True))
                self._threads[-1].start()

    def _meet(self, plain: socket.socket) -> None:
        plain.settimeout(30)
        with plain, suppress(OSError):
            try:
                client = self._tls.wrap_socket(plain, server_side=True)
            except ssl.SSLError:
                plain.shutdown(socket.SHUT_WR)  # the alert is on its way: an abrupt end would overtake it
                while plain.recv(4096):
                    pass
                raise
            with client:
                self._serve(client)

    def _serve(self, client: ssl.SSLSocket) -> None:
        talk = _Talk(self)
        with socket.create_connection(("127.0.0.1", self._server)) as server:
            while not self._over.is_set():
                ready = [client] if client.pending() else select.select([client, server], [], [], 0.1)[0]
                if server in ready:
                    if not (part := server.recv(65_536)):
                        return
                    client.sendall(part)
                if client in ready:
                    if not (part := client.recv(65_536)):
                        return
                    talk.hear(part)
                    if talk.calls and not talk.good:
                        return  # the key was good until now
                    if talk.answer:
                        client.sendall(talk.answer)
                    server.sendall(talk.onwards)
                    talk.answer = talk.onwards = b""


class _Talk:
    """What one client said: its frames, and of its calls the headers, which can be read only in their
    order.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway, self._decoder, self._coder = gateway, Decoder(), Encoder()
        self._rest, self._block, self._preface = b"", b"", _PREFACE
        self._held, self._settled = b"", False
        """What came before the first call; whether we spoke in the server's place."""
        self.calls = 0
        """That were let in."""
        self.good: bool | None = None
        """Whether the last call had the good key; None before the first."""
        self.onwards, self.answer = b"", b""
        """For the server, and for the client in its place."""

    def hear(self, part: bytes) -> None:
        self._rest += part
        self._held, self._rest, self._preface = (
            self._held + self._rest[: self._preface],
            self._rest[self._preface :],
            0,
        )
        for frame in self._frames():
            self._read(frame)
            if self.good is False:
                self._refuse(frame)
            else:
                self._held += frame.spell()
        if self.good:
            self.onwards, self._held = self.onwards + self._held, b""

    def _frames(self) -> Iterator[_Frame]:
        while len(self._rest) >= 9 and len(self._rest) >= (size := 9 + int.from_bytes(self._rest[:3], "big")):
            head, payload, self._rest = self._rest[:9], self._rest[9:size], self._rest[size:]
            yield _Frame(head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF, payload)

    def _read(self, frame: _Frame) -> None:
        if frame.kind not in (_HEADERS, _CONTINUATION):
            return
        block = frame.payload
        if frame.kind == _HEADERS and frame.flags & _PADDED:
            block = block[1 : len(block) - block[0]]
        if frame.kind == _HEADERS and frame.flags & _PRIORITY:
            block = block[5:]
        self._block += block
        if frame.flags & _END_HEADERS:
            headers = dict(self._decoder.decode(self._block, raw=True))
            self._block = b""
            self.good = (
                not self._gateway.key
                or headers.get(b"authorization") == f"Bearer {self._gateway.key}".encode()
            )
            self.calls += self.good
            self._gateway.let_in += self.good
            self._gateway.refused += not self.good

    def _refuse(self, frame: _Frame) -> None:
        """The whole of a server that lets nobody in."""
        if not self._settled:
            self._settled = True
            self.answer += _Frame(_SETTINGS, 0, 0, b"").spell() + _Frame(_SETTINGS, _ACK, 0, b"").spell()
        if frame.kind == _HEADERS:
            self.answer += _Frame(
                _HEADERS, _END_HEADERS | _END_STREAM, frame.stream, self._coder.encode(_NO)
            ).spell()
        elif frame.kind == _PING and not frame.flags & _ACK:
            self.answer += _Frame(_PING, _ACK, 0, frame.payload).spell()


def with_tls(pair: Pair, clients: str = "") -> ssl.SSLContext:
    """The server's side of TLS; with the file `clients`, only for those that its authority signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert, pair.key)
    context.set_alpn_protocols(["h2"])
    if clients:
        context.load_verify_locations(clients)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
