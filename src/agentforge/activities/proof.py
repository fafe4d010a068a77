"""What the gate `red` weighs beside the proof itself: the tree it starts from when tests were opened again,
the checks of the test files, and what people and reviewers must rule on.
"""

from dataclasses import replace

from agentforge.activities.base_suite import measured_base
from agentforge.activities.measure import compare_types
from agentforge.activities.world import World
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import Flag
from agentforge.gates.new_tests.amendments import amendment_flags
from agentforge.gates.red import MAX_REASONS, RedCase
from agentforge.gates.red_checks import check_problems
from agentforge.gates.suite.justified import asked_about, question_about, unjustified
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.gates.verdict import Verdict
from agentforge.languages.values import CheckRun

_SAID_BY = {"role": "a later role", "review": "the review", "person": "a person"}


def entry_of(world: World, state: RunView) -> str:
    """The tree that tests are proved on: what the stage began with. Where tests are proved again, what it
    began with then, because code may be there by now.
    """
    earlier = world.records(state).get("red")
    return state.run.entry_tree if earlier is None else str(earlier.get("entry_tree") or state.base_tree)


def weighed(world: World, state: RunView, case: RedCase, verdict: Verdict) -> Verdict:
    """The verdict, once the test files are clean and nothing is given up that nobody asked for."""
    red_tree = verdict.record.get("red_tree")
    if verdict.status != "passed" or not isinstance(red_tree, str):
        return verdict
    if wrong := _unclean(world, state, case, red_tree):
        return replace(verdict, status="failed", reasons=tuple(wrong[:MAX_REASONS]))
    if (asks := _given_up(world, state, case, red_tree)) is not None:
        return asks
    flags = [*amendment_flags(case.suite), *_reopened(state)]
    kept: list[Json] = [*objects(verdict.record, "flags"), *(flag.to_json() for flag in flags)]
    return replace(verdict, record={**verdict.record, "entry_tree": case.entry_tree, "flags": kept})


def _unclean(world: World, state: RunView, case: RedCase, red_tree: str) -> list[str]:
    """Lint and types of the test files. Where tests and code come together, GREEN judges both."""
    if case.same_author:
        return []
    is_test = world.is_test(state)
    changes = world.workspace.git.diff_names(case.entry_tree, red_tree)
    paths = [change.path for change in changes if change.status != "D" and is_test(change.path)]
    before = measured_base(world, state).lint
    after = CheckRun(before.status, before.reason)
    if before.status == "ran":
        place = world.workspace.pristine(red_tree, state.base_commit)
        after = world.language(state).runs.lint(world.sandbox, world.environment(state), place, paths)
    types = compare_types(world, state, paths, red_tree)
    return check_problems((before, after), types, case.specification, is_test)


def _given_up(world: World, state: RunView, case: RedCase, red_tree: str) -> Verdict | None:
    """Why old tests may not be given up yet: a person wants them kept, or has to be asked."""
    allowed, kept = asked_about(state.escalations)
    if refused := sorted(superseded_ids(case.suite) & kept):
        lines = tuple(
            f"`{identity}`: a person wants this old test kept; take it out of supersedes and put it back as "
            "it was"
            for identity in refused[:MAX_REASONS]
        )
        return Verdict("failed", lines, {})
    runner = world.pristine_runner(state)
    words = "\n".join(
        [state.request, *(item.answer or "" for item in state.escalations if not item.question.about)]
    )
    if ids := [name for name in unjustified(runner, case.suite, words, red_tree) if name not in allowed]:
        reasons = tuple(
            f"`{identity}`: the request does not say that this test changes" for identity in ids[:MAX_REASONS]
        )
        return Verdict("failed", reasons, {}, question_about(runner, red_tree, case.suite, ids))
    return None


def _reopened(state: RunView) -> list[Flag]:
    """Locked tests that were opened again: whoever approves knows why, and rules on what a role asked for."""
    return [
        Flag(
            about,
            f"was locked and opened again, because {_SAID_BY[why.by]} said: {why.reason}",
            ruling=why.by == "role",
        )
        for why in state.reopenings
        for about in why.tests or ("tests",)
    ]
