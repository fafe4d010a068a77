"""The model steps of a task, collected from the lines of its journal."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agentforge.core.errors import UsageError
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskSent,
    Checked,
    ContextAssembled,
    Event,
    GateJudged,
    StepClosed,
    StepOpened,
)
from agentforge.core.evolve import evolve
from agentforge.core.reply import Json
from agentforge.core.runs import run_name
from agentforge.core.state import State
from agentforge.core.values import ActionDigest, OfRun, Usage
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine
from agentforge.store.task.pack import Pack
from agentforge.system.unlinked import read_unlinked


@dataclass(slots=True)
class Step:
    """One step of a run: context, call, actions and verdicts, as far as it has come."""

    number: int
    stage: str
    attempt: int
    role: str
    state: State
    """Where the task stood when the step closed; the newest state of one that is still open."""
    started: str = ""
    seat: str = ""
    """Whose step beside the one who works it is, by name; empty for the one who works."""
    heard: bool = False
    """Whether that one argues before the work; else it reads the result."""
    ended: str = ""
    model: str = ""
    """Who was asked."""
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
    verdicts: list[str] = field(default_factory=list)
    """Where the record of each of them is in the pack."""
    outcome: str = "open"
    feedback: tuple[str, ...] = ()

    def take(self, event: Event) -> None:
        """Takes in one more event of this step."""
        match event:
            case AskSent():
                self.model = event.request.model
            case ContextAssembled(_, made):
                self.context, self.context_tokens = made.ref, made.tokens
                self.dropped, self.flagged = made.dropped, made.flagged
            case AskAnswered():
                reply = event.reply
                self.model = reply.model or self.model
                self.reply, self.usage = reply.ref, reply.usage
                self.summary, self.mistake = reply.summary, reply.mistake
            case ActionsPerformed(_, done):
                self.results, self.actions = done.ref, done.results
            case Checked(check=check):
                self.check = f"{check.status}: {check.summary}"
            case GateJudged(_, verdict):
                self.gates.append(f"{verdict.gate} {verdict.status}")
                self.verdicts.append(verdict.ref)
            case StepClosed(_, _, outcome, feedback) if self.outcome == "open" or outcome.startswith("gate_"):
                self.outcome, self.feedback = outcome, feedback
            case _:
                pass


def steps_of(files: TaskFiles) -> list[Step]:
    """The steps of a task so far."""
    return collect(read_lines(files.journal))


def read_results(files: TaskFiles, step: Step) -> list[dict[str, Json]]:
    """The results of a step's actions."""
    with Pack(files.pack) as pack:
        value = pack.get_json(step.results) if step.results else None
    found = value.get("results") if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def read_context(files: TaskFiles, step: Step) -> list[tuple[str, str]]:
    """The blocks that the model was shown, by name."""
    if not step.context:
        raise UsageError(f"The context of step {step.number} does not exist yet.")
    with Pack(files.pack) as pack:
        return list(pack.get_blocks(step.context))


def read_reply(files: TaskFiles, step: Step) -> Json:
    """The record of the reply: as it came, and as it was read."""
    if not step.reply:
        raise UsageError(f"Step {step.number} has no reply yet.")
    with Pack(files.pack) as pack:
        return pack.get_json(step.reply)


def read_patch(files: TaskFiles, step: Step) -> bytes:
    """What a step changed, as a patch; empty if it changed nothing."""
    try:
        return read_unlinked(files.patch(step.number))
    except FileNotFoundError:
        return b""


def read_verdicts(files: TaskFiles, step: Step) -> list[Json]:
    """The record of every gate that judged what a step left."""
    with Pack(files.pack) as pack:
        return [pack.get_json(ref) for ref in step.verdicts]


def collect(lines: Iterable[JournalLine]) -> list[Step]:
    """Every step, in order of its opening. Reviewers step side by side: an event belongs to the last step of
    its run.
    """
    state = State()
    steps: list[Step] = []
    for line in lines:
        for event in line.events:
            state = evolve(state, event)
            if isinstance(event, StepOpened):
                steps.append(_opened(state, event, line.timestamp))
                continue
            name = run_name(event.run) if isinstance(event, OfRun) else ""
            step = next((item for item in reversed(steps) if item.seat == name), None)
            if step is not None and (state.worker is None or state.worker.stage == step.stage):
                was_open = step.outcome == "open"
                step.take(event)
                if was_open:
                    step.state, step.ended = state, line.timestamp
    return steps


def mark_interrupted(steps: Iterable[Step]) -> None:
    """Of a task that is over or that nobody drives, what is still open was cut off."""
    for step in steps:
        if step.outcome == "open":
            step.outcome = "interrupted"


def beside_words(seat: str, *, heard: bool) -> str:
    """Who somebody beside the worker is, behind the name of a stage; empty for the worker."""
    return f", {'argued' if heard else 'read'} by {seat}" if seat else ""


def _opened(state: State, event: StepOpened, timestamp: str) -> Step:
    run = state.run_of(event.run)
    role = state.stage_of(run).role or "engine"
    return Step(
        event.step, run.stage, run.attempt, role, state, timestamp, seat=run.name, heard=run.rules.heard
    )


def pick(steps: list[Step], number: int | None, task_id: str) -> Step:
    """The step with a number, or the last one."""
    if not steps:
        raise UsageError(f"{task_id} has no steps yet.", f"`agentforge status {task_id}` shows its status.")
    found = steps[-1] if number is None else next((step for step in steps if step.number == number), None)
    if found is None:
        raise UsageError(
            f"{task_id} has no step {number}; it has {len(steps)}.",
            f"`agentforge inspect {task_id}` lists them.",
        )
    return found


def step_fields(step: Step) -> dict[str, Json]:
    """The step as data for `--json`."""
    return {
        "step": step.number,
        "started_at": step.started,
        "stage": step.stage,
        "seat": step.seat or None,
        "attempt": step.attempt,
        "role": step.role,
        "context": step.context or None,
        "context_tokens": step.context_tokens,
        "dropped": list(step.dropped),
        "flagged": list(step.flagged),
        "reply": step.reply or None,
        "input_tokens": step.usage.input_tokens,
        "output_tokens": step.usage.output_tokens,
        "cached_tokens": step.usage.cached_tokens,
        "summary": step.summary,
        "mistake": step.mistake or None,
        "actions": [
            {"name": item.name, "target": item.target, "ok": item.ok, "mistake": item.mistake or None}
            for item in step.actions
        ],
        "check": _check(step.check) if step.check else None,
        "gates": [_gate(told) for told in step.gates],
        "outcome": step.outcome,
        "feedback": list(step.feedback),
    }


def _check(told: str) -> dict[str, Json]:
    status, _, summary = told.partition(": ")
    return {"status": status, "summary": summary}


def _gate(told: str) -> dict[str, Json]:
    gate, _, status = told.partition(" ")
    return {"gate": gate, "status": status}
