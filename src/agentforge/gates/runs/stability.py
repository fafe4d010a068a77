"""Outcomes in dispute: a test that differs from the base is run again, on both trees, and nothing else is.

What is unstable on the base counts for nobody. What was stable there and is not any more counts against the
change.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.languages.outcomes import Outcome, Regression, TestRun, absent

Run: TypeAlias = Callable[[str, Sequence[str]], TestRun]
"""Runs these tests on a tree."""
REPEATS = 2
"""With the run that began the dispute, three observations."""
MORE_ON_BASE = 8
"""Where a test wobbles now, how often the base is asked whether it always did."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Which tests really became worse, and which gave two outcomes in repeated runs."""

    real: tuple[Regression, ...] = ()
    """Worse than on the base, for sure or from time to time."""
    flaky: frozenset[str] = frozenset()
    """Unstable on the base."""
    became_unstable: frozenset[str] = frozenset()
    """Stable on the base in every run, and unstable now."""

    def __add__(self, other: "Settled") -> "Settled":
        return Settled(
            (*self.real, *other.real),
            self.flaky | other.flaky,
            self.became_unstable | other.became_unstable,
        )


def settle(run: Run, base_tree: str, tree: str, disputed: Sequence[Regression]) -> Settled:
    """Run what is in dispute again on both trees."""
    if not disputed:
        return Settled()
    ids = [item.id for item in disputed]
    now: dict[str, list[Outcome]] = {item.id: [item.after] for item in disputed}
    before: dict[str, list[Outcome]] = {item.id: [item.before] for item in disputed}
    # What the whole suite leaves out is found if one asks for it by name: that is no second opinion.
    found = [item.id for item in disputed if item.after != "missing"]
    # An id may hold a moment, or chance: the base may not have it a second time. Asked for by name, such a
    # test stops the run, so its whole file is run.
    gone = [_file_of(item.id) for item in disputed if item.after == "missing"]
    for _ in range(REPEATS):
        if found:
            _observe(run(tree, found), now)
            _observe(run(base_tree, found), before)
        if gone:
            _observe(run(base_tree, list(dict.fromkeys(gone))), before)
    for _ in range(MORE_ON_BASE):
        open_ids = [identity for identity in ids if _varies(now, identity) and not _varies(before, identity)]
        if not open_ids:
            break
        _observe(run(base_tree, open_ids), before)
    flaky = frozenset(identity for identity in ids if _varies(before, identity))
    became = frozenset(identity for identity in ids if _varies(now, identity)) - flaky
    real = [
        replace(item, message=_wobbling(item, before, now)) if item.id in became else item
        for item in disputed
        if item.id not in flaky
    ]
    return Settled(tuple(real), flaky, became)


def differing(
    baseline: TestRun, now: TestRun, flaky: frozenset[str], excused: frozenset[str]
) -> list[Regression]:
    """Every test of the base whose outcome is another one, better or worse."""
    found = []
    for identity, before in sorted(baseline.results.items()):
        after = now.results.get(identity) or absent(identity, now.collect_errors)
        if before.outcome != after.outcome and identity not in flaky | excused:
            found.append(Regression(identity, before.outcome, after.outcome, after.message))
    return found


def unlike(runs: Sequence[TestRun], ids: Iterable[str]) -> list[str]:
    """The tests that did not end alike in all of these runs, one sentence each."""
    return [
        f"{identity}: {result_of(runs[0], identity).outcome} in one run, "
        f"{result_of(run, identity).outcome} in another"
        for identity in ids
        for run in runs[1:]
        if result_of(run, identity).outcome != result_of(runs[0], identity).outcome
    ]


def wobbling(runner: PristineRunner, tree: str, run: TestRun, tests: Collection[str]) -> list[str]:
    """New tests that did not end alike when they ran alone: where somebody ran them so already, from that
    run.
    """
    seen: dict[str, Json] = {}
    for row in runner.runs:
        outcomes = row["outcomes"]
        if row["tree"] == tree and row["ids"] and row["status"] == "ran" and isinstance(outcomes, dict):
            seen |= {identity: outcomes[identity] for identity in tests if identity in outcomes}
    if left := sorted(set(tests) - set(seen)):
        again = runner.run(tree, left)
        seen |= {identity: result_of(again, identity).outcome for identity in left}
    return [
        f"{identity}: {result_of(run, identity).outcome} in one run, {outcome} in another"
        for identity, outcome in seen.items()
        if outcome != result_of(run, identity).outcome
    ]


def excuses(flaky: Iterable[str]) -> list[Flag]:
    """What counts for nobody, for those who read the verdict."""
    return [
        Flag(identity, "It does not always end the same way on the base, so its outcome is not counted.")
        for identity in sorted(flaky)
    ]


def _observe(run: TestRun, seen: Mapping[str, list[Outcome]]) -> None:
    """A run that did not count says nothing."""
    if run.status == "ran":
        for identity in seen:
            if not run.ids or identity in run.ids or _file_of(identity) in run.ids:
                seen[identity].append(result_of(run, identity).outcome)


def _file_of(identity: str) -> str:
    return identity.partition("::")[0]


def _varies(seen: Mapping[str, Sequence[Outcome]], identity: str) -> bool:
    return len(set(seen[identity])) > 1


def _wobbling(
    item: Regression, before: Mapping[str, Sequence[Outcome]], now: Mapping[str, Sequence[Outcome]]
) -> str:
    return (
        f"it became unstable ({', '.join(now[item.id])} now; {len(before[item.id])} times {item.before} on "
        f"the base): {item.message}"
    ).removesuffix(": ")
