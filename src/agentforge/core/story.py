"""Events as they are decided, and the verbs that every rule shares: open a step, enter a stage, give up, ask
a person.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AttemptFailed,
    ContextAssembled,
    Discarded,
    Escalated,
    Event,
    Moved,
    Reverted,
    ReviewGiven,
    RevisionAsked,
    StageEntered,
    StepClosed,
    StepOpened,
    WaitEnded,
)
from agentforge.core.evolve import evolve
from agentforge.core.pending import fits, worst_case
from agentforge.core.pipeline import Stage, seat_name
from agentforge.core.state import LEGAL_MOVES, StageRun, State
from agentforge.core.values import (
    Amount,
    ArtifactRef,
    Escalation,
    EscalationKind,
    FailureReport,
    Question,
    Status,
)

FEEDBACK_LINES = 12
"""What a role is told at once; more would bury the first."""
WHY_CHARS = 2000
"""A decision's reason stays a reason: the whole question is in the event."""

_SEATED = (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskPromoted,
    AskSent,
    AttemptFailed,
    ContextAssembled,
    Discarded,
    ReviewGiven,
    StageEntered,
    StepClosed,
    StepOpened,
    WaitEnded,
)
"""Events of a run: they say whose."""


class Story:
    """Events as they are decided, with the state they lead to."""

    def __init__(self, state: State, seat: str = "") -> None:
        self.whole = state
        self.seat = seat
        """The reviewer of the panel whose story this is; empty for the one who works."""
        self.events: list[Event] = []

    @property
    def state(self) -> State:
        """The task, as the one whose story this is sees it."""
        return self.whole.focus(self.seat)

    def tell(self, *events: Event) -> None:
        """It happened."""
        for event in events:
            seated = replace(event, seat=self.seat) if self.seat and isinstance(event, _SEATED) else event
            self.whole = evolve(self.whole, seated)
            self.events.append(seated)

    @contextmanager
    def beside(self, seat: str) -> Iterator[None]:
        """The same story, told of one seat."""
        before, self.seat = self.seat, seat
        try:
            yield
        finally:
            self.seat = before

    def move(self, target: Status) -> None:
        """Goes to `target` by legal moves only; the table is small enough to search."""
        while self.state.status != target:
            self.tell(Moved(self.state.status, _step_towards(self.state.status, target)))

    @property
    def run(self) -> StageRun:
        """The attempt under way."""
        assert self.state.run is not None
        return self.state.run


def escalate(
    story: Story, kind: EscalationKind, question: Question, reports: tuple[FailureReport, ...] = ()
) -> str:
    """Asks a person; the task waits."""
    state = story.state
    identity = f"ESC-{len(state.escalations) + 1:03d}"
    label = state.run.label if state.run else "prepare"
    story.tell(Escalated(Escalation(identity, kind, label, question, reports, seat=story.seat)))
    story.move("blocked")
    return f"{kind}: {question.text[:WHY_CHARS]}"


def next_step(story: Story, why: str) -> str:
    """Opens the next step if the bounds allow it."""
    run, stage = story.run, story.state.stage
    if run.mistakes >= stage.mistakes:
        return fail_attempt(story, f"{run.mistakes} mistakes in a row")
    if run.steps >= stage.max_steps:
        return fail_attempt(story, f"the step budget of {stage.max_steps} is used up")
    return open_step(story, why)


def open_step(story: Story, why: str) -> str:
    """A step begins, if its call fits the budget. A reviewer's is asked when it is owed: the others may land
    before.
    """
    if not story.seat and not fits(story.state, story.state.stage):
        return escalate(story, "budget", budget_question(story.state))
    story.tell(StepOpened(story.whole.step + 1))
    return why


def fail_attempt(story: Story, reason: str) -> str:
    """Gives an attempt up; the next one starts from a fresh checkout, and after the last a person is
    asked.
    """
    state, run, stage = story.state, story.run, story.state.stage
    story.tell(AttemptFailed(FailureReport(run.label, run.attempt, state.step, reason, run.feedback)))
    if attempts_left(story.state, run, stage):
        return enter(
            story, stage, run.entry_tree, (f"An earlier attempt failed: {reason}. Take another way.",)
        )
    if stage.reverts:
        story.tell(Reverted(run.entry_tree, (reason,)))
        return enter(story, stage, run.entry_tree, skipped="no attempt made it better")
    return give_up(story, reason)


def give_up(story: Story, reason: str) -> str:
    """Asks a person how to go on, with the reports of the last two attempts."""
    run = story.run
    reports = tuple(report for report in story.state.failures if report.stage == run.label)[-2:]
    text = (
        f"Stage {run.label} failed {len(reports)} times; the last reason: {reason.rstrip('.')}. How "
        "should it go on?"
    )
    return escalate(story, "exhausted", Question(text, ("retry", "abort"), ""), reports)


def attempts_left(state: State, run: StageRun, stage: Stage) -> bool:
    """Whether this run may be tried once more."""
    return _failures(state, run.label) < stage.attempts + state.grants.count(run.label)


