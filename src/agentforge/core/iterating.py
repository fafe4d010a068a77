"""Where a person decides: a stage's result is presented, and what they say of it moves the task.

A result is presented when all gates of its stage have passed and nothing is built on it yet: its run waits at
`commit`. To approve is to let it go on from there; every other decision takes it somewhere else.
"""

from agentforge.core.decisions import (
    GO_ON,
    STOP,
    Decisions,
    RunDecisions,
    convene,
    enter,
    escalate,
    owed_drafts,
    restart,
)
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ArtifactEdited,
    GateOpened,
    IterationPresented,
    IterationStarted,
    PipelineExit,
    StageReopened,
    TaskAborted,
    UserDecision,
)
from agentforge.core.inputs import Extend, Resolution, Revise
from agentforge.core.lifecycle import check_operation
from agentforge.core.pipeline import Stage
from agentforge.core.runs import WORKER, Run
from agentforge.core.state import State
from agentforge.core.values import (
    ACCEPTS,
    CHOICES,
    ArtifactRef,
    Choice,
    Escalation,
    Feedback,
    Iteration,
    Question,
    agrees,
)

ONCE_MORE = "once more"
"""The answer that allows another version beyond the most that a stage presents."""
REFUSE = "refuse"
AUTOMATIC = "automatic"
"""Who decided about a result that nobody wanted to see."""
NOT_REVISED = (
    "Nothing changed since a person asked for changes. Hand in a version that settles each point of theirs; "
    "if a point cannot be settled, escalate and say why."
)


# ------------------------------------------------------------------ what is presented


def present(own: RunDecisions) -> str:
    """Puts the result that has just passed its gates before a person who wants to see it; empty if nobody
    does, or if they approved this very version already.
    """
    state, run, stage = own.state, own.run, own.stage
    if run.point != "commit" or run.parent or not _is_wanted(state, stage) or is_approved(state, run):
        return ""
    shown = shown_of(run, stage)
    last = state.last_shown(stage.name)
    number = 1 if last is None else last.number + (last.shown != shown)
    own.tell(IterationPresented(stage.name, number, version_name(shown[0]), shown[0].hash, shown))
    return _ask(own, number)


def _ask(own: RunDecisions, number: int) -> str:
    state, stage = own.state, own.stage
    what = ", ".join(f"{ref.contract} v{ref.version}" for ref in shown_of(own.run, stage))
    if not stage.iterable:
        text = f"Stage {stage.name} has passed its gates: {what}. Go on with it?"
        return escalate(own.all, "approval", Question(text, ("approve", REFUSE), "approve"), run=own.id)
    prompt = stage.iterate_prompt or "Read it. Approve it, ask for changes, or stop here."
    text = f"{what} is ready (iteration {number} of {stage.max_iterations}). {prompt}"
    return escalate(own.all, "iteration", Question(text, choices(state, stage), "approve"), run=own.id)


def _is_wanted(state: State, stage: Stage) -> bool:
    return stage.name in (*state.iterates, *state.approves) or state.oversight == "supervised"


def choices(state: State, stage: Stage) -> tuple[Choice, ...]:
    """What a person can decide about the result of a stage, here and now."""
    pipeline = state.pipeline
    goes_further = pipeline.index(stage.name) + 1 < len(pipeline.stages)
    can: dict[Choice, bool] = {
        "approve": True,
        "revise": stage.iterable,
        "reject": stage.iterable and stage_before(state, stage) is not None,
        "exit": stage.exit_point,
        "extend": goes_further or bool(pipeline.extends_to),
    }
    return tuple(choice for choice in CHOICES if can[choice])


def shown_of(run: Run, stage: Stage) -> tuple[ArtifactRef, ...]:
    """What of a result a person is shown: the versions as they were handed in, else what the engine wrote."""
    owed = {product.contract for product in stage.products}
    drafts = tuple(ref for ref in run.drafts if ref.contract in owed)
    return drafts or tuple(ref for ref in run.finals if ref.contract in owed)


def version_name(ref: ArtifactRef) -> str:
    """Where a version is, from the task's directory."""
    return f"artifacts/phases/{ref.phase}/{ref.contract}_v{ref.version}.yaml"


def is_approved(state: State, run: Run) -> bool:
    """Whether a person has approved exactly what this run would hand over."""
    last = state.last_shown(run.stage)
    return (
        last is not None and last.decision in ACCEPTS and last.settled == shown_of(run, state.stage_of(run))
    )


def approver(state: State, run: Run) -> str:
    """Who decided that the result of this run stands."""
    last = state.last_shown(run.stage)
    return last.by if last is not None and is_approved(state, run) else AUTOMATIC


def to_revise(state: State, stage: str) -> Iteration | None:
    """The version that a person wants changed, until the next one is presented."""
    last = state.last_shown(stage)
    return last if last is not None and last.decision == "revise" else None


