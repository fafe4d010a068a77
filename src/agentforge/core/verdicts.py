"""What a verdict means: the next gate, a round of feedback, a revision, an arbiter, a higher lane, the next
stage.
"""

from agentforge.core.conditions import held, holds
from agentforge.core.decisions import (
    ANOTHER_WAY,
    FEEDBACK_LINES,
    RunDecisions,
    ask_before,
    attempts_left,
    back_option,
    begin_beside,
    convene,
    enter,
    escalate,
    fail_attempt,
    give_up,
    next_step,
    remaining,
    send_back,
    unread_parts,
)
from agentforge.core.digests import VerdictDigest
from agentforge.core.events import DependenciesDeclared, GateJudged, LaneRaised, Reverted, StageAccepted
from agentforge.core.examining import KNOWN, known_checks
from agentforge.core.inputs import CommitMade, Judged
from agentforge.core.iterating import approver, present
from agentforge.core.pipeline import ARBITER, Pipeline, Stage
from agentforge.core.replacing import replace
from agentforge.core.returns import REASON_CHARS, after_reopening, note_reopening
from agentforge.core.state import State
from agentforge.core.values import GateStatus, Question, Reopening


def judged(own: RunDecisions, given: Judged) -> str:
    """Records a gate's verdict, and goes on, back to work, or to an arbiter."""
    verdict = given.verdict
    status = _status(own, verdict.status, given.parts)
    own.tell(GateJudged(own.id, replace(verdict, status=status)))
    if given.question is not None and status != "passed" and own.run.rounds > given.ask_after:
        return escalate(own.all, "question", given.question, run=own.id)
    if status == "passed":
        convene(own)
        return present(own) or f"gate {verdict.gate} passed"
    if status == "split":
        begin_beside(own, ARBITER, "reviewer", ("The reviewers disagree:", *verdict.reasons))
        return "the reviewers disagree: one at a higher tier decides"
    if status == "unread":
        for name in unread_parts(own, given.parts):
            begin_beside(own, name, "reviewer", ())
        return f"the change is read in {given.parts} parts"
    if status == "blocked":
        return _revise(own, verdict.reasons, tests_wrong=given.tests_wrong)
    return _refused(own, verdict)


def _status(own: RunDecisions, status: GateStatus, parts: int) -> GateStatus:
    """A panel that is split calls the arbiter once, if there is one. Without, it is a block. What nobody has
    read, although every part had its reader, is not reviewed.
    """
    if status == "unread" and not unread_parts(own, parts):
        return "not_run"
    if status != "split":
        return status
    decided = any(run.name == ARBITER for run in own.state.beside(own.id))
    return "blocked" if decided or own.stage.arbiter is None else "split"


def _refused(own: RunDecisions, verdict: VerdictDigest) -> str:
    """The gate did not let the result pass: it is fed back, as often as the stage allows."""
    run, stage = own.run, own.stage
    words = "could not run, so it has not passed" if verdict.status == "not_run" else "failed"
    feedback = (f"Gate {verdict.gate} {words}:", *verdict.reasons)[:FEEDBACK_LINES]
    if run.skipped:
        if attempts_left(own.state, run, stage):
            return enter(own, stage, run.entry_tree, feedback, drafts=run.drafts)
        return give_up(own, _told(feedback))
    if stage.role is None:
        return fail_attempt(own, _told(feedback))
    if stage.reverts and run.entry_tree != own.state.tree:
        own.tell(Reverted(own.id, run.entry_tree, verdict.reasons))
        feedback = (*feedback[: FEEDBACK_LINES - 1], "All edits of this stage were undone.")
    tried = (f"gate {verdict.gate}: {verdict.reasons[0] if verdict.reasons else words}",)
    own.close(f"gate_{verdict.gate}_{verdict.status}", feedback, tried)
    if run.rounds > stage.feedback_rounds:
        return fail_attempt(own, _told(feedback))
    return next_step(own, feedback[0])


def _told(feedback: tuple[str, ...]) -> str:
    """The lines of a refusal in one: which gate, and its reasons one after the other."""
    gate, *reasons = feedback
    return f"{gate} {'; '.join(reasons)}".rstrip()


