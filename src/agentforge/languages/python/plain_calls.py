"""Calls functions of the project with values that tests called them with, in a process where no test is.

It runs in the project's own environment, as a script that is copied beside the run, so it imports nothing of
ours and works with Python from 3.8. The calls are made in two processes: with the code as it is, many times,
and with the files that changed as the base has them, once; calls with values near theirs in two more, which
tell what each gave before the next is made: values that nobody chose may take any time. Settings and key come
by standard input, which is read to its end before anything of the tree can be imported; the report is hashed
with the key.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import importlib
import importlib.machinery
import importlib.util
import io
import itertools
import json
import os
import re
import resource
import signal
import sys
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentforge.languages.python import plain_loading, plain_values
else:
    import plain_loading
    import plain_values


DUMPS = json.dumps
"""As it was when no code of the tree was loaded."""
HERE = "/agentforge-here"
"""What stands for the folder of a run in what its tests call functions with: each call has one of its own."""
NEAR_MEMORY = 4 << 30
NEAR_TIME = (
    (signal.ITIMER_PROF, signal.SIGPROF, 2.0),
    (signal.ITIMER_REAL, signal.SIGALRM, 10.0),
)
OTHERS: tuple[Any, ...] = (*range(-50, 250), "a", "b", "", 0.25, None)
PATH = sys.path[1:]
"""Where modules are found while nothing of the tree is."""
FEW = 2
MOST_PRINTED, MOST_ITEMS, MOST_WAITED = 500, 50, 1.0
"""How long calls with values near those of tests may compute, and how long they may wait, all together."""


def written(value: Any) -> str:  # noqa: ANN401 - whatever it is
    """A plain value as text; of any other only its type."""
    return plain_values.shown(value) or "a " + type(value).__name__


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


class NotEnded(BaseException):
    """A call took longer than it may."""


def call(row: dict[str, Any]) -> str:
    """What one call gives, in words."""
    try:
        inside = importlib.import_module(row["module"])
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is told
        return "cannot be loaded: " + type(error).__name__
    owner, _, name = row["name"].rpartition(".")
    holder = getattr(inside, owner, None) if owner else inside
    function = vars(holder).get(name) if holder is not None else None
    if function is None:
        return "is not there"
    function = of_code(function, row["code"])
    if function is None:
        return "cannot be called: it is something else"
    place = place_for(row["given"])
    try:
        return called(function, row["given"].replace(HERE, place) if place else row["given"], place)
    finally:
        if place:
            of_python("shutil").rmtree(place, ignore_errors=True)


def called(function: Any, text: str, place: str) -> str:  # noqa: ANN401 - as above
    """What a function gives for arguments that are told as text; `place` is where it may write."""
    try:
        given = by_place, by_name = plain_values.read(text)
    except BaseException as error:  # noqa: BLE001 - as above
        return "cannot be called: " + type(error).__name__
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            gave = ended(function(*by_place, **by_name))
        also = equal_to_many(gave)
    except NotEnded:
        return "cannot be called: it takes too long"
    except BaseException as error:  # noqa: BLE001 - as above
        return "raises " + type(error).__name__ + (" (outside)" if isinstance(error, OSError) else "")
    if told.getvalue():
        also += "; it prints " + repr(told.getvalue()[:MOST_PRINTED])
    if place:
        also += files_in(place)
    after = plain_values.shown(list(given), partly=True) or "a list"
    text = "gives " + written(gave) + also + " after " + after
    return text.replace(place, HERE) if place else text


def place_for(text: str) -> str:
    """A folder of its own for a call that names one of its test; empty for any other."""
    named = re.findall(HERE + r"[^'\"]*", text)
    if not named:
        return ""
    place: str = of_python("tempfile").mkdtemp()
    for path in (each.replace(HERE, place) for each in named):
        of_test = re.match(r".*/pytest-\d+/[^/]+", path)
        for folder in (os.path.dirname(path), of_test.group() if of_test else place):  # noqa: PTH120
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    return place


def files_in(place: str) -> str:
    """What a call wrote there, in words."""
    found = []
    for folder, _, names in os.walk(place):
        for name in sorted(names)[:3]:
            with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123
                found.append(name + " with " + repr(file.read(MOST_PRINTED)))
    return "; it writes " + ", ".join(found[:3]) if found else ""


def of_code(found: Any, code: str) -> Any:  # noqa: ANN401 - what a name leads to
    """The function with code of this name, behind whatever is around it."""
    for _ in range(10):
        if getattr(getattr(found, "__code__", None), "co_name", None) == code:
            return found
        inner = (getattr(found, part, None) for part in ("__func__", "fget", "func", "__wrapped__"))
        found = next((each for each in inner if each is not None), None)
    return None


def ended(gave: Any) -> Any:  # noqa: ANN401 - what a function gave
    """That, or what comes of it when it is used: all that a generator gives, what a coroutine ends with."""
    if isinstance(gave, types.GeneratorType):
        return list(itertools.islice(gave, MOST_ITEMS))
    if not isinstance(gave, (types.CoroutineType, types.AsyncGeneratorType)):
        return gave
    asyncio: Any = of_python("asyncio")
    waited = gave if isinstance(gave, types.CoroutineType) else all_of(gave)
    try:
        return asyncio.run(asyncio.wait_for(waited, MOST_WAITED))
    except asyncio.TimeoutError:
        raise NotEnded from None


def of_python(name: str) -> Any:  # noqa: ANN401 - a module
    """A module of Python itself that few calls need: to load it takes longer than most of them."""
    if name not in sys.modules:
        path, sys.path[:] = sys.path[:], PATH
        importlib.import_module(name)
        sys.path[:] = path
    return sys.modules[name]


async def all_of(gave: Any) -> list[Any]:  # noqa: ANN401 - an asynchronous generator
    """What it gives."""
    found = []
    async for each in gave:
        found.append(each)
        if len(found) == MOST_ITEMS:
            break
    return found


def equal_to_many(gave: Any) -> str:  # noqa: ANN401 - as above
    """That a value says of many numbers, or texts, that it equals them; nothing where it does not."""
    compares: Any = type(gave).__eq__
    if compares is object.__eq__ or type(gave).__module__ in sys.builtin_module_names:
        return ""
    found = []
    for other in OTHERS:
        try:
            found += [other] if gave == other or other == gave else []
        except Exception:  # noqa: BLE001, S112 - that it cannot be compared is an answer
            continue
    return "; it equals " + ", ".join(map(repr, found[:3])) + " and more" if len(found) > FEW else ""


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
        call({**row, "name": ""})  # only loads it
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
            body = DUMPS(each).encode() + b"\n"
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


def loading(settings: dict[str, Any], as_before: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    """What the modules change when they are loaded, what is not as it is written, and what one call of each
    function changes, now and before.
    """
    modules, tree = settings["modules"], settings["tree"]
    calls = [functools.partial(call, settings["calls"][number]) for number in settings["once"]]
    known = in_child(lambda: plain_loading.known_modules(modules, tree, calls))

    def work() -> Any:  # noqa: ANN401 - as above
        yield from plain_loading.changed_by_loading(modules, known[-1], tree)
        yield plain_loading.not_as_written(tree)
        yield from plain_loading.changed_by_calls(calls, tree)

    return {"now": in_child(work), "before": in_child(as_before(work))} if known else {}


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
    told["loading"] = loading(settings, as_before)
    body = DUMPS(told).encode()
    mac = hmac.new(key, body, hashlib.sha256).hexdigest()
    with open(report, "wb") as file:  # noqa: PTH123 - as above
        file.write(mac.encode() + b"\n" + body)


if __name__ == "__main__":
    main()
