"""All tasks of a repository, from the user's index."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agentforge.app.engine_view import LostTasks, find_lost
from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.site import Site
from agentforge.store.task.engine import EngineName, read_engine
from agentforge.store.task.lock import is_held
from agentforge.store.user.index import Index, TaskRow


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks of a repository, newest first."""

    rows: list[TaskRow]
    lost: LostTasks
    """Those whose hosts are silent."""
    restored: list[str] = field(default_factory=list)
    """Those whose files were gone, and are back from git."""


def list_tasks(site: Site, notice: Callable[[str], None] = lambda _: None) -> TaskList:
    """Restores what git still knows, and reads only the journals that have changed."""
    restored = site.restore_archived()
    with Index(site.home.index, notice) as index:
        rows = index.rows(site.git.top)
    return TaskList(rows, find_lost(site, rows), restored)


def is_stopped(site: Site, task_id: str, status: str) -> bool:
    """Whether the task has work to do and no process of this machine does it: it was killed, or its machine
    went down. Workers of the other engine are looked for elsewhere.
    """
    if status in TERMINAL or status == "blocked":
        return False
    files = site.project.task(task_id)
    try:
        return read_engine(files).engine == "local" and not is_held(files.lock)
    except UserError:
        return False


def engine_name(site: Site, row: TaskRow) -> EngineName | None:
    """Who drives a task; None where that cannot be read, as little as the task."""
    try:
        return read_engine(site.project.task(row.task_id)).engine
    except UserError:
        return None
