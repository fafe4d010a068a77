"""How much of a change the tests run, from what a run of the suite executed. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentforge.catalog.exits import exit_numbers
from agentforge.languages.values import CoverageRun

MAX_RANGES = 6
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Covered:
    """How much of some lines was run."""

    lines: int
    """Those that can be executed at all."""
    run: int
    missing: Mapping[str, tuple[int, ...]]

    @property
    def percent(self) -> int:
        """Whole, rounded down; nothing to run is all of it."""
        return 100 * self.run // self.lines if self.lines else 100


def covered(
    run: CoverageRun,
    statements: Mapping[str, frozenset[int]],
    changed: Mapping[str, Collection[int]] | None = None,
) -> Covered:
    """The part of the changed lines that was run; without `changed`, of all lines of these files.
    `statements` are the lines of each file that can be executed.
    """
    lines, reached = 0, 0
    missing: dict[str, tuple[int, ...]] = {}
    for path, lines_there in statements.items():
        done = run.executed.get(path, frozenset())
        left = run.missing.get(path, frozenset()) if path in run.executed else lines_there
        if changed is not None:
            wanted = frozenset(changed.get(path, ()))
            done, left = done & wanted, left & wanted
        lines, reached = lines + len(done) + len(left), reached + len(done)
        if left:
            missing[path] = tuple(sorted(left))
    return Covered(lines, reached, missing)


def uncovered(found: Covered, limit: int | None = None, of: str = "the changed lines") -> list[str]:
    """What is too little: which lines of which file no test runs."""
    limit = exit_numbers().coverage_percent if limit is None else limit
    if found.percent >= limit:
        return []
    why = f"tests run {found.percent}% of {of}, {limit}% are needed: take out what no test needs"
    return [f"{path}: no test runs {_ranges(lines)}; {why}" for path, lines in sorted(found.missing.items())]


def added_lines(patch: bytes) -> frozenset[int]:
    """The numbers that the new lines of one file have after a patch."""
    found: set[int] = set()
    number = 0
    for line in patch.split(b"\n"):
        if (hunk := _HUNK.match(line)) is not None:
            number = int(hunk[1])
        elif number and line[:1] == b"+":
            found.add(number)
            number += 1
        elif number and line[:1] == b" ":
            number += 1
    return frozenset(found)


def _ranges(lines: Sequence[int]) -> str:
    starts = [lines[0], *(after for before, after in pairwise(lines) if after > before + 1)]
    ends = [*(before for before, after in pairwise(lines) if after > before + 1), lines[-1]]
    named = [
        str(start) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)
    ]
    more = f" and {len(named) - MAX_RANGES} more places" if len(named) > MAX_RANGES else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(named[:MAX_RANGES])}{more}"
