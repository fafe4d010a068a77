"""Which lines of some files run while a test of JavaScript runs, whatever its runner: the files get calls of
ours (`grammars/probes.py`), the test files hooks that tell whose they are.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from agentforge.languages.grammars.probes import with_probes
from agentforge.languages.node.canaries import CANARY
from agentforge.languages.node.manifest import Runner
from agentforge.languages.node.scan import SEPARATOR, clean, masked
from agentforge.languages.outcomes import Lines, Reached, Watch

_NAME = "ranForAgentforge"
_HEAD = re.compile(r"\A(?:#![^\n]*\n)?(?:\s+|//[^\n]*\n|/\*.*?\*/)*(?:(['\"])use \w+\1;?[ \t]*)?", re.DOTALL)
_STARTS = re.compile(r"child_process|worker_threads|execa|cross-spawn|\bspawn|\bfork\s*\(|\bzx\b")
"""Words of a test file that starts something else."""
_HOOKS: Mapping[Runner, tuple[str, str, str]] = {
    # In a module, in a script, and where the text does not say which of them it is.
    "node": (
        'import { beforeEach as __afB, afterEach as __afF } from "node:test";',
        'const { beforeEach: __afB, afterEach: __afF } = require("node:test");',
        'const { beforeEach: __afB, afterEach: __afF } = process.getBuiltinModule("node:test");',
    ),
    "vitest": ('import { beforeEach as __afB, afterEach as __afF } from "vitest";',) * 3,
}
_GLOBAL_HOOKS = (
    'const __afB = Reflect.get(globalThis, "beforeEach") ?? Reflect.get(globalThis, "setup"), '
    '__afF = Reflect.get(globalThis, "afterEach") ?? Reflect.get(globalThis, "teardown");'
)
_MOST_BYTES = 64_000_000
_IS_MODULE = re.compile(r"(?m)^\s*(?:import|export)\b")
_IS_SCRIPT = re.compile(r"\brequire\s*\(")


@dataclass(slots=True)
class NodeWatch:
    """One run that is watched: the texts of its files, and what they told."""

    watch: Watch
    tree: Path
    place: Path
    """The file that tests append to."""
    child: Path
    """What processes of tests load first."""
    texts: dict[str, str] = field(default_factory=dict)
    """The watched files with their calls, by path."""
    _numbers: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.watch.files:
            place = self.tree / path
            if not place.is_file() or place.is_symlink():
                continue
            data = place.read_bytes()
            text = data.decode("utf-8", "replace")
            if text.encode() != data:
                continue
            new, found = with_probes(text, path, _call, len(self._numbers))
            if found:
                self.texts[path] = _in_first_line(new, _PREPARES)
                self._numbers |= {number: (path, lines) for number, lines in found.items()}

    def hooked(self, text: str, path: str, runner: Runner) -> str:
        """A file of tests with our hooks in its first line of code."""
        code = masked(text)
        module, script, either = _HOOKS.get(runner, (_GLOBAL_HOOKS,) * 3)
        begin = module if _IS_MODULE.search(code) else script if _IS_SCRIPT.search(code) else either
        told = json.dumps(
            {
                "file": path,
                "place": str(self.place),
                "name": _NAME,
                "runner": runner,
                "make": _source("ran.js"),
                "child": str(self.child) if self.watch.children else "",
            }
        )
        body = json.dumps(_source("lines.js"))
        return _in_first_line(
            text, f'{begin} new Function("told", "before", "after", {body})({told}, __afB, __afF); '
        )

    def reached(self, ids: Collection[str], files: Sequence[str]) -> Reached | None:
        """What tests ran, given the ids of all that ended and their files; None where nothing was told."""
        rows = [*self._rows()]
        loaded = {self._relative(str(row["loaded"])) for row in rows if "loaded" in row}
        if not loaded:
            return None
        tests: dict[str, Lines] = {key: {} for key in ids if key.partition(SEPARATOR)[0] in loaded}
        children: dict[str, Lines] = {}
        titles: dict[tuple[str, str], list[str]] = {}
        for key in tests:
            for title in _titles_of(key):
                titles.setdefault((key.partition(SEPARATOR)[0], title), []).append(key)
        for row in rows:
            names = [clean(str(name)) for name in row.get("names", ())]
            if not names or names[-1].startswith(CANARY):
                continue
            for key in titles.get((self._relative(str(row["file"])), _joined(names)), ()):
                tests[key] = _more(tests[key], self._lines(row["ran"]))
                if row.get("child"):
                    children[key] = _more(children.get(key, {}), self._of_children(str(row["child"])))
        starting = {path for path in files if _STARTS.search(self._text(path))}
        return Reached(
            tests,
            setup={},
            children=children,
            started=frozenset(key for key in ids if key.partition(SEPARATOR)[0] in starting),
            opened=frozenset(path for path in self.watch.data if self._is_named(path)),
            lost=frozenset(key for key in ids if key not in tests),
            loading=self._lines([number for row in rows for number in row.get("loading", ())]),
        )

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        if not self.place.is_file() or self.place.stat().st_size > _MOST_BYTES:
            return
        for line in self.place.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row

    def _lines(self, numbers: object) -> Lines:
        found: dict[str, frozenset[int]] = {}
        for number in numbers if isinstance(numbers, list) else ():
            if (known := self._numbers.get(number)) is not None:
                found[known[0]] = found.get(known[0], frozenset()) | known[1]
        return found

    def _of_children(self, place: str) -> Lines:
        written = self.place.with_name(Path(place).name)
        if not written.is_file() or written.stat().st_size > _MOST_BYTES:
            return {}
        return self._lines([int(line) for line in written.read_text().split() if line.isdigit()])

    def _relative(self, path: str) -> str:
        return path.removeprefix("file://").removeprefix(f"{self.tree}/")

    def _text(self, path: str) -> str:
        place = self.tree / path
        inside = place.is_file() and place.resolve().is_relative_to(self.tree)
        return place.read_text(encoding="utf-8", errors="replace") if inside else ""

    def _is_named(self, path: str) -> bool:
        """Whether the watched code may open a file: who opens it is not seen, its name is."""
        name = path.rpartition("/")[2]
        return any(name in self._text(each) for each in self.watch.files)


def _call(number: int) -> str:
    return f'Reflect.get(globalThis,"{_NAME}")?.({number})'


def _source(name: str) -> str:
    return resources.files("agentforge.languages.node").joinpath("judge", name).read_text("utf-8")


def _in_first_line(text: str, said: str) -> str:
    """A text with something in front of its first line of code; what must stay at the top stays there."""
    head = _HEAD.match(text)
    at = head.end() if head else 0
    # `"use strict"` may end with its line.
    return f"{text[:at]}{';' if head and head[1] else ''}{said}{text[at:]}"


_PREPARES = (
    f'Reflect.get(globalThis,"{_NAME}")||Reflect.set(globalThis,"{_NAME}",'
    f"new Function({json.dumps(_source('ran.js'))})());"
)
"""A watched file may run before the test file that loads it."""


def _titles_of(key: str) -> set[str]:
    """The whole title of a test as runners join it, also if it is a case of one."""
    *above, last = [re.sub(r"#\d+$", "", name) for name in key.split(SEPARATOR)[1:]] or [""]
    case = re.fullmatch(r".*?\[(.*)\]", last, re.DOTALL)
    return {_joined([*above, last]), *([_joined([*above, case[1]])] if case else [])}


def _joined(names: Sequence[str]) -> str:
    """Titles one after the other; runners put different signs between them."""
    return " ".join(names).replace(" > ", " ")


def _more(first: Lines, second: Lines) -> Lines:
    paths = {*first, *second}
    return {path: first.get(path, frozenset()) | second.get(path, frozenset()) for path in paths}
