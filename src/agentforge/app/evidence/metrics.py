"""How well the tasks of this user go: the figures by which the system judges itself, from the journals."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from agentforge.app.record.listed import list_all_tasks
from agentforge.core.errors import UserError
from agentforge.core.events import DefectNoted, GateJudged, StageEntered, TaskCreated, TaskDelivered
from agentforge.core.machine import TERMINAL
from agentforge.core.runs import WORKER
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task import inbox
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import JournalLine
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.times import Times
from agentforge.store.user.index import TaskRow
from agentforge.store.user.repositories import names_by_path
from agentforge.system.canon import digest
from agentforge.system.unlinked import read_unlinked

By = Literal["repo", "lane", "model", "week"]
_WANTED = frozenset(
    {
        "task_created",
        "moved",
        "stage_entered",
        "gate_judged",
        "escalated",
        "resolved",
        "task_delivered",
        "defect_noted",
    }
)


@dataclass(slots=True)
class TaskMeasure:
    """One task, in the figures that count."""

    repo: str
    task_id: str
    lane: str = ""
    model: str = ""
    started: str = ""
    ended: str = ""
    status: str = ""
    steps: int = 0
    tokens: int = 0
    micro_usd: int | None = 0
    first_verdicts: int = 0
    """Gates that judged the work of a stage for the first time."""
    first_passed: int = 0
    """Those of them that let it through."""
    questions: int = 0
    human_s: int = 0
    """From where a question was first shown to its answer."""
    unseen: int = 0
    """Answered questions whose time of showing is not known."""
    reworks: str = ""
    defects: int = 0
    is_complete: bool = True
    """Whether its record can be read, with the evidence that it names."""

    @property
    def week(self) -> str:
        """The week in which it began: `2030-W05`."""
        try:
            year, week, _ = date.fromisoformat(self.started[:10]).isocalendar()
        except ValueError:
            return "-"
        return f"{year}-W{week:02d}"


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that are counted together."""

    tasks: Sequence[TaskMeasure]
    reworked: AbstractSet[tuple[str, str]]
    """Repository and task of every task that another one corrects."""

    @property
    def finished(self) -> list[TaskMeasure]:
        """The tasks that were completed."""
        return [item for item in self.tasks if item.status == "completed"]

    def sum(self, amount: Callable[[TaskMeasure], int]) -> int:
        """A figure, added up over all tasks."""
        return sum(map(amount, self.tasks))

    def per_finished(self, amount: Callable[[TaskMeasure], int]) -> float | None:
        """The mean over the finished tasks."""
        return _share(sum(map(amount, self.finished)), len(self.finished))

    def of_finished(self, wanted: Callable[[TaskMeasure], bool]) -> float | None:
        """The share of finished tasks of which something is true."""
        return _share(sum(map(wanted, self.finished)), len(self.finished))

    def of_all(self, wanted: Callable[[TaskMeasure], bool]) -> float | None:
        """The share of all tasks of which something is true."""
        return _share(sum(map(wanted, self.tasks)), len(self.tasks))

    def cost(self) -> int | None:
        """In micro-dollars; None as soon as one price is missing."""
        known = [item.micro_usd for item in self.tasks if item.micro_usd is not None]
        return sum(known) if len(known) == len(self.tasks) else None

    def is_reworked(self, item: TaskMeasure) -> bool:
        """Whether another task corrects this one."""
        return (item.repo, item.task_id) in self.reworked


Number: TypeAlias = float | int | None
"""None: there is nothing to divide by, or not everything is known."""


class Figure(NamedTuple):
    """One figure: how it is called, how it is counted, and what the system wants to reach."""

    words: str
    of: Callable[[Group], Number]
    is_share: bool = False
    under: float | None = None
    over: float | None = None

    def is_met(self, value: float) -> bool:
        """Whether the value is on the right side of the target."""
        return (self.under is None or value < self.under) and (self.over is None or value > self.over)


FIGURES: Mapping[str, Figure] = {
    "tasks": Figure("tasks", lambda group: len(group.tasks)),
    "finished": Figure("finished", lambda group: len(group.finished)),
    "steps_per_finished": Figure(
        "steps per finished task", lambda group: group.per_finished(lambda item: item.steps)
    ),
    "tokens_per_finished": Figure(
        "tokens per finished task", lambda group: group.per_finished(lambda item: item.tokens)
    ),
    "micro_usd": Figure("cost", Group.cost),
    "escalation_rate": Figure(
        "tasks that asked a person",
        lambda group: group.of_all(lambda item: item.questions > 0),
        is_share=True,
        under=0.05,
    ),
    "first_pass_rate": Figure(
        "verdicts that passed at the first try",
        lambda group: _share(
            group.sum(lambda item: item.first_passed), group.sum(lambda item: item.first_verdicts)
        ),
        is_share=True,
        over=0.95,
    ),
    "rework_rate": Figure(
        "finished tasks that were reworked",
        lambda group: group.of_finished(group.is_reworked),
        is_share=True,
    ),
    "defect_rate": Figure(
        "finished tasks with a defect",
        lambda group: group.of_finished(lambda item: item.defects > 0),
        is_share=True,
    ),
    "audit_completeness": Figure(
        "complete records", lambda group: group.of_all(lambda item: item.is_complete), is_share=True
    ),
    "tasks_per_week": Figure("finished tasks per week", lambda group: _per_week(group.finished)),
    "repositories_at_once": Figure("repositories at once, at most", lambda group: _at_once(group.tasks)),
    "human_minutes_per_task": Figure(
        "minutes of a person per task",
        lambda group: _share(group.sum(lambda item: item.human_s) / 60, len(group.tasks)),
        under=5.0,
    ),
    "human_unseen": Figure(
        "answers to questions whose time of showing is not known",
        lambda group: group.sum(lambda item: item.unseen),
    ),
}
Figures: TypeAlias = Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class Metrics:
    """All tasks together, and by group."""

    since: str
    all: Figures
    by: By | None
    groups: Mapping[str, Figures]


