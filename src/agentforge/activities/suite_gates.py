"""The gates RED, GREEN and quality: what the suite and measurements say of a tree."""

from dataclasses import replace
from typing import TypeAlias

from agentforge.activities.base_suite import measured_base
from agentforge.activities.conformance import (
    NamedViolation,
    TreeConformance,
    named_violation,
    project_limit,
    tree_conformance,
)
from agentforge.activities.integration import with_integration
from agentforge.activities.judged_place import judged_place
from agentforge.activities.kinds import kind_of_change
from agentforge.activities.measure import compare_types
from agentforge.activities.proof import entry_of, weighed
from agentforge.activities.world import World, record_refs
from agentforge.catalog.exits import COMPLEXITY
from agentforge.catalog.modes import mode_named
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.core.values import ArtifactRef
from agentforge.gates.change.kind import claimed, red_for_kind
from agentforge.gates.change.named import NamedCase, named_flags
from agentforge.gates.green import MAX_REASONS, GreenCase, judge_green
from agentforge.gates.quality import QualityCase, judge_quality
from agentforge.gates.ratchets import NOT_CONFIGURED
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.suite.not_checked import outside_suite, suite_gaps
from agentforge.gates.verdict import Verdict
from agentforge.languages.tests import is_run
from agentforge.languages.values import CheckRun

Ruling: TypeAlias = tuple[Verdict, tuple[ArtifactRef, ...]]
"""A verdict, and the artifacts that stand with it."""


def red(world: World, state: RunView) -> Ruling:
    """The gate RED: the new tests fail on the base, each for its own reason."""
    verdict = run_red(world, state)
    if isinstance(red_tree := verdict.record.get("red_tree"), str) and red_tree != state.tree:
        world.workspace.keep(
            red_tree
        )  # made by us and in no commit: later gates, and whoever verifies, need it again
    return verdict, ()


def run_red(world: World, state: RunView) -> Verdict:
    """The red proof of a run's tests; also for whoever verifies it later."""
    run = state.run
    documents = world.parts(state)
    world.progress("proving that the new tests fail on the base")
    together = "green" in state.stage.gates  # tests and what they are about come from one stage
    # What was handed in with the request is in the tree already when the first stage begins.
    entry = state.base_tree if together or not state.accepted else entry_of(world, state)
    baseline = measured_base(world, state)
    case = RedCase(
        entry,
        state.tree,
        documents.get("tests", {}),
        documents.get("requirements", {}),
        same_author=together,
        request=state.request,
        began_with="" if entry == run.entry_tree or together or not state.accepted else run.entry_tree,
        old=frozenset(baseline.tests.results),
        baseline=baseline.tests,
        flaky=baseline.flaky,
        imported=state.stage.role is None,
    )
    if outside := outside_suite(case.suite, world.plan(state).suite_paths):
        return Verdict("failed", tuple(outside), {})
    change = kind_of_change(world, state)
    case = red_for_kind(case, change)
    proved = claimed(case, change, prove_red(world.pristine_runner(state), case))
    return weighed(world, state, case, proved)


def known_green(world: World, state: RunView) -> Verdict | None:
    """The verdict of an earlier run, if it judged this very tree by the same tests and against the same
    baseline.
    """
    record = world.records(state).get("green", {})
    same = _compared_with(state)
    if record.get("tree") != state.tree or any(record.get(name) != value for name, value in same.items()):
        return None
    kept = {name: value for name, value in record.items() if name not in ("gate", "status", "reasons")}
    return Verdict("passed", (), {**kept, "reused": True})


def green(world: World, state: RunView) -> Ruling:
    """The gate GREEN: the new tests pass, and nothing is worse than it was."""
    return with_integration(world, state, known_green(world, state) or run_green(world, state)), ()


def run_green(world: World, state: RunView) -> Verdict:
    """The green verdict on a run's tree; also for whoever verifies it later."""
    change = kind_of_change(world, state, world.records(state)["red"])
    if (refused := change.refusal()) is not None:
        return refused
    world.progress("running the whole suite on a pristine checkout")
    baseline = measured_base(world, state)
    documents = world.parts(state)
    changed = [
        change.path
        for change in world.workspace.git.diff_names(state.base_tree, state.tree)
        if change.status != "D"
    ]
    after = CheckRun(baseline.lint.status, baseline.lint.reason)
    if baseline.lint.status == "ran":
        place = judged_place(world, state, state.tree)
        after = world.language(state).runs.lint(world.sandbox, world.environment(state), place, changed)
    types_before, types_after = compare_types(world, state, changed)
    case = GreenCase(
        state.base_tree,
        state.tree,
        world.records(state)["red"],
        documents.get("tests", {}),
        baseline.tests,
        baseline.flaky,
        baseline.lint,
        after,
        types_before,
        types_after,
        request=state.request,
        mutants=mode_named(state.pipeline.mode).mutants,
        strict=_strict(world),
    )
    verdict = change.recorded(judge_green(world.pristine_runner(state), change.prepared(case)))
    found = tree_conformance(world, state, state.tree, changed, "every_edit")
    verdict = _with_conformance(verdict, found)
    if (named := named_violation(world, state)) is not None:
        verdict = _settled(verdict, named)
    gaps = suite_gaps(world.plan(state).not_run, baseline.tests, verdict.record)
    gaps |= {f"checks of {path}": "not run: it cannot be parsed" for path in found.report.unread}
    return replace(verdict, record={**verdict.record, **_compared_with(state), "not_checked": gaps})


