"""The judge of a test run: it starts pytest and tells the orchestrator what happened, test by test.

It runs in the project's own environment, as a script that is copied beside the run with its companions
(`judge_canaries.py`, `judge_clock.py`, `judge_frame.py`), so it imports nothing else of ours, and works with
Python from 3.8 and pytest 6 to 9. Nothing of the judged tree can be imported before `main` has loaded pytest
and what pytest uses: the tree joins the path only then, at the place where `python -m pytest` has it.
Settings and key come by standard input, which is read to its end and replaced by nothing before that. It
writes one line per fact to a report, each with a keyed hash: a test that writes into the report is noticed.
The first line names the file of every module that is the judge's own; a later one says what pytest says of
itself.

Canaries: among the tests, below each distinct set of `conftest.py` files, tests of our own run that must pass
or must fail. Where they do not, outcomes of that place prove nothing. They live in memory: no file is added
to the judged tree, and neither naming patterns nor `-k` and `-m` reach them.

A test has a time of its own. One that is not over by then fails; one that cannot even be interrupted ends the
process, and the report has its name.

Options of the project that would stop, spread, reorder or measure the run are undone in the parsed options,
not on the command line, where an option of a plugin that is switched off would be a usage error.
"""

# ruff: noqa: ANN401, E402 - the types of pytest differ between its versions; the first line looks before all others

from __future__ import annotations

import sys

STARTED_WITH = frozenset(sys.modules)
"""What an interpreter has loaded before anything else."""

import gc

gc.disable()  # until the judge is loaded: what it is made of stays, and need not be looked through

import doctest
import hashlib
import importlib
import importlib.machinery
import importlib.util
import json
import os
import re
import time
import types
from typing import TYPE_CHECKING, Any

import _pytest._code
import _pytest.config
import _pytest.python
import _pytest.reports
import _pytest.runner
import _pytest.unittest
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentforge.languages.python import judge_canaries as canaries
    from agentforge.languages.python import judge_clock as clock
    from agentforge.languages.python import judge_frame as frames
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - `main` takes it away
    canaries = importlib.import_module("agentforge_judge_canaries")
    clock = importlib.import_module("agentforge_judge_clock")
    frames = importlib.import_module("agentforge_judge_frame")

SHUFFLERS = ("randomly", "random_order", "reverse")
MESSAGE_LIMIT = 400
TEXT_LIMIT = 6000
# What pytest imports only when it needs it, or looks up among the loaded modules: kept for it, whatever the
# tree has under these names.
LATER = (
    "bdb",
    "cmd",
    "code",
    "codeop",
    "difflib",
    "doctest",
    "faulthandler",
    "getpass",
    "grp",
    "importlib.metadata",
    "inspect",
    "itertools",
    "math",
    "pdb",
    "pickle",
    "pkgutil",
    "pprint",
    "pwd",
    "shutil",
    "subprocess",
    "tempfile",
    "textwrap",
    "tomllib",
    "tracemalloc",
    "types",
    "unittest",
    "unittest.case",
    "warnings",
)
KEPT = frozenset(name.partition(".")[0] for name in (*LATER, "pytest", "_pytest", "hashlib", "json"))
NOTHING_RAISED = {"exception": "", "message": "", "file": "", "line": 0, "raised_in": ""}
BEGAN = time.monotonic()
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")


