"""The rules: `decide` says what an input means. Nothing else in the product decides.

decide(state, input, key) -> events and why
pending(state)            -> effects, each with a deterministic key
"""

from dataclasses import dataclass
from typing import assert_never

from agentforge.core.effects import Act, Ask, Assemble, Await, Check, Commit, Deliver, Effect, Judge, Pause, Prepare, TakeBaseline
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskSent,
    AttemptFailed,
    BaselineTaken,
    BudgetRaised,
    Checked,
    ContextAssembled,
    Discarded,
    Escalated,
    Event,
    GateJudged,
    GateOpened,
    Moved,
    Resolved,
    Resumed,
    RevisionAsked,
    StageAccepted,
    StageEntered,
    StepClosed,
    StepOpened,
    TaskAborted,
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
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.pending import fits, pending
from agentforge.core.pipeline import Stage
from agentforge.core.state import LEGAL_MOVES, TERMINAL, StageRun, State, evolve
from agentforge.core.values import RETRYABLE, Amount, Budget, Escalation, EscalationKind, FailureReport, Question, Status

ASK_TRIES = 3
"""How often one call is tried before a person is asked."""
FEEDBACK_LINES = 12

_OUTCOMES: dict[type[Effect], tuple[type[Outcome], ...]] = {
    Prepare: (Prepared,),
    TakeBaseline: (BaselineReady, BaselineFailed),
    Assemble: (Assembled,),
    Ask: (Answered, AskTrouble),
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


class _Story:
    """Events as they are decided, with the state they lead to."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []

    def tell(self, *events: Event) -> None:
        for event in events:
            self.state = evolve(self.state, event)
            self.events.append(event)

    def move(self, target: Status) -> None:
        """Goes to `target` by legal moves only; the table is small enough to search."""
        while self.state.status != target:
            self.tell(Moved(self.state.status, _step_towards(self.state.status, target)))

    @property
    def run(self) -> StageRun:
        assert self.state.run is not None
        return self.state.run


# ------------------------------------------------------------------ decide


def decide(state: State, given: Input, key: str = "") -> Decision:
    """Total over states and inputs: what is not owed is discarded, what makes no sense for a person is `state_invalid`."""
    story = _Story(state)
    match given:
        case Create():
            why = _create(story, given)
        case DriverStarted():
            why = _driver_started(story)
        case Resolution():
            why = _resolve(story, given)
        case Resume():
            why = _resume(story, given)
        case Abort():
            why = _abort(story, given)
        case AskStarted(request_hash, model, reserved):
            if any(isinstance(effect, Ask) and key == f"{effect.key}/sent" for effect in pending(state)):
                story.tell(AskSent(key.removesuffix("/sent"), request_hash, model, reserved))
                why = "a request is about to leave"
            else:
                story.tell(Discarded(key, Amount()))
                why = "this call is no longer owed"
        case _:
            owed = next((effect for effect in pending(state) if effect.key == key and not isinstance(effect, Await)), None)
            why = _discard(story, given, key) if owed is None else _outcome(story, _classified(owed, given), key)
    why = _stuck(story) or why
    return Decision(tuple(story.events), why)


def _classified(effect: Effect, given: Outcome) -> Outcome:
    """The outcome, if it is one that this effect can have."""
    fits_gate = not isinstance(effect, Judge) or not isinstance(given, Judged) or effect.gate == given.gate
    if isinstance(given, Unclassified) or (isinstance(given, _OUTCOMES[type(effect)]) and fits_gate):
        return given
    return Unclassified(f"{type(given).__name__} is no outcome of {effect.key}")


def _discard(story: _Story, given: Outcome, key: str) -> str:
    """What is no longer owed changes nothing but the bill."""
    if isinstance(given, Unclassified) or (isinstance(given, AskTrouble) and given.maybe_billed):
        _lose(story, key)
    story.tell(Discarded(key, given.cost if isinstance(given, Answered) else Amount()))
    return "this effect is no longer owed"


def _lose(story: _Story, key: str) -> None:
    """Bills a call that was sent and will have no answer at its worst case."""
    flight = next((item for item in story.state.flights if item.key == key), None)
    if flight is not None:
        story.tell(AskLost(key, flight.reserved))


def _stuck(story: _Story) -> str:
    """A task under way always owes something. Where nothing is owed, a lost call took the room of the next one: a person is asked."""
    state = story.state
    if not state.task_id or state.status in TERMINAL or pending(state):
        return ""
    return _escalate(story, "budget", _budget_question(state))


def _outcome(story: _Story, given: Outcome, key: str) -> str:  # noqa: C901, PLR0912  # one arm per outcome is the point
    match given:
        case Prepared(tree, notices, human_commit):
            story.tell(WorkspacePrepared(tree, notices, human_commit))
            story.move("running")
            return _after_prepare(story, human_commit)
        case BaselineReady(baseline):
            story.tell(BaselineTaken(baseline))
            return f"the environment stands: {baseline.summary}"
        case BaselineFailed(sentence, next_step):
            return _escalate(story, "environment", Question(sentence, ("retry", "abort"), next_step))
        case Assembled(ref, tokens, dropped):
            story.tell(ContextAssembled(ref, tokens, dropped))
            return f"context of {tokens} tokens"
        case Answered():
            story.tell(
                AskAnswered(
                    key, given.ref, given.usage, given.cost, given.actions, given.priced, given.signal, given.mistake, given.summary
                )
            )
            return "the reply is on disk"
        case AskTrouble():
            return _trouble(story, given, key)
        case Elapsed():
            story.tell(WaitEnded())
            return "trying again"
        case Acted():
            return _acted(story, given)
        case CheckRan(check, ref):
            story.tell(Checked(check, ref))
            return _close(story, None)
        case Judged():
            return _judged(story, given)
        case CommitMade(tree, commit):
            return _accepted(story, tree, commit)
        case DeliveryMade(branch, commit, evidence):
            story.tell(TaskDelivered(branch, commit, evidence))
            story.move("completed")
            return "branch and evidence are in place"
        case Unclassified(what):
            _lose(story, key)
            return _escalate(
                story, "confused", Question(f"AgentForge met something it cannot classify: {what}", ("retry", "abort"), "retry")
            )
        case _:
            assert_never(given)


def _create(story: _Story, given: Create) -> str:
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
        )
    )
    story.move("scheduled")
    return f"lane {given.pipeline.lane}: " + ("; ".join(given.triage) or "asked for")


def _driver_started(story: _Story) -> str:
    for flight in story.state.flights:
        story.tell(AskLost(flight.key, flight.reserved))
    return "a driver took over; calls without an answer are billed at their worst case" if story.events else ""


def _after_prepare(story: _Story, human_commit: str) -> str:
    state = story.state
    if state.run is None:
        _enter(story, state.pipeline.stages[len({item.stage for item in state.accepted})], state.tree)
        return "the worktree stands"
    if human_commit:
        edited = f"A person edited the worktree (commit {human_commit[:12]}); go on from there."
        _enter(story, state.stage, state.tree, (edited, *state.run.feedback), keep_attempt=True)
        return "a person's edits were taken in and are gated like any other"
    _take_place(story, state.stage)
    return "the worktree stands again"


def _trouble(story: _Story, given: AskTrouble, key: str) -> str:
    flight = next((item for item in story.state.flights if item.key == key), None)
    lost = flight.reserved if flight and given.maybe_billed else Amount()
    retry = given.retryable and story.run.troubles + 1 < ASK_TRIES
    story.tell(AskFailed(key, given.kind, given.message, lost, retry))
    if retry:
        return f"the provider did not answer ({given.kind}); trying again"
    if given.kind == "script":
        story.tell(TaskFailed(given.message))
        story.move("failed")
        return given.message
    return _escalate(story, "model", Question(given.message, ("retry", "abort"), "retry"))


def _acted(story: _Story, given: Acted) -> str:
    before = story.state.tree
    story.tell(
        ActionsPerformed(given.ref, given.tree, given.results, given.artifacts, given.opened, given.created, given.seen, given.notes)
    )
    if given.question is not None:
        return _close(story, given.question)
    if story.state.stage.checks and (given.tree != before or (_wants_gates(story) and story.run.check is None)):
        return "the edit is checked"
    return _close(story, None)


# ------------------------------------------------------------------ the end of a step


def _close(story: _Story, question: Question | None) -> str:
    """The transition: what the step ended in."""
    run, stage = story.run, story.state.stage
    tried = tuple(f"{item.name} {item.target}: {item.text.partition(chr(10))[0]}" for item in run.results if not item.ok)
    wrong = tuple(f"{item.name} {item.target}: {item.text}".replace("  ", " ") for item in run.results if not item.ok)
    feedback = ((run.model_mistake,) if run.model_mistake else ()) + wrong
    mistake = bool(run.model_mistake or wrong) or not run.results

    def close(outcome: str, more: tuple[str, ...] = (), *, mistaken: bool = mistake) -> None:
        story.tell(StepClosed(story.state.step, outcome, (*feedback, *more)[:FEEDBACK_LINES], tried, mistaken))

    if question is not None:
        close("blocked_on_human", mistaken=False)
        return _escalate(story, "question", question)
    if run.signal in ("failure_retryable", "failure_terminal", "blocked_on_human", "new_tasks_discovered", "blocked_on_sibling"):
        close(run.signal, mistaken=False)
        return _give_up(story, run.signal, run.summary or "no reason given")
    if run.check is not None and run.check.status != "passed" and (run.results or run.signal):
        close("checks_failing", (run.check.summary,) if _wants_gates(story) else (), mistaken=mistake)
        return _next_step(story, "the checks do not pass yet")
    if _wants_gates(story):
        if missing := _missing(run, stage):
            close("incomplete", (f"Not handed in yet: {', '.join(missing)}. Use submit_artifact for each.",), mistaken=True)
            return _next_step(story, "artifacts are missing")
        close("submitted", mistaken=False)
        story.tell(GateOpened())
        return "everything owed is handed in: the gates judge"
    if not run.results and not run.model_mistake:
        close("no_action", ("The reply held no action. Act, submit what is owed, or escalate.",), mistaken=True)
        return _next_step(story, "no action")
    close("continue")
    return _next_step(story, "the stage goes on")


def _wants_gates(story: _Story) -> bool:
    run = story.run
    complete = not _missing(run, story.state.stage)
    return run.signal == "success" or (complete and run.submitted)


def _missing(run: StageRun, stage: Stage) -> list[str]:
    have = {draft.contract for draft in run.drafts}
    return [product.contract for product in stage.products if product.contract not in have]


def _give_up(story: _Story, signal: str, reason: str) -> str:
    match signal:
        case "failure_retryable":
            return _fail_attempt(story, reason)
        case "failure_terminal":
            return _escalate(story, "terminal", Question(f"The role cannot go on: {reason}", ("retry", "abort"), ""))
        case "blocked_on_human":
            return _escalate(story, "question", Question(reason))
        case _:
            text = f"Work was found that this pipeline has no place for ({signal}): {reason}"
            return _escalate(story, "replan", Question(text, ("go on without it", "abort"), "go on without it"))


def _next_step(story: _Story, why: str) -> str:
    """Opens the next step if the bounds allow it."""
    run, stage = story.run, story.state.stage
    if run.mistakes >= stage.mistakes:
        return _fail_attempt(story, f"{run.mistakes} mistakes in a row")
    if run.steps >= stage.max_steps:
        return _fail_attempt(story, f"the step budget of {stage.max_steps} is used up")
    return _open_step(story, why)


def _open_step(story: _Story, why: str) -> str:
    if not fits(story.state, story.state.stage):
        return _escalate(story, "budget", _budget_question(story.state))
    story.tell(StepOpened(story.state.step + 1))
    return why


def _fail_attempt(story: _Story, reason: str) -> str:
    state, run, stage = story.state, story.run, story.state.stage
    story.tell(AttemptFailed(FailureReport(stage.name, run.attempt, state.step, reason, run.feedback)))
    if _failures(story.state, stage.name) < stage.attempts + story.state.grants.count(stage.name):
        return _enter(story, stage, run.entry_tree, (f"An earlier attempt failed: {reason}. Take another way.",))
    reports = tuple(report for report in story.state.failures if report.stage == stage.name)[-2:]
    text = f"Stage {stage.name} failed {len(reports)} times; the last reason: {reason}. How should it go on?"
    return _escalate(story, "exhausted", Question(text, ("retry", "abort"), ""), reports)


def _enter(story: _Story, stage: Stage, tree: str, feedback: tuple[str, ...] = (), *, keep_attempt: bool = False) -> str:
    attempt = story.run.attempt if keep_attempt else _failures(story.state, stage.name) + 1
    _take_place(story, stage)
    story.tell(StageEntered(stage.name, attempt, tree, feedback[:FEEDBACK_LINES]))
    if stage.role is None:
        return f"stage {stage.name} is computed"
    return _open_step(story, f"stage {stage.name}, attempt {attempt}")


def _take_place(story: _Story, stage: Stage) -> None:
    """`verifying` in the stages that judge the result, `running` in the others. Until `Prepare` is done it is neither."""
    if story.state.prepared:
        story.move("verifying" if stage.verifying else "running")


# ------------------------------------------------------------------ gates


def _judged(story: _Story, given: Judged) -> str:
    story.tell(GateJudged(given.gate, given.status, given.reasons, given.ref, given.finals))
    if given.status == "passed":
        return f"gate {given.gate} passed"
    if given.status == "blocked":
        return _revise(story, given.reasons)
    run, stage = story.run, story.state.stage
    words = "could not run, and not run is not passed" if given.status == "not_run" else "failed"
    feedback = (f"Gate {given.gate} {words}:", *given.reasons)[:FEEDBACK_LINES]
    if stage.role is None:
        return _fail_attempt(story, "; ".join(feedback))
    tried = (f"gate {given.gate}: {given.reasons[0] if given.reasons else words}",)
    story.tell(StepClosed(story.state.step, f"gate_{given.gate}_{given.status}", feedback, tried, mistake=False))
    if run.rounds > stage.feedback_rounds:
        return _fail_attempt(story, " ".join(feedback))
    return _next_step(story, feedback[0])


def _revise(story: _Story, findings: tuple[str, ...]) -> str:
    stage = story.state.stage
    target = stage.returns_to
    if target is None or story.state.revisions >= stage.max_revisions + story.state.grants.count(stage.name):
        if stage.role is not None:
            told = ("The reviewer blocks:", *findings)[:FEEDBACK_LINES]
            story.tell(StepClosed(story.state.step, "gate_review_blocked", told))
        text = f"The reviewer still blocks after {story.state.revisions} revisions: {' '.join(findings)[:600]}"
        return _escalate(story, "review", Question(text, ("retry", "abort"), ""))
    story.tell(RevisionAsked(target, story.state.revisions + 1))
    back = story.state.pipeline.stages[story.state.pipeline.index(target)]
    _enter(story, back, story.state.tree, ("The reviewer blocks:", *findings))
    return f"the reviewer blocks; revision {story.state.revisions}"


def _accepted(story: _Story, tree: str, commit: str) -> str:
    state, run = story.state, story.run
    story.tell(StageAccepted(run.name, tree, commit, run.finals))
    position = state.pipeline.index(run.name) + 1
    if position == len(state.pipeline.stages):
        return "the last stage is accepted"
    return _enter(story, state.pipeline.stages[position], tree)


# ------------------------------------------------------------------ people


def _escalate(story: _Story, kind: EscalationKind, question: Question, reports: tuple[FailureReport, ...] = ()) -> str:
    state = story.state
    identity = f"ESC-{len(state.escalations) + 1:03d}"
    story.tell(Escalated(Escalation(identity, kind, state.run.name if state.run else "prepare", question, reports)))
    story.move("blocked")
    return f"{kind}: {question.text}"


def _resolve(story: _Story, given: Resolution) -> str:
    state = story.state
    found = next((item for item in state.escalations if item.id == given.escalation), None)
    if found is None:
        known = ", ".join(item.id for item in state.escalations)
        raise StateInvalid(f"{given.escalation} is not an escalation of {state.task_id}; it has {known or 'none'}.")
    if found.answer is not None:
        raise StateInvalid(f"{found.id} was answered already by {found.by}: {found.answer[:80]!r}.")
    if state.status != "blocked":
        raise StateInvalid(f"state_invalid: the task is {state.status}; only a blocked task takes an answer.")
    story.tell(Resolved(found.id, given.answer, given.by))
    if given.answer.strip().lower() == "abort":
        story.tell(TaskAborted(given.by, f"answer to {found.id}"))
        story.move("cancelled")
        return "aborted by a person's answer"
    if found.kind == "budget":
        story.tell(BudgetRaised(_raised(state.budget, given.answer)))
    return _go_on(story, given.by, found, given.answer)


def _resume(story: _Story, given: Resume) -> str:
    state = story.state
    if not state.task_id or "draft" not in LEGAL_MOVES[state.status]:
        legal = ", ".join(LEGAL_MOVES[state.status])
        raise StateInvalid(f"state_invalid: a {state.status} task cannot be resumed; it can become {legal}.")
    if state.status == "completed":
        raise StateInvalid(f"{state.task_id} is completed; start a new task for more work.")
    open_one = state.open_escalation
    if open_one is not None and open_one.kind not in RETRYABLE:
        raise StateInvalid(
            f"{state.task_id} waits for an answer to {open_one.id}.",
            f"Answer with `agentforge resolve {open_one.id} --task {state.task_id} --answer …`.",
        )
    if open_one is not None:
        story.tell(Resolved(open_one.id, "retry", given.by))
    return _go_on(story, given.by, open_one)


def _go_on(story: _Story, by: str, escalation: Escalation | None = None, answer: str = "") -> str:
    """From a halt back to work, keeping every accepted artifact."""
    story.move("draft")
    story.tell(Resumed(story.state.segment + 1, by))
    story.move("scheduled")
    run = story.state.run
    if run is None or (escalation is not None and escalation.kind in RETRYABLE):
        return "resumed"
    if escalation is not None:
        return _reopen(story, (f"A person answered: {answer}",), review=escalation.kind == "review")
    if run.point in ("check", "judge", "commit", "deliver") and not _has_failed(story.state, run):
        return "resumed"
    return _reopen(story, ())


def _reopen(story: _Story, words: tuple[str, ...], *, review: bool = False) -> str:
    """The stage under way starts its next step, or a fresh attempt where the last one had failed."""
    state, run, stage = story.state, story.run, story.state.stage
    if _has_failed(state, run):
        _enter(story, stage, run.entry_tree, words)
    elif stage.role is None:
        return "resumed where it stood: a computed stage has nobody to tell"
    elif review and stage.returns_to:
        back = state.pipeline.stages[state.pipeline.index(stage.returns_to)]
        story.tell(RevisionAsked(back.name, state.revisions + 1))
        _enter(story, back, state.tree, (*words, *run.feedback))
    else:
        story.tell(StepClosed(state.step, "answered", (*words, *run.feedback)[:FEEDBACK_LINES]))
        _open_step(story, "answered")
    return "resumed with an answer" if words else "resumed"


def _has_failed(state: State, run: StageRun) -> bool:
    return any(report.stage == run.name and report.attempt == run.attempt for report in state.failures)


def _abort(story: _Story, given: Abort) -> str:
    if not story.state.task_id:
        raise StateInvalid("state_invalid: there is no task to abort.")
    if story.state.status in TERMINAL:
        raise StateInvalid(f"state_invalid: the task is {story.state.status} already; it can become draft, by resume.")
    if (open_one := story.state.open_escalation) is not None:
        story.tell(Resolved(open_one.id, "abort", given.by))  # nobody owes this answer any more: `resume` is free to go on
    story.tell(TaskAborted(given.by, given.reason))
    story.move("cancelled")
    return given.reason or "aborted by a person"


# ------------------------------------------------------------------ arithmetic


def _budget_question(state: State) -> Question:
    used, cap = state.spent.plus(state.unaccounted), state.budget
    money = f", ${used.micro_usd / 1e6:.2f} of ${cap.micro_usd / 1e6:.2f}" if cap.micro_usd is not None else ""
    parts = f"{used.calls} of {cap.calls} calls, {used.tokens} of {cap.tokens} tokens{money}"
    text = f"The next call does not fit the budget: {parts} are used. Raise it?"
    return Question(text, ("double", "abort"), "double")


def _raised(budget: Budget, answer: str) -> Budget:
    """`double`, or any answer that is not abort, doubles; a factor like `x3` multiplies by it."""
    words = answer.strip().lower().removeprefix("x")
    factor = max(2, int(words)) if words.isdecimal() and len(words) <= 3 else 2
    return Budget(budget.calls * factor, budget.tokens * factor, None if budget.micro_usd is None else budget.micro_usd * factor)


def _failures(state: State, stage: str) -> int:
    return sum(1 for report in state.failures if report.stage == stage)


def _step_towards(status: Status, target: Status) -> Status:
    """The first move of a shortest legal path."""
    seen: dict[Status, Status | None] = {status: None}
    queue: list[Status] = [status]
    for here in queue:
        for nearby in LEGAL_MOVES[here]:
            if nearby not in seen and (nearby != "draft" or target == "draft"):
                seen[nearby] = here
                queue.append(nearby)
    if target not in seen:
        raise StateInvalid(f"state_invalid: a {status} task cannot become {target}; it can become {', '.join(LEGAL_MOVES[status])}.")
    here = target
    while (before := seen[here]) != status:
        assert before is not None
        here = before
    return here
