"""The index of all tasks of a user: SQLite, rebuilt from the journals whenever it is stale, damaged or
gone.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agentforge.store.layout import ENGINE_FILE, ProjectFiles, TaskFiles
from agentforge.store.user.sqlite_file import SqliteFile, open_table

if TYPE_CHECKING:
    from agentforge.store.task.journal import Journal
    from agentforge.system.git.repository import Git

T = TypeVar("T")

_VERSION = 9
_JOURNAL = TaskFiles(Path()).journal.name


class TaskRow(NamedTuple):
    """What a list of tasks shows of one task."""

    repo: str
    task_id: str
    status: str
    """One of the ten, or `unreadable`."""
    word: str
    lane: str
    line: str
    """The pipeline, or the part of it that the task runs."""
    stage: str
    step: int
    tokens: int
    micro_usd: int | None
    """None: the price of a call is not known."""
    request: str
    """For an unreadable task: what is wrong with it."""
    updated: str
    summary: str
    """`task_summary` as JSON (`store/task/summary.py`), without secrets; empty for an unreadable task."""
    engine: str
    """Who drives it; empty where that cannot be read."""
    journal_size: int
    journal_mtime_ns: int
    engine_mtime_ns: int
    """Of the file that says who took it over; 0: nobody did."""


_NAMES = TaskRow._fields
_CREATE = f"CREATE TABLE IF NOT EXISTS tasks ({', '.join(_NAMES)}, PRIMARY KEY (repo, task_id))"
_SELECT = f"SELECT {', '.join(_NAMES)} FROM tasks"  # noqa: S608 - names of our own fields
_INSERT = f"INSERT OR REPLACE INTO tasks VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608 - question marks
_DELETE = "DELETE FROM tasks WHERE repo = ? AND task_id = ?"


class Index(SqliteFile):
    """An index that never fails a task: what SQLite cannot do is noticed, and the journals are read
    instead.
    """

    def update(self, git: "Git", journal: "Journal") -> None:
        """Bring a task's row up to date; for the driver, after a step."""
        try:
            info = journal.files.journal.lstat()
        except OSError:
            return
        from agentforge.store.user.index_rows import Repositories, row_of

        repo = str(git.top)
        self._save([row_of(repo, journal, info, Repositories({repo: git}))], [])

    def repos(self) -> list[str]:
        """Every checkout that has tasks here, by its path."""
        asked = "SELECT DISTINCT repo FROM tasks ORDER BY repo"
        return self._try(lambda database: [name for (name,) in database.execute(asked)]) or []

    def rows(self, repo: Path | None = None, also: Iterable[Path] = ()) -> list[TaskRow]:
        """The tasks of a checkout, or of every checkout that is known and of those in `also`, newest first.
        Each row is as fresh as its journal. A checkout that is not there is left out, and not forgotten: its
        disk may come back.
        """
        known = {(row.repo, row.task_id): row for row in self._load()}
        repos = {row.repo for row in known.values()} | {*map(str, also)} if repo is None else {str(repo)}
        found: list[TaskRow] = []
        stale: list[tuple[str, TaskFiles, os.stat_result]] = []
        for name in sorted(repos):
            for task_id, info, taken in _journals(name):
                row = known.pop((name, task_id), None)
                seen = (info.st_size, info.st_mtime_ns, taken)
                if row is None or (row.journal_size, row.journal_mtime_ns, row.engine_mtime_ns) != seen:
                    stale.append((name, TaskFiles(ProjectFiles(Path(name)).tasks / task_id), info))
                else:
                    found.append(row)
        changed = _read(stale)
        gone = [row for row in known.values() if row.repo in repos]
        there = {name for name in {row.repo for row in gone} if Path(name).is_dir()}
        self._save(changed, [row for row in gone if row.repo in there])
        found += changed
        return sorted(found, key=lambda row: (row.updated, row.task_id), reverse=True)

    def absent(self, task_id: str) -> list[str]:
        """The checkouts of tasks of this name that are not there now."""
        return [row.repo for row in self._load() if row.task_id == task_id and not Path(row.repo).is_dir()]

    def _load(self) -> list[TaskRow]:
        return self._try(lambda database: list(map(TaskRow._make, database.execute(_SELECT)))) or []

    def _save(self, rows: list[TaskRow], gone: list[TaskRow]) -> None:
        def work(database: sqlite3.Connection) -> None:
            with database:
                database.executemany(_INSERT, rows)
                database.executemany(_DELETE, [(row.repo, row.task_id) for row in gone])

        if rows or gone:
            self._try(work)

    def _opened(self) -> sqlite3.Connection:
        """The table. One of another version is emptied, and every checkout that it knew is read again: no
        journal says where the others are.
        """
        before = _checkouts(self._path)
        connection = open_table(self._path, "tasks", _CREATE, _VERSION)
        if before and not connection.execute("SELECT count(*) FROM tasks").fetchone()[0]:
            with connection:
                connection.executemany(
                    "INSERT INTO tasks (repo, task_id, journal_size) VALUES (?, '', -1)",
                    [(repo,) for repo in before],
                )
        return connection

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` makes of the database, or None: an error of SQLite is a notice."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._opened()
                return work(self._connection)
            except (
                sqlite3.OperationalError,
                UnicodeEncodeError,
            ) as error:  # locked, read-only, full: the next time may be better
                self.close()
                self._notice(f"The index {self._path} was not used: {error}.")
            except sqlite3.DatabaseError as error:
                self.close()
                self._move_away()
                self._notice(f"The index {self._path} was damaged ({error}) and is rebuilt.")
        return None


def _checkouts(path: Path) -> list[str]:
    """The checkouts in a table of another version, whatever its other columns were."""
    if not path.is_file() or path.is_symlink():
        return []
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as connection:
        if connection.execute("PRAGMA user_version").fetchone() != (_VERSION,):
            return [str(name) for (name,) in connection.execute("SELECT DISTINCT repo FROM tasks")]
    return []


def _journals(repo: str) -> Iterator[tuple[str, os.stat_result, int]]:
    """Each task of a checkout, with its journal as seen from outside, and when somebody took it over."""
    tasks = str(ProjectFiles(Path(repo)).tasks)
    try:
        names = sorted(entry.name for entry in os.scandir(tasks))
    except OSError:
        return
    for name in names:
        folder = f"{tasks}/{name}"
        with contextlib.suppress(OSError):
            yield name, os.lstat(f"{folder}/{_JOURNAL}"), taken_over_at(folder)


def _read(stale: "list[tuple[str, TaskFiles, os.stat_result]]") -> list[TaskRow]:
    """The rows of journals that have moved on; where none has, nothing that replays one is loaded."""
    if not stale:
        return []
    from agentforge.store.user.index_rows import Repositories, read_row

    repositories = Repositories()
    return [read_row(repo, files, info, repositories) for repo, files, info in stale]


def taken_over_at(folder: str) -> int:
    """When the file that says who drives a task was written; its beginning never changes."""
    try:
        return os.lstat(f"{folder}/{ENGINE_FILE}").st_mtime_ns
    except OSError:
        return 0