def report_to(path: str, key: bytes) -> Callable[..., None]:
    """A function that appends one fact to the report, numbered and hashed with the key of this run.

    The key itself is kept nowhere: a hash that was begun with it is. A forked child stays silent, and a call
    from code that is not ours spoils the report.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    begun = hashlib.blake2b(key=key, digest_size=16)
    ours, pid, number = globals(), os.getpid(), 0
    # Bound now: tests replace functions of these modules while we write.
    write, getpid, dumps, frame = os.write, os.getpid, json.dumps, sys._getframe  # noqa: SLF001 - who calls

    def add(kind: str, **fields: Any) -> None:
        nonlocal number
        if getpid() != pid:
            return
        if frame(1).f_globals is not ours:
            write(fd, b"written by somebody else\n")
            return
        body = dumps({"kind": kind, "seq": number, **fields}).encode()
        mac = begun.copy()
        mac.update(body)
        number += 1
        write(fd, mac.hexdigest().encode() + b" " + body + b"\n")

    return add


class Recorder:
    """The pytest hooks that record what one run collected and how each test ended."""

    def __init__(self, settings: dict[str, Any], add: Callable[..., None], own: dict[str, str]) -> None:
        self._add = add
        self._own = own
        self._token: str = settings["token"]
        self._root: str = settings["root"]
        self._roots = tuple(settings["roots"])
        self._names = frozenset(settings["names"])
        self._wanted = frozenset(settings["ids"])
        self._ids: dict[str, str] = {}
        self._limit: float = settings["limit_s"]
        self._grace: float = settings["grace_s"]
        self._hung: dict[str, str] = settings["hung"]
        self._frame = frames.Frame(self._root, settings["hidden"])
        self._canaries: dict[str, int] = {}
        self._functions: dict[str, Any] = {}
        self._rewired: set[str] = set()
        self._deselected: set[str] = set()
        self._is_choosing = False
        self._is_second_try = False
        self._slowest = 0.0
        self._groups: dict[str, int] = {}
        self._called: dict[str, dict[str, Any]] = {}
        self._raised: dict[tuple[str, str], dict[str, Any]] = {}
        self._collect_failures: dict[str, tuple[str, dict[str, Any]]] = {}
        self._machinery = frames.Machinery()
        self._patched: set[str] = set()
        self._plugins: set[str] = set()
        self.watch: Any = None
        """What sees lines run, if that was asked."""

    def begin(self) -> None:
        """Take note of what plugins replaced while they were loaded; from here on it is the tests' doing."""
        self._look_at_machinery(" (by a plugin)")
        self._machinery = frames.Machinery()

    def pytest_plugin_registered(self, plugin: Any, manager: Any) -> None:
        """Which files of the tree are plugins, however they became ones: by a name in the settings, an entry
        point, or a call. Pytest tells of those before the recorder, too.
        """
        files = {getattr(plugin, "__file__", None)}
        for caller in manager.get_hookcallers(plugin) or ():
            functions = [part.function for part in caller.get_hookimpls() if part.plugin is plugin]
            codes = [getattr(getattr(part, "__func__", part), "__code__", None) for part in functions]
            files.update(getattr(code, "co_filename", None) for code in codes)
        for file in files:
            if isinstance(file, str) and (path := os.path.realpath(file)).startswith(self._root + os.sep):
                self._plugins.add(self._relative(path))

    # -- options
    # ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """Undo what would hide outcomes, and ask for the wanted files by the configuration of the plain
        command.
        """
        option = config.option
        option.maxfail = 0
        option.continue_on_collection_errors = True
        for name, value in (
            ("numprocesses", None),
            ("dist", "no"),
            ("tx", []),
            ("looponfail", False),
            ("stepwise", False),
            ("usepdb", False),
        ):
            if hasattr(option, name):
                setattr(option, name, value)
        for name in SHUFFLERS:
            plugin = config.pluginmanager.get_plugin(name)
            if plugin is not None:
                config.pluginmanager.unregister(plugin)
        if self._wanted:
            files = sorted({wanted.split("::", 1)[0] for wanted in self._wanted})
            config.args = [
                path
                for path in (os.path.join(self._root, file) for file in files)  # noqa: PTH118
                if os.path.exists(path)  # noqa: PTH110
            ]

    # -- collection
    # -------------------------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Iterator[None]:
        """Remember why a file cannot be collected, with the error beneath pytest's own."""
        outcome: Any = yield
        report = outcome.get_result()
        excinfo = getattr(getattr(report, "call", None), "excinfo", None)
        if excinfo is not None:
            error = excinfo.value.__cause__ or excinfo.value
            path = path_of(collector)
            beneath = type(excinfo).from_exc_info((type(error), error, error.__traceback__))
            self._collect_failures[report.nodeid] = (self._relative(path), self._facts(beneath, path))

    def pytest_collectreport(self, report: Any) -> None:
        """A file that could not be imported, or that skips itself."""
        if report.passed:
            return
        path, facts = self._collect_failures.pop(report.nodeid, (report.nodeid, dict(NOTHING_RAISED)))
        kind = "collect_error" if report.failed else "collect_skip"
        self._add(kind, path=path, text=str(report.longrepr)[-TEXT_LIMIT:], **facts)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session: Any, config: Any, items: list[Any]) -> Iterator[None]:
        """Keep the wanted tests, and put the canaries among them, so that whoever changes the list or what is
        in it meets them, too. Those that somebody takes out come back.
        """
        if self._is_second_try:
            yield
            return
        self._ids = {item.nodeid: self._identity(item) for item in items}
        if self._wanted:
            chosen = [(item, not self._wanted.isdisjoint(covering(self._ids[item.nodeid]))) for item in items]
            items[:] = [item for item, wanted in chosen if wanted]
            self._is_choosing = True
            config.hook.pytest_deselected(items=[item for item, wanted in chosen if not wanted])
            self._is_choosing = False
        self._functions = {item.nodeid: frames.function_of(item) for item in items}
        collected, groups = list(items), self._make_canaries(session, items)
        items[:] = among(items, groups)
        outcome: Any = yield
        if outcome.excinfo is not None:  # some projects refuse tests that they do not know
            items[:], self._is_second_try = collected, True
            config.hook.pytest_collection_modifyitems(session=session, config=config, items=items)
            outcome.force_result([])
        self._ids.update({item.nodeid: self._identity(item) for item in items})
        left = {id(item) for item in items}
        gone = [(beside, [each for each in group if id(each) not in left]) for beside, group in groups]
        items[:] = among(items, gone)

    def pytest_deselected(self, items: list[Any]) -> None:
        """What the project leaves out of the run; what nobody asked us for is no part of that."""
        if not self._is_choosing:
            self._deselected.update(
                self._ids.get(item.nodeid, item.nodeid) for item in items if item.nodeid not in self._canaries
            )

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        """Records the tests that were collected: each of them must report an outcome."""
        tests = [item for item in session.items if item.nodeid not in self._canaries]
        ids = [self._ids.get(item.nodeid, item.nodeid) for item in tests]
        self._add("collected", ids=ids, groups=[self._groups.get(identity, 0) for identity in ids])
        told = self._frame.of(session.config, tests)
        self._add("told", told=told, deselected=sorted(self._deselected))

    def _make_canaries(self, session: Any, items: list[Any]) -> list[tuple[Any, list[Any]]]:
        """One set per chain of conftest files, each with the file that it stands beside."""
        places: dict[tuple[str, ...], Any] = {}
        chains: dict[str, tuple[str, ...]] = {}
        for item in items:
            folder = os.path.dirname(path_of(item))  # noqa: PTH120 - as above
            if folder not in chains:
                chains[folder] = conftests(folder)
            places.setdefault(chains[folder], file_node(item) or session)
            self._groups[self._ids[item.nodeid]] = list(places).index(chains[folder])
        made = []
        for group, neighbour in enumerate(list(places.values()) or [session]):
            made_here = session.genitems(canaries.canary_beside(neighbour, self._token))
            birds = [canaries.told_briefly(canary) for canary in made_here]
            self._canaries.update({canary.nodeid: group for canary in birds})
            made.append((neighbour, birds))
        return made

    # -- running
    # ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """So that a crash can name its test."""
        if nodeid not in self._canaries:
            self._add("start", id=self._ids.get(nodeid, nodeid), at=time.monotonic() - BEGAN)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Be there when the test itself is called, within all hooks: what it raises is known from there."""
        item.runtest = self._watched(item, item.runtest)
        started = time.monotonic()
        with clock.deadline(self._limit + self._grace):
            yield
        self._slowest = max(self._slowest, time.monotonic() - started)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """What hung before is not begun again."""
        self._give_up_on(item, "setup")

    def _give_up_on(self, item: Any, when: str) -> None:
        if self._hung.get(self._ids.get(item.nodeid, item.nodeid)) == when:
            raise clock.out_of_time(self._limit)

    def _watched(self, item: Any, runtest: Callable[[], None]) -> Callable[[], None]:
        def watched() -> None:
            __tracebackhide__ = True
            identity = self._ids.get(item.nodeid, item.nodeid)
            known = self._functions.get(item.nodeid)
            if known is not None and frames.function_of(item) is not known:
                self._rewired.add(identity)
            self._called.pop(item.nodeid, None)
            if item.nodeid not in self._canaries:
                self._add("call", id=identity)
            try:
                self._give_up_on(item, "call")
                with clock.alarm(self._limit):
                    runtest()
            except BaseException as error:
                self._called[item.nodeid] = self._facts_of(error, path_of(item))
                raise
            else:
                caught = getattr(item, "_excinfo", None)  # how unittest keeps it, and shows it afterwards
                if caught:
                    self._called[item.nodeid] = self._facts(caught[-1], path_of(item))
            finally:
                self._look_at_machinery()

        return watched

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        """Keep what was raised, whatever other hooks make of the report."""
        yield
        if call.excinfo is None:
            self._raised.pop((item.nodeid, call.when), None)
        else:
            self._raised[item.nodeid, call.when] = self._facts(call.excinfo, path_of(item))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """One record per phase that says something."""
        if report.when == "teardown":
            self._look_at_machinery()
        facts = self._raised.pop((report.nodeid, report.when), None)
        if report.when == "call":
            facts = facts or self._called.pop(report.nodeid, None)
        record = {
            "when": report.when,
            "outcome": report.outcome,
            "xfail": hasattr(report, "wasxfail"),
            "raised": facts is not None,
            **(facts or {**NOTHING_RAISED, "message": longrepr_line(report)}),
        }
        if report.nodeid in self._canaries:
            name = canaries.canary_name(report.nodeid)
            self._add("canary", group=self._canaries[report.nodeid], name=name, **record)
        else:
            self._add("test", id=self._ids.get(report.nodeid, report.nodeid), **record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Canaries are not part of what people and models read."""
        return ("", "", "") if report.nodeid in self._canaries else None

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Pytest itself, or a plugin, broke."""
        self._add("internal_error", text=str(excrepr)[-TEXT_LIMIT:])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """Where the project's modules came from, and the end."""
        roots = tuple(root + os.sep for root in self._roots)
        files = files_of(list(sys.modules))
        loaded = {
            name: path
            for name, path in files.items()
            if name.partition(".")[0] in self._names or path.startswith(roots)
        }
        self._add("modules", modules=loaded)
        kept = {name: file for name, file in self._own.items() if name.partition(".")[0] in KEPT}
        moved = {name: files[name] for name, file in kept.items() if name in files and files[name] != file}
        self._add("judge", modules=moved)
        self._look_at_machinery()
        if self.watch is not None:
            self._add("reached", **self._reached())
        self._add("patched", names=sorted(self._patched), plugins=sorted(self._plugins))
        self._add("seen", rewired=sorted(self._rewired), slowest_ms=round(self._slowest * 1000))
        self._add("end", exit=int(exitstatus))

    def _look_at_machinery(self, when: str = "") -> None:
        """Note what of pytest is no longer what it was before any code of the project ran."""
        self._patched.update(name + when for name in self._machinery.changed())

    def _reached(self) -> Any:
        """What the watch found, by the ids that the report uses."""
        found = self.watch.found()
        for key in ("started", "lost"):
            found[key] = [self._ids.get(test, test) for test in found[key] if test not in self._canaries]
        for key in ("tests", "children", "replaced", "calls"):
            rows = found[key].items()
            found[key] = {self._ids.get(test, test): row for test, row in rows if test not in self._canaries}
        return found

    # -- facts
    # ------------------------------------------------------------------------------------------------------

    def _relative(self, path: str) -> str:
        """Relative to the judged tree: the root directory that pytest finds depends on how it is called."""
        for candidate in (path, os.path.realpath(path)):
            if candidate.startswith(self._root + os.sep):
                return candidate[len(self._root) + 1 :].replace(os.sep, "/")
        return path

    def _identity(self, item: Any) -> str:
        file, separator, rest = str(item.nodeid).partition("::")
        path = path_of(item)
        return (self._relative(path) if path else file) + separator + rest

    def _facts_of(self, error: BaseException, path: str) -> dict[str, Any]:
        kind: Any = _pytest._code.ExceptionInfo  # noqa: SLF001 - in `pytest` since its version 7
        return self._facts(kind.from_exc_info((type(error), error, error.__traceback__)), path)

    def _facts(self, excinfo: Any, path: str) -> dict[str, Any]:
        text = excinfo.exconly()
        head, colon, tail = text.partition(": ")
        message = tail if colon and head.split(".")[-1] == excinfo.typename else text
        file, line, raised_in = where(excinfo.tb, path, self._root)
        message, line = example_facts(excinfo.value) or (message, line)
        file = file or (path if line else "")
        return {
            "exception": excinfo.typename,
            "message": one_line(message),
            "file": self._relative(file) if file else "",
            "line": line,
            "raised_in": self._relative(raised_in) if raised_in else "",
        }


