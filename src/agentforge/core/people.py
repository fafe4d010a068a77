"""What people say to a task, and how it goes on from a halt."""

from typing import assert_never

from agentforge.core.calls import change_wait
from agentforge.core.decisions import (
    WITHOUT,
    Decisions,
    RunDecisions,
    enter,
    has_failed,
    open_step,
    restart,
    send_back,
)
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    BudgetRaised,
    DefectNoted,
    DependenciesDeclared,
    DependenciesMet,
    LineExtended,
    ModelChanged,
    Resolved,
    TaskAborted,
    TaskForked,
)
from agentforge.core.examining import answered, is_about_checks
from agentforge.core.inputs import (
    Abort,
    ChangeModel,
    ChangeWait,
    Expired,
    Extend,
    Fork,
    Message,
    NoteDefect,
    Resolution,
    Resume,
    Revise,
)
from agentforge.core.iterating import approved, check_extends, decided, present, reopen_last
from agentforge.core.machine import LEGAL_MOVES, TERMINAL
from agentforge.core.returns import reopen, wants_red
from agentforge.core.runs import WORKER
from agentforge.core.values import RETRYABLE, Budget, Escalation, Reopening, agrees, is_yes
from agentforge.core.verdicts import revises

TIMEOUT = "the timeout"
"""Who answers a question that nobody has answered in time."""
KEEP = "keep them"
"""The answer that keeps old tests which a role would give up."""
TOLD_CHARS = 4000
"""How much of the call that it sent a role is shown again."""


def hear(decisions: Decisions, given: Message) -> str:  # noqa: C901  # one arm per message
    """What a person says, and what follows from it."""
    match given:
        case Resolution():
            return _resolve(decisions, given)
        case Resume():
            return _resume(decisions, given)
        case Abort():
            return _abort(decisions, given)
        case ChangeModel():
            return _change_model(decisions, given)
        case Expired(identity):
            return _expire(decisions, identity)
        case ChangeWait():
            return change_wait(decisions, given)
        case NoteDefect():
            return _note_defect(decisions, given)
        case Fork():
            return _fork(decisions, given)
        case Extend():
            return _extend(decisions, given)
        case Revise():
            return reopen_last(decisions, given)
        case _:
            assert_never(given)


def _resolve(decisions: Decisions, given: Resolution) -> str:
    """An answer: the first one counts, and takes the task back to work."""
    state = decisions.state
    found = next((item for item in state.escalations if item.id == given.escalation), None)
    if found is None:
        known = ", ".join(item.id for item in state.escalations)
        raise StateInvalid(
            f"{given.escalation} is not an escalation of {state.task_id}; it has {known or 'none'}."
        )
    if found.answer is not None:
        raise StateInvalid(f"{found.id} was already answered by {found.by}: {found.answer[:80]!r}.")
    if state.status != "blocked":
        raise StateInvalid(f"state_invalid: the task is {state.status}; only a blocked task takes an answer.")
    decisions.tell(Resolved(found.id, given.answer, given.by))
    if given.answer.strip().lower() == "abort":
        decisions.tell(TaskAborted(given.by, f"answer to {found.id}"))
        decisions.move("cancelled")
        return "aborted by a person's answer"
    if found.kind == "dependency" and given.answer.strip().lower() == WITHOUT:
        decisions.tell(DependenciesMet(without=True))
    if found.kind == "iteration":
        return decided(decisions, found, given)
    if found.kind == "approval":
        return approved(decisions, found, given)
    if found.kind == "budget":
        decisions.tell(BudgetRaised(_raised(state.budget, given.answer)))
    return _go_on(decisions, given.by, found, given.answer)


def _expire(decisions: Decisions, identity: str) -> str:
    """Nobody answered in time: what was said at the start counts as the answer."""
    found = next((item for item in decisions.state.escalations if item.id == identity), None)
    if found is None or not found.timeout_s:
        raise StateInvalid(f"state_invalid: {identity} is no question that is answered by itself.")
    return _resolve(decisions, Resolution(identity, found.unless_answered, TIMEOUT))