def _settled(verdict: Verdict, named: NamedViolation) -> Verdict:
    """The verdict on a task that is to settle a violation: its check must be clean there now."""
    reasons = (*verdict.reasons, *named.reasons)[:MAX_REASONS]
    status = "failed" if named.reasons and verdict.status == "passed" else verdict.status
    return replace(
        verdict, status=status, reasons=reasons, record={**verdict.record, "violation": named.to_json()}
    )


def _with_conformance(verdict: Verdict, found: TreeConformance) -> Verdict:
    """The verdict with what the checks found: passed only if something ran and nothing new is wrong."""
    if verdict.status == "not_run":
        return verdict
    linted = verdict.record.get("conformance_passing")
    missing = verdict.record.get("not_run")
    # A linter that nobody configured is no gap; one that was left out is.
    left_out = isinstance(missing, dict) and any(
        name.startswith("lint") and said != NOT_CONFIGURED for name, said in missing.items()
    )
    kept = None if left_out or not (found.ran or linted) else linted is not False
    record = {
        **verdict.record,
        "conformance_passing": False if found.reasons else kept,
        "conformance": found.to_json(),
    }
    reasons = (*verdict.reasons, *(f"conformance: {line}" for line in found.reasons))[:MAX_REASONS]
    return replace(verdict, status="failed" if reasons else verdict.status, reasons=reasons, record=record)


def _compared_with(state: RunView) -> dict[str, Json]:
    """What a tree is compared with for a green verdict: the proof of RED and the baseline."""
    return {"red": record_refs(state).get("red"), "baseline": state.baseline.ref if state.baseline else None}


def quality(world: World, state: RunView) -> Ruling:
    """The gate of quality: complexity, copies, coverage and lengths of what changed."""
    known = world.records(state).get("quality", {})
    if known.get("tree") == state.tree == state.run.entry_tree:  # the stage before was measured, and stands
        kept = {name: value for name, value in known.items() if name not in ("gate", "status", "reasons")}
        return Verdict("passed", (), kept), ()
    world.progress("measuring complexity, copies and coverage of the change")
    documents = world.parts(state)
    case = QualityCase(
        state.base_tree,
        state.run.entry_tree,
        state.tree,
        _strict(world),
        _affected(world, state),
        project_limit(world, state, COMPLEXITY),
    )
    verdict = _with_lengths(judge_quality(world.pristine_runner(state), case), world, state)
    named = NamedCase(
        world.workspace.git,
        state.base_tree,
        state.tree,
        world.is_test(state),
        world.language(state),
        documents.get("requirements", {}),
        documents.get("tests", {}),
        state.request,
    )
    flags: list[Json] = [flag.to_json() for flag in named_flags(named)]
    return replace(verdict, record={**verdict.record, "flags": flags}), ()


def _with_lengths(verdict: Verdict, world: World, state: RunView) -> Verdict:
    """What only the end of a phase looks at, beside complexity, copies and coverage."""
    changes = world.workspace.git.diff_names(state.base_tree, state.tree)
    changed = [change.path for change in changes if change.status != "D"]
    found = tree_conformance(world, state, state.tree, changed, None)
    late = [each for each in found.weighed.blocking if each.contract == "quality_contracts"]
    if verdict.status == "not_run" or not late:
        return verdict
    lines = (f"{each.path}:{each.line}: {each.check}: {each.message}" for each in late)
    return replace(verdict, status="failed", reasons=(*verdict.reasons, *lines)[:MAX_REASONS])


def _affected(world: World, state: RunView) -> tuple[str, ...]:
    """The test files that can run a changed line: those of this task, and the old ones that import it."""
    is_test = world.is_test(state)
    changes = world.workspace.git.diff_names(state.base_tree, state.tree)
    paths = [change.path for change in changes if change.status != "D"]
    reach = world.reach(state, paths)
    return tuple(dict.fromkeys((*filter(is_run, filter(is_test, paths)), *(reach.tests if reach else ()))))


def _strict(world: World) -> bool:
    return bool(world.settings.get("strict", False))
