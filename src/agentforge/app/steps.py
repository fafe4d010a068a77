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
from agentforge.core.values import NOT_DONE, ActionDigest, Usage
from agentforge.store.lines import Line
from agentforge.system.visible import one_line


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

    def as_json(self) -> dict[str, Json]:
        """The step for programs."""
        return {
            "step": self.number,
            "started_at": self.started,
            "stage": self.stage,
            "seat": self.seat or None,
            "attempt": self.attempt,
            "role": self.role,
            "context": self.context or None,
            "context_tokens": self.context_tokens,
            "dropped": list(self.dropped),
            "flagged": list(self.flagged),
            "reply": self.reply or None,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cached_tokens": self.usage.cached_tokens,
            "summary": self.summary,
            "mistake": self.mistake or None,
            "actions": [
                {"name": item.name, "target": item.target, "ok": item.ok, "mistake": item.mistake or None}
                for item in self.actions
            ],
            "check": self.check or None,
            "gates": [*self.gates],
            "outcome": self.outcome,
            "feedback": list(self.feedback),
        }

    def cells(self) -> tuple[str, ...]:
        """The step as a row of a table."""
        done = ", ".join(
            f"{item.name} {item.target}".strip() + ("" if item.ok else f" ({item.mistake or 'failed'})")
            for item in self.actions
        )
        used = (f"{self.context_tokens:,}", f"{self.usage.input_tokens:,}", f"{self.usage.output_tokens:,}")
        return (
            str(self.number),
            self.stage,
            f"{self.role} (reads)" if self.seat else self.role,
            *used,
            self.outcome,
            one_line(done or "-"),
        )

    def headline(self) -> str:
        """The step in a few lines."""
        reads = f", read by {self.seat}" if self.seat else ""
        lines = [
            (
                f"step {self.number}: stage {self.stage}{reads}, attempt {self.attempt}, role {self.role}, "
                f"{self.started}"
            ),
            f"  context {self.context_tokens:,} tokens"
            + (f"; left out: {one_line(', '.join(self.dropped))}" if self.dropped else ""),
            f"  reply   {self.usage.input_tokens:,} tokens in, {self.usage.output_tokens:,} out"
            + (f": {one_line(self.summary)}" if self.summary else ""),
            f"  outcome {self.outcome}",
        ]
        lines += [f"  flagged {one_line(flag, 400)}" for flag in self.flagged]
        lines += [f"  mistake {one_line(self.mistake, 600)}"] if self.mistake else []
        lines += [f"  checks  {one_line(self.check, 600)}"] if self.check else []
        lines += [f"  gates   {', '.join(self.gates)}"] if self.gates else []
        return "\n".join(lines)


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


def caught(steps: Iterable[Step]) -> list[str]:
    """Every mistake of the model that was met and fed back, in a line each."""
    found: list[str] = []
    for step in steps:
        where = f"step {step.number}, {step.stage}" + (f", read by {step.seat}" if step.seat else "")
        found += (
            [f"{where}: the reply could not be used: {one_line(step.mistake, 120)}"] if step.mistake else []
        )
        wrong = [item for item in step.actions if not item.ok and item.mistake not in NOT_DONE]
        found += [f"{where}: {item.name} {item.target}: {one_line(item.text, 120)}" for item in wrong]
        if step.outcome.startswith(("gate_", "reverted")):
            found.append(f"{where}: {one_line(' '.join(step.feedback), 160)}")
        if "review blocked" in step.gates:
            found.append(f"{where}: the reviewers sent it back")
    return found
