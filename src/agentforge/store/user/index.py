"""The index of all tasks of a user: SQLite, rebuilt from the journals whenever it is stale, damaged or
gone.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from agentforge.core.errors import UserError
from agentforge.core.state import State
from agentforge.store.layout import ProjectFiles, TaskFiles
from agentforge.store.task.engine import ENGINE_FILE, read_engine
from agentforge.store.task.journal import Journal
from agentforge.store.task.summary import changed_files, summary_of
from agentforge.store.task.times import utc_now
from agentforge.store.task.views import north_star_word
from agentforge.store.user.sqlite_file import SqliteFile, open_table
from agentforge.system.git.repository import Git

T = TypeVar("T")

_VERSION = 7
NO_REPOSITORIES: Mapping[str, Git] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TaskRow:
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
    """`task_summary` as JSON (`store/task/summary.py`); empty for an unreadable task."""
    engine: str
    """Who drives it; empty where that cannot be read."""
    journal_size: int
    journal_mtime_ns: int
    engine_mtime_ns: int
    """Of the file that says who took it over; 0: nobody did."""


_NAMES = tuple(field.name for field in fields(TaskRow))
_CREATE = f"CREATE TABLE IF NOT EXISTS tasks ({', '.join(_NAMES)}, PRIMARY KEY (repo, task_id)) WITHOUT ROWID"
_SELECT = f"SELECT {', '.join(_NAMES)} FROM tasks"  # noqa: S608 - names of our own fields
_INSERT = f"INSERT OR REPLACE INTO tasks VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608 - question marks
_DELETE = "DELETE FROM tasks WHERE repo = ? AND task_id = ?"


class Index(SqliteFile):
    """An index that never fails a task: what SQLite cannot do is noticed, and the journals are read
    instead.
    """

    def update(self, git: Git, journal: Journal) -> None:
        """Bring a task's row up to date; for the driver, after a step."""
        try:
            info = journal.files.journal.lstat()
        except OSError:
            return
        repo = str(git.top)
        self._save([_row(repo, journal, info, _Repositories({repo: git}))], [])

    def repos(self) -> list[str]:
        """Every checkout that has tasks here, by its path."""
        asked = "SELECT DISTINCT repo FROM tasks ORDER BY repo"
        return self._try(lambda database: [name for (name,) in database.execute(asked)]) or []

    def rows(self, repo: Path | None = None, also: Iterable[Path] = ()) -> list[TaskRow]:
        """The tasks of a checkout, or of every checkout that is known and of those in `also`, newest first.
        Each row is as fresh as its journal.
        """
        known = {(row.repo, row.task_id): row for row in self._load()}
        repos = {row.repo for row in known.values()} | {*map(str, also)} if repo is None else {str(repo)}
        repositories = _Repositories()
        found: list[TaskRow] = []
        changed: list[TaskRow] = []
        for name in sorted(repos):
            project = ProjectFiles(Path(name))
            for task_id, info, taken_over in _journals(project):
                row = known.pop((name, task_id), None)
                if row is None or (row.journal_size, row.journal_mtime_ns, row.engine_mtime_ns) != (
                    info.st_size,
                    info.st_mtime_ns,
                    taken_over,
                ):
                    row = _read(name, TaskFiles(project.tasks / task_id), info, repositories)
                    changed.append(row)
                found.append(row)
        gone = [row for row in known.values() if row.repo in repos]
        self._save(changed, gone)
        return sorted(found, key=lambda row: (row.updated, row.task_id), reverse=True)

    def _load(self) -> list[TaskRow]:
        return self._try(lambda database: [TaskRow(*values) for values in database.execute(_SELECT)]) or []

    def _save(self, rows: list[TaskRow], gone: list[TaskRow]) -> None:
        def work(database: sqlite3.Connection) -> None:
            with database:
                database.executemany(_INSERT, [astuple(row) for row in rows])
                database.executemany(_DELETE, [(row.repo, row.task_id) for row in gone])

        if rows or gone:
            self._try(work)

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` makes of the database, or None: an error of SQLite is a notice."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = open_table(self._path, "tasks", _CREATE, _VERSION)
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


def fresh_row(repo: str, journal: Journal) -> TaskRow:
    """The row of a task that is open, as fresh as what was read of its journal."""
    return _row(repo, journal, journal.files.journal.lstat(), _Repositories())


def _journals(project: ProjectFiles) -> Iterator[tuple[str, os.stat_result, int]]:
    """Every task that has a journal: its name, its journal's state, and when the file was written that says
    who took it over. There may be thousands: no path is made for what has not changed.
    """
    tasks = os.fspath(project.tasks)
    journal = TaskFiles(project.tasks).journal.name
    try:
        names = sorted(entry.name for entry in os.scandir(tasks))
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            yield name, os.lstat(f"{tasks}/{name}/{journal}"), _written_at(f"{tasks}/{name}/{ENGINE_FILE}")


class _Repositories:
    """The repositories of the tasks that are read, each opened once, and only if one of its tasks changed
    files.
    """

    def __init__(self, known: Mapping[str, Git] = NO_REPOSITORIES) -> None:
        self._known: dict[str, Git | None] = dict(known)

    def files(self, repo: str, state: State) -> dict[str, list[str]]:
        """What a task has created and modified so far."""
        return changed_files(self._open(repo) if state.tree != state.base_tree else None, state)

    def _open(self, repo: str) -> Git | None:
        if repo not in self._known:
            try:
                self._known[repo] = Git.open(Path(repo))
            except UserError:
                self._known[repo] = None
        return self._known[repo]


def _read(repo: str, files: TaskFiles, info: os.stat_result, repositories: _Repositories) -> TaskRow:
    try:
        journal = Journal.open(files, utc_now, write=False)
    except UserError as error:
        return TaskRow(
            repo,
            files.task_id,
            "unreadable",
            "failed",
            "",
            "",
            "",
            0,
            0,
            None,
            error.sentence,
            "",
            "",
            _engine(files),
            info.st_size,
            info.st_mtime_ns,
            _taken_over_at(files),
        )
    return _row(repo, journal, info, repositories)


def _row(repo: str, journal: Journal, info: os.stat_result, repositories: _Repositories) -> TaskRow:
    state, times = journal.state, journal.times
    summary = summary_of(state, times, journal.progress, repositories.files(repo, state))
    bill = state.spent.plus(state.unaccounted)
    return TaskRow(
        repo=repo,
        task_id=state.task_id,
        status=state.status,
        word=north_star_word(state),
        lane=state.pipeline.lane,
        line=state.pipeline.line,
        stage=state.worker.stage if state.worker else "",
        step=state.step,
        tokens=bill.tokens,
        micro_usd=bill.micro_usd if state.is_priced else None,
        request=state.request,
        updated=times.updated_at,
        summary=json.dumps(summary),
        engine=_engine(journal.files),
        journal_size=info.st_size,
        journal_mtime_ns=info.st_mtime_ns,
        engine_mtime_ns=_taken_over_at(journal.files),
    )


def _engine(files: TaskFiles) -> str:
    try:
        return read_engine(files).engine
    except UserError:
        return ""


def _taken_over_at(files: TaskFiles) -> int:
    """When the file that says who drives a task was written; its beginning never changes."""
    return _written_at(files.root / ENGINE_FILE)


def _written_at(path: str | Path) -> int:
    """When a file was written; 0 if there is none."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
