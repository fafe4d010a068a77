"""Two tasks beside each other: what was asked, how each went, what it cost, and where their paths parted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agentforge.app.evidence.audits import Audit, audit_task
from agentforge.app.models.costs import add_up, in_state
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.steps import Step
from agentforge.core.errors import Unusable
from agentforge.core.events import GateJudged
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.views import north_star_word
from agentforge.system.git.repository import Lines


@dataclass(frozen=True, slots=True)
class Side:
    """One of two tasks that are compared."""

    task_id: str
    request: str
    base: str
    pipeline: str
    lane: str
    model: str
    outcome: str
    stages: tuple[tuple[str, int], ...]
    """Stage and its steps, in the order in which they began."""
    steps: int
    calls: int
    tokens: int
    micro_usd: int | None
    """None: a price is not known."""
    seconds: int
    questions: int
    gates: tuple[tuple[str, str, int], ...]
    """Gate, verdict, and how often it was given."""
    files: tuple[Lines, ...]
    patch: str


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which the two did not do the same; empty words for one that had ended."""

    step: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two tasks, and what is between them."""

    first: Side
    second: Side
    parting: Parting | None
    """None: both went the same way."""
    between: tuple[Lines, ...]
    """What differs in what they left behind, by path; counted from the first to the second."""
    same_base: bool

    @property
    def same_result(self) -> bool:
        """Whether both left the same tree."""
        return not self.between


def compare_tasks(first: OpenTask, second: OpenTask) -> Comparison:
    """Two tasks side by side, as far as they have come."""
    one, other = audit_task(first), audit_task(second)
    return Comparison(
        _side(first, one),
        _side(second, other),
        _parting(one.steps, other.steps),
        _numstat(first, one.state.tree or one.state.base_tree, other.state.tree or other.state.base_tree),
        one.state.base_tree == other.state.base_tree,
    )


def _side(task: OpenTask, audit: Audit) -> Side:
    state, total = audit.state, add_up(in_state(audit.calls, "settled"))
    stages: Counter[str] = Counter()
    for row in audit.stages:
        stages[row.stage] += row.steps
    verdicts = Counter(
        (event.verdict.gate, event.verdict.status)
        for decision in audit.decisions
        for event, _ in decision.happened
        if isinstance(event, GateJudged)
    )
    end = audit.times.ended_at or audit.times.updated_at
    return Side(
        task_id=audit.task_id,
        request=state.request,
        base=state.base_commit,
        pipeline=state.pipeline.line,
        lane=state.pipeline.lane,
        model=state.model,
        outcome=north_star_word(state),
        stages=tuple(stages.items()),
        steps=len(audit.steps),
        calls=total.calls,
        tokens=total.tokens,
        micro_usd=None if total.unknown else total.micro_usd,
        seconds=seconds_between(audit.times.began_at, end),
        questions=len(audit.questions),
        gates=tuple((gate, status, number) for (gate, status), number in verdicts.items()),
        files=_numstat(task, state.base_tree, state.tree) if state.tree else (),
        patch=audit.patch.decode("utf-8", "replace"),
    )


def _numstat(task: OpenTask, before: str, after: str) -> tuple[Lines, ...]:
    if before == after:
        return ()
    try:
        return tuple(task.site.git.numstat(before, after))
    except Unusable:
        return ()  # its objects are gone; `verify` says so


def _parting(first: Sequence[Step], second: Sequence[Step]) -> Parting | None:
    for number in range(max(len(first), len(second))):
        one = _path(first[number]) if number < len(first) else ""
        other = _path(second[number]) if number < len(second) else ""
        if one != other:
            return Parting(number + 1, one, other)
    return None


def _path(step: Step) -> str:
    """What a step did, without its words: these differ between any two replies."""
    who = f"{step.seat} {'argues' if step.heard else 'reads'}" if step.seat else step.role
    done = ", ".join(item.label + ("" if item.ok else " (failed)") for item in step.actions) or "no action"
    return f"{step.stage}, {who}: {done}; {step.outcome}"
