"""The tasks of one repository, with what its Temporal server says of them; the list of all asks no server."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agentforge.app.engine_view import LostTasks, find_lost
from agentforge.store.site import Site
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
