"""Events as they are decided, and the verbs that every rule shares: open a step, enter a stage, give up, ask a person."""

from agentforge.core.errors import StateInvalid
from agentforge.core.events import AttemptFailed, Escalated, Event, Moved, StageEntered, StepOpened
from agentforge.core.pending import fits
from agentforge.core.pipeline import Stage
from agentforge.core.state import LEGAL_MOVES, StageRun, State, evolve
from agentforge.core.values import Escalation, EscalationKind, FailureReport, Question, Status

FEEDBACK_LINES = 12
"""What a role is told at once; more would bury the first."""


class Story:
    """Events as they are decided, with the state they lead to."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.events: list[Event] = []

    def tell(self, *events: Event) -> None:
        """It happened."""
        for event in events:
            self.state = evolve(self.state, event)
            self.events.append(event)

    def move(self, target: Status) -> None:
        """Goes to `target` by legal moves only; the table is small enough to search."""
        while self.state.status != target:
            self.tell(Moved(self.state.status, _step_towards(self.state.status, target)))

    @property
    def run(self) -> StageRun:
        """The attempt under way."""
        assert self.state.run is not None
        return self.state.run


def escalate(story: Story, kind: EscalationKind, question: Question, reports: tuple[FailureReport, ...] = ()) -> str:
    """Asks a person; the task waits."""
    state = story.state
    identity = f"ESC-{len(state.escalations) + 1:03d}"
    story.tell(Escalated(Escalation(identity, kind, state.run.name if state.run else "prepare", question, reports)))
    story.move("blocked")
    return f"{kind}: {question.text}"


def next_step(story: Story, why: str) -> str:
    """Opens the next step if the bounds allow it."""
    run, stage = story.run, story.state.stage
    if run.mistakes >= stage.mistakes:
        return fail_attempt(story, f"{run.mistakes} mistakes in a row")
    if run.steps >= stage.max_steps:
        return fail_attempt(story, f"the step budget of {stage.max_steps} is used up")
    return open_step(story, why)


def open_step(story: Story, why: str) -> str:
    """A step begins, if its call fits the budget."""
    if not fits(story.state, story.state.stage):
        return escalate(story, "budget", budget_question(story.state))
    story.tell(StepOpened(story.state.step + 1))
    return why


def fail_attempt(story: Story, reason: str) -> str:
    """Gives an attempt up; the next one starts from a fresh checkout, and after the last a person is asked."""
    state, run, stage = story.state, story.run, story.state.stage
    story.tell(AttemptFailed(FailureReport(stage.name, run.attempt, state.step, reason, run.feedback)))
    if _failures(story.state, stage.name) < stage.attempts + story.state.grants.count(stage.name):
        return enter(story, stage, run.entry_tree, (f"An earlier attempt failed: {reason}. Take another way.",))
    reports = tuple(report for report in story.state.failures if report.stage == stage.name)[-2:]
    text = f"Stage {stage.name} failed {len(reports)} times; the last reason: {reason}. How should it go on?"
    return escalate(story, "exhausted", Question(text, ("retry", "abort"), ""), reports)


def enter(
    story: Story, stage: Stage, tree: str, feedback: tuple[str, ...] = (), *, keep_attempt: bool = False, revise: bool = False
) -> str:
    """An attempt at a stage begins. A revision starts from the artifacts that were accepted: only what changes is handed in again."""
    accepted = next((item.finals for item in reversed(story.state.accepted) if item.stage == stage.name), ()) if revise else ()
    attempt = story.run.attempt if keep_attempt else _failures(story.state, stage.name) + 1
    take_place(story, stage)
    story.tell(StageEntered(stage.name, attempt, tree, feedback[:FEEDBACK_LINES], accepted))
    if stage.role is None:
        return f"stage {stage.name} is computed"
    return open_step(story, f"stage {stage.name}, attempt {attempt}")


def take_place(story: Story, stage: Stage) -> None:
    """`verifying` in the stages that judge the result, `running` in the others. Until `Prepare` is done it is neither."""
    if story.state.prepared:
        story.move("verifying" if stage.verifying else "running")


def has_failed(state: State, run: StageRun) -> bool:
    """Whether this attempt was given up."""
    return any(report.stage == run.name and report.attempt == run.attempt for report in state.failures)


def _failures(state: State, stage: str) -> int:
    return sum(1 for report in state.failures if report.stage == stage)


def budget_question(state: State) -> Question:
    """What is used, and whether to raise the cap."""
    used, cap = state.spent.plus(state.unaccounted), state.budget
    money = f", ${used.micro_usd / 1e6:.2f} of ${cap.micro_usd / 1e6:.2f}" if cap.micro_usd is not None else ""
    parts = f"{used.calls} of {cap.calls} calls, {used.tokens} of {cap.tokens} tokens{money}"
    text = f"The next call does not fit the budget: {parts} are used. Raise it?"
    return Question(text, ("double", "abort"), "double")


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
