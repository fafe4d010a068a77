"""Rows of the index as a journal says them: what replays one, loaded where a task has moved on."""

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from agentforge.core.errors import UserError
from agentforge.core.state import State
from agentforge.store.layout import ENGINE_FILE, TaskFiles
from agentforge.store.task.engine import read_engine
from agentforge.store.task.journal import Journal
from agentforge.store.task.moments import utc_now
from agentforge.store.task.summary import changed_files, summary_of
from agentforge.store.task.views import north_star_word
from agentforge.store.user.index import TaskRow, taken_over_at
from agentforge.system.git.repository import Git
from agentforge.system.secrets.redact import redact
from agentforge.system.secrets.values import clean

NO_REPOSITORIES: Mapping[str, Git] = MappingProxyType({})


class Repositories:
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


def fresh_row(repo: str, journal: Journal) -> TaskRow:
    """The row of a task that is open, as fresh as what was read of its journal."""
    return row_of(repo, journal, journal.files.journal.lstat(), Repositories())


def read_row(repo: str, files: TaskFiles, info: os.stat_result, repositories: Repositories) -> TaskRow:
    """The row of a task whose journal is still to be read; one that cannot be is a row, too."""
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
            redact(error.sentence)[0],
            "",
            "",
            _engine(files),
            info.st_size,
            info.st_mtime_ns,
            taken_over_at(str(files.root)),
        )
    return row_of(repo, journal, info, repositories)


def row_of(repo: str, journal: Journal, info: os.stat_result, repositories: Repositories) -> TaskRow:
    """The row of a task whose journal is open."""
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
        summary=json.dumps(clean(summary)),
        engine=_engine(journal.files),
        journal_size=info.st_size,
        journal_mtime_ns=info.st_mtime_ns,
        engine_mtime_ns=taken_over_at(str(journal.files.root)),
    )


def _engine(files: TaskFiles) -> str:
    return _engine_of(files, _looks(files, ENGINE_FILE), _looks(files, "task.yaml"))


def _looks(files: TaskFiles, name: str) -> tuple[int, ...]:
    """How a file looks from outside: each step asks who drives its task, and that seldom changes."""
    try:
        about = os.lstat(files.root / name)
    except OSError:
        return ()
    return (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


@lru_cache(maxsize=16)
def _engine_of(files: TaskFiles, *_looks: tuple[int, ...]) -> str:
    try:
        return read_engine(files).engine
    except UserError:
        return ""
