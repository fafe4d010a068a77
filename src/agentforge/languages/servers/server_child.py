"""Speaks with a language server, as a program of its own inside the same walls.

The server is any program: it may hang, end, flood or lie. What is read of it is bounded in time, bytes and
number, and nothing it says is taken for true here: whoever started us holds each place against the tree.
Reads one JSON object (`command`, `options`, `settings`, `waits`, `root`, `files`, `questions`, `seconds`),
writes `{"problem", "answers"}`: for each question the places `[uri, line]`, or null. Needs Python alone.
"""

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MOST_BYTES = 32_000_000
"""All that is read of a server."""
LONGEST = 8_000_000
"""One message."""
MOST_MESSAGES = 20_000
MOST_PLACES = 400
"""Of one answer."""
LONGEST_URI = 2_000
MOST_TRIES = 4
SETTLED_S = 0.3
"""So long it must have had nothing under way, before it is asked."""
AGAIN_S = 0.5
LEFT_TO_ASK = 0.5
"""Of the time, what is kept for the questions, however long it takes to get ready."""
_CHUNK = 65536
_END = b"\r\n\r\n"
_NOT_NOW = frozenset({-32801, -32802, -32800})
"""Errors that say: ask again."""
_NOT_THERE = {"code": -32601, "message": "not supported"}


class Trouble(Exception):
    """Why there is no answer, in words of ours."""