class StartHook:
    """Waits until the plugins are loaded, so that their hooks come after the recorder's."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def pytest_addoption(self, parser: Any) -> None:
        """A project whose command switches the cache off still understands where ours would be."""
        if "cache_dir" not in getattr(parser, "_inidict", ("cache_dir",)):
            parser.addini("cache_dir", "where nothing is kept")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
        """Before any conftest of the project: start recording, and switch coverage off, which would write
        into the tree.
        """
        if getattr(early_config.known_args_namespace, "cov_source", None):
            early_config.known_args_namespace.cov_source = []
        self._recorder.begin()
        early_config.pluginmanager.register(self._recorder, "agentforge_recorder")
        if self._recorder.watch is not None:
            early_config.pluginmanager.register(self._recorder.watch, "agentforge_watch")
        yield


def covering(identity: str) -> Iterator[str]:
    """Every id that names this test or a set that it is in: itself, its function, classes, file and
    folders.
    """
    file = identity.partition("::")[0]
    parts = file.split("/")
    yield from ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    yield from (
        identity[:index]
        for index in range(len(file) + 1, len(identity))
        if identity.startswith(("::", "["), index)
    )
    yield from (identity, ".")


def file_node(item: Any) -> Any:
    """The file that a test is in, as pytest knows it."""
    return next((node for node in item.listchain() if isinstance(node, pytest.File)), None)


def among(items: list[Any], groups: list[tuple[Any, list[Any]]]) -> list[Any]:
    """The tests with the canaries of each group around the file that they stand beside. Between two tests of
    one file nobody comes: what they share would be torn down.
    """
    waiting = {id(beside): group for beside, group in groups}
    found: list[Any] = []
    rest: list[Any] = []
    here = None
    for item in items:
        node = file_node(item)
        if node is not here:
            found += rest
            here, group = node, waiting.pop(id(node), [])
            half = len(group) // 2
            found, rest = found + group[:half], group[half:]
        found.append(item)
    return [*found, *rest, *(canary for group in waiting.values() for canary in group)]


def path_of(node: Any) -> str:
    """The file of a node: `path` since pytest 7, `fspath` before."""
    return str(getattr(node, "path", None) or getattr(node, "fspath", None) or "")


def conftests(folder: str) -> tuple[str, ...]:
    """The folders from here up that have a conftest.py."""
    found = []
    while folder:
        if os.path.isfile(os.path.join(folder, "conftest.py")):  # noqa: PTH113, PTH118 - strings, as pytest keeps them
            found.append(folder)
        above = os.path.dirname(folder)  # noqa: PTH120 - as above
        if above == folder:
            break
        folder = above
    return tuple(found)


def where(trace: Any, path: str, root: str) -> tuple[str, int, str]:
    """The last line of the test file that was on the stack, else the last line inside the tree; and the file
    of the tree that was the last one.
    """
    in_test, in_tree, last = ("", 0), ("", 0), ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == path:
            in_test = (file, trace.tb_lineno)
        elif file.startswith(root + os.sep):
            in_tree = (file, trace.tb_lineno)
        last = file if file in (in_test[0], in_tree[0]) else last
        trace = trace.tb_next
    return (*(in_test if in_test[1] else in_tree), last)


def example_facts(error: Any) -> tuple[str, int] | None:
    """What a failed doctest gave instead, and its line; None for every other error."""
    first = (getattr(error, "failures", None) or [error])[0]
    example, test = getattr(first, "example", None), getattr(first, "test", None)
    if not isinstance(example, doctest.Example) or not isinstance(test, doctest.DocTest):
        return None
    raised = getattr(first, "exc_info", None)
    gave = f"raised {raised[0].__name__}: {raised[1]}" if raised else f"gave {first.got.strip() or 'nothing'}"
    wanted = example.want.strip() or "nothing"
    return f"{example.source.strip()} {gave}, expected {wanted}", (test.lineno or 0) + example.lineno + 1


def one_line(text: str) -> str:
    """What an error says, on one line, without addresses: two runs of the same failure say the same."""
    lines = (ADDRESS.sub("0x…", line.strip()) for line in text.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("Use -v to get"))[:MESSAGE_LIMIT]


def longrepr_line(report: Any) -> str:
    """The message of a report that came without an exception: a subtest, a strict xfail that passed, a
    skip.
    """
    longrepr = getattr(report, "longrepr", None)
    if isinstance(longrepr, tuple):
        return one_line(str(longrepr[2]))
    crash = getattr(longrepr, "reprcrash", None)
    return one_line(str(getattr(crash, "message", None) or longrepr or ""))


def files_of(names: Iterable[str]) -> dict[str, str]:
    """The real files of loaded modules; what has none is part of the interpreter."""
    found = {}
    folders: dict[str, str] = {}  # hundreds of modules lie in a few of them
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str):
            found[name] = real_path(file, folders)
    return found


def real_path(path: str, folders: dict[str, str]) -> str:
    """As `os.path.realpath`, with one look at each folder that `folders` does not have yet."""
    folder, base = os.path.split(path)
    if not base or base in (os.curdir, os.pardir) or not os.path.isabs(path):  # noqa: PTH117 - as above
        return os.path.realpath(path)
    if folder not in folders:
        folders[folder] = real_path(folder, folders)
    path = os.path.join(folders[folder], base)  # noqa: PTH118 - as above
    return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114 - as above


def read_settings() -> dict[str, Any]:
    """All of standard input, once; afterwards there is nothing on it, and nothing to be read again."""
    parts = []
    while True:
        part = os.read(0, 65536)
        if not part:
            break
        parts.append(part)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    settings: dict[str, Any] = json.loads(b"".join(parts))
    return settings


def load_judge() -> dict[str, str]:
    """Load what pytest will need, while nothing of the tree can be imported; the answer is where it all came
    from.
    """
    for name in (*LATER, *("_pytest." + plugin for plugin in _pytest.config.default_plugins)):
        try:
            importlib.import_module(name)
        except ImportError:  # not on this platform, or not in this version
            continue
    return files_of([name for name in sys.modules if name != "__main__"])


def join_tree(settings: dict[str, Any]) -> None:
    """Put the tree on the path, as `python -m pytest` has it from the start.

    A module that the judge loaded and that the tree has under the same name is forgotten, so that the tree's
    code gets its own; the judge goes on with the one it has. What pytest may import later stays.
    """
    path = [os.getcwd()] if settings["from_folder"] and not getattr(sys.flags, "safe_path", False) else []  # noqa: PTH109
    if settings["path"] and not sys.flags.ignore_environment:
        path += settings["path"].split(os.pathsep)
    os.environ["PYTHONPATH"] = settings["path"]
    for name in sorted({name.partition(".")[0] for name in set(sys.modules) - STARTED_WITH} - KEPT):
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == name]:
                del sys.modules[loaded]
    sys.path[:0] = path


def stand_in() -> None:
    """Let `__main__` be what it is under `python -m pytest`, for those who start processes from it."""
    spec = importlib.util.find_spec("pytest.__main__")
    module = types.ModuleType("__main__")
    module.__spec__, module.__package__ = spec, "pytest"
    module.__file__ = sys.argv[0] = str(spec.origin if spec is not None else "pytest")
    sys.modules["__main__"] = module


def load_watch(settings: dict[str, Any], here: str) -> Any:
    """What sees lines run and functions called, from beside this file."""
    module, calls, values = (
        load_part(here, "agentforge_" + name) for name in ("line_watch", "call_watch", "plain_values")
    )
    for name in ("pytest_collection", "pytest_runtest_setup", "pytest_runtest_call"):
        pytest.hookimpl(hookwrapper=True, trylast=True)(getattr(module.WatchHooks, name))
    return module.WatchHooks(settings, here, calls.CallWatch(settings["root"], settings["files"], values))


def load_part(here: str, name: str) -> Any:
    """A module that lies beside this file."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(here, name + ".py"))  # noqa: PTH118 - as above
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Load the judge, let the tree join, and run; under coverage if that is what was asked."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as above
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]  # noqa: PTH100
    settings = read_settings()
    own = load_judge()
    gc.freeze()
    gc.enable()
    if settings["coverage"]:
        coverage = importlib.import_module("coverage.cmdline")
        stand_in()
        join_tree(settings)
        return int(coverage.main([*settings["coverage"], *sys.argv[1:]]) or 0)
    add = report_to(settings["report"], bytes.fromhex(settings.pop("key")))
    add("judge", modules=own)
    recorder = Recorder(settings, add, own)
    if settings["watch"]:
        recorder.watch = load_watch(settings["watch"], here)
    start = StartHook(recorder)
    stand_in()
    join_tree(settings)
    return int(pytest.main(plugins=[start]))


if __name__ == "__main__":
    sys.exit(main())
