"""The verdict on a merge: what the task proved still holds on the merged tree, and nothing that passed on the
target fails there.
"""

from collections.abc import Collection
from dataclasses import dataclass

from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.gates.runs.stability import settle
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import compare, counted

_MOST_REASONS = 10


@dataclass(frozen=True, slots=True)
class MergeCase:
    """The two trees, and what the task has on record."""

    target_tree: str
    merged_tree: str
    promised: Collection[str]
    """The tests that the task's proof rests on."""
    flaky: frozenset[str] = frozenset()
    given_up: frozenset[str] = frozenset()
    """Old tests that the task superseded."""


def judge_merge(runner: PristineRunner, case: MergeCase) -> Verdict:
    """One run of each tree, and more only of what looks worse."""
    after = runner.run(case.merged_tree)
    if after.status != "ran":
        return Verdict("not_run", (f"the tests of the merged tree did not run: {after.reason}",), {})
    broken = [each for each in sorted(case.promised) if result_of(after, each).outcome != "passed"]
    if broken:
        lost = (f"{each} is {result_of(after, each).outcome} after the merge" for each in broken)
        return Verdict("failed", tuple(lost)[:_MOST_REASONS], {})
    before = runner.run(case.target_tree)
    if before.status != "ran":
        return Verdict("not_run", (f"the tests of the target did not run: {before.reason}",), {})
    worse = compare(before, after, case.flaky, case.given_up)
    settled = settle(runner.run, case.target_tree, case.merged_tree, worse)
    reasons = tuple(
        f"{item.id} passes on the target and is {item.after} after the merge: {item.message}"
        for item in settled.real
    )
    if reasons:
        return Verdict("failed", reasons[:_MOST_REASONS], {})
    return Verdict("passed", (), {"tests": counted(after, "tests pass")})
