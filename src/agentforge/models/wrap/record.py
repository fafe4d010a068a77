"""HTTP exchanges with providers kept in a file, and answered from it again without any network.

    ProviderModel(…, wrap=recording(path))      # asks the provider, and adds a line to the file
    ProviderModel(…, wrap=replaying(path))      # answers what was recorded, connects to nothing

A line is one exchange as JSON. It holds no credential: of the headers only the harmless ones are kept, the
key that was sent is taken out wherever it was echoed, and all text is redacted. An exchange is found by the
hash of its method, path and body, so a recording made of one address serves another; and where no body is the
same, by one that differs in numbers alone: a task that is played again has another marker, date and commit.
Import it only where one is wanted: it loads the HTTP library.
"""

import contextlib
import json
import os
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx2

from agentforge.core.errors import Unusable, UsageError
from agentforge.core.reply import Json
from agentforge.models.base import MAX_REPLY_BYTES
from agentforge.system.canon import digest
from agentforge.system.secrets.redact import redact

Wrap: TypeAlias = Callable[[Any], Any]
"""From one transport of the HTTP library to another around it."""

_VERSION: Final = 1
_MAX_BODY: Final = 4 * MAX_REPLY_BYTES
_CREDENTIALS: Final = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "proxy-authorization",
    "cookie",
)
_SHORTEST_SECRET: Final = 12
_SECRET_QUERY: Final = ("key", "api_key", "access_token")
_KEPT_HEADERS: Final = ("content-type", "retry-after", "retry-after-ms")
_CHANCE: Final = re.compile(r"task-[0-9]{8}-[a-z0-9-]+|[0-9a-f]{12,}|[0-9]+")
"""What differs between two runs of the same work: names of tasks, markers and hashes, dates, times and
counts.
"""
_FAILURES: Final[Mapping[str, type[httpx2.TransportError]]] = {
    kind.__name__: kind
    for kind in (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.ReadError,
        httpx2.ReadTimeout,
        httpx2.WriteError,
        httpx2.RemoteProtocolError,
    )
}


def recording(path: Path) -> Wrap:
    """Adds every exchange to the file; it is made readable for its owner alone."""
    lock = threading.Lock()

    def keep(line: bytes) -> None:
        try:
            with lock:
                fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
                with os.fdopen(fd, "ab") as file:
                    file.write(line)
        except OSError as error:
            raise Unusable(f"The recording {path} cannot be written: {error.strerror}.") from error

    return lambda inner: _Recorder(inner, keep)


def replaying(path: Path) -> Wrap:
    """Answers from the file alone. The same request gets its recorded answers in their order."""
    recorded = _read(path)
    return lambda _: _Replayer(recorded)


