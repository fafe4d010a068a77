"""Examples in documentation that the project's tests check: one that passed on the base is an old test.

They stand in the files of the code, so the base's copy cannot be run on the new code. They are compared by
what they say, and given up by their exact id alone.
"""

from collections import Counter
from collections.abc import Mapping

from agentforge.core.reply import Json
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.languages.outcomes import TestRun


def lost_examples(
    runner: PristineRunner, base: str, tree: str, suite: Mapping[str, Json], baseline: TestRun
) -> list[str]:
    """What passed on the base and says less now, a sentence each; more lines may be added to any."""
    git, examples_of = runner.workspace.git, runner.language.tests.examples_of
    given_up = superseded_ids(suite)
    passed: dict[str, list[str]] = {}
    for identity, result in sorted(baseline.results.items()):
        if result.outcome == "passed" and identity not in given_up:
            passed.setdefault(identity.partition("::")[0], []).append(identity)
    reasons = []
    for change in git.diff_names(base, tree):
        if change.path not in passed:
            continue
        before, after = (
            (git.read_blob(each, change.path) or b"").decode("utf-8", "replace") for each in (base, tree)
        )
        for identity in passed[change.path]:
            old = examples_of(before, identity)
            lost = Counter(old or ()) - Counter(examples_of(after, identity) or ())
            if lost:
                reasons.append(
                    f"weakened: {identity} lost {lost.total()} example(s), first `{next(iter(lost))[:160]}`; "
                    "examples that passed stay as they are, unless `supersedes` names the id"
                )
    return reasons