def enter(  # noqa: PLR0913  # what an attempt begins with
    story: Story,
    stage: Stage,
    tree: str,
    feedback: tuple[str, ...] = (),
    *,
    keep_attempt: bool = False,
    drafts: tuple[ArtifactRef, ...] = (),
    skipped: str = "",
) -> str:
    """An attempt at a stage begins. A revision starts from the artifacts it had: only what changes is handed
    in again.
    """
    label = f"{stage.name}/{story.seat}" if story.seat else stage.name
    attempt = story.run.attempt if keep_attempt else _failures(story.state, label) + 1
    if skipped:
        drafts = tuple(
            ref for product in stage.products if (ref := story.state.artifact(product.contract)) is not None
        )
    if not story.seat:
        take_place(story, stage)
    story.tell(StageEntered(stage.name, attempt, tree, feedback[:FEEDBACK_LINES], drafts, skipped))
    if stage.role is None or skipped:
        convene(story)
        return f"stage {stage.name} is computed" + (f": {skipped}" if skipped else "")
    return open_step(story, f"stage {label}, attempt {attempt}")


def send_back(story: Story, target: str, words: tuple[str, ...], findings: tuple[str, ...]) -> str:
    """A revision: the stage that made the work takes it up again, from what it had handed in."""
    state, run = story.state, story.run
    had = (
        run.drafts
        if run.name == target
        else next((item.finals for item in reversed(state.accepted) if item.stage == target), ())
    )
    back = state.pipeline.stages[state.pipeline.index(target)]
    owed = {product.contract for product in back.products}
    drafts = tuple(ref for ref in had or _made(state) if ref.contract in owed)
    story.tell(RevisionAsked(target, state.revised_times(target) + 1, findings[:FEEDBACK_LINES]))
    return enter(story, back, state.tree, words, drafts=drafts)


def remaining(state: State) -> Stage:
    """The first stage of the pipeline whose artifacts are not all accepted."""
    have = {(ref.contract, ref.phase) for item in state.accepted for ref in item.finals}
    stages = state.pipeline.stages
    return next(
        (
            stage
            for stage in stages
            if any((item.contract, item.phase) not in have for item in stage.products)
        ),
        stages[-1],
    )


def _made(state: State) -> tuple[ArtifactRef, ...]:
    return tuple({ref.contract: ref for item in state.accepted for ref in item.finals}.values())


def convene(story: Story) -> None:
    """Opens the panel's seats where the next gate is the review."""
    state, run = story.state, story.run
    stage = state.stage
    if story.seat or run.point != "judge" or stage.gates[run.gate] != "review" or state.seats:
        return
    told = ("The version before was sent back for:", *state.findings) if state.findings else ()
    for reviewer in stage.reviewers:
        with_seat(story, seat_name(reviewer, stage), told)


def with_seat(story: Story, seat: str, told: tuple[str, ...]) -> None:
    """Seats one reviewer, who starts to read."""
    stage, tree = story.state.stage, story.state.tree
    with story.beside(seat):
        story.tell(
            StageEntered(
                stage.name, _failures(story.whole, f"{stage.name}/{seat}") + 1, tree, told[:FEEDBACK_LINES]
            )
        )
        open_step(story, "a reviewer reads")


def take_place(story: Story, stage: Stage) -> None:
    """`verifying` in the stages that judge the result, `running` in the others. Until `Prepare` is done it is
    neither.
    """
    if story.state.prepared:
        story.move("verifying" if stage.verifying else "running")


def has_failed(state: State, run: StageRun) -> bool:
    """Whether this attempt was given up."""
    return any(report.stage == run.label and report.attempt == run.attempt for report in state.failures)


def _failures(state: State, stage: str) -> int:
    return sum(1 for report in state.failures if report.stage == stage)


def budget_question(state: State, more: Amount | None = None) -> Question:
    """What is used, what the next call may take, and how far the cap must be raised for it."""
    used, cap = state.spent.plus(state.unaccounted).plus(state.in_flight()), state.budget
    more = more or (worst_case(state, state.stage) if state.run else Amount(1))
    money = (
        f", ${used.micro_usd / 1e6:.2f} of ${cap.micro_usd / 1e6:.2f}" if cap.micro_usd is not None else ""
    )
    parts = f"{used.calls} of {cap.calls} calls, {used.tokens} of {cap.tokens} tokens{money}"
    takes = f"{more.tokens} tokens" + (
        f" and ${more.micro_usd / 1e6:.2f}" if cap.micro_usd is not None else ""
    )
    text = (
        f"The next call does not fit the budget: it may take {takes}, and {parts} are used or set "
        "aside. Raise it?"
    )
    factor = next((times for times in range(2, 1000) if cap.times(times).holds(used.plus(more))), 2)
    raised = "double" if factor == 2 else f"x{factor}"
    return Question(text, (raised, "abort"), raised)


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
        raise StateInvalid(
            f"state_invalid: a {status} task cannot become {target}; it can become "
            f"{', '.join(LEGAL_MOVES[status])}."
        )
    here = target
    while (before := seen[here]) != status:
        assert before is not None
        here = before
    return here
