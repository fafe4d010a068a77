"""Who may come in: a person of this machine who has the link, with a page of ours. Everybody else is refused
before anything is read.

A page of another site can make a browser send requests here, and a name of its own can be made to mean this
machine. So the host must be a name of the loopback, whoever acts or listens must come from our own page, and
nothing is told without the key. The page keeps it where only pages of this very host and port can read, and
says it with each request. No browser is given a cookie, since it would send that to every port of a machine;
a program that opens the link is, as it goes nowhere by itself.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.own_files import locked, read_own, replace_own

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 1_000_000
"""The largest body that is read: a request, an answer, comments on a version."""
ENTRANCE = "/enter"
PROTOCOL = "agentforge"
"""What sockets speak. Beside it a page names its key, as `key.KEY`: it can say nothing else there."""
_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
_LINGER_S = 0.5
"""How long the rest of a refused request is waited for."""
_SAFE = frozenset({"GET", "HEAD"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (
        "Content-Security-Policy",
        _POLICY,
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)


class DoorKey:
    """What opens the door: the word in the link. It follows from a secret in the user's directory, so that a
    tab stays at home when the server is started again.
    """

    def __init__(self, secret: bytes, port: int) -> None:
        self.word = hmac.new(secret, f"link {port}".encode(), hashlib.sha256).hexdigest()[:40]
        value = hmac.new(secret, f"cookie {port}".encode(), hashlib.sha256).hexdigest()
        self.cookie = f"agentforge_{port}={value}"
        """For programs. Cookies are kept by host and not by port: another of our servers must not take it
        away.
        """

    @classmethod
    def of(cls, home: Home, port: int) -> "DoorKey":
        """The key of this user, made at the first time."""
        return cls(_secret(home.path / "dashboard.key"), port)

    def opens(self, headers: Mapping[str, str], *, socket: bool) -> bool:
        """Whether it was said: in a header that no browser adds itself, or among a socket's protocols; or
        whether a program has the cookie.
        """
        given = headers.get("cookie", "").split(";")
        if any(hmac.compare_digest(each.strip().encode(), self.cookie.encode()) for each in given):
            return True
        if socket:
            said = [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]
            return PROTOCOL in said and any(self._is(each.removeprefix("key.")) for each in said)
        kind, _, word = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self._is(word.strip())

    def is_named(self, query: bytes) -> bool:
        """Whether the link is the one that was printed."""
        return self._is(parse_qs(query.decode("latin-1")).get("token", [""])[0])

    def _is(self, word: str) -> bool:
        return hmac.compare_digest(word.encode(), self.word.encode())


def _secret(path: Path) -> bytes:
    """The secret of this user. One that others could read is one that they may have: there is a new one."""
    with locked(path):
        try:
            known = read_own(path)
            is_private = known is not None and not path.lstat().st_mode & 0o077
        except (OSError, UsageError) as error:
            problem = error.sentence if isinstance(error, UsageError) else (error.strerror or "").lower()
            raise UsageError(
                f"{path} cannot be used: {problem.rstrip('.')}.", "Move it away; there will be a new one."
            ) from None
        if known is None or not is_private or len(known) < 32:
            known = secrets.token_bytes(32)
            replace_own(path, known)
        return known


class Door:
    """An ASGI application around another one."""

    def __init__(self, inner: Application, key: DoorKey) -> None:
        self._inner, self._key = inner, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it here."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            if refused is not None:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._inner(scope, receive, _in_our_protocol(send))
            return
        send = _with_headers(send)
        if refused is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_drain(receive), _LINGER_S)
            await _tell(send, *refused)
        elif scope["path"] == ENTRANCE:
            await self._enter(scope, headers, send)
        else:
            await self._inner(scope, _bounded(receive), send)

    async def _enter(self, scope: Scope, headers: Mapping[str, str], send: Send) -> None:
        """Hands the key to the page behind a `#`, which no server and no other site is told; to a program,
        which has no page, as a cookie. Browsers say that they are one.
        """
        if not self._key.is_named(scope["query_string"]):
            await _tell(send, 403, "This link is not the one that `agentforge dashboard` printed.")
            return
        given = [(b"cache-control", b"no-store")]
        if "sec-fetch-mode" in headers:
            given.append((b"location", f"/#key={self._key.word}".encode()))
        else:
            cookie = f"{self._key.cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
            given += [(b"location", b"/"), (b"set-cookie", cookie.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": given})
        await send({"type": "http.response.body", "body": b""})

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the sentence of a refusal; None for whoever may go on."""
        if not _LOCAL.fullmatch(headers.get("host", "")):
            return 421, "This server answers only to a name of this machine, such as 127.0.0.1."
        if scope["type"] == "http" and not scope["path"].startswith("/api"):
            return None  # the page itself holds nothing; without the key it says how to come in
        socket = scope["type"] == "websocket"
        acts = socket or scope["method"] not in _SAFE
        origin = headers.get("origin")
        ours = origin is not None and _same(origin, headers["host"])
        if (origin is not None and not ours) or (acts and not ours):
            return 403, "Only the page of this server may do that."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "Only the page of this server may ask."
        if not self._key.opens(headers, socket=socket):
            return 401, "Open the link that `agentforge dashboard` printed."
        return _body_refusal(headers) if acts and not socket else None


def _same(origin: str, host: str) -> bool:
    return origin.lower() == f"http://{host.lower()}"


def _body_refusal(headers: dict[str, str]) -> tuple[int, str] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return 415, "Send JSON."
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdecimal() or int(length) > MOST_BYTES:
        return 413, f"That is more than {MOST_BYTES:,} bytes."
    return None


def _bounded(receive: Receive) -> Receive:
    """A body without a length is cut off, too: what came is then no JSON, and is refused as such."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > MOST_BYTES:
                return {"type": "http.request", "body": b"", "more_body": False}
        return message

    return counted


def _in_our_protocol(send: Send) -> Send:
    """A browser hangs up on a server that takes none of the protocols it named."""

    async def decorated(message: Message) -> None:
        if message["type"] == "websocket.accept":
            message["subprotocol"] = PROTOCOL
        await send(message)

    return decorated


def _with_headers(send: Send) -> Send:
    async def decorated(message: Message) -> None:
        if message["type"] == "http.response.start":
            given: Iterable[tuple[bytes, bytes]] = message.get("headers", ())
            known = {name.lower() for name, _ in given}
            ours = [(name.lower().encode(), value.encode()) for name, value in _HEADERS]
            message["headers"] = [*given, *(each for each in ours if each[0] not in known)]
        await send(message)

    return decorated


async def _drain(receive: Receive) -> None:
    """Takes what comes with a request that is refused, up to a bound: who is hung up on while still sending
    may never see the answer.
    """
    taken = 0
    while taken <= MOST_BYTES:
        message = await receive()
        taken += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


async def _tell(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": {"code": "policy", "message": sentence, "next": None}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
