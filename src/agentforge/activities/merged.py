"""A task's branch in the user's own line of work: its proof, held against the tree that a merge makes."""

from typing import Any

from agentforge.activities.world import World
from agentforge.core.state import State
from agentforge.gates.merged import MergeCase, judge_merge
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.gates.verdict import Verdict


def judge_merged_tree(world: World, state: State, target_tree: str, merged_tree: str) -> Verdict:
    """Runs the tests of both trees, in the sandbox, each in the environment that it asks for."""
    records: dict[str, Any] = dict(world.records(state))
    red = records.get("red", {})
    flaky = {*world.baseline_record(state).flaky, *red.get("flaky", ())} if state.baseline else set()
    case = MergeCase(
        target_tree,
        merged_tree,
        promised=frozenset(red.get("tests", ())),
        flaky=frozenset(flaky),
        given_up=superseded_ids(world.parts(state).get("tests", {})),
    )
    return judge_merge(world.pristine_runner(state), case)
