"""The way back to RED: locked tests that turn out to be wrong are opened, proved and locked again. And what
a revision must change before anybody reads it once more.
"""

from agentforge.core.decisions import (
    BACK,
    RunDecisions,
    enter,
    escalate,
    locked_by,
    next_step,
    owed_drafts,
)
from agentforge.core.events import RedReopened
from agentforge.core.examining import EXAMPLE
from agentforge.core.inputs import Prepared
from agentforge.core.pipeline import Stage
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Escalation, Question, Reopening

REASON_CHARS = 1000
NOTHING_CHANGED = (
    "Nothing changed since the review blocked, so no finding is settled. Change what each blocking finding "
    "asks for; if a finding is wrong, escalate and say why."
)
BLOCKS = "The reviewer blocks:"
SENT_BACK = "The version before was sent back for:"
_WHO = {"role": "the role after RED says", "review": "the review says", "person": "a person says"}
_ANSWERED_ELSEWHERE = frozenset({"budget", "permission"})
"""Kinds of questions whose answers mean something of their own."""


# ------------------------------------------------------------------ who asks for it


def asked_by_role(own: RunDecisions, why: Reopening) -> str:
    """A role that may not change a test says that it is wrong. It is believed as often as the stage that
    proves tests has revisions; then you get a question.
    """
    proof = None if own.run.parent else locked_by(own.state, own.stage)
    if proof is None:
        own.close("nothing_locked", ("No test is locked here.",), mistake=True)
        return next_step(own, "no test is locked here")
    own.close("tests_wrong", ())
    asked = sum(item.by == "role" for item in own.state.reopenings)
    if proof.role is not None and asked < proof.max_revisions:
        return reopen(own, why)
    often = f"once more that a locked test is wrong, after {asked} times"
    said = often if asked else "that a test which was handed in is wrong"
    text = f"Stage {own.stage.name} says {said}: {why.reason}. Should the tests be reopened?"
    options = (BACK, "go on with the tests as they are", "abort")
    return escalate(own.all, "question", Question(text[:REASON_CHARS], options, ""), run=own.id)


def wants_red(state: State, escalation: Escalation, answer: str) -> str | None:
    """The reason, if a person's answer opens locked tests again; None if it does not, or cannot."""
    words = " ".join(answer.split())
    worker = state.worker
    if escalation.kind in _ANSWERED_ELSEWHERE or not words.lower().startswith(BACK) or worker is None:
        return None
    if locked_by(state, state.stage_of(worker)) is None:
        return None
    said = words[len(BACK) :].strip(" :;,.-")
    return (said or escalation.question.text)[:REASON_CHARS]


def edited_by_hand(own: RunDecisions, given: Prepared) -> str:
    """A person's edits are gated like any other. Locked tests among them are proved anew, a change that was
    accepted is judged anew, and nobody is asked for what is there.
    """
    state, run, stage = own.state, own.run, own.stage
    paths = ", ".join(given.human_paths[:10]) or "the worktree"
    edited = f"A person edited {paths} (commit {given.human_commit[:12]}); go on from there."
    proof = locked_by(state, stage) if given.human_tests else None
    if proof is not None:
        about = ", ".join(given.human_tests[:10])
        own.tell(RedReopened(proof.name, Reopening(f"A person edited {about}", given.human_tests, "person")))
        enter(own, proof, state.tree, (edited,), skipped="a person edited the tests by hand")
        return "a person edited locked tests: they are proved again"
    if (made := _made_before(state, stage)) is not None:
        enter(own, made, state.tree, (edited,), skipped="a person edited the work by hand")
        return "a person edited what was accepted: it is judged again"
    enter(own, stage, state.tree, (edited, *run.feedback), keep_attempt=True)
    return "a person's edits were taken in and are gated like any other"


def _made_before(state: State, stage: Stage) -> Stage | None:
    """The stage that made the change which `stage` reads or delivers; None where the change is still made."""
    if stage.makes("change"):
        return None
    earlier = state.pipeline.stages[: state.pipeline.index(stage.name)]
    return next((item for item in reversed(earlier) if item.makes("change")), None)


# ------------------------------------------------------------------ the way back, and forth again


def reopen(own: RunDecisions, why: Reopening) -> str:
    """Back to the stage that proves the tests, with the reason. What was built stays in the tree: tests are
    proved on the base without it.
    """
    note_reopening(own, why)
    proof = locked_by(own.state, own.stage)
    assert proof is not None
    told = reasons_to_reopen(why)
    enter(own, proof, own.state.tree, told, drafts=owed_drafts(own.state, proof))
    return f"back to {proof.name}: {why.reason}"


def note_reopening(own: RunDecisions, why: Reopening) -> None:
    """Puts on record that locked tests are opened again, where some are."""
    if (proof := locked_by(own.state, own.stage)) is not None:
        own.tell(RedReopened(proof.name, why))


def reasons_to_reopen(why: Reopening) -> tuple[str, ...]:
    """What the stage that proves tests is told."""
    about = f" ({', '.join(why.tests[:5])})" if why.tests else ""
    return (
        f"The locked tests are open again, because {_WHO[why.by]}{about}: {why.reason}",
        "Change the tests that are wrong, or keep them; what you leave is proved and locked again.",
    )


def after_reopening(state: State, stage: Stage) -> tuple[tuple[str, ...], tuple[ArtifactRef, ...]]:
    """What a stage is told, and what it starts from, when it comes after tests that were opened again."""
    blind = stage.makes("examination")
    if state.reopening is None or stage.role is None or stage.returns_to or stage.proves_red or blind:
        return (), ()
    told: tuple[str, ...] = (f"The tests were opened, proved and locked again: {state.reopening.reason}",)
    if state.findings:
        told = (*told, BLOCKS, *state.findings)
    had = owed_drafts(state, stage) if any(item.stage == stage.name for item in state.accepted) else ()
    return told, had


# ------------------------------------------------------------------ reviews


def unchanged(own: RunDecisions) -> bool:
    """Whether what a review blocked would be handed over as it was: then nobody needs to read it again."""
    state, run, stage = own.state, own.run, own.stage
    if run.parent or not state.findings or not state.reviewed_tree or state.may_stay:
        return False
    if state.tree != state.reviewed_tree:
        return False
    return stage.makes("change") or stage.makes("tests") or _same(run.drafts, state.reviewed_drafts)


def _same(refs: tuple[ArtifactRef, ...], others: tuple[ArtifactRef, ...]) -> bool:
    return {ref.contract: ref.hash for ref in refs} == {ref.contract: ref.hash for ref in others}


def standing(state: State, run: Run, stage: Stage) -> tuple[str, ...]:
    """What a run is told at each of its steps, until it is done with: why tests are open again, what a review
    asks for, and to those who review what they asked for before.
    """
    if run.parent or stage.returns_to:
        return (SENT_BACK, *state.blocked_for) if state.blocked_for else ()
    told = reasons_to_reopen(state.reopening) if state.reopening and stage.proves_red else ()
    if not state.findings or stage.makes("examination"):
        return told
    from_person = state.findings[0].startswith(EXAMPLE)
    return (*told, *(() if from_person else (BLOCKS,)), *state.findings)
