"""Public doubles: what a test of AgentForge, or of something built on it, may stand on instead of the outside world.

    with OpenAIServer([{"actions": [{"name": "read_file", "args": {"path": "a.py"}}]}]) as server:
        model = OpenAIChat("any", server.base_url, None, 30, None)

`OpenAIServer` is a real HTTP server on the loopback that speaks chat completions. It is told what to answer by a
list of replies (in the JSON shape of our own replies) or by a function of the request.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, TypeAlias

from agentforge.core.reply import Json, reply_from_json
from agentforge.models.base import rough_tokens

__all__ = ["Fault", "OpenAIServer", "Scripted", "Seen", "completion"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, or differently, on the wire."""

    reply: Mapping[str, Json] | None = None
    """What to answer after all, in the shape of a reply or of a whole completion."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    """Wait before answering."""
    drop: bool = False
    """Close the connection without an answer."""
    cut_off: bool = False
    """Report that the length limit ended the reply, and cut the arguments of its last call in half."""
    body: bytes | None = None
    """Send these bytes as they are."""


Scripted: TypeAlias = Mapping[str, Json] | tuple[int, Mapping[str, Json]] | Fault
"""A reply or completion; a status with its body; or a fault."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Json]

    def message(self, role: str) -> str:
        """The text of the first message of that role."""
        messages = self.body.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if isinstance(message, dict) and message.get("role") == role:
                return str(message.get("content"))
        raise LookupError(f"no message of role {role}")


class OpenAIServer:
    """A chat-completions server on 127.0.0.1, alive inside a `with`. It keeps every request in `requests`."""

    def __init__(self, script: Sequence[Scripted] | Callable[[Mapping[str, Json]], Scripted]) -> None:
        self._script = script
        self._lock = threading.Lock()
        self.requests: list[Seen] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, seen: Seen) -> Scripted:
        """Note the request and choose what it gets; a list is consumed in order."""
        with self._lock:
            self.requests.append(seen)
            at = len(self.requests) - 1
        if callable(self._script):
            return self._script(seen.body)
        if at < len(self._script):
            return self._script[at]
        return 500, {"error": {"message": f"the server has {len(self._script)} replies, and this is request {at + 1}"}}


def completion(reply: Mapping[str, Json], request: Mapping[str, Json], *, cut_off: bool = False) -> dict[str, Json]:
    """The chat completion that says `reply` in native tool calls."""
    value = reply_from_json(dict(reply))
    calls = [(action.name, dict(action.args)) for action in value.actions]
    rest: dict[str, Json] = {"notes": value.notes, "signal": value.signal, "summary": value.summary}
    report: dict[str, Json] = {key: part for key, part in rest.items() if part}
    if report:
        calls.append(("report", report))
    spelled = [json.dumps(arguments, ensure_ascii=False) for _, arguments in calls]
    if cut_off and spelled:
        spelled[-1] = spelled[-1][: len(spelled[-1]) // 2]
    tool_calls: list[Json] = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": text}}
        for at, ((name, _), text) in enumerate(zip(calls, spelled, strict=True))
    ]
    message: dict[str, Json] = {"role": "assistant", "content": value.thought or None}
    if tool_calls:
        message["tool_calls"] = tool_calls
    read, written = rough_tokens(json.dumps(request.get("messages"))), rough_tokens(json.dumps(message))
    finish = "length" if cut_off else "tool_calls" if tool_calls else "stop"
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": request.get("model"),
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": read // 2},
        },
    }


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            headers = {name.lower(): value for name, value in self.headers.items()}
            _send(self, server.answer(Seen(self.path, headers, body)), body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """A test reads `requests` instead."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, scripted: Scripted, request: Mapping[str, Json]) -> None:
    if isinstance(scripted, tuple):
        fault = Fault(status=scripted[0], body=json.dumps(scripted[1]).encode())
    else:
        fault = scripted if isinstance(scripted, Fault) else Fault(reply=scripted)
    time.sleep(fault.delay_s)
    handler.close_connection = True
    if fault.drop:
        return
    with suppress(BrokenPipeError, ConnectionResetError):  # a client that gave up waiting is part of some tests
        _write(handler, fault, _body(fault, request))


def _body(fault: Fault, request: Mapping[str, Json]) -> bytes:
    if fault.body is not None:
        return fault.body
    if fault.reply is None:
        return json.dumps({"error": {"message": f"a scripted {fault.status}"}}).encode()
    whole = "choices" in fault.reply
    return json.dumps(dict(fault.reply) if whole else completion(fault.reply, request, cut_off=fault.cut_off)).encode()


def _write(handler: BaseHTTPRequestHandler, fault: Fault, body: bytes) -> None:
    handler.send_response(fault.status)
    for name, value in {"content-type": "application/json", **fault.headers}.items():
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(body)))
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.wfile.write(body)