def _revise(own: RunDecisions, findings: tuple[str, ...], *, tests_wrong: bool) -> str:
    """The work goes back, in a higher lane if this one cannot carry it."""
    if tests_wrong:
        note_reopening(own, Reopening("; ".join(findings)[:REASON_CHARS], by="review"))
    state, run, stage = own.state, own.run, own.stage
    target = revises(state, stage)
    rise = state.pipeline.rises
    if rise is not None and rise.blocks and state.blocks >= rise.blocks:
        owed = state.pipeline.stage(target or stage.name).products[-1].contract
        own.tell(LaneRaised(rise.to, f"a review blocked {state.blocks} times"))
        target = _maker(own.state.pipeline, owed)
    elif target is None or _often_enough(state, stage):
        if stage.role is not None and not run.skipped:
            own.close("gate_review_blocked", ("The reviewer blocks:", *findings))
        text = (
            f"The reviewer still blocks after {_revisions(state, stage)} revisions: "
            f"{' '.join(findings)[:600]}"
        )
        options = ("retry", *back_option(state, stage), "abort")
        return escalate(own.all, "review", Question(text, options, ANOTHER_WAY), run=own.id)
    send_back(own, target, ("The reviewer blocks:", *findings), findings)
    return f"the reviewer blocks; revision {own.state.revised_times(target)}"


def revises(state: State, stage: Stage) -> str | None:
    """The stage that works on a block of this one; None where nobody does. What is wrong with tests goes to
    the stage that proves them.
    """
    usual = stage.returns_to or (stage.name if stage.reviewers else None)
    proof = state.pipeline.proving(stage.name)
    written = proof is not None and proof.role is not None  # tests from outside have nobody to mend them
    if usual and proof and written and state.reopening is not None and state.reopening.by == "review":
        return proof.name
    return usual


def _revisions(state: State, stage: Stage) -> int:
    """How often this stage has sent work back."""
    usual = stage.returns_to or stage.name
    proof = state.pipeline.proving(stage.name)
    return sum(state.revised_times(name) for name in {usual, proof.name if proof else usual})


def _often_enough(state: State, stage: Stage) -> bool:
    return _revisions(state, stage) >= stage.max_revisions + state.grants.count(stage.name)


def _maker(pipeline: Pipeline, contract: str) -> str:
    """The first stage that makes an artifact under this contract."""
    for stage in pipeline.stages:
        if any(item.contract == contract for item in stage.products):
            return stage.name
    return pipeline.stages[0].name


def accepted(own: RunDecisions, given: CommitMade) -> str:
    """A stage's commit is made: the next stage begins, in a higher lane if the change spreads."""
    run = own.run
    own.tell(
        StageAccepted(
            own.id,
            run.stage,
            given.result,
            run.finals,
            approver(own.state, run),
        )
    )
    pipeline = own.state.pipeline
    position = pipeline.index(run.stage) + 1
    # Where nothing is left to do, nothing is waited for.
    if given.dependencies != own.state.dependencies and position < len(pipeline.stages):
        own.tell(DependenciesDeclared(given.dependencies))
    if pipeline.rises is not None and (why := _spreads(own.state, given)):
        own.tell(LaneRaised(pipeline.rises.to, why))
        return f"the lane rises: {why}; " + go_to(own, remaining(own.state), given.result.tree)
    if position == len(pipeline.stages):
        return "the last stage is accepted"
    return go_to(own, pipeline.stages[position], given.result.tree)


def begin(own: RunDecisions) -> str:
    """The worktree is ready: the first stage whose artifacts are not all there begins."""
    state = own.state
    stage = remaining(state)
    owed = {product.contract for product in stage.products}
    if state.accepted:  # a task that was done goes further
        go_to(own, stage, state.tree)
    else:
        handed_in = tuple(item.ref for item in state.imports if item.ref.contract in owed)
        enter(own, stage, state.tree, drafts=handed_in)
    if state.oversight == "supervised" and own.state.status != "blocked":
        return ask_before(own, f"The task begins with stage {stage.name}.")
    return "the worktree is ready"


def go_to(own: RunDecisions, stage: Stage, tree: str) -> str:
    """The next stage begins, unless what is known says that nobody needs to work on it."""
    facts = own.state.facts
    why = held(stage.skip_if, facts) if stage.role is not None and holds(stage.skip_if, facts) else ""
    if known := known_checks(own.state, stage):
        return enter(own, stage, tree, drafts=known, skipped=KNOWN)
    words, drafts = after_reopening(own.state, stage)
    return enter(own, stage, tree, words, drafts=drafts, skipped=why)


def _spreads(state: State, given: CommitMade) -> str:
    """Why the change is more than its lane can carry; empty if it is not."""
    rise = state.pipeline.rises
    if rise is None:
        return ""
    if rise.files and given.files > rise.files:
        return f"the edit spreads over {given.files} files"
    if rise.lines and given.lines > rise.lines:
        return f"the edit changes {given.lines} lines"
    return ""
