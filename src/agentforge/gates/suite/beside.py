"""What new tests do to old ones: with nothing but tests added, the suite of the base does what it did."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentforge.gates.runs.frames import set_up_otherwise
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.runs.stability import differing, settle
from agentforge.gates.suite.renamed_tests import lost_on_the_way, renamed_tests
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.languages.outcomes import TestRun

if TYPE_CHECKING:
    from agentforge.gates.red import RedCase


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Old tests that do something else, and those that never did the same."""

    reasons: tuple[str, ...] = ()
    flaky: frozenset[str] = frozenset()


def disturbance(runner: PristineRunner, case: "RedCase", run: TestRun, tree: str) -> Disturbance:
    """How the base's suite differs when the new tests stand beside it, the given-up ones aside."""
    if case.baseline is None:
        return Disturbance()
    name = runner.language.tests.RUNNER
    if odd := set_up_otherwise(case.baseline, run, case.request, name):
        return Disturbance(tuple(odd))
    if patched := sorted(set(run.patched) - set(case.baseline.patched)):
        parts = ", ".join(patched[:3])
        return Disturbance((f"the new tests replace parts of {name} ({parts}); test without that",))
    base = runner.workspace.git.tree_of(runner.base_commit)
    known = case.baseline.results
    renamed = renamed_tests(runner, case.base_tests or base, tree, known)
    disputed = differing(case.baseline, run, case.flaky, superseded_ids(case.suite) | renamed.keys())
    settled = settle(runner.run, base, tree, disputed)
    reasons = lost_on_the_way(run, case.baseline, renamed)
    reasons += [
        f"{item.id} is {item.before} on the base and {item.after} with the new tests beside it: "
        f"{item.message or 'no failure'}; what is added for new tests changes nothing for old ones"
        for item in settled.real
        if item.id not in settled.became_unstable  # nothing was changed that it tests; green asks again
    ]
    return Disturbance(tuple(reasons), settled.flaky)
