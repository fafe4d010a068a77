"""The rules: `decide` says what an input means. Nothing else in the product decides.

`core/machine.py` is the page to read first. The rules by what they are about: here the task and its effects;
`calls` what becomes of a model call, `steps` how a step ends, `verdicts` what gates and commits lead to,
`people` what people say. `decisions` has the verbs that they share.
"""

from dataclasses import dataclass
from typing import assert_never

from agentforge.core.calls import answered, driver_started, landing, lose, queued, sending, trouble, was_late
from agentforge.core.decisions import (
    WITHOUT,
    Decisions,
    RunDecisions,
    budget_question,
    confuse,
    escalate,
    take_place,
)
from agentforge.core.effects import Await, Effect, Judge
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    BaselineTaken,
    DependenciesMet,
    Discarded,
    Event,
    TaskCreated,
    TaskDelivered,
    WaitEnded,
    WorkspacePrepared,
)
from agentforge.core.inputs import (
    Acted,
    ActionLeaving,
    Answered,
    AskLate,
    AskQueued,
    AskStarted,
    AskTrouble,
    Assembled,
    BaselineFailed,
    BaselineReady,
    CheckRan,
    CommitMade,
    Create,
    DeliveryMade,
    DependenciesReady,
    DependencyLost,
    DriverStarted,
    Elapsed,
    Input,
    Judged,
    Message,
    Outcome,
    OwedAgain,
    Parked,
    Prepared,
    Unclassified,
)
from agentforge.core.iterating import leave
from agentforge.core.machine import OUTCOMES, TERMINAL, check_place
from agentforge.core.pending import pending
from agentforge.core.people import hear
from agentforge.core.returns import edited_by_hand
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.steps import acted, assembled, checked, leaving
from agentforge.core.values import Amount, OfRun, Question
from agentforge.core.verdicts import accepted, begin, judged


@dataclass(frozen=True, slots=True)
class Decision:
    """What an input meant, and why."""

    events: tuple[Event, ...]
    why: str


def decide(state: State, given: Input, key: str = "") -> Decision:
    """Total over states and inputs: what is not owed is discarded, what makes no sense for a person is
    `state_invalid`.
    """
    decisions = Decisions(state)
    why = _meaning(decisions, given, key)
    why = _stuck(decisions) or why
    return Decision(tuple(decisions.events), why)


def _meaning(decisions: Decisions, given: Input, key: str) -> str:
    if isinstance(given, Message):
        return hear(decisions, given)
    match given:
        case Create():
            return _create(decisions, given)
        case DriverStarted():
            return driver_started(decisions)
        case OwedAgain(effect):
            return confuse(
                decisions, f"{effect} is owed again, and its outcome is on record", _run_of(decisions, effect)
            )
        case AskStarted():
            return sending(decisions, given, key)
        case AskQueued():
            return queued(decisions, given, key)
        case ActionLeaving():
            return leaving(decisions, given, key)
        case Parked():
            return "the call waits in its batch"
        case _:
            owed = _owed(decisions.state, key) or (
                landing(decisions.state, key) if isinstance(given, Answered) else None
            )
            return _discard(decisions, given, key) if owed is None else _outcome(decisions, owed, given)


def _owed(state: State, key: str) -> Effect | None:
    for effect in pending(state):
        if effect.key == key and not isinstance(effect, Await):
            return effect
    return None


def _run_of(decisions: Decisions, key: str) -> str:
    owed = _owed(decisions.state, key)
    return owed.run if isinstance(owed, OfRun) else WORKER


def _discard(decisions: Decisions, given: Outcome, key: str) -> str:
    """What is no longer owed changes nothing but the bill."""
    if isinstance(given, Unclassified) or (isinstance(given, AskTrouble | AskLate) and given.maybe_billed):
        lose(decisions, key)
    cost = given.reply.cost if isinstance(given, Answered) else Amount()
    decisions.tell(Discarded(key, cost))
    return "this effect is no longer owed"


def _stuck(decisions: Decisions) -> str:
    """A task under way always owes something. Where nothing is owed, a lost call took the room of the next
    one: a person is asked.
    """
    state = decisions.state
    if not state.task_id or state.status in TERMINAL or pending(state):
        return ""
    return escalate(decisions, "budget", budget_question(state))


