"""Calls functions of the project with values that tests called them with, in a process where no test is.

It runs in the project's own environment, as a script that is copied beside the run, so it imports nothing of
ours and works with Python from 3.8. The calls are made in two processes: with the code as it is, many times,
and with the files that changed as the base has them, once; calls with values near theirs in two more, which
tell what each gave before the next is made: values that nobody chose may take any time. Settings and key come
by standard input, which is read to its end before anything of the tree can be imported; the report is hashed
with the key.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import importlib
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.languages.python import call_watch
else:
    import call_watch


NEAR_MEMORY = 4 << 30
NEAR_TIME = (
    (signal.ITIMER_PROF, signal.SIGPROF, 2.0),
    (signal.ITIMER_REAL, signal.SIGALRM, 10.0),
)
"""How long calls with values near those of tests may compute, and how long they may wait, all together."""


def written(value: Any) -> str:  # noqa: ANN401 - whatever it is
    """A plain value as text; of any other only its type."""
    return call_watch.written(value) or "a " + type(value).__name__


class OldFiles:
    """Finds modules whose text is the base's; where the base has none, there is none."""

    def __init__(self, texts: dict[str, Any]) -> None:
        self._texts = texts

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:  # noqa: ANN401 - as the import system asks
        """The module as the base has it, in the place where it is now."""
        if name not in self._texts:
            return None
        text, place = self._texts[name]
        if text is None:
            message = "No module named " + repr(name)
            raise ModuleNotFoundError(message, name=name)
        loader = OldText(name, place)
        loader.text = text
        return importlib.util.spec_from_file_location(name, place, loader=loader)


class OldText(importlib.machinery.SourceFileLoader):
    """Loads a module from a text that stood in its file."""

    text = ""

    def get_code(self, _fullname: str) -> Any:  # noqa: ANN401 - a code object
        """Compiled anew: what is kept beside the file is of another text."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


def call(row: dict[str, Any]) -> str:
    """What one call gives, in words."""
    owner, _, name = row["name"].rpartition(".")
    try:
        inside: Any = importlib.import_module(row["module"])
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is told
        return "cannot be loaded: " + type(error).__name__
    inside = getattr(inside, owner, None) if owner else inside
    function = getattr(inside, name, None)
    function = function.fget if isinstance(function, property) else function
    if function is None:
        return "is not there"
    given = by_place, by_name = ast.literal_eval(row["given"])
    try:
        if owner:
            subject = object.__new__(inside)
            subject.__dict__.update(by_place[0])
            by_place[0] = subject.__dict__
            gave = function(subject, *by_place[1:], **by_name)
        else:
            gave = function(*by_place, **by_name)
    except BaseException as error:  # noqa: BLE001 - as above
        return "raises " + type(error).__name__ + (" (outside)" if isinstance(error, OSError) else "")
    return "gives " + written(gave) + " after " + written(given)


def passes(rows: list[dict[str, Any]], times: int, seconds: float) -> list[list[str]]:
    """What the calls give, in order, as often as there is time for; after three passes only what differs."""
    clock = time.monotonic
    until = clock() + seconds
    found = [[call(row)] for row in rows]
    for number in range(1, times):
        if clock() > until:
            break
        for row, seen in zip(rows, found):  # noqa: B905 - Python 3.8
            if clock() > until:
                break
            now = call(row)
            if number == 1 or (now != seen[0] and len(seen) < 3):
                seen.append(now)
    return found


def near(rows: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - what each gives, one after the other
    """What the calls give, each once, until their time is over: that ends the process."""
    for row in rows:
        call({**row, "given": "[[], {}]", "name": "__name__"})  # only loads it
    resource.setrlimit(resource.RLIMIT_AS, (NEAR_MEMORY, NEAR_MEMORY))
    for timer, signalled, seconds in NEAR_TIME:
        signal.signal(signalled, signal.SIG_DFL)
        signal.setitimer(timer, seconds)
    for row in rows:
        yield call(row)


def in_child(work: Any) -> Any:  # noqa: ANN401 - what gives one thing after another, and these
    """What is given in a process of its own, as far as it came."""
    end, start = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(end)
        for each in work():
            body = json.dumps(each).encode() + b"\n"
            while body:
                body = body[os.write(start, body) :]
        os._exit(0)
    os.close(start)
    parts = []
    while True:
        part = os.read(end, 65536)
        if not part:
            break
        parts.append(part)
    os.close(end)
    os.waitpid(pid, 0)
    return [json.loads(line) for line in b"".join(parts).split(b"\n")[:-1]]


def main() -> None:
    """Read the settings, call in two processes, and report."""
    settings = json.loads(sys.stdin.buffer.read())
    key, report = bytes.fromhex(settings.pop("key")), settings.pop("report")
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - nothing of the tree's may be loaded
    sys.path[:] = [
        *settings["roots"],
        *(entry for entry in sys.path if os.path.abspath(entry or ".") != here),  # noqa: PTH100
    ]
    calls, others = settings["calls"], settings["near"]

    def as_before(work: Any) -> Any:  # noqa: ANN401 - as above
        def done() -> Any:  # noqa: ANN401 - as above
            sys.meta_path.insert(0, OldFiles(settings["old"]))
            return work()

        return done

    told = {
        "now": in_child(lambda: passes(calls, settings["times"], settings["seconds"])),
        "before": in_child(as_before(lambda: passes(calls, 1, settings["seconds"]))),
        "near_now": in_child(lambda: near(others)) if others else [],
        "near_before": in_child(as_before(lambda: near(others))) if others else [],
    }
    body = json.dumps(told).encode()
    mac = hmac.new(key, body, hashlib.sha256).hexdigest()
    with open(report, "wb") as file:  # noqa: PTH123 - as above
        file.write(mac.encode() + b"\n" + body)


if __name__ == "__main__":
    main()
