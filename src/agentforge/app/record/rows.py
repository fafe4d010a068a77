"""Tasks as the user's index knows them. While no journal has moved on, nothing of the rules is loaded: a list
of hundreds of tasks is there at once.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from agentforge.core.errors import UsageError
from agentforge.core.statuses import TERMINAL
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task.moments import Clock, Summary, timed, utc_now
from agentforge.store.user.index import Index, TaskRow
from agentforge.store.user.repositories import Repository, names_by_path, place, read_repositories

_TASKS = ProjectFiles(Path()).tasks
_LOCK = TaskFiles(Path()).lock.name
NO_NAMES: Mapping[str, str] = MappingProxyType({})
_UNREADABLE: Summary = {
    "status": {"state": "failed", "stored": "unreadable", "phase": None},
    "timing": {"started_at": "", "last_activity": "", "ended_at": None},
}


def _registered(home: Home) -> tuple[Repository, ...]:
    try:
        return read_repositories(home)
    except UsageError:  # whoever names one is told
        return ()


def are_all_there(home: Home) -> bool:
    """Whether every registered repository is where it was; False also where nobody can say."""
    try:
        return all(place(each).is_dir() for each in read_repositories(home))
    except UsageError:
        return False


def list_all_tasks(
    home: Home, notice: Callable[[str], None] = lambda _: None, also: Iterable[Path] = ()
) -> list[TaskRow]:
    """The tasks of every repository that this user has worked in, and of those in `also`, newest first."""
    with Index(home.task_index, notice) as index:
        return index.rows(also=[*also, *(place(each) for each in _registered(home))])


def absent_repositories(home: Home, task_id: str) -> list[str]:
    """The repositories of tasks of this name that were seen once and are not there now."""
    with Index(home.task_index, lambda _: None) as index:
        return index.absent(task_id)


def summaries_of(home: Home, rows: Iterable[TaskRow], clock: Clock = utc_now) -> list[Summary]:
    """Tasks as every surface shows them, at this moment, each with the name that its repository has here."""
    names, now, shown = names_by_path(home), clock(), list(rows)
    kept: list[Summary | None] = json.loads(f"[{','.join(row.summary or 'null' for row in shown)}]")
    return [_as_shown(row, summary, now, names) for row, summary in zip(shown, kept, strict=True)]


def task_summary(row: TaskRow, clock: Clock = utc_now, names: Mapping[str, str] = NO_NAMES) -> Summary:
    """One task as every surface shows it, at this moment."""
    return _as_shown(row, json.loads(row.summary) if row.summary else None, clock(), names)


def _as_shown(row: TaskRow, kept: Summary | None, now: datetime, names: Mapping[str, str]) -> Summary:
    if kept is None:
        summary = {"task_id": row.task_id, **_UNREADABLE, "problem": row.request}
    else:
        summary = timed(kept, now)
    head = {
        "task_id": row.task_id,
        "repo": names.get(row.repo) or row.repo.rpartition("/")[2],
        "repo_path": row.repo,
    }
    return {
        **head,
        **summary,
        "engine": row.engine or None,
        "stopped": row.engine == "local"
        and _lacks_driver(f"{row.repo}/{_TASKS}/{row.task_id}/{_LOCK}", row.status),
    }


def lacks_driver(files: TaskFiles, status: str) -> bool:
    """Whether a task has work to do and no process of this machine does it."""
    return _lacks_driver(str(files.lock), status)


def _lacks_driver(lock: str, status: str) -> bool:
    if status in TERMINAL or status in ("blocked", "unreadable"):
        return False
    if not os.path.lexists(lock):  # of most of hundreds of tasks there is none, and a glance tells
        return True
    from agentforge.store.task.lock import is_held  # noqa: PLC0415 - longer to load than a list to show

    return not is_held(Path(lock))