# ------------------------------------------------------------------ outcomes


def _outcome(decisions: Decisions, effect: Effect, given: Outcome) -> str:
    """What the outcome of an owed effect means. It can lead its run only where the machine knows of."""
    given = _classified(effect, given)
    if not isinstance(effect, OfRun):
        return _of_task(decisions, given)
    why = _of_run(decisions.of(effect.run), given, effect.key)
    why = _stuck(decisions) or why
    state = decisions.state
    halted = state.status in TERMINAL or state.status == "blocked"
    check_place(given, effect.key, state.status if halted else state.run_of(effect.run).point)
    return why


def _classified(effect: Effect, given: Outcome) -> Outcome:
    """The outcome, if it is one that this effect can have."""
    fits = isinstance(given, OUTCOMES[type(effect)])
    if isinstance(effect, Judge) and isinstance(given, Judged):
        fits = _is_verdict_of(effect, given)
    if fits or isinstance(given, Unclassified):
        return given
    return Unclassified(f"{type(given).__name__} is no outcome of {effect.key}")


def _is_verdict_of(effect: Judge, given: Judged) -> bool:
    """Only a review can be blocked, split or unread."""
    of_reviews = ("blocked", "split", "unread")
    gate, status = given.verdict.gate, given.verdict.status
    return effect.gate == gate and (gate == "review" or status not in of_reviews)


def _of_task(decisions: Decisions, given: Outcome) -> str:
    match given:
        case Prepared():
            return _prepared(decisions, given)
        case BaselineReady(baseline):
            decisions.tell(BaselineTaken(baseline))
            return f"the environment is ready: {baseline.summary}"
        case BaselineFailed(sentence, next_step, options):
            return escalate(decisions, "environment", Question(sentence, options, next_step))
        case DependenciesReady(found):
            decisions.tell(DependenciesMet(found))
            return "what the task waited for is there"
        case DependencyLost(sentence, next_step):
            question = Question(sentence, ("retry", WITHOUT, "abort"), next_step)
            return escalate(decisions, "dependency", question)
        case Unclassified(what):
            return confuse(decisions, what)
        case _:
            raise AssertionError(f"{given} is an outcome of a run")


def _of_run(own: RunDecisions, given: Outcome, key: str) -> str:  # noqa: C901, PLR0912  # one arm per outcome
    match given:
        case Assembled():
            return assembled(own, given)
        case Answered(reply):
            return answered(own, reply, key)
        case AskTrouble():
            return trouble(own, given, key)
        case AskLate(maybe_billed):
            return was_late(own, key, maybe_billed=maybe_billed)
        case Elapsed():
            own.tell(WaitEnded(own.id))
            return "trying again"
        case Acted():
            return acted(own, given)
        case CheckRan(check, ref):
            return checked(own, check, ref)
        case Judged():
            return judged(own, given)
        case CommitMade():
            return accepted(own, given)
        case DeliveryMade(handover):
            own.tell(leave(own), TaskDelivered(handover))
            own.all.move("completed")
            return "branch and evidence are in place"
        case Unclassified(what):
            lose(own.all, key)
            return confuse(own.all, what, own.id)
        case (
            Prepared()
            | BaselineReady()
            | BaselineFailed()
            | DependenciesReady()
            | DependencyLost()
            | Parked()
        ):
            raise AssertionError(f"{given} is no outcome of a run")
        case _:
            assert_never(given)


def _create(decisions: Decisions, given: Create) -> str:
    if decisions.state.task_id:
        raise StateInvalid(f"state_invalid: {decisions.state.task_id} exists already.")
    decisions.tell(TaskCreated(given.spec), *given.imports)
    decisions.move("scheduled")
    return f"lane {given.spec.pipeline.lane}: " + ("; ".join(given.spec.triage) or "asked for")


def _prepared(decisions: Decisions, given: Prepared) -> str:
    decisions.tell(WorkspacePrepared(given.tree, given.notices, given.human_commit))
    decisions.move("running")
    state, own = decisions.state, decisions.of(WORKER)
    if state.worker is None:
        return begin(own)
    if given.human_commit:
        return edited_by_hand(own, given)
    take_place(decisions, own.stage)
    return "the worktree is ready again"
