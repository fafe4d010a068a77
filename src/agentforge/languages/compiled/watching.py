"""Which lines of some files the tests of a compiled language run: the files get calls of ours
(`grammars/probes.py`) that append to a file, in the run's own copy of the tree.

Several tests of one run are told apart by running each of them alone.
"""

import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agentforge.languages.grammars.probes import with_probes
from agentforge.languages.outcomes import ALL, Lines, Reached, Watch

if TYPE_CHECKING:
    from agentforge.languages.compiled.running import Bench

VARIABLE = "AGENTFORGE_LINES"
MOST_APART = 12
"""Tests that are run alone to see what each of them runs; of more, nobody says it."""
_MOST_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class LineCalls:
    """How code of a language tells that a line runs."""

    call: Callable[[int], str]
    """The call with this number, without a sign at its end."""
    starts: re.Pattern[str]
    """Words of a test file that starts another program."""
    helper: Callable[[str, int], tuple[str, str]] | None = None
    """What is called, given the text of a file and how many numbers there are: the name of a file beside it,
    and what stands there. None where the call is complete.
    """


@dataclass(slots=True)
class WatchedCopy:
    """The copy of a tree in which files tell what runs."""

    bench: "Bench"
    watch: Watch
    calls: LineCalls
    _numbers: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)
    _runs: int = 0

    def lay(self) -> bool:
        """Put the calls into the files; False where there is nothing to watch."""
        helpers: dict[str, str] = {}
        for path in self.watch.files:
            text = self.bench.text(path)
            new, found = with_probes(text, path, self.calls.call, len(self._numbers))
            if not found or not self.bench.write(path, new):
                continue
            self._numbers |= {number: (path, lines) for number, lines in found.items()}
            helpers[str(PurePosixPath(path).parent)] = text
        for folder, text in helpers.items():
            if self.calls.helper is not None:
                name, helper = self.calls.helper(text, len(self._numbers))
                self.bench.write(f"{folder}/{name}", helper)
        self._begin()
        return bool(self._numbers)

    def reached(self, tests: Sequence[str], alone: Callable[[str], object]) -> Reached:
        """What was run: of one test, or of all together, by the run that was; else each is run `alone`.
        `tests` are the ids of all that ended.
        """
        together = self._lines()
        functions = list(dict.fromkeys(each.partition("[")[0] for each in tests))
        found: dict[str, Lines] = {}
        if self.watch.together:
            found = {ALL: together}
        elif not together or len(functions) <= 1:
            found = dict.fromkeys(functions, together)
        else:
            for identity in functions[:MOST_APART]:
                if time.monotonic() >= self.bench.deadline:
                    break
                self._begin()
                alone(identity)
                found[identity] = self._lines()
        files = {each.partition("::")[0] for each in functions}
        starting = {path for path in files if self._starts(path)}
        return Reached(
            found | {each: found[bare] for each in tests if (bare := each.partition("[")[0]) in found},
            setup={},
            children={},
            started=frozenset(each for each in tests if each.partition("::")[0] in starting),
            opened=frozenset(path for path in self.watch.data if self._is_named(path, files)),
            lost=frozenset(
                each for each in tests if each.partition("[")[0] not in found and ALL not in found
            ),
        )

    def _begin(self) -> None:
        self._runs += 1
        place = self.bench.out / f"lines-{self._runs}"
        self.bench.variables = {**self.bench.variables, VARIABLE: str(place)}

    def _lines(self) -> Lines:
        place = self.bench.out / f"lines-{self._runs}"
        if not place.is_file() or place.is_symlink() or place.stat().st_size > _MOST_BYTES:
            return {}
        found: dict[str, frozenset[int]] = {}
        for word in place.read_text(encoding="utf-8", errors="replace").split():
            if (known := self._numbers.get(int(word) if word.isdecimal() else -1)) is not None:
                found[known[0]] = found.get(known[0], frozenset()) | known[1]
        return found

    def _starts(self, path: str) -> bool:
        """Whether tests of this file, or what is set up for them beside it, may start a program."""
        beside = self.bench.found(f"{PurePosixPath(path).parent}/*{PurePosixPath(path).suffix}")
        return any(self.calls.starts.search(self.bench.text(each)) for each in {path, *beside})

    def _is_named(self, path: str, tests: Collection[str]) -> bool:
        """Whether code or tests may open a file: who opens it is not seen, its name is."""
        name = path.rpartition("/")[2]
        return any(name in self.bench.text(each) for each in {*self.watch.files, *tests})
