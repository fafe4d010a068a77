"""The views of a task, written as it goes: the files that people read, and the user's index of all tasks."""

import time
from collections.abc import Callable

from agentforge.core.events import Event, StepClosed
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.site import Site
from agentforge.store.task import views
from agentforge.store.task.journal import Journal
from agentforge.store.user import index

VIEW_SECONDS = 1.0


class ViewWriter:
    """Writes the views at most once per step and second, and whenever the task changes hands."""

    def __init__(self, site: Site, journal: Journal, progress: Callable[[str], None]) -> None:
        self._site, self._journal, self._status = site, journal, journal.state.status
        self._written = 0.0
        self._index = index.Index(site.home.task_index, progress)

    def __call__(self, _: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        """A listener of the journal: one line was written."""
        moved = state.status != self._status
        due = time.monotonic() - self._written >= VIEW_SECONDS and any(
            isinstance(event, StepClosed) for event in events
        )
        if moved or due:
            self.show()

    def show(self) -> None:
        """Writes the views and the row of the index now."""
        self._written = time.monotonic()
        journal = self._journal
        self._status = journal.state.status
        views.write_views(journal.files, journal.state, journal.head, journal.length, journal.times)
        self._index.update(self._site.git, journal)

    def close(self) -> None:
        """Closes the index."""
        self._index.close()
