"""`Judge`: one gate's verdict. Only what the engine ran or computed itself goes into it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from agentforge.activities.act import ABOUT_THE_BASE
from agentforge.activities.base_suite import measured_base
from agentforge.activities.conformance import (
    NamedViolation,
    TreeConformance,
    named_violation,
    project_limit,
    tree_conformance,
)
from agentforge.activities.debating import judge_arguments
from agentforge.activities.dependencies import dependency_problems
from agentforge.activities.examining import judge_checks
from agentforge.activities.integration import with_integration
from agentforge.activities.judged_place import judged_place
from agentforge.activities.kinds import kind_of_change, owes_failing_test
from agentforge.activities.measure import compare_types
from agentforge.activities.proof import entry_of, weighed
from agentforge.activities.reviewing import flags_to_rule_on, judge_reviews
from agentforge.activities.world import Document, World, record_refs
from agentforge.catalog.exits import COMPLEXITY
from agentforge.catalog.modes import mode_named
from agentforge.core.digests import VerdictDigest
from agentforge.core.effects import Judge
from agentforge.core.inputs import Judged
from agentforge.core.pipeline import ARBITER, GATE_NAMES, GateName, complete
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.core.values import ArtifactRef
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.kind import claimed, red_for_kind
from agentforge.gates.change.named import NamedCase, named_flags
from agentforge.gates.change.words import not_words
from agentforge.gates.finals import Facts, artifact_problems, computed, delivery_report, filled, unread_lines
from agentforge.gates.green import MAX_REASONS, GreenCase, judge_green
from agentforge.gates.quality import QualityCase, judge_quality
from agentforge.gates.ratchets import NOT_CONFIGURED
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.rules.subject import Subject
from agentforge.gates.suite.not_checked import outside_suite, suite_gaps
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import GOOD
from agentforge.languages.reach import render
from agentforge.languages.tests import is_run
from agentforge.languages.values import CheckRun

FACTS_CHARS = 4000


Ruling: TypeAlias = tuple[Verdict, tuple[ArtifactRef, ...]]
"""A verdict, and the artifacts that stand with it."""

Gate: TypeAlias = Callable[[World, RunView], Ruling]


def judge(world: World, effect: Judge, state: RunView) -> Judged:
    """Runs a gate and keeps its record in the pack."""
    verdict, finals = GATES[effect.gate](world, state)
    ref = world.pack.put_json(
        {"gate": effect.gate, "status": verdict.status, "reasons": list(verdict.reasons), **verdict.record}
    )
    world.pack.sync()
    parts = verdict.record.get("parts")
    counts = _test_counts(world, state, verdict)
    return Judged(
        VerdictDigest(effect.gate, verdict.status, verdict.reasons, ref, finals, *counts),
        verdict.record.get("remedy_in") == "tests",
        verdict.question,
        parts if isinstance(parts, int) else 1,
        verdict.ask_after,
    )


def _test_counts(world: World, state: RunView, verdict: Verdict) -> tuple[int | None, int | None, int]:
    """How many tests passed, how many there were, and how many did not pass on the base either, in the first
    run that counts.
    """
    runs = verdict.record.get("runs")
    for run in runs if isinstance(runs, list) else []:
        outcomes = run.get("outcomes") if isinstance(run, dict) and run.get("status") == "ran" else None
        if isinstance(outcomes, dict) and outcomes:
            bad = {identity for identity, outcome in outcomes.items() if outcome not in GOOD}
            before = bad & measured_base(world, state).not_passing if bad and state.baseline else ()
            return len(outcomes) - len(bad), len(outcomes), len(before)
    return None, None, 0


# ------------------------------------------------------------------ what is run


def _red(world: World, state: RunView) -> Ruling:
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


def _known_green(world: World, state: RunView) -> Verdict | None:
    """The verdict of an earlier run, if it judged this very tree by the same tests and against the same
    baseline.
    """
    record = world.records(state).get("green", {})
    same = _compared_with(state)
    if record.get("tree") != state.tree or any(record.get(name) != value for name, value in same.items()):
        return None
    kept = {name: value for name, value in record.items() if name not in ("gate", "status", "reasons")}
    return Verdict("passed", (), {**kept, "reused": True})


def _green(world: World, state: RunView) -> Ruling:
    return with_integration(world, state, _known_green(world, state) or run_green(world, state)), ()


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


def _quality(world: World, state: RunView) -> Ruling:
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


# ------------------------------------------------------------------ reviews


def _review(world: World, state: RunView) -> Ruling:
    return judge_reviews(world, state, _facts(world, state))


def _written(world: World, ref: ArtifactRef) -> Document:
    value = world.pack.get_json(ref.hash)
    assert isinstance(value, dict)
    return value


# ------------------------------------------------------------------ artifacts


def _facts(world: World, state: RunView) -> Facts:
    reviews, advice, dissent = _last_reviews(world, state)
    remarks = [
        *advice,
        *(f"dissent on {line}" for line in dissent),
        *(f"undone: {line}" for line in state.reverts),
    ]
    remarks += [f"the lane rose: {line}" for line in state.risen]
    remarks += [f"settled by a revision: {line}" for line in state.settled]
    remarks += [f"locked tests were reopened: {why.reason}" for why in state.reopenings]
    remarks += [
        f"{item.stage} was skipped: {item.skipped.replace('_', ' ')}"
        for item in state.accepted
        if item.skipped
    ]
    remarks += unread_lines(state.pipeline)
    asked = [item for item in state.escalations if item.kind == "question" and item.answer]
    parts = world.parts(state)
    impacted = [str(item.get("path", "")) for item in objects(parts.get("analysis", {}), "impacted_files")]
    # An analysis that nobody was asked for is about what the specification names.
    named = tuple(impacted) or texts(parts.get("requirements", {}), "files_to_modify")
    reach = world.reach(state, named)
    return Facts(
        state.task_id,
        state.request,
        world.created_at,
        world.workspace.git,
        state.base_tree,
        state.tree,
        world.sandbox.name,
        world.records(state),
        named_files=tuple(named),
        affected_tests=reach.tests if reach else (),
        facts=tuple(render(reach, FACTS_CHARS).splitlines()) if reach else (),
        answers=tuple(
            (item.question.text, item.answer or "", item.by, world.answered_at(item.id)) for item in asked
        ),
        remarks=tuple(remarks),
        tokens_used=state.spent.tokens,
        reviews=reviews,
        dissent=dissent,
        decision=parts.get("decision", {}),
    )


def _last_reviews(
    world: World, state: RunView
) -> tuple[tuple[Document, ...], tuple[str, ...], tuple[str, ...]]:
    """The last word of every review so far: verdicts, advice, and who was overruled."""
    last = {
        stage.stage: (stage.stage, ref)
        for stage in state.accepted
        for gate, ref in stage.evidence
        if gate == "review"
    }
    reviews: list[Document] = []
    remarks: list[str] = []
    dissent: list[str] = []
    for stage, ref in last.values():
        record = world.pack.get_json(ref)
        assert isinstance(record, dict)
        verdicts, summaries = record.get("verdicts"), record.get("summaries")
        if not isinstance(verdicts, dict) or not isinstance(summaries, dict):
            reviews.append(
                {
                    "stage": stage,
                    "role": "reviewer",
                    "verdict": record.get("verdict"),
                    "summary": record.get("summary", ""),
                }
            )
            continue
        everybody = {**verdicts, **({ARBITER: record["arbiter"]} if record.get("arbiter") else {})}
        reviews += [
            {"stage": stage, "role": reviewer, "verdict": said, "summary": summaries.get(reviewer, "")}
            for reviewer, said in everybody.items()
        ]
        remarks += [f"review note on {stage}: {line}" for line in texts(record, "advisory")]
        dissent += [f"{stage}: {line}" for line in texts(record, "dissent")]
    return tuple(reviews), tuple(remarks), tuple(dissent)


def _delivery(world: World, state: RunView) -> Ruling:
    """The report. The whole suite runs once more if what is handed over is not the tree that was judged."""
    run = state.run
    records = world.records(state)
    green = records.get("green")
    if (
        green is None
        or "red" not in records
        or (state.stage.role is None and green.get("tree") != state.tree)
    ):
        return Verdict("not_run", ("the tree to deliver is not the tree that was judged",), {}), ()
    # Where no stage makes a change, words are all that the whole task may have changed.
    makes = state.pipeline.contract_for("change") is not None
    read = str(records.get("review", {}).get("tree") or green["tree"]) if makes else state.base_tree
    when = " after the last review" if makes else ""
    if unread := not_words(world.workspace.git, read, state.tree):
        return Verdict(
            "failed",
            tuple(f"`{path}` changed{when}, which only words may; take it back" for path in unread[:10]),
            {},
        ), ()
    verdict = _known_green(world, state) or run_green(world, state)
    if verdict.status != "passed":
        return verdict, ()
    verdict = _with_earlier(verdict, green)
    product = state.stage.products[0]
    words = next(
        (_written(world, ref) for ref in reversed(run.drafts) if ref.contract == product.contract), {}
    )
    commits = list(dict.fromkeys(item.commit for item in state.accepted if item.commit != state.base_commit))
    branch = state.branch or world.workspace.branch
    facts = replace(_facts(world, state), records={**records, "green": verdict.record})
    report = delivery_report(
        facts, world.parts(state), words, branch=branch, base_commit=state.base_commit, commits=commits
    )
    ref = world.keep_version(product.contract, product.phase, state.next_version(product.contract), report)
    return replace(verdict, record={**verdict.record, "deployment_ready": True}), (ref,)


def _with_earlier(verdict: Verdict, green: Mapping[str, Json]) -> Verdict:
    """The verdict on what is handed over with what the integration tests said of its code: only words changed
    since.
    """
    if "integration" in verdict.record or "integration" not in green:
        return verdict
    gaps = [each for each in (green.get("not_checked"), verdict.record.get("not_checked")) if each]
    joined: dict[str, Json] = {}
    for each in gaps:
        joined |= each if isinstance(each, dict) else {}
    kept = {"integration": green["integration"], "not_checked": joined}
    return replace(verdict, record={**verdict.record, **kept})


def _contracts(world: World, state: RunView) -> Ruling:
    """Fills what the engine knows and holds every final against its contract."""
    run = state.run
    facts, documents = _facts(world, state), world.documents(state)
    ready = {ref.contract for ref in run.finals}
    finals: list[ArtifactRef] = []
    reasons: list[str] = []
    done: dict[str, Document] = dict(documents)
    for product in state.stage.products:
        name = product.contract
        draft = documents.get(name) or computed(product.part, facts)
        if draft is None:
            reasons.append(f"{name}: it was not written")
            continue
        known = replace(facts, earlier=_earlier(world, state, name))
        final = draft if name in ready else filled(product.part, draft, known)
        if run.skipped and product.part != "report":  # which is the engine's in any case
            final = {**final, "derived": True}
        done[name] = final
        subject = _subject(world, state, name, final, done, facts)
        reasons += [
            f"{name}: {line}"
            for line in artifact_problems(world.catalogue.contract(name), final, subject, final=True)
        ]
        version = next((ref.version for ref in (*run.finals, *run.drafts) if ref.contract == name), 1)
        if not reasons:
            finals.append(world.keep_final(name, product.phase, version, final, state.finals))
    if reasons:
        return Verdict("failed", tuple(reasons[:10]), {}), ()
    made = {ref.contract for ref in finals}
    kept = [ref for ref in run.finals if ref.contract not in made]  # what a panel wrote beside them
    return Verdict("passed", (), {"finals": {ref.contract: ref.hash for ref in finals}}), (*finals, *kept)


def _earlier(world: World, state: RunView, contract: str) -> Document:
    """What an earlier stage of the lane handed over under the same contract; empty if none did."""
    own = state.pipeline.index(state.stage.name)
    before = {stage.name for stage in state.pipeline.stages[:own]}
    refs = [
        ref
        for item in state.accepted
        if item.stage in before
        for ref in item.finals
        if ref.contract == contract
    ]
    return _written(world, refs[-1]) if refs else {}


def _subject(
    world: World, state: RunView, name: str, final: Document, done: dict[str, Document], facts: Facts
) -> Subject:
    git, part = world.workspace.git, world.catalogue.part(name)
    tree = state.base_tree if part in ABOUT_THE_BASE else state.tree

    def read(path: str) -> str | None:
        data = git.read_blob(tree, path)
        return None if data is None else data.decode("utf-8", "replace")

    return Subject(
        final,
        part,
        world.by_part({other: value for other, value in done.items() if other != name}),
        state.request,
        frozenset(entry.path for entry in git.ls_tree(tree)),
        read,
        tuple(asked for asked, *_ in facts.answers),
        world.part_names(state),
        tuple(flag.about for flag in flags_to_rule_on(world, state))
        if part in ("review", "security")
        else (),
        owes_failing_test(state),
        partial(dependency_problems, neighbours=world.neighbours, own=state.task_id),
    )


GATES: Mapping[GateName, Gate] = complete(
    {
        "red": _red,
        "green": _green,
        "quality": _quality,
        "contracts": _contracts,
        "review": _review,
        "delivery": _delivery,
        "examined": judge_checks,
        "debate": judge_arguments,
    },
    GATE_NAMES,
)
"""What judges, by the name that a stage calls it."""