def is_unrevised(own: RunDecisions) -> bool:
    """Whether what a person wants changed would be handed over as it was."""
    asked = None if own.run.parent else to_revise(own.state, own.run.stage)
    if asked is None or asked.feedback is None:
        return False
    return _hashes(asked.settled) == _hashes(shown_of(own.run, own.stage))


def _hashes(refs: tuple[ArtifactRef, ...]) -> dict[str, str]:
    return {ref.contract: ref.hash for ref in refs}


def stage_before(state: State, stage: Stage) -> Stage | None:
    """The stage that is worked on again when the result of this one is rejected: the nearest before it that
    somebody worked on.
    """
    worked_on = {item.stage for item in state.accepted if not item.skipped}
    earlier = state.pipeline.stages[: state.pipeline.index(stage.name)]
    return next(
        (item for item in reversed(earlier) if item.role is not None and item.name in worked_on), None
    )


# ------------------------------------------------------------------ what a person decides


def read_choice(answer: str) -> tuple[Choice, str]:
    """The decision in an answer, and the words after it: `revise: say more about errors`. Words alone ask for
    changes.
    """
    first, _, rest = answer.strip().partition(":")
    word = " ".join(first.lower().split())
    for choice in CHOICES:
        if word == choice:
            return choice, rest.strip()
    return ("approve", "") if agrees(answer) else ("revise", answer.strip())


def decided(decisions: Decisions, asked: Escalation, given: Resolution) -> str:
    """A decision about the version that is presented."""
    own = decisions.of(WORKER)
    if decisions.state.worker is None or own.run.point != "commit":
        raise StateInvalid(f"{asked.id} is about stage {asked.stage}, which is not under way any more.")
    if ONCE_MORE in asked.question.options and given.answer.strip().lower() == ONCE_MORE:
        return _once_more(own, given.by)
    choice, words = read_choice(given.answer)
    if choice not in (legal := choices(own.state, own.stage)):
        raise StateInvalid(
            f"{choice!r} is not possible at stage {own.stage.name}; possible are {', '.join(legal)}."
        )
    first = shown_of(own.run, own.stage)[0]
    if not all(ref in own.state.finals for ref in own.run.finals):  # else it is looked at again, and stays
        check_operation(own.state, first.contract, first.phase, choice)
    feedback = given.feedback or (Feedback(words) if words else None)
    if choice == "revise" and feedback is None and not given.edited:
        raise StateInvalid(
            f"Say what should be different in the {first.contract}.",
            f"Answer with `agentforge feedback {own.state.task_id} WORDS`.",
        )
    _put_on_record(own, choice, feedback, given)
    return _follow(own, choice, given)


def _put_on_record(own: RunDecisions, choice: Choice, feedback: Feedback | None, given: Resolution) -> None:
    last = own.state.last_shown(own.stage.name)
    assert last is not None
    about = (given.edited or last.shown)[0]
    own.tell(
        UserDecision(
            own.stage.name,
            last.number,
            choice,
            given.by,
            version_name(about),
            about.hash,
            history_name(own.stage.name, last.number, choice),
            feedback,
            given.edited,
        )
    )


def history_name(stage: str, number: int, choice: str) -> str:
    """Where a decision is written down for people, from the task's directory."""
    kind = {"revise": "feedback", "reject": "rejection"}.get(choice, "approval")
    return f"iteration_history/{stage}/v{number}_{kind}.yaml"


def _follow(own: RunDecisions, choice: Choice, given: Resolution) -> str:
    """What follows from a person's decision about a version."""
    stage, last = own.stage, own.state.last_shown(own.stage.name)
    assert last is not None
    by_hand = choice == "revise" and last.feedback is None
    if (
        choice == "revise"
        and not by_hand
        and last.number >= stage.max_iterations + _granted(own.state, stage)
    ):
        text = (
            f"This was version {last.number} of the {last.shown[0].contract}; stage {stage.name} presents at "
            f"most {stage.max_iterations}. Work on it once more, or take it as it is?"
        )
        options = (ONCE_MORE, *(item for item in choices(own.state, stage) if item != "revise"))
        return escalate(own.all, "iteration", Question(text, options, ""), run=own.id)
    restart(own.all, given.by)
    if choice == "reject":
        return _go_back(own, last)
    if given.edited:
        own.tell(ArtifactEdited(own.id, given.edited, given.by))
    if choice == "revise" and not by_hand:
        return _work_again(own, last)
    if choice == "revise":
        own.tell(IterationStarted(stage.name, last.number + 1, history_name(stage.name, last.number, choice)))
    if not given.edited:
        return f"{choice}: a person accepts the version as it is"
    own.tell(GateOpened(own.id))
    convene(own)
    return "a person wrote a version by hand: the gates judge it"


def _once_more(own: RunDecisions, by: str) -> str:
    last = own.state.last_shown(own.stage.name)
    assert last is not None
    restart(own.all, by)
    return _work_again(own, last)


