"""A provider on the loopback: real HTTP, one implementation, the wire's own shapes from its dialect."""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import Any, Literal, Self, TypeAlias

from agentforge.core.reply import Json
from agentforge.models.known.providers import Wire
from agentforge.testing.dialects import Chat, Dialect, GenerateContent, Messages, MistralChat, Responses, said

_REPLY_KEYS = frozenset({"thought", "notes", "actions", "artifacts", "signal", "summary"})


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, or differently, on the wire."""

    reply: Mapping[str, Json] | None = None
    """What to answer after all, in the shape of a reply or of a whole body of the wire."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    """Wait before answering."""
    drop: bool = False
    """Close the connection without an answer."""
    cut_off: bool = False
    """Report that the length limit ended the reply, and cut its last call or its text."""
    body: bytes | None = None
    """Send these bytes as they are."""
    half: Literal["", "json", "connection"] = ""
    """Send half of the body: as if it were all of it, or closing the connection before the announced end."""
    drip_s: float = 0
    """Wait in the middle of the body."""
    message: str = ""
    """What an error says."""


Scripted: TypeAlias = Mapping[str, Json] | tuple[int, Mapping[str, Json]] | Fault
"""A reply or a whole body of the wire; a status with its body; or a fault."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request for a reply, as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Json]
    dialect: Dialect = field(default_factory=Chat, repr=False)

    @property
    def system(self) -> str:
        """The system text, wherever the wire keeps it."""
        return self.dialect.system(self.body)

    @property
    def user(self) -> str:
        """The user's text, its parts joined."""
        return self.dialect.user(self.body)

    @property
    def tools(self) -> dict[str, Any]:
        """The schema of each tool by its name."""
        return self.dialect.tools(self.body)

    @property
    def key(self) -> str | None:
        """The key, without what the wire puts before it."""
        return self.dialect.key(self.headers)

    def message(self, role: str) -> str:
        """The text of the first message of that role."""
        messages = self.body.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict) and message.get("role") == role:
                return str(message.get("content"))
        raise LookupError(f"no message of role {role}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Any request, before it is known to be for a reply."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """The status, body and headers that the server sends."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


Route: TypeAlias = Callable[[Exchange], Response | None]
"""Answers other requests than those for a reply; None passes on to the next."""


class WireServer:
    """A provider on 127.0.0.1, alive inside a `with`. It keeps every request for a reply in `requests`, every
    other in `others`.
    """

    dialect: Dialect = Chat()

    def __init__(
        self,
        script: Sequence[Scripted] | Callable[[Mapping[str, Json]], Scripted] = (),
        *,
        models: Sequence[str] = ("any",),
        key: str | None = None,
        routes: Sequence[Route] = (),
        listing: Fault | None = None,
    ) -> None:
        """`models` is what it lists; with a `key` it refuses every other one; `routes` come first; `listing`
        is how its lists fail.
        """
        self._script, self._models, self._key = script, tuple(models), key
        self._routes, self._listing = routes, listing
        self._lock = threading.Lock()
        self.requests: list[ReceivedRequest] = []
        self.others: list[Exchange] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def base_url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._server.server_port}{self.dialect.prefix}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, seen: ReceivedRequest) -> Scripted:
        """Note the request and choose what it gets; a list is consumed in order."""
        with self._lock:
            self.requests.append(seen)
            at = len(self.requests) - 1
        if callable(self._script):
            return self._script(seen.body)
        if at < len(self._script):
            return self._script[at]
        return Fault(
            status=500, message=f"the server has {len(self._script)} replies, and this is request {at + 1}"
        )

    def serve(self, exchange: Exchange) -> tuple[Fault, bytes]:
        """The fault to send the response with, and its body."""
        for route in self._routes:
            if (found := route(exchange)) is not None:
                return Fault(status=found.status, headers=found.headers), found.body
        if self._key is not None and self.dialect.key(exchange.headers) != self._key:
            self._note(exchange)
            return self._encoded(Fault(status=401, message="this key is not known here"), {}, "")
        path = exchange.path.partition("?")[0]
        if exchange.method == "GET":
            self._note(exchange)
            return self._list(path)
        if path != self.dialect.prefix + self.dialect.path and not path.endswith(":generateContent"):
            self._note(exchange)
            return self._encoded(Fault(status=404, message="there is nothing here"), {}, "")
        body = json.loads(exchange.raw)
        return self._encoded(
            self.answer(ReceivedRequest(exchange.path, exchange.headers, body, self.dialect)), body, path
        )

    def _note(self, exchange: Exchange) -> None:
        with self._lock:
            self.others.append(exchange)

    def _list(self, path: str) -> tuple[Fault, bytes]:
        if self._listing is not None:
            return self._encoded(self._listing, {}, path)
        if path == "/api/tags":
            tags: Json = [{"name": name, "model": name, "size": 1, "details": {}} for name in self._models]
            return Fault(), json.dumps({"models": tags}).encode()
        if path.endswith("/models"):
            return Fault(), json.dumps(self.dialect.listing(self._models)).encode()
        return self._encoded(Fault(status=404, message="there is nothing here"), {}, "")

    def _encoded(self, scripted: Scripted, request: Mapping[str, Any], path: str) -> tuple[Fault, bytes]:
        if isinstance(scripted, tuple):
            return Fault(status=scripted[0]), json.dumps(scripted[1]).encode()
        fault = scripted if isinstance(scripted, Fault) else Fault(reply=scripted)
        if fault.body is not None:
            return fault, fault.body
        return fault, json.dumps(self._value(fault, request, path)).encode()

    def _value(self, fault: Fault, request: Mapping[str, Any], path: str) -> dict[str, Json]:
        if fault.reply is None:
            return self.dialect.error(fault.status, fault.message or f"a scripted {fault.status}")
        if not set(fault.reply) <= _REPLY_KEYS:
            return dict(fault.reply)
        return self.dialect.reply(
            said(fault.reply, self.dialect.reply_format(request), cut_off=fault.cut_off), request, path
        )


class OpenAIServer(WireServer):
    """Chat completions: OpenAI, and every server of one's own."""


class ResponsesServer(WireServer):
    """A server that speaks OpenAI's responses."""

    dialect = Responses()


class AnthropicServer(WireServer):
    """A server that speaks Anthropic's messages."""

    dialect = Messages()


class MistralServer(WireServer):
    """A server that speaks Mistral's chat completions."""

    dialect = MistralChat()


class GoogleServer(WireServer):
    """A server that speaks Google's `generateContent`."""

    dialect = GenerateContent()


SERVERS: Mapping[Wire, type[WireServer]] = MappingProxyType(
    {
        "openai": OpenAIServer,
        "openai-responses": ResponsesServer,
        "anthropic": AnthropicServer,
        "mistral": MistralServer,
        "google": GoogleServer,
    }
)
"""The server of each wire."""


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._serve()

        def do_GET(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            fault, body = server.serve(Exchange(self.command, self.path, headers, raw))
            time.sleep(fault.delay_s)
            self.close_connection = True
            if not fault.drop:
                with suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # a client that gave up waiting is part of some tests
                    _write(self, fault, body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Logs nothing: a test reads `requests` instead."""

    return Handler


def _write(handler: BaseHTTPRequestHandler, fault: Fault, body: bytes) -> None:
    body = body[: len(body) // 2] if fault.half == "json" else body
    handler.send_response(fault.status)
    for name, value in {"content-type": "application/json", **fault.headers}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(body)))
    handler.send_header("connection", "close")
    handler.end_headers()
    middle = len(body) // 2
    handler.wfile.write(body[:middle])
    if fault.half == "connection":
        return
    if fault.drip_s:
        handler.wfile.flush()
        time.sleep(fault.drip_s)
    handler.wfile.write(body[middle:])
