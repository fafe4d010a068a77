"""Which lines of some files run while a test is set up, while its own body runs, and in processes it starts.

Part of the judge of a test run, loaded with it before the judged tree can be imported: like the judge it is
copied beside the run, imports nothing of ours, and works with Python from 3.8. In a process that a test
starts it is loaded as `sitecustomize`, if that is wanted; there it writes down each line as it runs.

Counted is what runs inside functions, and a file that is run as a program. What a module does while it is
imported shows nothing about a test.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Hits = dict[str, set[int]]

VARIABLE = "LINES_SEEN_FOR_AGENTFORGE"
TOOL = "agentforge"
TOOL_IDS = (4, 3)
"""Numbers that no known tool asks for first."""
OPTIMIZED = 1
"""The flag of code that is a function's, not a module's or class's."""
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.system", "os.exec", "os.fork", "os.forkpty"})
"""Audit events of a process that starts another."""

MONITORING: Any = getattr(sys, "monitoring", None)
"""Of Python 3.12 and later."""


class LineWatch:
    """Sees lines of the watched files run, and tells them to a function, each once until it is asked anew."""

    def __init__(self, root: str, files: list[str], seen: Callable[[str, int], None]) -> None:
        self._files = {os.path.realpath(os.path.join(root, file)): file for file in files}  # noqa: PTH118
        self._names: dict[str, str | None] = {}
        self._seen = seen
        self._tool = 0
        self._realpath, self._frame = os.path.realpath, sys._getframe  # noqa: SLF001 - as tests may replace them
        # One object each, to compare with.
        self._on_call: Any = self._called
        self._on_line: Any = self._lined
        if MONITORING is not None:
            free = [number for number in TOOL_IDS if MONITORING.get_tool(number) is None]
            if free:
                self._tool = free[0]
                MONITORING.use_tool_id(self._tool, TOOL)
                MONITORING.register_callback(self._tool, MONITORING.events.LINE, self._monitored)
        if not self._tool:
            threading.settrace(self._on_call)

    def begin(self) -> None:
        """See every line again, from here on."""
        if self._tool:
            MONITORING.set_events(self._tool, MONITORING.events.LINE)
            MONITORING.restart_events()
        else:
            sys.settrace(self._on_call)

    def end(self) -> bool:
        """Stop; false if somebody else took the place meanwhile, so that lines may be missing."""
        if self._tool:
            kept = bool(MONITORING.get_tool(self._tool) == TOOL)
            if kept:
                MONITORING.set_events(self._tool, 0)
            return kept
        kept = sys.gettrace() is self._on_call
        sys.settrace(None)
        return kept

    def _file(self, name: str) -> str | None:
        if name not in self._names:
            self._names[name] = self._files.get(self._realpath(name))
        return self._names[name]

    def _monitored(self, code: Any, line: int) -> object:  # noqa: ANN401 - a code object
        file = self._file(code.co_filename)
        if file is not None and (is_function(code) or is_main(self._frame(1))):
            self._seen(file, line)
        return MONITORING.DISABLE

    def _called(self, frame: Any, _event: str, _argument: object) -> Any:  # noqa: ANN401 - a frame
        if self._file(frame.f_code.co_filename) is None:
            return None
        if not is_function(frame.f_code) and not is_main(frame):
            return None
        return self._on_line

    def _lined(self, frame: Any, event: str, _argument: object) -> Any:  # noqa: ANN401 - a frame
        if event == "line":
            self._seen(str(self._file(frame.f_code.co_filename)), frame.f_lineno)
        return self._on_line


def is_function(code: Any) -> bool:  # noqa: ANN401 - a code object
    """Whether code is a function's: a comprehension counts with what is around it."""
    return bool(code.co_flags & OPTIMIZED) and code.co_name not in COMPREHENSIONS


def is_main(frame: Any) -> bool:  # noqa: ANN401 - a frame
    """Whether code belongs to the file that was started as a program."""
    return frame is not None and frame.f_globals.get("__name__") == "__main__"


def writer(path: str) -> Callable[[str, int], None]:
    """A function that appends each new line to a file of this process; it may end at any moment."""
    known: set[tuple[str, int]] = set()
    open_file, write, getpid = os.open, os.write, os.getpid
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND

    def seen(file: str, line: int) -> None:
        if (file, line) not in known:
            known.add((file, line))
            fd = open_file(f"{path}.{getpid()}", flags, 0o600)
            write(fd, json.dumps([file, line]).encode() + b"\n")
            os.close(fd)

    return seen