def _granted(state: State, stage: Stage) -> int:
    """How many more versions than usual a person wanted of this stage."""
    return sum(
        item.stage == stage.name and ONCE_MORE in item.question.options and item.answer == ONCE_MORE
        for item in state.escalations
    )


def _work_again(own: RunDecisions, last: Iteration) -> str:
    """The role makes another version from the last one; what the person said is in its context."""
    stage = own.stage
    own.tell(IterationStarted(stage.name, last.number + 1, history_name(stage.name, last.number, "revise")))
    enter(own, stage, own.state.tree, drafts=shown_of(own.run, stage))
    return f"a person asks for changes: version {last.number + 1} is worked on"


def _go_back(own: RunDecisions, last: Iteration) -> str:
    """The stage before works again; what was rejected is made anew from what it hands over then."""
    target = stage_before(own.state, own.stage)
    assert target is not None
    enter(own, target, own.state.tree, (rejection(last),), drafts=owed_drafts(own.state, target))
    return f"a person rejects the {last.shown[0].contract}: back to {target.name}"


def rejection(last: Iteration) -> str:
    """What a role is told of a version that was rejected."""
    said = last.feedback.overall if last.feedback is not None else ""
    why = f": {said}" if said else ", without a reason"
    return f"A person rejected the {last.shown[0].contract} that was built on this{why}"


# ------------------------------------------------------------------ approvals


def approved(decisions: Decisions, asked: Escalation, given: Resolution) -> str:
    """An answer to somebody who asked before going on: about a result, or about the next step."""
    own = decisions.of(WORKER)
    if GO_ON in asked.question.options:
        return _may_begin(own, given)
    word, _, reason = given.answer.strip().partition(":")
    if word.strip().lower() not in ("approve", REFUSE, "reject", "no", "n") and not agrees(word):
        raise StateInvalid(f"{asked.id} takes approve, or refuse with a reason (`refuse: …`).")
    yes = word.strip().lower() == "approve" or agrees(word)
    feedback = Feedback(reason.strip()) if reason.strip() else given.feedback
    _put_on_record(own, "approve" if yes else "reject", feedback, given)
    if yes:
        restart(decisions, given.by)
        return "a person approves the result"
    return _end(decisions, given.by, reason.strip() or "its result was refused")


def _may_begin(own: RunDecisions, given: Resolution) -> str:
    words = given.answer.strip()
    first, _, rest = words.partition(":")
    if first.strip().lower() == GO_ON or agrees(words):
        restart(own.all, given.by)
        return "a person lets it go on"
    if first.strip().lower() in (STOP, "no", "n", REFUSE):
        if not own.stage.iterable or not rest.strip():
            return _end(own.all, given.by, rest.strip() or "stopped before the next step")
        words = rest.strip()
    restart(own.all, given.by)
    own.close("answered", (f"A person says: {words}", *own.run.feedback))
    return "a person lets it go on, with a word"


def _end(decisions: Decisions, by: str, reason: str) -> str:
    decisions.tell(TaskAborted(by, reason))
    decisions.move("cancelled")
    return "refused by a person; the work is kept"


# ------------------------------------------------------------------ the end of a line, and beyond it


def leave(own: RunDecisions) -> PipelineExit:
    """How the task leaves its pipeline, with what."""
    state = own.state
    pipeline = state.pipeline
    last = state.last_shown(pipeline.exit_stage)
    by_person = last is not None and last.decision == "exit"
    kind = "user_exit" if by_person else "early_exit" if pipeline.ends_early else "default_exit"
    made = [f"artifacts/phases/{item.phase}/{item.contract}_final.yaml" for item in own.stage.products]
    return PipelineExit(pipeline.exit_stage, kind, made[0] if made else "")


def check_extends(state: State, given: Extend) -> None:
    """Raises `state_invalid` where the longer line does not begin with the one that the task has."""
    have, wanted = state.pipeline.stages, given.extension.pipeline.stages
    if not state.task_id or wanted[: len(have)] != have or len(wanted) <= len(have):
        raise StateInvalid(
            f"state_invalid: a task can only go further than {state.pipeline.exit_stage or 'it is'}."
        )


def reopen_last(decisions: Decisions, given: Revise) -> str:
    """The result of a completed task is before a person again. Nothing is judged or paid anew for that."""
    state = decisions.state
    stage = state.pipeline.stages[-1] if state.pipeline.stages else None
    if state.status != "completed" or stage is None:
        raise StateInvalid(f"state_invalid: the task is {state.status}; only a completed one is taken up so.")
    if not stage.iterable:
        raise StateInvalid(
            f"state_invalid: {state.task_id} ended at {stage.name}, whose result cannot be revised."
        )
    restart(decisions, given.by)
    own = decisions.of(WORKER)
    own.tell(StageReopened(own.id, stage.name))
    shown = shown_of(own.run, stage)
    last = state.last_shown(stage.name)
    number = last.number if last is not None else 1
    own.tell(IterationPresented(stage.name, number, version_name(shown[0]), shown[0].hash, shown))
    return _ask(own, number)
