"""The read model of tasks: those of a repository, or of every repository of this user, from the user's index.

Every surface shows the same documents: `task_summary` here, `phase_detail` and `step_detail` in
`app/details.py`, with the field names of the dashboard.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from agentforge.app.tasks import OpenTask
from agentforge.core.errors import UsageError, UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.engine import EngineName, read_engine
from agentforge.store.task.lock import is_held
from agentforge.store.task.summary import Summary, changed_files, summary_of, timed
from agentforge.store.task.times import Clock, utc_now
from agentforge.store.user.index import Index, TaskRow
from agentforge.store.user.repositories import Repository, names_by_path, place, read_repositories

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


def list_all_tasks(
    home: Home, notice: Callable[[str], None] = lambda _: None, also: Iterable[Path] = ()
) -> list[TaskRow]:
    """The tasks of every repository that this user has worked in, and of those in `also`, newest first."""
    with Index(home.index, notice) as index:
        return index.rows(also=[*also, *(place(each) for each in _registered(home))])


def summaries_of(home: Home, rows: Iterable[TaskRow], clock: Clock = utc_now) -> list[Summary]:
    """Tasks as every surface shows them, at this moment, each with the name that its repository has here."""
    names = names_by_path(home)
    return [task_summary(row, clock, names) for row in rows]


def task_summary(row: TaskRow, clock: Clock = utc_now, names: Mapping[str, str] = NO_NAMES) -> Summary:
    """One task as every surface shows it, at this moment."""
    repo = Path(row.repo)
    files = ProjectFiles(repo).task(row.task_id)
    summary = (
        timed(json.loads(row.summary), clock())
        if row.summary
        else {"task_id": row.task_id, **_UNREADABLE, "problem": row.request}
    )
    head = {"task_id": row.task_id, "repo": names.get(row.repo, repo.name), "repo_path": row.repo}
    return {
        **head,
        **summary,
        "engine": row.engine or None,
        "stopped": row.engine == "local" and _lacks_driver(files, row.status),
    }


def summary_of_task(task: OpenTask) -> Summary:
    """The same for a task that is open."""
    files = changed_files(task.site.git, task.state)
    found = timed(summary_of(task.state, task.journal.times, task.journal.progress, files), task.site.clock())
    top = task.site.git.top
    return {
        **found,
        "repo": repo_word(task.site),
        "repo_path": str(top),
        "engine": engine_name(task.files),
        "stopped": is_stopped(task.files, task.state.status),
    }


def repo_word(site: Site) -> str:
    """What a repository is called: the name that the user gave it, else that of its directory."""
    top = site.git.top
    return names_by_path(site.home).get(str(top.resolve()), top.name)


def is_stopped(files: TaskFiles, status: str) -> bool:
    """Whether the task has work to do and no process of this machine does it: it was killed, or its machine
    went down. Workers of the other engine are looked for elsewhere.
    """
    return engine_name(files) == "local" and _lacks_driver(files, status)


def _lacks_driver(files: TaskFiles, status: str) -> bool:
    return status not in TERMINAL and status not in ("blocked", "unreadable") and not is_held(files.lock)


def engine_name(files: TaskFiles) -> EngineName | None:
    """Who drives a task; None where that cannot be read, as little as the task."""
    try:
        return read_engine(files).engine
    except UserError:
        return None