class DefinedFunctions:
    """The functions that some files define, as their text says; and where something else stands in their
    place.
    """

    def __init__(self, root: str, files: list[str]) -> None:
        self._wanted: dict[tuple[int, int] | None, dict[str, Any]] = {}
        self._names: dict[tuple[int, int] | None, str] = {}
        self._loaded: dict[str, tuple[Any, tuple[int, int] | None]] = {}
        for name in files:
            path = os.path.realpath(os.path.join(root, name))  # noqa: PTH118
            try:
                with open(path, "rb") as file:  # noqa: PTH123 - strings, as everywhere here
                    text, found = file.read(), os.fstat(file.fileno())
                defined = defined_in(ast.parse(text), compile(text, path, "exec", dont_inherit=True))
            except (OSError, SyntaxError, ValueError, RecursionError):
                continue
            identity = (found.st_dev, found.st_ino)
            self._wanted[identity], self._names[identity] = defined, name

    def replaced(self) -> set[str]:
        """Names of functions in whose place there is something else now, each after its file."""
        found = set()
        for module, file in self._modules():
            for name, code in self._wanted[file].items():
                now: Any = module.__dict__
                for part in name.split("."):
                    now = (
                        now.get(part)
                        if isinstance(now, dict)
                        else vars(now).get(part)
                        if isinstance(now, type)
                        else None
                    )
                if getattr(now, "__code__", None) != code:
                    found.add(self._names[file] + "::" + name)
        return found

    def _modules(self) -> Iterator[tuple[Any, tuple[int, int] | None]]:
        """The modules of these files. A module with a file is looked at once: before and after each test all
        are asked.
        """
        for name, module in list(sys.modules.items()):
            known = self._loaded.get(name)
            if known is None or known[0] is not module:
                space = getattr(module, "__dict__", None)
                place = space.get("__file__") if isinstance(space, dict) else None
                if not isinstance(place, str):
                    continue
                known = self._loaded[name] = (module, file_at(place))
            if known[1] in self._wanted:
                yield known


def file_at(place: str, stat: Callable[[str], os.stat_result] = os.stat) -> tuple[int, int] | None:
    """Which file is there, whatever links lead to it; None for none."""
    try:
        found = stat(place)  # bound when this was loaded: tests replace it
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def defined_in(tree: ast.Module, code: Any) -> dict[str, Any]:  # noqa: ANN401 - code objects
    """The code of each function that a file, or a class of it, binds once and undecorated."""
    found: dict[str, Any] = {}
    inside = {
        (each.co_name, each.co_firstlineno): each for each in code.co_consts if hasattr(each, "co_code")
    }
    bound: dict[str, int] = {}
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound[part.id] = bound.get(part.id, 0) + 1
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and part in tree.body:
            bound[part.name] = bound.get(part.name, 0) + 1
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or node.decorator_list:
            continue
        own = inside.get((node.name, node.lineno))
        if own is None or bound[node.name] != 1:
            continue
        if not isinstance(node, ast.ClassDef):
            found[node.name] = own
        elif not node.keywords:
            inner = ast.Module(node.body, [])
            found.update((node.name + "." + name, each) for name, each in defined_in(inner, own).items())
    return found


