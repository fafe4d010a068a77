"""The other tasks of this user, for one that waits for them: found through the index, then watched by the
size and the time of their journals.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.activities.dependencies import FinalArtifact
from agentforge.app.record.listed import list_all_tasks
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.state import State
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task import artifacts
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.store.user.repositories import place, read_repositories


@dataclass(slots=True)
class OtherTasks:
    """Every task that this user's index knows. A journal is read again only when it has changed."""

    home: Home
    top: Path
    """Of the repository that asks: a task of its own comes before one of the same name elsewhere."""
    _places: dict[str, TaskFiles] = field(default_factory=dict)
    _read: dict[Path, tuple[tuple[int, int], Journal]] = field(default_factory=dict)

    def task(self, task_id: str) -> State | None:
        """The state of another task of this user, or None if there is no such task."""
        known = self._places.get(task_id)
        if known is None or not known.journal.exists():
            known = self._find(task_id)
        if known is None:
            return None
        self._places[task_id] = known
        return self._journal(known).state

    def knows(self, repo: str) -> bool:
        """Whether a repository is registered under that name."""
        return any(each.name == repo for each in read_repositories(self.home))

    def finals(self, repo: str, artifact: str) -> Sequence[FinalArtifact]:
        """The final artifacts under a contract that the tasks of a registered repository made."""
        where = next((each for each in read_repositories(self.home) if each.name == repo), None)
        if where is None:
            return ()
        tasks = ProjectFiles(place(where)).tasks
        names = sorted(entry.name for entry in os.scandir(tasks)) if tasks.is_dir() else []
        found: list[FinalArtifact] = []
        for name in names:
            try:
                found += _finals_of(self._journal(TaskFiles(tasks / name)), artifact)
            except (UserError, OSError):  # one that cannot be read has made nothing; `status` says why
                continue
        return found

    def _find(self, task_id: str) -> TaskFiles | None:
        own = ProjectFiles(self.top).task(task_id) if _is_plain(task_id) else None
        if own is not None and own.journal.exists():
            return own
        rows = [row for row in list_all_tasks(self.home) if row.task_id == task_id]
        if len(rows) > 1:
            places = ", ".join(row.repo for row in rows)
            raise UsageError(f"{task_id} is a task of {len(rows)} repositories: {places}.")
        return ProjectFiles(Path(rows[0].repo)).task(task_id) if rows else None

    def _journal(self, files: TaskFiles) -> Journal:
        facts = files.journal.lstat()
        now = (facts.st_size, facts.st_mtime_ns)
        before = self._read.get(files.journal)
        if before is None:
            journal = Journal.open(files, utc_now, write=False)
        else:
            journal = before[1]
            if before[0] != now:
                journal.catch_up()
        self._read[files.journal] = (now, journal)
        return journal


def _finals_of(journal: Journal, artifact: str) -> list[FinalArtifact]:
    ref = journal.state.artifact(artifact) if artifact else journal.state.artifact_for("requirements")
    if ref is None:
        return []
    stage = next(item.stage for item in reversed(journal.state.accepted) if ref in item.finals)
    when = dict(journal.times.accepted).get(stage, "")
    try:
        document = artifacts.read(journal.files, ref)
    except Unusable:
        return []
    return [FinalArtifact(journal.state.task_id, when, document, ref.version)]


def _is_plain(task_id: str) -> bool:
    return task_id not in ("", ".", "..") and "/" not in task_id and "\\" not in task_id
