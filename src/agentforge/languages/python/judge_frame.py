"""What the test runner says of itself: where it starts, how it was set up, who takes part, and of which
functions it is made.

Two runs of the same project say the same, whatever the folders that they ran in; what differs was changed by
somebody. Copied beside a run, like the judge: it imports nothing of ours.
"""

# ruff: noqa: ANN401 - the types of pytest differ between its versions

from __future__ import annotations

import operator
import os
import re
import sys
import unittest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TEXT_LIMIT = 500
NOTHING: dict[str, Any] = {}
# Bound now: tests replace these.
_all, _getattr, _hasattr, _id, _list, _map, _zip = all, getattr, hasattr, id, list, map, zip
_is, _code_of = operator.is_, operator.attrgetter("__code__")
# Options that are chance, or that say where this very run is.
BY_CHANCE = re.compile(r"seed|uid|uuid|port$|timestamp|basetemp")
OURS = ("agentforge_recorder", "agentforge_watch")
# Hooks that say how a test ends, or whether it is run at all.
DECIDING = (
    "pytest_pyfunc_call",
    "pytest_runtestloop",
    "pytest_runtest_protocol",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_logreport",
    "pytest_make_collect_report",
)
# What an assertion is written with, and no honest test replaces.
BUILTINS = (
    *("AssertionError", "BaseException", "Exception", "abs", "all", "any", "bool", "dict", "enumerate"),
    *(
        "filter",
        "float",
        "getattr",
        "hasattr",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
    ),
    *("min", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"),
)
# What decides an outcome, and what tests say it with. A plugin may wrap it by hooks; code under test has no
# business in it. What a version of pytest does not have is nothing before and after.
MACHINERY = (
    ("_pytest.python", "Function.runtest"),
    ("_pytest.python", "Function.setup"),
    ("_pytest.python", "pytest_pyfunc_call"),
    ("_pytest.unittest", "TestCaseFunction.runtest"),
    ("_pytest.doctest", "DoctestItem.runtest"),
    ("doctest", "DocTestRunner.run"),
    ("doctest", "OutputChecker.check_output"),
    ("_pytest.runner", "CallInfo.from_call"),
    ("_pytest.runner", "runtestprotocol"),
    ("_pytest.runner", "pytest_runtest_protocol"),
    ("_pytest.runner", "pytest_runtest_setup"),
    ("_pytest.runner", "pytest_runtest_call"),
    ("_pytest.runner", "pytest_runtest_makereport"),
    ("_pytest.reports", "TestReport.__init__"),
    ("_pytest.reports", "TestReport.from_item_and_call"),
    ("_pytest.runner", "call_and_report"),
    ("_pytest.runner", "call_runtest_hook"),
    ("_pytest.assertion.rewrite", "rewrite_asserts"),
    ("_pytest.assertion.rewrite", "AssertionRewriter.run"),
    ("_pytest.assertion.rewrite", "AssertionRewriter.visit_Assert"),
    ("_pytest.assertion.rewrite", "AssertionRewritingHook.exec_module"),
    ("pluggy._hooks", "_HookCaller.__call__"),
    ("pluggy._manager", "PluginManager._hookexec"),
    ("pytest", "approx"),
    ("pytest", "fail"),
    ("pytest", "raises"),
    ("pytest", "warns"),
    ("_pytest.python_api", "ApproxBase.__eq__"),
    ("_pytest.python_api", "RaisesContext.__exit__"),
    ("_pytest.raises", "RaisesExc.__exit__"),
    *(("unittest.case", f"TestCase.{name}") for name in vars(unittest.TestCase) if name.startswith("assert")),
    ("unittest.case", "TestCase.fail"),
    ("unittest.case", "TestCase.run"),
    ("unittest.case", "_AssertRaisesContext.__exit__"),
    *(("builtins", name) for name in BUILTINS),
)


HOLDERS = tuple(
    (
        place,
        tuple(
            name.rpartition(".")[2] for where, name in MACHINERY if (where, name.rpartition(".")[0]) == place
        ),
    )
    for place in dict.fromkeys((where, name.rpartition(".")[0]) for where, name in MACHINERY)
)
"""Each module, or class of one, with the names that are looked up in it."""
LABELS = tuple(
    ".".join(filter(None, (module, outer, name))) for (module, outer), names in HOLDERS for name in names
)


class Machinery:
    """The functions that decide outcomes, each by its own identity and that of its code."""

    def __init__(self) -> None:
        self._parts = _parts()
        self._functions = [part for part in _map(_inner, self._parts) if _hasattr(part, "__code__")]
        self._codes = [part.__code__ for part in self._functions]

    def changed(self) -> list[str]:
        """The names of those that are no longer what they were."""
        # Looked at twice for each test: nearly always nothing has changed.
        now = _parts()
        codes = _map(_code_of, self._functions)
        if _all(_map(_is, now, self._parts)) and _all(_map(_is, codes, self._codes)):
            return []
        recoded = {
            _id(function)
            for function, code in _zip(self._functions, self._codes)
            if function.__code__ is not code
        }
        pairs = _zip(LABELS, now, self._parts)
        return [name for name, part, was in pairs if part is not was or _id(_inner(was)) in recoded]


def _parts() -> list[Any]:
    found: list[Any] = []
    for (module, outer), names in HOLDERS:
        place: Any = sys.modules.get(module)
        if outer:
            place = _getattr(place, "__dict__", NOTHING).get(outer)
        held = _getattr(place, "__dict__", NOTHING)
        found += [held.get(name) for name in names]
    return found


def _inner(part: Any) -> Any:
    """The function beneath a class method or a static one."""
    return _getattr(part, "__func__", part)


def function_of(item: Any) -> Any:
    """The function that a test is, beneath what pytest binds it to; None for what is no function."""
    found = getattr(item, "obj", None)
    return getattr(found, "__func__", found)


class Frame:
    """What pytest says of one run, as plain text: names to values, without what differs between two runs.

    A plugin of the tree is for information: what it is worth, the outcomes of old tests say. The same goes
    for the part of pytest that tests of plugins ask for.
    """

    def __init__(self, root: str, hidden: Iterable[str]) -> None:
        self._root = root
        self._hidden = sorted(hidden, key=len, reverse=True)

    def of(self, config: Any, items: Iterable[Any]) -> dict[str, str]:
        """Everything that can change what the same tests say."""
        settings = dict(self._settings(config))
        # By the names of this version: what is old warns, and a project may take warnings for errors.
        file = config.inipath if hasattr(config, "inipath") else config.inifile
        top = config.rootpath if hasattr(config, "rootpath") else config.rootdir
        told = {
            "root directory": self.text(str(top)),
            # A file in which nothing is set for pytest decides nothing.
            "settings file": self.text(str(file)) if file and settings else "",
            "loaded by": ", ".join(sorted({loader_of(item) for item in items} - {""})),
        }
        told.update(settings)
        told.update(self._options(config))
        told.update(self._plugins(config.pluginmanager))
        return told

    def text(self, value: Any) -> str:
        """A value, without the folders of this run and without addresses."""
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=repr)
        said = value if isinstance(value, str) else repr(value)
        for place in self._hidden:
            said = said.replace(place, "…")
        said = said.replace(self._root + os.sep, "").replace(self._root, ".")
        said = re.sub(r"[^\s'\"]*/(?:site|dist)-packages/", "", said)
        return re.sub(r"\b0x[0-9a-f]{6,}", "0x…", said)[:TEXT_LIMIT]

    def _settings(self, config: Any) -> Iterator[tuple[str, str]]:
        told = config._inicfg if hasattr(config, "_inicfg") else config.inicfg  # noqa: SLF001 - as above
        for name, value in dict(told or {}).items():
            yield "setting " + str(name), self.text(getattr(value, "value", value))

    def _options(self, config: Any) -> Iterator[tuple[str, str]]:
        for name, value in vars(config.option).items():
            if not BY_CHANCE.search(name):
                yield "option " + name, self.text(value)

    def _plugins(self, manager: Any) -> Iterator[tuple[str, str]]:
        for name, plugin in manager.list_name_plugin():
            if plugin is None:
                yield "plugin " + str(name), "switched off"
            if plugin is None or name in OURS:
                continue
            file = file_of(plugin)
            is_of_tree = os.path.realpath(file).startswith(self._root + os.sep)
            # Who gives no name is called by a number that is another one in each run.
            known = type(plugin).__name__ if str(name).isdigit() else self.text(str(name))
            free = is_of_tree or "pytester" in known
            yield ("plugin of the tree " if free else "plugin ") + known, self.text(file)
            hooks = sorted(self._deciding(manager, plugin)) if is_of_tree else []
            if hooks:
                yield "deciding hooks of " + self.text(file), ", ".join(hooks)

    def _deciding(self, manager: Any, plugin: Any) -> Iterator[str]:
        for caller in manager.get_hookcallers(plugin) or ():
            if caller.name in DECIDING:
                yield caller.name


def file_of(plugin: Any) -> str:
    """The file of a plugin: a module, or an object of a class."""
    found = getattr(plugin, "__file__", None)
    if not isinstance(found, str):
        found = getattr(sys.modules.get(type(plugin).__module__), "__file__", None)
    return found if isinstance(found, str) else ""


def loader_of(item: Any) -> str:
    """What made the module of a test out of its file."""
    loader = getattr(getattr(item, "module", None), "__loader__", None)
    return type(loader).__module__ + "." + type(loader).__name__ if loader is not None else ""