def wrap_from(environ: Mapping[str, str]) -> Wrap | None:
    """What AGENTFORGE_REPLAY or AGENTFORGE_RECORD ask for; the first wins."""
    if source := environ.get("AGENTFORGE_REPLAY"):
        return replaying(Path(source))
    target = environ.get("AGENTFORGE_RECORD")
    return recording(Path(target)) if target else None


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request in the form that is kept, and what names it."""

    method: str
    path: str
    body: str
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    async def of(cls, request: httpx2.Request) -> "_Exchange":
        sent = [request.headers.get(name, "") for name in _CREDENTIALS]
        sent += [request.url.params.get(name, "") for name in _SECRET_QUERY]
        secrets = tuple(
            sorted(
                {word for value in sent for word in (value, value.partition(" ")[2]) if len(word) >= 6},
                key=len,
                reverse=True,
            )
        )
        params = sorted(
            (name, value) for name, value in request.url.params.multi_items() if name not in _SECRET_QUERY
        )
        path = request.url.path + (
            "?" + "&".join(f"{name}={value}" for name, value in params) if params else ""
        )
        return cls(request.method, _clean(path, secrets), _body(await request.aread(), secrets), secrets)

    @property
    def hash(self) -> str:
        return digest(f"{self.method} {self.path}\n{self.body}")

    @property
    def shape(self) -> str:
        return _shape(self.method, self.path, self.body)

    def line(self, response: Mapping[str, Json]) -> bytes:
        request = {"method": self.method, "path": self.path, "body": self.body}
        return (
            json.dumps(
                {"version": _VERSION, "hash": self.hash, "request": request, "response": response}
            ).encode()
            + b"\n"
        )


class _Recorder(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, keep: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._keep = keep

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = await _Exchange.of(request)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self._keep(exchange.line({"failure": type(error).__name__}))
            raise
        headers: dict[str, Json] = {
            name: _clean(response.headers[name], exchange.secrets)
            for name in _KEPT_HEADERS
            if name in response.headers
        }

        def keep(body: bytes, failure: str) -> None:
            said: dict[str, Json] = {
                "status": response.status_code,
                "headers": headers,
                "body": _body(body, exchange.secrets),
            }
            self._keep(exchange.line({**said, "failure": failure} if failure else said))

        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Copied(response.stream, keep)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Copied(httpx2.AsyncByteStream):
    """A body that is kept while it is read; what nobody reads is not kept."""

    def __init__(self, inner: httpx2.AsyncByteStream, keep: Callable[[bytes, str], None]) -> None:
        self._inner = inner
        self._keep: Callable[[bytes, str], None] | None = keep
        self._read = bytearray()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        failure = ""
        try:
            async for chunk in self._inner:
                if len(self._read) <= _MAX_BODY:
                    self._read += chunk
                yield chunk
        except httpx2.TransportError as error:
            failure = type(error).__name__
            raise
        finally:
            self._done(failure)

    async def aclose(self) -> None:
        self._done("")
        await self._inner.aclose()

    def _done(self, failure: str) -> None:
        keep, self._keep = self._keep, None
        if keep is not None:
            keep(bytes(self._read), failure)


class _Replayer(httpx2.AsyncBaseTransport):
    def __init__(self, recorded: "_Recorded") -> None:
        self._recorded = recorded

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = await _Exchange.of(request)
        said = self._recorded.take(exchange)
        if said is None:
            text = (
                f"The recording {self._recorded.path} holds no further answer to this request "
                f"({exchange.hash[:12]})."
            )
            return httpx2.Response(
                400,
                json={"error": {"message": text, "type": "not_recorded"}, "message": text},
                request=request,
            )
        failure = said.get("failure")
        if failure and "status" not in said:
            raise _FAILURES[failure]("as recorded", request=request)
        content = said["body"].encode()
        stream = _BrokenBody(content, _FAILURES[failure]) if failure else httpx2.ByteStream(content)
        return httpx2.Response(said["status"], headers=said["headers"], stream=stream, request=request)


class _BrokenBody(httpx2.AsyncByteStream):
    """The body of a response whose connection broke, broken at the same byte."""

    def __init__(self, content: bytes, kind: type[httpx2.TransportError]) -> None:
        self._content = content
        self._kind = kind

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content
        raise self._kind("as recorded")


@dataclass(slots=True)
class _Kept:
    """One answer of a file; it is given once."""

    said: dict[str, Any]
    given: bool = False


class _Recorded:
    """The answers of a file, by their request; from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_hash: dict[str, deque[_Kept]] = {}
        self._by_shape: dict[str, deque[_Kept]] = {}
        self._lock = threading.Lock()

    def add(self, entry: Mapping[str, Any]) -> None:
        request, kept = entry["request"], _Kept(entry["response"])
        self._by_hash.setdefault(entry["hash"], deque()).append(kept)
        self._by_shape.setdefault(
            _shape(request["method"], request["path"], request["body"]), deque()
        ).append(kept)

    def take(self, exchange: _Exchange) -> dict[str, Any] | None:
        with self._lock:
            for left in (self._by_hash.get(exchange.hash), self._by_shape.get(exchange.shape)):
                while left:
                    kept = left.popleft()
                    if not kept.given:
                        kept.given = True
                        return kept.said
        return None


def _read(path: Path) -> _Recorded:
    recorded = _Recorded(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The recording {path} cannot be read: {error}.") from error
    for number, line in enumerate(text.splitlines(), 1):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            said = entry["response"]
            if entry["version"] == _VERSION and (
                {"status", "headers", "body"} <= said.keys() or said["failure"] in _FAILURES
            ):
                recorded.add(entry)
                continue
        raise UsageError(f"{path}:{number}: this is no recorded exchange.")
    return recorded


def _shape(method: str, path: str, body: str) -> str:
    return digest(_CHANCE.sub("0", f"{method} {path}\n{body}"))


def _body(content: bytes, secrets: tuple[str, ...]) -> str:
    """The text without secrets. JSON is cleaned value by value and spelled in one way, so that it stays
    JSON.
    """
    text = content[:_MAX_BODY].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _clean(text, secrets)
    return json.dumps(_cleaned(value, secrets), sort_keys=True)


def _cleaned(value: Any, secrets: tuple[str, ...]) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case str():
            return _clean(value, secrets)
        case dict():
            return {_clean(name, secrets): _cleaned(item, secrets) for name, item in value.items()}
        case list():
            return [_cleaned(item, secrets) for item in value]
        case _:
            return value


def _clean(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, "[REDACTED:key]")
    # Most values of a request are short words, and looking at each costs as much as at a page.
    return redact(text)[0] if len(text) >= _SHORTEST_SECRET else text
