"""`Judge`: one gate's verdict. Only what the engine ran or computed itself goes into it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from agentforge.activities.act import ABOUT_THE_BASE
from agentforge.activities.base_suite import measured_base
from agentforge.activities.debating import judge_arguments
from agentforge.activities.dependencies import dependency_problems
from agentforge.activities.examining import judge_checks
from agentforge.activities.kinds import owes_failing_test
from agentforge.activities.reviewing import flags_to_rule_on, judge_reviews
from agentforge.activities.suite_gates import Ruling, green, known_green, quality, red, run_green
from agentforge.activities.world import Document, World
from agentforge.core.digests import VerdictDigest
from agentforge.core.effects import Judge
from agentforge.core.inputs import Judged
from agentforge.core.pipeline import ARBITER, GATE_NAMES, GateName, complete
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.core.values import ArtifactRef
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.words import not_words
from agentforge.gates.finals import Facts, artifact_problems, computed, delivery_report, filled, unread_lines
from agentforge.gates.rules.subject import Subject
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import GOOD
from agentforge.languages.reach import render

FACTS_CHARS = 4000


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
    verdict = known_green(world, state) or run_green(world, state)
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
        "red": red,
        "green": green,
        "quality": quality,
        "contracts": _contracts,
        "review": _review,
        "delivery": _delivery,
        "examined": judge_checks,
        "debate": judge_arguments,
    },
    GATE_NAMES,
)
"""What judges, by the name that a stage calls it."""