def _resume(decisions: Decisions, given: Resume) -> str:
    """A halted task goes on, unless somebody owes it an answer."""
    state = decisions.state
    if not state.task_id or "draft" not in LEGAL_MOVES[state.status]:
        legal = ", ".join(LEGAL_MOVES[state.status])
        raise StateInvalid(f"state_invalid: a {state.status} task cannot be resumed; it can become {legal}.")
    if state.status == "completed":
        raise StateInvalid(
            f"{state.task_id} is completed; it goes on only with --extend-to or --revise.",
        )
    open_one = state.open_escalation
    if open_one is not None and open_one.kind not in RETRYABLE:
        raise StateInvalid(
            f"{state.task_id} is waiting for an answer to {open_one.id}.",
            f"Answer with `agentforge resolve {open_one.id} --task {state.task_id} --answer …`.",
        )
    if open_one is not None:
        decisions.tell(Resolved(open_one.id, "retry", given.by))
    return _go_on(decisions, given.by, open_one)


def _abort(decisions: Decisions, given: Abort) -> str:
    """The end, from any state that has not ended; the work is kept."""
    if not decisions.state.task_id:
        raise StateInvalid("state_invalid: there is no task to abort.")
    if decisions.state.status in TERMINAL:
        raise StateInvalid(
            f"state_invalid: the task is {decisions.state.status} already; it can become draft, by resume."
        )
    if (open_one := decisions.state.open_escalation) is not None:
        decisions.tell(
            Resolved(open_one.id, "abort", given.by)
        )  # nobody owes this answer any more: `resume` is free to go on
    decisions.tell(TaskAborted(given.by, given.reason))
    decisions.move("cancelled")
    return given.reason or "aborted by a person"


def _change_model(decisions: Decisions, given: ChangeModel) -> str:
    """Another model for the rest of the task: every call from here on."""
    state = decisions.state
    if not state.task_id or state.status == "completed":
        raise StateInvalid("state_invalid: there is no work left that another model could do.")
    tier, model = given.choice.tier, given.choice.model
    work = f" for {tier}" if tier else ""
    if model == (dict(state.tier_models).get(tier) if tier else state.model):
        return f"the model{work} is {model} already"
    decisions.tell(ModelChanged(given.choice))
    return f"the model{work} is {model} from here on"


def _extend(decisions: Decisions, given: Extend) -> str:
    """The line gets longer; a task that was done goes on with the first stage that is new."""
    check_extends(decisions.state, given)
    done = decisions.state.status == "completed"
    decisions.tell(LineExtended(given.extension))
    if given.dependencies and given.dependencies != decisions.state.dependencies:
        decisions.tell(DependenciesDeclared(given.dependencies))
    if done:
        restart(decisions, given.extension.by)
    return f"the task goes on to {given.extension.pipeline.exit_stage}"


def _note_defect(decisions: Decisions, given: NoteDefect) -> str:
    """A fault that somebody found later. It changes nothing of the task: it is kept, and counted."""
    if decisions.state.delivered is None:
        raise StateInvalid(
            "Only a delivered task can have a defect.",
            "Correct a task that is still under way with `agentforge continue`, or start a new one.",
        )
    decisions.tell(DefectNoted(given.note, given.by))
    return "a defect was found in what was delivered"


def _fork(decisions: Decisions, given: Fork) -> str:
    """A task that begins in the middle of another one; its worktree and its bill are its own."""
    decisions.tell(TaskForked(given.point))
    return f"it begins with the first {given.point.step} steps of {given.point.task}"


def _go_on(decisions: Decisions, by: str, escalation: Escalation | None = None, answer: str = "") -> str:
    """From a halt back to work, keeping every accepted artifact."""
    restart(decisions, by)
    if decisions.state.worker is None or (escalation is not None and escalation.kind in RETRYABLE):
        return "resumed"
    if escalation is not None:
        return _go_on_with(decisions, escalation, answer)
    return _go_on_all(decisions)


