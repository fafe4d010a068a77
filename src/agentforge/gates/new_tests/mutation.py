"""Mistakes put into a tree on purpose: which of them do some tests notice?"""

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.languages.measures import mutants
from agentforge.languages.outcomes import GOOD, TestRun, covering
from agentforge.languages.symbols import decode
from agentforge.languages.values import Mutant

MUTANTS = 20
"""Mistakes that are tried at most."""
SECONDS = 60
"""Time for all of them."""
LEAST_SECONDS = 5.0
"""What a wrong version has at least before it counts as one that never ends."""
_PATIENCE = 5
"""How many times longer than the right code a wrong one may take."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, and what the tests made of it."""

    path: str
    line: int
    what: str
    found: Literal["killed", "survived", "not run"]
    killed_by: tuple[str, ...] = ()
    """Ids of the tests that fail with it, and only with it."""

    def to_json(self) -> dict[str, Json]:
        """The mistake as JSON data."""
        return {
            "place": f"{self.path}:{self.line}",
            "what": self.what,
            "found": self.found,
            "killed_by": [*self.killed_by],
        }


@dataclass(frozen=True, slots=True)
class MutationRun:
    """The mistakes that were tried, and which of them no test noticed."""

    mistakes: tuple[Mistake, ...]
    reason: str = ""
    """Why not all of them were tried, or none."""

    def killers(self) -> frozenset[str]:
        """The tests that noticed a mistake."""
        return frozenset(identity for mistake in self.mistakes for identity in mistake.killed_by)

    def flags(self) -> list[Flag]:
        """The mistakes that no test noticed."""
        return [
            Flag(f"{item.path}:{item.line}", f"no new test notices if the code {item.what}")
            for item in self.mistakes
            if item.found == "survived"
        ]

    def to_json(self) -> dict[str, Json]:
        """The run as JSON data."""
        return {"reason": self.reason, "mistakes": [mistake.to_json() for mistake in self.mistakes]}


def mutation_lines(record: object) -> list[str]:
    """What the record says, in words: one line, and one for each mistake that nobody noticed."""
    rows = objects(record, "mistakes")
    if not isinstance(record, dict):
        return []
    killed = sum(1 for row in rows if row.get("found") == "killed")
    left = [row for row in rows if row.get("found") == "survived"]
    why = f" ({record['reason']})" if record.get("reason") else ""
    return [
        f"the new tests notice {killed} of {len(rows)} mistakes put into the change{why}",
        *(f"not noticed: {row.get('place')} if the code {row.get('what')}" for row in left),
    ]


def try_mutants(  # noqa: PLR0913 - the facts of one trial
    runner: PristineRunner,
    tree: str,
    lines: Mapping[str, Collection[int]],
    ids: Sequence[str],
    *,
    right: TestRun | None = None,
    limit: int = MUTANTS,
    seconds: float = SECONDS,
    least_seconds: float = LEAST_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> MutationRun:
    """Put mistakes into these lines of a tree, one at a time, and run `ids` on each. The tree decides which.

    `right` is what `ids` do without a mistake, if that is known already. These runs are no evidence of
    anything else, so they are not among the runner's.
    """
    drawn = _drawn(runner, tree, lines, limit)
    if not drawn or not ids:
        return MutationRun(
            (), "no line of the change can be made wrong" if ids else "there is no test to run"
        )
    end = clock() + seconds
    apart = replace(runner, runs=[], timeout_s=min(runner.timeout_s, seconds))
    right = right or apart.run(tree, ids)
    if right.status != "ran":
        return MutationRun((), right.reason)
    longest = max(least_seconds, _PATIENCE * right.duration_ms / 1000)
    tried: list[Mistake] = []
    for path, mutant in drawn:
        left = end - clock()
        if left < 1:
            break
        hurried = replace(apart, timeout_s=min(longest, left, runner.timeout_s))
        wrong = runner.workspace.git.overlay_tree(tree, {path: _blob(runner, tree, path, mutant)})
        tried.append(_judged(path, mutant, right, hurried.run(wrong, ids), longest))
    missed = len(drawn) - len(tried)
    return MutationRun(tuple(tried), f"{missed} more were not tried in {seconds:.0f} s" if missed else "")


def _drawn(
    runner: PristineRunner, tree: str, lines: Mapping[str, Collection[int]], limit: int
) -> list[tuple[str, Mutant]]:
    found: list[tuple[str, Mutant]] = []
    for path in sorted(lines):
        data = runner.workspace.git.read_blob(tree, path)
        text = decode(data or b"", path)
        if data is not None and text.encode() == data:  # else we could not write it back as it was
            found += [
                (path, mutant) for mutant in mutants(text, path, lines[path], limit=limit, seed=tree + path)
            ]
    return found if len(found) <= limit else sorted(random.Random(tree).sample(found, limit))  # noqa: S311 - repeatable


def _blob(runner: PristineRunner, tree: str, path: str, mutant: Mutant) -> tuple[str, str]:
    git = runner.workspace.git
    mode = next(entry.mode for entry in git.ls_tree(tree) if entry.path == path)
    return mode, git.hash_blob(mutant.text.encode())


def _judged(path: str, mutant: Mutant, right: TestRun, wrong: TestRun, longest: float) -> Mistake:
    """A test notices what makes it fail, and what keeps it from ending."""
    passing = [identity for identity, result in right.results.items() if result.outcome in GOOD]
    asked = [
        identity
        for identity in passing
        if not right.ids or not frozenset(right.ids).isdisjoint(covering(identity))
    ]
    place = Mistake(path, mutant.line, mutant.what, "not run")
    if path in wrong.collect_errors:  # it is no program: nobody had to notice
        return place
    if wrong.status != "ran":
        hangs = wrong.duration_ms >= 1000 * longest
        return replace(place, found="killed", killed_by=tuple(asked)) if hangs else place
    killers = tuple(identity for identity in asked if result_of(wrong, identity).outcome not in GOOD)
    return replace(place, found="killed" if killers else "survived", killed_by=killers)
