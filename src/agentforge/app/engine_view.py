"""What the engine says of tasks: what workers do, what holds one up, and which hosts are lost. Looks, and
changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentforge.app.holdups import (
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
from agentforge.core.errors import UsageError, UserError
from agentforge.core.reply import Json
from agentforge.core.state import TERMINAL, State
from agentforge.store.engine import Driven, read_engine
from agentforge.store.index import Index, Row
from agentforge.store.journal import Journal
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.times import Times

if TYPE_CHECKING:
    from agentforge.engines.temporal.look import Flight, Look

HOST_LOST = "HOST-LOST"
"""The name of the one question that is on no journal: its host is silent."""
GLANCE_S = 1.5


@dataclass(frozen=True, slots=True)
class EngineSays:
    """Of one task."""

    driven: Driven
    lines: tuple[str, ...] = ()
    look: "Look | None" = None
    lost: Holdup | None = None

    def text(self) -> list[str]:
        """For a page; nothing for a task of the local engine."""
        if self.driven.engine != "temporal":
            return []
        return [
            f"engine: temporal, host {self.driven.host or 'not known yet'}",
            *(f"  {line}" for line in self.lines),
        ]

    def fields(self) -> dict[str, Json]:
        """For a program. What the server was not asked, or did not answer, is null."""
        waiting = self.look.untaken(SLOW_S) if self.look else None
        return {
            "engine": self.driven.engine,
            "host": self.driven.host or None,
            "engine_says": [*self.lines],
            "engine_in_flight": [_flight(each) for each in self.look.flights] if self.look else None,
            "no_worker_for_s": int(waiting.seconds) if waiting else None,
            "host_lost": self.lost is not None if self.look else None,
        }


def engine_says(site: Site, journal: Journal) -> EngineSays:
    """Who drives it, where, and what the server says of it. A task that is over needs no server."""
    files, state = journal.files, journal.state
    driven = read_engine(files)
    if driven.engine != "temporal" or state.status in TERMINAL:
        return EngineSays(driven)
    from agentforge.app.remote import connected, name_of

    try:
        with connected() as line:
            look = line.look(name_of(site, files))
            case = Case(files.task_id, driven, line.config, idle_s(journal.times, site.clock))
            if look.found != "running":
                goes_on = (
                    f"no workflow runs; `agentforge continue {files.task_id}` starts one on what is recorded"
                )
                return EngineSays(driven, () if rests(state) else (goes_on,), look)
            found = holdups(case, look, workers=look.is_taken or bool(line.pollers(line.config.queue)))
            lost_now = next((each for each in found if each.kind == "host_lost"), None)
            return EngineSays(driven, (*at_work(look), *(each.text for each in found)), look, lost_now)
    except UserError as error:
        return EngineSays(driven, (str(error),))


@dataclass(frozen=True, slots=True)
class Lost:
    """A task whose host is silent: somebody has to decide."""

    files: TaskFiles
    state: State
    times: Times
    holdup: Holdup

    def view(self) -> dict[str, Json]:
        """With the names that other questions have."""
        task = self.state.task_id
        return {
            "id": HOST_LOST,
            "task_id": task,
            "request": self.state.request,
            "status": "open",
            "kind": "host_lost",
            "stage": self.state.run.name if self.state.run else None,
            "opened_at": None,
            "last_recorded_at": self.times.updated_at,
            "question": self.holdup.sentence,
            "options": ["start a worker on that host", "take the task over"],
            "recommendation": "start a worker on that host",
            "answer_with": f"agentforge continue {task} --take-over",
            "abort_with": f"agentforge abort {task}",
            "answer": None,
        }

    def page(self) -> str:
        """For a person."""
        task = self.state.task_id
        ways = (
            (
                "agentforge worker",
                "on that host, as the same user: the task goes on by itself, nothing is lost",
            ),
            (
                f"agentforge continue {task} --take-over",
                "any other host that sees the repository begins it anew from what is recorded",
            ),
            (f"agentforge continue {task} --engine local --take-over", "this command drives it"),
            (f"agentforge abort {task}", "end it; its work is kept"),
        )
        return "\n".join(
            [
                f"{HOST_LOST} of {task} waits for you (host_lost); last recorded {self.times.updated_at}",
                "",
                "Question",
                f"  {self.holdup.sentence}",
                "  Shall its host come back, or another one go on?",
                "",
                "What you can type",
                *(f"  {command}\n      {what}" for command, what in ways),
            ]
        )


@dataclass(frozen=True, slots=True)
class Lostness:
    """What a short look at the server found."""

    found: tuple[Lost, ...] = ()
    note: str = ""
    """Why it found nothing, if the server did not answer."""
    asked: frozenset[str] = field(default_factory=frozenset)
    """The tasks that it told about."""


def find_lost(site: Site, rows: Iterable[Row]) -> Lostness:
    """The tasks whose hosts are lost. Only tasks that are under way are asked for, and only for a moment."""
    tasks = [task for row in rows if (task := _under_way(site, row)) is not None]
    if not tasks:
        return Lostness()
    from agentforge.app.remote import name_of, need_temporal
    from agentforge.app.settings import read_temporal

    try:
        need_temporal()
        from agentforge.engines.temporal.client import glance

        config = read_temporal()
        names = {files.task_id: name_of(site, files) for files, _, _ in tasks}
        looks = glance(config, list(names.values()), GLANCE_S)
    except UserError as error:
        return Lostness(note=f"Whether a host is lost is not known: {error}")
    found = []
    for files, state, times in tasks:
        case = Case(files.task_id, read_engine(files), config, idle_s(times, site.clock))
        look = looks[names[files.task_id]]
        if is_lost(case, look):
            found.append(Lost(files, state, times, lost(case, look)))
    return Lostness(tuple(found), asked=frozenset(names))


def lost_hosts(site: Site) -> Lostness:
    """Of all tasks of the repository."""
    with Index(site.home.index, lambda _: None) as index:
        return find_lost(site, index.rows(site.git.top))


def lost_host(site: Site, task: str | None) -> Lost:
    """The one task whose host is lost, or the one that is named."""
    wanted = site.find(task).task_id if task else None
    found = lost_hosts(site)
    mine = [item for item in found.found if wanted in (None, item.files.task_id)]
    if len(mine) == 1:
        return mine[0]
    if mine:
        raise UsageError(
            f"The hosts of {len(mine)} tasks are lost: {', '.join(item.files.task_id for item in mine)}.",
            "Say which with --task.",
        )
    raise UsageError(
        found.note or f"No host of {wanted or 'any task'} is lost.",
        "`agentforge escalations list` shows what waits.",
    )


def not_in_words(task: str | None) -> UsageError:
    """To who answers it as if it were a question of the task."""
    return UsageError(
        f"{HOST_LOST} is answered by what you do, not in words.",
        "Start `agentforge worker` there, or take the task over with `agentforge continue "
        f"{task or 'TASK'} --take-over`.",
    )


def _under_way(site: Site, row: Row) -> tuple[TaskFiles, State, Times] | None:
    files = site.project.task(row.task_id)
    try:
        if row.status in TERMINAL or row.status == "unreadable" or read_engine(files).engine != "temporal":
            return None
        journal = site.read(files)
    except UserError:
        return None  # `status` names what is wrong with it
    return None if rests(journal.state) else (files, journal.state, journal.times)


def _flight(flight: "Flight") -> dict[str, Json]:
    return {
        "effect": flight.family,
        "queue": flight.queue,
        "taken": flight.taken,
        "for_s": int(flight.seconds),
        "attempt": flight.attempt,
        "doing": flight.progress or None,
        "heard_s_ago": int(flight.heard) if flight.taken else None,
    }
