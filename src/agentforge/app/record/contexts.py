"""What a step was shown, block by block: why, how much, what was left out, and what a provider's cache can
reuse. It is read from the journal and the pack; for a request that is no task yet, see
`app/intake/planned_contexts.py`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agentforge.app.record.steps import Step, pick, steps_of
from agentforge.context.blocks import kind_of
from agentforge.context.packing import JOINER
from agentforge.context.tokens import measured
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import Stage
from agentforge.core.reply import Json
from agentforge.store.layout import TaskFiles
from agentforge.store.task.pack import Pack
from agentforge.system.canon import canonical

TOOLS = "tools"
"""What the tools' definitions are called among the blocks: they are sent first."""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One part of what a model is sent."""

    name: str
    text: str
    tokens: int
    source: str
    why: str
    reused: bool
    """Part of the unbroken beginning that a provider's cache can hold."""
    priority: str = ""
    """How much it matters, by the name of one of the six priorities; empty for a tool."""
    shown: str = "full"
    """How much of it there is: `full`, an `excerpt`, or `signatures`."""


@dataclass(frozen=True, slots=True)
class ContextReport:
    """One call's whole input, in the order in which it is sent."""

    task: str
    """The task, or empty for a request that is none."""
    step: int
    stage: str
    role: str
    seat: str
    lane: str
    reasons: tuple[str, ...]
    """Why this lane."""
    cap: int
    """The most that the blocks may take, tools aside; 0 if it is not known any more."""
    blocks: tuple[ContextBlock, ...]
    dropped: tuple[str, ...]
    """What was left out or cut: of which block, how much, why."""
    flagged: tuple[str, ...] = ()
    like: int = 0
    """The earlier step with which it shares its beginning; 0 if there is none."""
    heard: bool = False
    """Whether whoever is beside the worker argues before the work; else it reads the result."""

    @property
    def tokens(self) -> int:
        """All that is sent."""
        return sum(block.tokens for block in self.blocks)

    @property
    def packed(self) -> int:
        """What counts against the cap."""
        return sum(block.tokens for block in self.blocks if not block.name.startswith(f"{TOOLS}: "))

    @property
    def reusable(self) -> int:
        """What a provider's cache can hold of it."""
        return sum(block.tokens for block in self.blocks if block.reused)


def recorded_context(files: TaskFiles, number: int | None) -> ContextReport:
    """The context of a step on record, the last one if none is named."""
    steps = steps_of(files)
    step = pick(steps, number, files.task_id)
    if not step.context:
        raise UsageError(
            f"The context of step {step.number} does not exist yet.",
            f"`agentforge continue {files.task_id}` gets there.",
        )
    with Pack(files.pack) as pack:
        own = sent_blocks(pack, step.context)
        before = [each for each in steps[: steps.index(step)] if each.context]
        earlier = [(each, sent_blocks(pack, each.context)) for each in before]
    # The longest beginning in common, and of several the newest.
    shared, like = max(((_shared(own, other), each.number) for each, other in earlier), default=(0, 0))
    blocks = tuple(replace(block, reused=at < shared) for at, block in enumerate(own))
    state = step.state
    return ContextReport(
        task=files.task_id,
        step=step.number,
        stage=step.stage,
        role=step.role,
        seat=step.seat,
        heard=step.heard,
        lane=state.pipeline.lane,
        reasons=state.triage,
        cap=_cap(step),
        blocks=blocks,
        dropped=step.dropped,
        flagged=step.flagged,
        like=like if shared else 0,
    )


def sent_blocks(pack: Pack, ref: str) -> tuple[ContextBlock, ...]:
    """All that goes with a context, first things first: the tools, the system prompt, the blocks."""
    about = pack.about_blocks(ref)
    given = about.get("why")
    reasons = given if isinstance(given, dict) else {}
    parts = about.get("shown")
    less = parts if isinstance(parts, dict) else {}
    tools = about.get("tools")
    found = list(_tools(pack.get_json(tools))) if isinstance(tools, str) else []
    for name, text in pack.get_blocks(ref):
        kind = kind_of(name)
        why = str(reasons.get(name) or kind.why)
        block = ContextBlock(name, text, measured(text + JOINER), kind.source, why, reused=False)
        found.append(replace(block, priority=kind.priority, shown=str(less.get(name, "full"))))
    return tuple(found)


def _tools(specs: Json) -> Iterable[ContextBlock]:
    for spec in specs if isinstance(specs, list) else ():
        assert isinstance(spec, dict)
        text = canonical(spec).decode()
        why = "a tool that this role may use here"
        yield ContextBlock(f"{TOOLS}: {spec['name']}", text, measured(text), "catalogue", why, reused=False)


def _shared(own: Sequence[ContextBlock], other: Sequence[ContextBlock]) -> int:
    """How many blocks two contexts have in common before the first that differs."""
    pairs = zip(own, other, strict=False)
    return next(
        (at for at, (one, two) in enumerate(pairs) if (one.name, one.text) != (two.name, two.text)),
        min(len(own), len(other)),
    )


def _cap(step: Step) -> int:
    stages: dict[str, Stage] = {stage.name: stage for stage in step.state.pipeline.stages}
    stage = stages.get(step.stage)
    if stage is None:
        return 0  # the lane has risen since, and has no such stage
    return (stage.read_by(step.seat) if step.seat else stage).context_tokens


def context_fields(report: ContextReport, *, whole: bool) -> dict[str, Json]:
    """The same for programs; the texts only where they are asked for."""
    return {
        "task": report.task or None,
        "step": report.step,
        "stage": report.stage,
        "seat": report.seat or None,
        "role": report.role,
        "lane": report.lane,
        "reasons": list(report.reasons),
        "cap": report.cap or None,
        "tokens": report.tokens,
        "block_tokens": report.packed,
        "reusable_tokens": report.reusable,
        "begins_like_step": report.like or None,
        "blocks": [_block(block, whole=whole) for block in report.blocks],
        "dropped": list(report.dropped),
        "flagged": list(report.flagged),
    }


def _block(block: ContextBlock, *, whole: bool) -> dict[str, Json]:
    found: dict[str, Json] = {
        "name": block.name,
        "tokens": block.tokens,
        "source": block.source,
        "priority": block.priority or None,
        "shown": block.shown,
        "why": block.why,
        "reusable": block.reused,
    }
    return {**found, "text": block.text} if whole else found
