"""The rules: `decide` says what an input means. Nothing else in the product decides.

decide(state, input, key) -> events and why
pending(state)            -> effects, each with a deterministic key
"""

from dataclasses import dataclass
from typing import assert_never

from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    BaselineTaken,
    Checked,
    ContextAssembled,
    Discarded,
    Event,
    GateOpened,
    ReviewGiven,
    StepClosed,
    TaskCreated,
    TaskDelivered,
    TaskFailed,
    WaitEnded,
    WorkspacePrepared,
)
from agentforge.core.inputs import (
    Abort,
    Acted,
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
    DriverStarted,
    Elapsed,
    Input,
    Judged,
    Outcome,
    Parked,
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.pending import holds, pending
from agentforge.core.people import abort, resolve, resume
from agentforge.core.pipeline import Stage
from agentforge.core.state import MAX_FLAGGED, TERMINAL, StageRun, State
from agentforge.core.story import (
    FEEDBACK_LINES,
    Story,
    budget_question,
    convene,
    enter,
    escalate,
    fail_attempt,
    next_step,
    remaining,
    take_place,
)
from agentforge.core.values import NOT_DONE, Amount, Question
from agentforge.core.verdicts import accepted, judged, makes_worse, undo

ASK_TRIES = 3
"""How often one call is tried before a person is asked."""
LONGEST_WAIT_S = 600
"""A provider that asks for a longer pause than this is a person's affair."""

_OUTCOMES: dict[type[Effect], tuple[type[Outcome], ...]] = {
    Prepare: (Prepared,),
    TakeBaseline: (BaselineReady, BaselineFailed),
    Assemble: (Assembled,),
    Ask: (Answered, AskTrouble, AskLate),
    Pause: (Elapsed,),
    Act: (Acted,),
    Check: (CheckRan,),
    Judge: (Judged,),
    Commit: (CommitMade,),
    Deliver: (DeliveryMade,),
    Await: (),
}
"""What an effect can end in; anything else is unclassified."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an input meant, and why."""

    events: tuple[Event, ...]
    why: str


# ------------------------------------------------------------------ decide


def decide(state: State, given: Input, key: str = "") -> Decision:
    """Total over states and inputs: what is not owed is discarded, what makes no sense for a person is
    `state_invalid`.
    """
    story = Story(state)
    match given:
        case Create():
            why = _create(story, given)
        case DriverStarted():
            why = _driver_started(story)
        case Resolution():
            why = resolve(story, given)
        case Resume():
            why = resume(story, given)
        case Abort():
            why = abort(story, given)
        case AskStarted():
            why = _sending(story, given, key)
        case AskQueued():
            why = _queued(story, given, key)
        case Parked():
            return Decision((), "the call waits in its batch")
        case _:
            owed = next(
                (effect for effect in pending(state) if effect.key == key and not isinstance(effect, Await)),
                None,
            )
            owed = owed or (_landing(state, key) if isinstance(given, Answered) else None)
            if owed is None:
                why = _discard(story, given, key)
            else:
                with story.beside(getattr(owed, "seat", "")):
                    why = _outcome(story, _classified(owed, given), key)
    why = _stuck(story) or why
    return Decision(tuple(story.events), why)


def _sending(story: Story, given: AskStarted, key: str) -> str:
    """The last look before the bytes leave: is the call still owed, and does what this very model may cost
    fit the cap?
    """
    asked = next(
        (
            effect
            for effect in pending(story.state)
            if isinstance(effect, Ask) and key == f"{effect.key}/sent"
        ),
        None,
    )
    if asked is None:
        story.tell(Discarded(key, Amount()))
        return "this call is no longer owed"
    with story.beside(asked.seat):
        if not holds(story.state, given.reserved):
            return escalate(story, "budget", budget_question(story.state, given.reserved))
    story.tell(
        AskSent(
            asked.key,
            given.request_hash,
            given.model,
            given.reserved,
            asked.seat,
            given.tier,
            given.why,
            given.delivery,
        )
    )
    return "a request is about to leave"


def _queued(story: Story, given: AskQueued, key: str) -> str:
    """A ticket for a call under way; its key is the call's, with `/ticket/` and the number of the
    submission.
    """
    flight = next((item for item in story.state.flights if key.startswith(f"{item.key}/ticket/")), None)
    if flight is None:
        story.tell(Discarded(key, Amount()))
        return "nobody waits for this batch any more"
    story.tell(AskTicketed(flight.key, given.ticket, flight.seat))
    return "the provider has the request in a batch"


def _classified(effect: Effect, given: Outcome) -> Outcome:
    """The outcome, if it is one that this effect can have."""
    fits_gate = (
        not isinstance(effect, Judge) or not isinstance(given, Judged) or _is_verdict_of(effect, given)
    )
    if isinstance(given, Unclassified) or (isinstance(given, _OUTCOMES[type(effect)]) and fits_gate):
        return given
    return Unclassified(f"{type(given).__name__} is no outcome of {effect.key}")


def _is_verdict_of(effect: Judge, given: Judged) -> bool:
    """Only a review can be blocked or split."""
    return effect.gate == given.gate and (given.gate == "review" or given.status not in ("blocked", "split"))


def _discard(story: Story, given: Outcome, key: str) -> str:
    """What is no longer owed changes nothing but the bill."""
    flight = next((item for item in story.state.flights if item.key == key), None)
    if isinstance(given, Unclassified) or (isinstance(given, AskTrouble | AskLate) and given.maybe_billed):
        _lose(story, key)
    story.tell(
        Discarded(key, given.cost if isinstance(given, Answered) else Amount(), flight.seat if flight else "")
    )
    return "this effect is no longer owed"


def _landing(state: State, key: str) -> Ask | None:
    """A call that is answered while a person is asked about something else: it is paid for, and its run still
    waits for it.
    """
    flight = next((item for item in state.flights if item.key == key), None)
    if (
        state.status != "blocked"
        or flight is None
        or (flight.seat and all(item.seat != flight.seat for item in state.seats))
    ):
        return None
    view = state.focus(flight.seat)
    waits = view.run is not None and view.run.point == "ask" and key == f"{view.prefix}/ask/{view.run.asks}"
    return Ask(key, view.answered(view.run.label), seat=flight.seat) if view.run and waits else None


def _lose(story: Story, key: str) -> None:
    """Bills a call that was sent and will have no answer at its worst case."""
    flight = next((item for item in story.state.flights if item.key == key), None)
    if flight is not None:
        story.tell(AskLost(key, flight.reserved, flight.seat))


def _stuck(story: Story) -> str:
    """A task under way always owes something. Where nothing is owed, a lost call took the room of the next
    one: a person is asked.
    """
    state = story.state
    if not state.task_id or state.status in TERMINAL or pending(state):
        return ""
    return escalate(story, "budget", budget_question(state))


# one arm per outcome is the point
def _outcome(story: Story, given: Outcome, key: str) -> str:  # noqa: C901, PLR0912
    match given:
        case Prepared(tree, notices, human_commit, human_paths):
            story.tell(WorkspacePrepared(tree, notices, human_commit))
            story.move("running")
            return _after_prepare(story, human_commit, human_paths)
        case BaselineReady(baseline):
            story.tell(BaselineTaken(baseline))
            return f"the environment stands: {baseline.summary}"
        case BaselineFailed(sentence, next_step, options):
            return escalate(story, "environment", Question(sentence, options, next_step))
        case Assembled(ref, tokens, dropped, flagged):
            new = tuple(flag for flag in dict.fromkeys(flagged) if flag not in story.state.flagged)
            story.tell(
                ContextAssembled(ref, tokens, dropped, flagged=new[: MAX_FLAGGED - len(story.state.flagged)])
            )
            return f"context of {tokens} tokens"
        case Answered():
            story.tell(
                AskAnswered(
                    key,
                    given.ref,
                    given.usage,
                    given.cost,
                    given.actions,
                    given.priced,
                    given.signal,
                    given.mistake,
                    given.summary,
                    model=given.model,
                    delivery=given.delivery,
                )
            )
            return "the reply is on disk"
        case AskTrouble():
            return _trouble(story, given, key)
        case AskLate(maybe_billed):
            flight = next((item for item in story.state.flights if item.key == key), None)
            story.tell(AskPromoted(key, flight.reserved if flight and maybe_billed else Amount()))
            return "the batch is late: the call is sent live"
        case Parked():
            return "the call waits in its batch"
        case Elapsed():
            story.tell(WaitEnded())
            return "trying again"
        case Acted():
            return _acted(story, given)
        case CheckRan(check, ref):
            story.tell(Checked(check, ref))
            return undo(story, check.summary, check.failures) if makes_worse(story) else _close(story, None)
        case Judged():
            return judged(story, given)
        case CommitMade():
            return accepted(story, given)
        case DeliveryMade(branch, commit, evidence, kept):
            story.tell(TaskDelivered(branch, commit, evidence, kept))
            story.move("completed")
            return "branch and evidence are in place"
        case Unclassified(what):
            _lose(story, key)
            return _confused(story, what)
        case _:
            assert_never(given)


def _confused(story: Story, what: str) -> str:
    return escalate(
        story,
        "confused",
        Question(f"AgentForge met something it cannot classify: {what}", ("retry", "abort"), "retry"),
    )


def _create(story: Story, given: Create) -> str:
    if story.state.task_id:
        raise StateInvalid(f"state_invalid: {story.state.task_id} exists already.")
    story.tell(
        TaskCreated(
            given.task_id,
            given.request,
            given.base_commit,
            given.base_tree,
            given.model,
            given.sandbox,
            given.catalogue,
            given.pipeline,
            given.budget,
            given.price,
            given.triage,
            given.higher,
            given.prices,
            given.marker,
            given.delivery,
            given.deadline_s,
        )
    )
    story.move("scheduled")
    return f"lane {given.pipeline.lane}: " + ("; ".join(given.triage) or "asked for")


def _driver_started(story: Story) -> str:
    owed = {effect.key for effect in pending(story.state)}
    for flight in story.state.flights:
        # What is in a batch outlives its driver, as long as somebody waits for it.
        if flight.delivery == "live" or (
            flight.key not in owed and _landing(story.state, flight.key) is None
        ):
            story.tell(AskLost(flight.key, flight.reserved, flight.seat))
    return (
        "a driver took over; calls without an answer are billed at their worst case" if story.events else ""
    )


def _after_prepare(story: Story, human_commit: str, human_paths: tuple[str, ...]) -> str:
    state = story.state
    if state.run is None:
        enter(story, remaining(state), state.tree)
        return "the worktree stands"
    if human_commit:
        edited = (
            f"A person edited {', '.join(human_paths[:10]) or 'the worktree'} (commit "
            f"{human_commit[:12]}); go on from there."
        )
        enter(story, state.stage, state.tree, (edited, *state.run.feedback), keep_attempt=True)
        return "a person's edits were taken in and are gated like any other"
    take_place(story, state.stage)
    return "the worktree stands again"


def _trouble(story: Story, given: AskTrouble, key: str) -> str:
    flight = next((item for item in story.state.flights if item.key == key), None)
    lost = flight.reserved if flight and given.maybe_billed else Amount()
    wait = given.retry_after_s or 0
    retry = given.retryable and story.run.troubles + 1 < ASK_TRIES and wait <= LONGEST_WAIT_S
    story.tell(AskFailed(key, given.kind, given.message, lost, retry, wait_s=wait if retry else 0))
    if retry:
        return f"the provider did not answer ({given.kind}); trying again"
    if given.kind == "script":
        story.tell(TaskFailed(given.message))
        story.move("failed")
        return given.message
    return escalate(story, "model", Question(given.message, ("retry", "abort"), "retry"))


def _acted(story: Story, given: Acted) -> str:
    before = story.state.tree
    if given.tree != before and (story.seat or not story.state.pipeline.writes):
        return _confused(
            story,
            f"{story.run.label} may only read, and the tree changed from {before[:12]} to {given.tree[:12]}",
        )
    story.tell(
        ActionsPerformed(
            given.ref,
            given.tree,
            given.results,
            given.artifacts,
            given.opened,
            given.created,
            given.seen,
            given.notes,
        )
    )
    if given.question is not None:
        return _close(story, given.question)
    if story.state.stage.checks and (
        given.tree != before or (_wants_gates(story) and story.run.check is None)
    ):
        return "the edit is checked"
    return _close(story, None)


# ------------------------------------------------------------------ the end of a step


def _close(story: Story, question: Question | None) -> str:
    """The transition: what the step ended in."""
    run, stage = story.run, story.state.stage
    failed = [item for item in run.results if not item.ok and item.mistake not in NOT_DONE]
    tried = tuple(f"{item.name} {item.target}: {item.text.partition(chr(10))[0]}" for item in failed)
    wrong = tuple(f"{item.name} {item.target}: {item.text}".replace("  ", " ") for item in failed)
    feedback = ((run.model_mistake,) if run.model_mistake else ()) + wrong
    mistake = bool(run.model_mistake) or not any(item.ok for item in run.results)

    def close(outcome: str, more: tuple[str, ...] = (), *, mistaken: bool = mistake) -> None:
        story.tell(
            StepClosed(story.state.step, outcome, (*feedback, *more)[:FEEDBACK_LINES], tried, mistaken)
        )

    if question is not None:
        close("blocked_on_human", mistaken=False)
        return escalate(story, "question" if question.call is None else "permission", question)
    if run.signal in (
        "failure_retryable",
        "failure_terminal",
        "blocked_on_human",
        "new_tasks_discovered",
        "blocked_on_sibling",
    ):
        close(run.signal, mistaken=False)
        return _give_up(story, run.signal, run.summary or "no reason given")
    if run.check is not None and run.check.status != "passed" and (run.results or run.signal):
        close("checks_failing", (run.check.summary,) if _wants_gates(story) else (), mistaken=mistake)
        return next_step(story, "the checks do not pass yet")
    if _wants_gates(story):
        if missing := _missing(run, stage):
            close(
                "incomplete",
                (f"Not handed in yet: {', '.join(missing)}. Use submit_artifact for each.",),
                mistaken=True,
            )
            return next_step(story, "artifacts are missing")
        close("submitted", mistaken=False)
        if story.seat:
            story.tell(ReviewGiven(story.seat))
            return f"{story.seat} has read it"
        story.tell(GateOpened())
        convene(story)
        return "everything owed is handed in: the gates judge"
    if not run.results and not run.model_mistake:
        close(
            "no_action", ("The reply held no action. Act, submit what is owed, or escalate.",), mistaken=True
        )
        return next_step(story, "no action")
    close("continue")
    return next_step(story, "the stage goes on")


def _wants_gates(story: Story) -> bool:
    run = story.run
    complete = not _missing(run, story.state.stage)
    return run.signal == "success" or (complete and run.submitted)


def _missing(run: StageRun, stage: Stage) -> list[str]:
    have = {draft.contract for draft in run.drafts}
    return [product.contract for product in stage.products if product.contract not in have]


def _give_up(story: Story, signal: str, reason: str) -> str:
    match signal:
        case "failure_retryable":
            return fail_attempt(story, reason)
        case "failure_terminal":
            return escalate(
                story, "terminal", Question(f"The role cannot go on: {reason}", ("retry", "abort"), "")
            )
        case "blocked_on_human":
            return escalate(story, "question", Question(reason))
        case _:
            text = f"Work was found that this pipeline has no place for ({signal}): {reason}"
            return escalate(
                story, "replan", Question(text, ("go on without it", "abort"), "go on without it")
            )