class WatchHooks:
    """The hooks of pytest that watch each test of a run, and what they found."""

    def __init__(self, settings: dict[str, Any], here: str, calls: Any) -> None:  # noqa: ANN401 - a part beside this one
        self._calls_seen = calls
        self._calls: dict[str, list[dict[str, Any]]] = {}
        self._root: str = settings["root"]
        self._files: list[str] = settings["files"]
        self._data = {os.path.realpath(os.path.join(self._root, path)): path for path in settings["data"]}  # noqa: PTH118
        self._folder: str = settings["folder"]
        self._bootstrap = os.path.join(here, "child") if settings["children"] else ""  # noqa: PTH118
        self._getpid: Callable[[], int] = os.getpid
        self._pid = os.getpid()
        self._tests: dict[str, Hits] = {}
        self._setup: Hits = {}
        self._loading: Hits = {}
        self._opened: set[str] = set()
        self._started: set[str] = set()
        self._lost: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._now: Hits | None = None
        self._test = ""
        self._forked: Callable[[str, int], None] | None = None
        self._functions = DefinedFunctions(self._root, self._files)
        self._replaced: dict[str, set[str]] = {}
        self._watch = LineWatch(self._root, self._files, self._seen)
        sys.addaudithook(self._audited)

    def pytest_collection(self) -> Iterator[None]:
        """What functions run while the files of tests are loaded."""
        self._begin("", self._loading)
        yield
        self._end()

    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:  # noqa: ANN401 - pytest's own types
        """Notes the lines that fixtures run."""
        self._begin(item.nodeid, self._setup)
        yield
        self._end()

    def pytest_runtest_call(self, item: Any) -> Iterator[None]:  # noqa: ANN401 - pytest's own types
        """Notes the lines that the test's own body runs."""
        self._replaced[item.nodeid] = self._functions.replaced()
        self._begin(item.nodeid, self._tests.setdefault(item.nodeid, {}))
        before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
        if self._bootstrap:
            told = {"root": self._root, "files": self._files, "path": self._place(item.nodeid)}
            os.environ[VARIABLE] = json.dumps(told)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (self._bootstrap, before["PYTHONPATH"])))
        self._calls_seen.begin()
        yield
        self._calls[item.nodeid] = self._calls_seen.end()
        if self._bootstrap:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        self._end()
        self._replaced[item.nodeid] |= self._functions.replaced()

    def found(self) -> dict[str, Any]:
        """Everything that was seen, as the report has it."""
        return {
            "tests": {test: listed(hits) for test, hits in self._tests.items()},
            "setup": listed(self._setup),
            "loading": listed(self._loading),
            "children": {test: listed(self._of_children(test)) for test in self._numbers if test},
            "started": sorted(self._started - {""}),
            "opened": sorted(self._opened),
            "lost": sorted(self._lost - {""}),
            "replaced": {test: sorted(names) for test, names in self._replaced.items() if names},
            "calls": {test: calls for test, calls in self._calls.items() if calls},
        }

    def _begin(self, test: str, hits: Hits) -> None:
        self._test, self._now = test, hits
        self._forked = None
        self._numbers.setdefault(test, len(self._numbers))
        self._watch.begin()

    def _end(self) -> None:
        if not self._watch.end():
            self._lost.add(self._test)
        self._now = None

    def _seen(self, file: str, line: int) -> None:
        if (
            self._getpid() != self._pid
        ):  # a child that was forked has this watch, and our lists are not its own
            self._forked = self._forked or writer(self._place(self._test))
            self._forked(file, line)
        elif self._now is not None:
            self._now.setdefault(file, set()).add(line)

    def _audited(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._data and isinstance(arguments[0], (str, bytes)):
            path = self._data.get(os.path.realpath(os.fsdecode(arguments[0])))
            if path is not None:
                self._opened.add(path)
        elif event in STARTS and self._now is not None:
            self._started.add(self._test)

    def _place(self, test: str) -> str:
        return os.path.join(self._folder, str(self._numbers[test]))  # noqa: PTH118 - strings, as everywhere here

    def _of_children(self, test: str) -> Hits:
        found: Hits = {}
        start = os.path.basename(self._place(test)) + "."  # noqa: PTH119
        for name in os.listdir(self._folder):  # noqa: PTH208
            if name.startswith(start):
                with open(os.path.join(self._folder, name), encoding="utf-8") as lines:  # noqa: PTH118, PTH123
                    for row in lines:
                        file, line = json.loads(row)
                        found.setdefault(file, set()).add(line)
        return found


def listed(hits: Hits) -> dict[str, list[int]]:
    """Lines by file, in order."""
    return {file: sorted(lines) for file, lines in sorted(hits.items())}


def watch_child() -> None:
    """In a process that a test started: watch all of it, then let the `sitecustomize` come that would have
    come without this one.
    """
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]  # noqa: PTH100
    told = os.environ.get(VARIABLE)
    if told:
        settings = json.loads(told)
        LineWatch(settings["root"], settings["files"], writer(settings["path"])).begin()
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize":
    watch_child()