def _go_on_with(decisions: Decisions, escalation: Escalation, answer: str) -> str:
    """The run that asked goes on with the answer; the worker, if that one is gone."""
    state = decisions.state
    if (reason := wants_red(state, escalation, answer)) is not None:
        return reopen(decisions.of(WORKER), Reopening(reason, by="person"))
    if is_about_checks(escalation):
        return answered(decisions, escalation, answer)
    if escalation.question.about and agrees(answer):
        return "resumed: a person allowed it, and the gate judges again"
    review = escalation.kind == "review"
    asked = state.find(escalation.run)
    reads = state.beside(WORKER, heard=False) or state.hears(WORKER)
    if (escalation.run in ("", WORKER)) and reads and not review:
        return "resumed: the panel reads on"
    own = decisions.of(asked.id if asked is not None else WORKER)
    return _reopen(own, _what_to_tell(escalation, answer), review=review)


def _go_on_all(decisions: Decisions) -> str:
    """Nobody answered anything: whoever was at work takes the next step."""
    for run in decisions.state.panel:
        if run.point != "handed_in":
            _reopen(decisions.of(run.id), ())
    if decisions.state.hears(WORKER):
        return "resumed: others are heard first"
    run = decisions.state.run_of(WORKER)
    if asked := present(decisions.of(WORKER)):
        return asked
    if run.point in ("check", "judge", "commit", "deliver") and not has_failed(decisions.state, run):
        return "resumed"
    return _reopen(decisions.of(WORKER), ())


def _what_to_tell(escalation: Escalation, answer: str) -> tuple[str, ...]:
    """What the role hears of an answer."""
    call = escalation.question.call
    if (no := escalation.question.if_no) and not agrees(answer):
        return (no if answer.strip().lower() in ("no", "n") else f"{no} They said: {answer}",)
    if about := escalation.question.about:
        words = "" if answer.strip().lower() == KEEP else f" They said: {answer}"
        return (f"A person wants these old tests kept as they are: {', '.join(about)}.{words}",)
    if call is None:
        return (f"A person answered: {answer}",)
    if is_yes(answer):
        return (
            (
                f"A person allowed this call of {call.tool}. Send the same call again, "
                f"unchanged:\n{_shortened(escalation.question.text)}"
            ),
        )
    words = "" if answer.strip().lower() == "deny" else f" They said: {answer}"
    what = " ".join(call.command or call.paths)[:200]
    return (
        f"A person denied the call of {call.tool} {what}".rstrip()
        + f"; do not send it again, find another way.{words}",
    )


def _shortened(text: str) -> str:
    """The question as far as a role needs it: it made the call itself."""
    half = TOLD_CHARS // 2
    return (
        text
        if len(text) <= TOLD_CHARS
        else f"{text[:half]}\n[… {len(text) - 2 * half} characters are left out …]\n{text[-half:]}"
    )


def _reopen(own: RunDecisions, words: tuple[str, ...], *, review: bool = False) -> str:
    """The stage under way starts its next step, or a fresh attempt where the last one had failed."""
    state, run, stage = own.state, own.run, own.stage
    if has_failed(state, run):
        enter(own, stage, run.entry_tree, words)
    elif review and (target := revises(state, stage)):
        told = state.findings if run.skipped else run.feedback
        send_back(own, target, (*words, *told), state.findings)
    elif stage.role is None or run.skipped:
        return "resumed where it was: a computed stage has nobody to tell"
    else:
        own.close("answered", (*words, *run.feedback))
        open_step(own, "answered")
    return "resumed with an answer" if words else "resumed"


def _raised(budget: Budget, answer: str) -> Budget:
    """`double`, or any answer that is not abort, doubles; a factor like `x3` multiplies by it."""
    words = answer.strip().lower().removeprefix("x")
    factor = max(2, int(words)) if words.isdecimal() and len(words) <= 3 else 2
    return budget.times(factor)
