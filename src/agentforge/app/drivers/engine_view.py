"""Tasks as their engine sees them: what workers do, what holds one up, and which hosts are lost. Looks, and
changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentforge.app.drivers.connection import connected, look_at, read_temporal, workflow_name
from agentforge.app.drivers.ended_workflows import ended_by_stranger
from agentforge.app.drivers.holdups import (
    SLOW_S,
    Case,
    Holdup,
    at_work,
    holdups,
    idle_s,
    is_lost,
    lost,
    rests,
)
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError, UserError
from agentforge.core.machine import TERMINAL
from agentforge.core.reply import Json
from agentforge.store.site import Site
from agentforge.store.task.engine import Driven, read_engine
from agentforge.store.task.inbox import strangers
from agentforge.store.user.index import Index, TaskRow

if TYPE_CHECKING:
    from agentforge.engines.temporal.look import Look, PendingActivity

HOST_LOST = "HOST-LOST"
"""The name of the one question that is on no journal: its host is silent."""
GLANCE_S = 1.5


@dataclass(frozen=True, slots=True)
class EngineView:
    """Who drives a task, and what its server says of it."""

    driven: Driven
    lines: tuple[str, ...] = ()
    """What workers do, and what holds the task up."""
    look: "Look | None" = None
    """None where the server was not asked, or did not answer."""
    lost: Holdup | None = None


def engine_view(task: OpenTask) -> EngineView:
    """Who drives the task, where, and what the server says of it. A task that is over needs no server."""
    found, refused = _engine_view(task), strangers(task.files)
    if not refused:
        return found
    last = refused[-1].partition(" ")
    told = (
        f"{len(refused)} message(s) without the task's token were refused; the last one at "
        f"{last[0]}: {last[2]}"
    )
    return replace(found, lines=(*found.lines, told))


def _engine_view(task: OpenTask) -> EngineView:
    state, driven = task.state, read_engine(task.files)
    if driven.engine != "temporal" or state.status in TERMINAL:
        return EngineView(driven)
    try:
        with connected() as line:
            look = line.look(workflow_name(task))
            case = Case(task.task_id, driven, line.config, idle_s(task.journal.times, task.site.clock))
            if look.found != "running":
                stranger = ended_by_stranger(task, look)
                why = stranger or "no workflow is running"
                goes_on = f"{why}; `agentforge continue {task.task_id}` starts one from the record"
                return EngineView(driven, () if rests(state) and not stranger else (goes_on,), look)
            found = holdups(case, look, workers=look.is_taken or bool(line.pollers(line.config.queue)))
            lost_now = next((each for each in found if each.kind == "host_lost"), None)
            return EngineView(driven, (*at_work(look), *(each.text for each in found)), look, lost_now)
    except UserError as error:
        return EngineView(driven, (str(error),))


@dataclass(frozen=True, slots=True)
class LostTask:
    """A task whose host is silent: somebody has to decide."""

    task: OpenTask
    holdup: Holdup


@dataclass(frozen=True, slots=True)
class LostTasks:
    """What a short look at the server found."""

    found: tuple[LostTask, ...] = ()
    note: str = ""
    """Why it found nothing, if the server did not answer."""
    asked: frozenset[str] = field(default_factory=frozenset)
    """The tasks that the server knows about."""


def find_lost(site: Site, rows: Iterable[TaskRow]) -> LostTasks:
    """The tasks whose hosts are lost. Only tasks that are under way are asked for, and only for a moment."""
    tasks = [task for row in rows if (task := _under_way(site, row)) is not None]
    if not tasks:
        return LostTasks()
    try:
        config = read_temporal()
        looks = look_at(config, tasks, GLANCE_S)
    except UserError as error:
        return LostTasks(note=f"Could not find out whether a host is lost: {error}")
    found = []
    for task in tasks:
        case = Case(task.task_id, read_engine(task.files), config, idle_s(task.journal.times, site.clock))
        if is_lost(case, looks[task.task_id]):
            found.append(LostTask(task, lost(case, looks[task.task_id])))
    return LostTasks(tuple(found), asked=frozenset(looks))


def lost_tasks(site: Site) -> LostTasks:
    """The tasks of this repository whose hosts are silent."""
    with Index(site.home.task_index, lambda _: None) as index:
        return find_lost(site, index.rows(site.git.top))


def lost_task(site: Site, name: str | None) -> LostTask:
    """The one task whose host is lost, or the one that is named."""
    wanted = site.find(name).task_id if name else None
    found = lost_tasks(site)
    mine = [item for item in found.found if wanted in (None, item.task.task_id)]
    if len(mine) == 1:
        return mine[0]
    if mine:
        raise UsageError(
            f"The hosts of {len(mine)} tasks are lost: {', '.join(item.task.task_id for item in mine)}.",
            "Choose one with --task.",
        )
    raise UsageError(
        found.note or f"No host of {wanted or 'any task'} is lost.",
        "`agentforge escalations list` shows the open questions.",
    )


def not_in_words(name: str | None) -> UsageError:
    """To who answers it as if it were a question of the task."""
    return UsageError(
        f"{HOST_LOST} needs an action, not an answer.",
        "Start `agentforge worker` there, or take the task over with `agentforge continue "
        f"{name or 'TASK'} --take-over`.",
    )


def _under_way(site: Site, row: TaskRow) -> OpenTask | None:
    files = site.project.task(row.task_id)
    try:
        if row.status in TERMINAL or row.status == "unreadable" or read_engine(files).engine != "temporal":
            return None
        task = OpenTask.open(site, files)
    except UserError:
        return None  # `status` names what is wrong with it
    return None if rests(task.state) else task


def engine_fields(view: EngineView) -> dict[str, Json]:
    """For a program. What the server was not asked, or did not answer, is null."""
    waiting = view.look.untaken(SLOW_S) if view.look else None
    return {
        "engine": view.driven.engine,
        "host": view.driven.host or None,
        "engine_says": [*view.lines],
        "engine_in_flight": [_flight(each) for each in view.look.flights] if view.look else None,
        "no_worker_for_s": int(waiting.seconds) if waiting else None,
        "host_lost": view.lost is not None if view.look else None,
    }


def _flight(flight: "PendingActivity") -> dict[str, Json]:
    return {
        "effect": flight.family,
        "queue": flight.queue,
        "taken": flight.taken,
        "for_s": int(flight.seconds),
        "attempt": flight.attempt,
        "doing": flight.progress or None,
        "heard_s_ago": int(flight.heard) if flight.taken else None,
    }
