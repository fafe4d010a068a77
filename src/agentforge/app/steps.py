"""The model steps of a task, collected from the lines of its journal."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agentforge.core.errors import UsageError
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    Checked,
    ContextAssembled,
    Event,
    GateJudged,
    StepClosed,
    StepOpened,
)
from agentforge.core.evolve import evolve
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import ActionDigest, Usage
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import Line
from agentforge.store.task.pack import Pack


@dataclass(slots=True)
class Step:
    """One step, as far as it has come."""

    number: int
    stage: str
    attempt: int
    role: str
    state: State
    """Where the task stood when the step closed; the newest state of one that is still open."""
    started: str = ""
    seat: str = ""
    """The reviewer of the stage's panel whose step it is; empty for the one who works."""
    context: str = ""
    context_tokens: int = 0
    dropped: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    """What in text from outside reads like an instruction, and was met here first."""
    reply: str = ""
    usage: Usage = Usage()
    summary: str = ""
    mistake: str = ""
    results: str = ""
    actions: tuple[ActionDigest, ...] = ()
    check: str = ""
    gates: list[str] = field(default_factory=list)
    outcome: str = "open"
    feedback: tuple[str, ...] = ()

    def take(self, event: Event) -> None:
        """One more event of this step."""
        match event:
            case ContextAssembled(ref, tokens, dropped, flagged=flagged):
                self.context, self.context_tokens, self.dropped, self.flagged = ref, tokens, dropped, flagged
            case AskAnswered():
                self.reply, self.usage, self.summary, self.mistake = (
                    event.ref,
                    event.usage,
                    event.summary,
                    event.mistake,
                )
            case ActionsPerformed(ref, _, results):
                self.results, self.actions = ref, results
            case Checked(check):
                self.check = f"{check.status}: {check.summary}"
            case GateJudged(gate, status):
                self.gates.append(f"{gate} {status}")
            case StepClosed(_, outcome, feedback) if self.outcome == "open" or outcome.startswith("gate_"):
                self.outcome, self.feedback = outcome, feedback
            case _:
                pass


def steps_of(files: TaskFiles) -> list[Step]:
    """The steps of a task so far."""
    return collect(read_lines(files.journal))


def read_results(files: TaskFiles, step: Step) -> list[dict[str, Json]]:
    """What the actions of a step came to."""
    with Pack(files.pack) as pack:
        value = pack.get_json(step.results) if step.results else None
    found = value.get("results") if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def read_context(files: TaskFiles, step: Step) -> list[tuple[str, str]]:
    """The blocks that the model was shown, by name."""
    if not step.context:
        raise UsageError(f"The context of step {step.number} is not assembled yet.")
    with Pack(files.pack) as pack:
        return list(pack.get_blocks(step.context))


def read_reply(files: TaskFiles, step: Step) -> Json:
    """The record of the reply: as it came, and as it was read."""
    if not step.reply:
        raise UsageError(f"The reply of step {step.number} is not there yet.")
    with Pack(files.pack) as pack:
        return pack.get_json(step.reply)


def collect(lines: Iterable[Line]) -> list[Step]:
    """Every step, in order of its opening. Reviewers step side by side: an event belongs to the last step of
    its seat.
    """
    state = State()
    steps: list[Step] = []
    for line in lines:
        for event in line.events:
            state = evolve(state, event)
            seat: str = getattr(event, "seat", "")
            if isinstance(event, StepOpened):
                steps.append(_opened(state, event, line.timestamp))
                continue
            step = next((item for item in reversed(steps) if item.seat == seat), None)
            if step is not None and (state.run is None or state.run.name == step.stage):
                was_open = step.outcome == "open"
                step.take(event)
                step.state = state if was_open else step.state
    return steps


def _opened(state: State, event: StepOpened, timestamp: str) -> Step:
    own = state.focus(event.seat)
    assert own.run is not None, "a step without a stage"
    return Step(
        event.step, own.run.name, own.run.attempt, own.stage.role or "engine", state, timestamp, event.seat
    )


def pick(steps: list[Step], number: int | None, task_id: str) -> Step:
    """The step with a number, or the last one."""
    if not steps:
        raise UsageError(f"{task_id} has no step yet.")
    found = steps[-1] if number is None else next((step for step in steps if step.number == number), None)
    if found is None:
        raise UsageError(f"{task_id} has no step {number}; it has {len(steps)}.")
    return found
