"""What the server knows of tasks: the rows of the user's index, and a few tasks that are kept open."""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from agentforge.app.record.listed import absent_repositories, list_all_tasks, summaries_of
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.steps import Step, steps_of
from agentforge.core.errors import UsageError, UserError
from agentforge.store.layout import Home, ProjectFiles
from agentforge.store.site import Site
from agentforge.store.user.index import TaskRow
from agentforge.store.user.index_rows import fresh_row

Key = tuple[str, str]
"""The repository's path and the name of the task."""
_OPEN_TASKS = 32
_KEPT_STEPS = 4
_FRESH_S = 0.25
"""For how long a list of rows counts as new, where no event says otherwise."""


class NoSuchTask(UsageError):
    """Nothing of that name is known here."""


class KeptTask(NamedTuple):
    """A task that is kept open. Another file under its name is another task."""

    task: OpenTask
    file: int
    """The inode of its journal."""
    lock: threading.Lock


class TaskReader:
    """Reads tasks for many who ask at once. It holds nothing that is not on disk."""

    def __init__(self, home: Home, here: Path) -> None:
        self.home = home
        self._here = tuple(_top_of(here))
        self._rows: list[TaskRow] = []
        self._read_at = -1.0
        self._lock = threading.Lock()
        self._steps: dict[Path, tuple[str, list[Step]]] = {}
        self._open: OrderedDict[Key, KeptTask] = OrderedDict()

    def rows(self) -> list[TaskRow]:
        """Every task of this user, newest first."""
        if time.monotonic() - self._read_at > _FRESH_S:
            self.forget_rows()
        return self.rows_if_changed()

    def rows_if_changed(self) -> list[TaskRow]:
        """The same as they were read last, unless somebody knows that something has changed since."""
        with self._lock:
            if self._read_at < 0:
                self._rows = list_all_tasks(self.home, also=self._here)
                self._read_at = time.monotonic()
            return self._rows

    def forget_rows(self) -> None:
        """Something has changed: the next list is read anew."""
        self._read_at = -1.0

    def find(self, task_id: str, repo: str | None) -> Key:
        """The one task that a name means; of a name that several repositories use, the one of `repo`."""
        found = self._repositories_of(task_id, repo)
        if not found:  # it may have come, or come back, since the list was read
            self.forget_rows()
            found = self._repositories_of(task_id, repo) or absent_repositories(self.home, task_id)
        if not found:
            raise NoSuchTask(f"No task here is called {task_id!r}.", "`agentforge status --all` lists them.")
        if len(found) > 1:
            places = ", ".join(found)
            raise UsageError(
                f"{task_id} is a task of {len(found)} repositories: {places}.", "Name one as repo."
            )
        if not Path(found[0]).is_dir():
            raise NoSuchTask(
                f"The repository of {task_id} is gone: {found[0]}.",
                "Bring it back to that place, and its tasks are there again.",
            )
        return found[0], task_id

    def _repositories_of(self, task_id: str, repo: str | None) -> list[str]:
        return [row.repo for row in self.rows() if row.task_id == task_id and repo in (None, row.repo)]

    @contextmanager
    def reading(self, task_id: str, repo: str | None = None) -> Iterator[OpenTask]:
        """The task as of now, for one reader at a time. Only to look at: who changes it opens it anew."""
        with self.opened(self.find(task_id, repo)) as task:
            yield task

    @contextmanager
    def opened(self, key: Key) -> Iterator[OpenTask]:
        """Opens a task that was found."""
        task, lock = self._opened(key)
        with lock:
            task.refresh()
            yield task

    def open_anew(self, task_id: str, repo: str | None = None) -> OpenTask:
        """The task, for somebody who acts on it: everything about it and its repository is checked again."""
        path, name = self.find(task_id, repo)
        site = Site.open(Path(path))
        return OpenTask.open(site, site.find(name))

    def fresh_row(self, key: Key) -> TaskRow:
        """The row of one task, as fresh as its journal."""
        with self.opened(key) as task:
            return fresh_row(key[0], task.journal)

    def steps(self, task: OpenTask) -> list[Step]:
        """The steps of a task that is being read; collected again only when its journal has grown."""
        head, found = self._steps.get(task.files.root, ("", []))
        if head != task.journal.head:
            found = steps_of(task.files)
            self._steps[task.files.root] = (task.journal.head, found)
            while len(self._steps) > _KEPT_STEPS:
                self._steps.pop(next(iter(self._steps)), None)
        return found

    def summaries(self, rows: Sequence[TaskRow]) -> list[dict[str, Any]]:
        """Tasks as every surface shows them."""
        return summaries_of(self.home, rows)

    def repositories(self) -> list[str]:
        """Where a task can be started: where the server is, where there are tasks, and what is registered."""
        from agentforge.store.user.repositories import place, read_repositories

        found = {row.repo for row in self.rows()}
        with suppress(UserError):  # whoever names one is told
            found |= {str(place(each)) for each in read_repositories(self.home)}
        here = [str(path) for path in self._here]
        others = sorted(found.difference(here))
        return [path for path in (*here, *others) if Path(path).is_dir()]

    def _opened(self, key: Key) -> tuple[OpenTask, threading.Lock]:
        place = ProjectFiles(Path(key[0])).task(key[1]).journal
        try:
            file = place.lstat().st_ino
        except OSError:
            raise NoSuchTask(f"{key[1]} is gone.", "`agentforge status` restores what was saved.") from None
        with self._lock:
            found = self._open.get(key)
            if found is not None and found.file == file:
                self._open.move_to_end(key)
                return found.task, found.lock
        found = KeptTask(_open(key), file, threading.Lock())
        with self._lock:
            self._open[key] = found
            while len(self._open) > _OPEN_TASKS:
                self._open.popitem(last=False)
        return found.task, found.lock


def _open(key: Key) -> OpenTask:
    repo = Path(key[0])
    return OpenTask.open(Site.open(repo), ProjectFiles(repo).task(key[1]))


def mark_of(row: TaskRow) -> int:
    """When a task moved last, in microseconds: a number that scripts of a page can hold."""
    return row.journal_mtime_ns // 1000


def counts(rows: Sequence[TaskRow]) -> dict[str, int]:
    """How many tasks there are of each state."""
    return dict(sorted(Counter(row.word for row in rows).items()))


def _top_of(here: Path) -> Iterator[Path]:
    """The repository around a directory, if there is one."""
    with suppress(UserError):
        yield Site.open(here).project.top
