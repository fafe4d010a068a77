"""The tasks of one repository, with what its Temporal server says of them; the list of all asks no server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentforge.core.statuses import TERMINAL
from agentforge.store.site import Site
from agentforge.store.user.index import Index, TaskRow

if TYPE_CHECKING:
    from agentforge.app.drivers.engine_view import LostTasks


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks of a repository, newest first."""

    rows: list[TaskRow]
    lost: "LostTasks | None"
    """Those whose hosts are silent; None where no server drives one."""
    restored: list[str] = field(default_factory=list)
    """Those whose files were gone, and are back from git."""


def list_tasks(site: Site, notice: Callable[[str], None] = lambda _: None) -> TaskList:
    """Restores what git still knows, and reads only the journals that have changed."""
    restored = site.restore_archived()
    with Index(site.home.task_index, notice) as index:
        rows = index.rows(site.git.top)
    return TaskList(rows, _lost(site, rows), restored)


def _lost(site: Site, rows: list[TaskRow]) -> "LostTasks | None":
    if not any(row.engine == "temporal" and row.status not in TERMINAL for row in rows):
        return None
    from agentforge.app.drivers.engine_view import find_lost  # noqa: PLC0415 - all of the rules: most lists need none

    return find_lost(site, rows)