def measure(
    home: Home, since: str = "", by: By | None = None, notice: Callable[[str], None] = lambda _: None
) -> Metrics:
    """The figures of every repository that this user has worked in; of tasks that began on that day or
    later.
    """
    found = [_measure_task(row) for row in list_all_tasks(home, notice)]
    reworked = {(item.repo, item.reworks) for item in found if item.reworks}
    chosen = [item for item in found if item.started[:10] >= since]
    groups: dict[str, list[TaskMeasure]] = {}
    names = names_by_path(home) if by == "repo" else {}
    for item in chosen if by else ():
        label = str(getattr(item, by or "lane"))
        if by == "repo":
            label = names.get(label, Path(label).name)
        groups.setdefault(label or "-", []).append(item)
    return Metrics(
        since,
        figures(Group(chosen, reworked)),
        by,
        {name: figures(Group(groups[name], reworked)) for name in sorted(groups)},
    )


def metrics_fields(found: Metrics) -> dict[str, Any]:
    """For a program."""
    targets = {
        name: {"is": "under" if figure.under is not None else "over", "value": figure.under or figure.over}
        for name, figure in FIGURES.items()
        if figure.under is not None or figure.over is not None
    }
    return {
        "since": found.since or None,
        "all": dict(found.all),
        "by": found.by,
        "groups": [{"name": name, **each} for name, each in found.groups.items()],
        "targets": targets,
    }


def figures(group: Group) -> Figures:
    """The figures of these tasks together."""
    return {name: figure.of(group) for name, figure in FIGURES.items()}


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _per_week(finished: Sequence[TaskMeasure]) -> float | None:
    """Over the weeks from the first to the last in which a task was finished, both included."""
    days = sorted(date.fromisoformat(item.ended[:10]) for item in finished if item.ended)
    if not days:
        return None
    weeks = (days[-1].toordinal() - days[0].toordinal()) // 7 + 1
    return _share(len(days), weeks)


def _at_once(tasks: Iterable[TaskMeasure]) -> int:
    """The most tasks of one repository that were under way at the same time."""
    moments: list[tuple[str, int, str]] = []
    for item in tasks:
        if item.started:
            moments += [(item.started, 1, item.repo), (item.ended or "9999", -1, item.repo)]
    open_tasks: dict[str, int] = {}
    most = 0
    for _, change, repo in sorted(moments):
        open_tasks[repo] = open_tasks.get(repo, 0) + change
        most = max(most, sum(number > 0 for number in open_tasks.values()))
    return most


def _measure_task(row: TaskRow) -> TaskMeasure:
    files = ProjectFiles(Path(row.repo)).task(row.task_id)
    found = TaskMeasure(row.repo, row.task_id, row.lane, status=row.status)
    found.steps, found.tokens, found.micro_usd = row.step, row.tokens, row.micro_usd
    try:
        lines = read_lines(files.journal, _WANTED)
    except UserError:
        found.is_complete = False
        return found
    _fold(found, files, lines)
    return found


def _fold(found: TaskMeasure, files: TaskFiles, lines: Sequence[JournalLine]) -> None:
    times, judged, evidence = Times(), set[tuple[str, str]](), ""
    stage = ""
    for line in lines:
        times = times.after(line.timestamp, line.events)
        for event in line.events:
            match event:
                case TaskCreated(spec):
                    found.model, found.reworks = spec.model, spec.reworks
                case StageEntered(run, name) if run == WORKER:
                    stage = name
                case GateJudged(run, made) if run == WORKER and (stage, made.gate) not in judged:
                    judged.add((stage, made.gate))
                    found.first_verdicts += 1
                    found.first_passed += made.status == "passed"
                case TaskDelivered(handover):
                    evidence = handover.evidence
                case DefectNoted():
                    found.defects += 1
                case _:
                    pass
    found.started = times.began_at
    found.ended = times.ended_at if found.status in TERMINAL else ""
    _measure_questions(found, files, times)
    found.is_complete = not evidence or _evidence_is(files, evidence)


def _measure_questions(found: TaskMeasure, files: TaskFiles, times: Times) -> None:
    answered = dict(times.answered)
    for identity, _ in times.opened:
        found.questions += 1
        shown = inbox.shown_at(files, identity)
        if identity in answered and shown:
            found.human_s += seconds_between(shown, answered[identity])
        elif identity in answered:
            found.unseen += 1


def _evidence_is(files: TaskFiles, wanted: str) -> bool:
    try:
        text = read_unlinked(files.evidence)
        return digest(text.removesuffix(b"\n")) == wanted and isinstance(json.loads(text), dict)
    except (OSError, ValueError):
        return False