class Server:
    """The program, and what has come from it."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.began = time.monotonic()
        self.deadline = self.began + asked["seconds"]
        try:
            self.child = subprocess.Popen(
                asked["command"],
                cwd=asked["root"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        except OSError as error:
            raise Trouble("could not be started") from error
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.sink, self.source = self.child.stdin.fileno(), self.child.stdout.fileno()
        os.set_blocking(self.sink, False)
        os.set_blocking(self.source, False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.source, selectors.EVENT_READ)
        self.waiting = bytearray()
        self.read = bytearray()
        self.bytes = self.messages = 0
        self.replies: dict[int, dict[str, Any]] = {}
        self.under_way: set[str] = set()
        self.ready = False

    def send(self, **message: object) -> None:
        """Puts a message on its way."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.waiting += b"Content-Length: %d\r\n\r\n" % len(body) + body

    def pump(self, until: float) -> None:
        """Writes and reads what there is, and waits at most until then for something to come."""
        if self.waiting:
            self._write()
        left = max(0.0, min(until, self.deadline) - time.monotonic())
        if self.waiting:
            left = min(left, 0.02)
        if self.selector.select(left):
            data = os.read(self.source, _CHUNK)
            if not data:
                raise Trouble("ended before it had answered")
            self.bytes += len(data)
            if self.bytes > MOST_BYTES:
                raise Trouble("said more than anybody can read")
            self.read += data
            while (message := self._next()) is not None:
                self._take(message)

    def _write(self) -> None:
        try:
            del self.waiting[: os.write(self.sink, self.waiting[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError as error:
            raise Trouble("ended before it had answered") from error

    def _next(self) -> dict[str, Any] | None:
        at = self.read.find(_END, 0, _CHUNK)
        if at < 0:
            if len(self.read) > _CHUNK:
                raise Trouble("does not speak the protocol")
            return None
        lines = bytes(self.read[:at]).lower().split(b"\r\n")
        sizes = [line.partition(b":")[2] for line in lines if line.startswith(b"content-length:")]
        try:
            size = int(sizes[0])
        except (IndexError, ValueError) as error:
            raise Trouble("does not speak the protocol") from error
        if not 0 <= size <= LONGEST:
            raise Trouble("said more than anybody can read")
        begins = at + len(_END)
        if len(self.read) < begins + size:
            return None
        body = bytes(self.read[begins : begins + size])
        del self.read[: begins + size]
        self.messages += 1
        if self.messages > MOST_MESSAGES:
            raise Trouble("said more than anybody can read")
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Trouble("does not speak the protocol") from error
        return message if isinstance(message, dict) else {}

    def _take(self, message: dict[str, Any]) -> None:
        method, identity = message.get("method"), message.get("id")
        if method is None:
            if isinstance(identity, int):
                self.replies[identity] = message
        elif identity is not None:
            self._answer(method, identity, message.get("params"))
        elif method == "$/progress":
            self._progress(message.get("params"))
        elif method == "experimental/serverStatus":
            said = message.get("params")
            self.ready = isinstance(said, dict) and said.get("quiescent") is True

    def _progress(self, said: object) -> None:
        if isinstance(said, dict) and isinstance(value := said.get("value"), dict):
            token = str(said.get("token"))[:200]
            if value.get("kind") == "begin":
                self.under_way.add(token)
            elif value.get("kind") == "end":
                self.under_way.discard(token)

    def _answer(self, method: object, identity: object, params: object) -> None:
        """What it wants of an editor: its settings; nothing is ever changed for it."""
        if method == "workspace/configuration":
            items = params.get("items") if isinstance(params, dict) else None
            sections = [item.get("section") if isinstance(item, dict) else "" for item in items or ()]
            settings = self.asked["settings"]
            self.send(id=identity, result=[settings.get(str(section)) for section in sections])
        elif method in ("client/registerCapability", "window/workDoneProgress/create"):
            self.send(id=identity, result=None)
        else:
            self.send(id=identity, error=_NOT_THERE)


def main() -> None:
    """One conversation."""
    asked = json.load(sys.stdin)
    answers: list[Any] = [None] * len(asked["questions"])
    problem = ""
    server = None
    try:
        server = Server(asked)
        _greet(server)
        _settle(server)
        _ask(server, answers)
    except Trouble as trouble:
        problem = str(trouble)
    if server is not None:
        server.child.kill()
    json.dump({"problem": problem, "answers": answers}, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # what it left running is ended with us


def _greet(server: Server) -> None:
    asked = server.asked
    root = Path(asked["root"]).as_uri()
    places = {"dynamicRegistration": False, "linkSupport": False}
    server.send(
        id=0,
        method="initialize",
        params={
            "processId": os.getpid(),
            "rootUri": root,
            "rootPath": asked["root"],
            "workspaceFolders": [{"uri": root, "name": "tree"}],
            "initializationOptions": asked["options"],
            "capabilities": {
                "textDocument": {"references": places, "definition": places, "synchronization": {}},
                "workspace": {"configuration": True, "workspaceFolders": True},
                "window": {"workDoneProgress": True},
                "experimental": {"serverStatusNotification": True},
            },
        },
    )
    _wait_for(server, {0})
    if "error" in server.replies.pop(0):
        raise Trouble("refused to start")
    server.send(method="initialized", params={})
    if asked["settings"]:
        server.send(method="workspace/didChangeConfiguration", params={"settings": asked["settings"]})
    for path, language in asked["files"].items():
        place = Path(asked["root"], path)
        text = place.read_bytes().decode("utf-8", "replace")
        document = {"uri": place.as_uri(), "languageId": language, "version": 1, "text": text}
        server.send(method="textDocument/didOpen", params={"textDocument": document})


def _settle(server: Server) -> None:
    """Waits until it has nothing under way, or says that it is ready."""
    latest = server.began + server.asked["seconds"] * (1 - LEFT_TO_ASK)
    quiet = time.monotonic()
    while (now := time.monotonic()) < latest:
        if server.asked["waits"]:
            if server.ready:
                return
        elif server.under_way or server.waiting:
            quiet = now
        elif now - quiet >= SETTLED_S:
            return
        server.pump(now + SETTLED_S / 3)


def _ask(server: Server, answers: list[Any]) -> None:
    open_now = set(range(len(answers)))
    for tried in range(MOST_TRIES):
        if tried:
            _rest(server)
        for number in open_now:
            question = server.asked["questions"][number]
            params = {
                "textDocument": {"uri": Path(server.asked["root"], question["path"]).as_uri()},
                "position": {"line": question["line"], "character": question["character"]},
                "context": {"includeDeclaration": False},
            }
            server.send(id=1 + number, method=question["method"], params=params)
        try:
            _wait_for(server, {1 + number for number in open_now})
        finally:
            for number in list(open_now):
                reply = server.replies.pop(1 + number, None)
                error = reply.get("error") if reply else None
                if reply is None:
                    continue
                answers[number] = _places(reply.get("result"))
                # One that is still reading says that nothing is there.
                later = not answers[number] and error is None
                if not later and not (isinstance(error, dict) and error.get("code") in _NOT_NOW):
                    open_now.discard(number)
        if not open_now:
            return


def _rest(server: Server) -> None:
    until = time.monotonic() + AGAIN_S
    while time.monotonic() < until:
        server.pump(until)


def _wait_for(server: Server, wanted: set[int]) -> None:
    while not wanted <= server.replies.keys():
        if time.monotonic() >= server.deadline:
            raise Trouble(f"did not answer within {server.asked['seconds']:g} s")
        server.pump(server.deadline)


def _places(result: object) -> list[list[Any]]:
    """The places of an answer, whatever else it holds."""
    rows = result if isinstance(result, list) else [result]
    found: list[list[Any]] = []
    for row in rows[:MOST_PLACES]:
        if not isinstance(row, dict):
            continue
        uri = row.get("uri", row.get("targetUri"))
        span = row.get("range", row.get("targetSelectionRange"))
        start = span.get("start") if isinstance(span, dict) else None
        line = start.get("line") if isinstance(start, dict) else None
        if isinstance(uri, str) and len(uri) <= LONGEST_URI and type(line) is int and 0 <= line < 10**7:
            found.append([uri, line + 1])
    return found


if __name__ == "__main__":
    main()
