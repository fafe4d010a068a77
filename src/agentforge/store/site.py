"""A repository as AgentForge sees it: its git, its tasks, the user's directory. Light enough for commands
that only look.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge.core.errors import PolicyError, UsageError
from agentforge.store.home import home_path
from agentforge.store.layout import RUN_STATE, Home, ProjectFiles, TaskFiles, find_task
from agentforge.store.task import archive
from agentforge.store.task.moments import Clock, utc_now
from agentforge.store.user.keys import KeyStore, keys_file
from agentforge.system.git.repository import Git
from agentforge.system.unlinked import links_below, refusal
from agentforge.system.visible import one_line

if TYPE_CHECKING:
    from agentforge.store.task.journal import Journal

__all__ = ["Site", "home_path"]

_JOURNAL = TaskFiles(Path()).journal.name
_LONGEST_PLACE = 3
"""Digits of a place that is written without `@`; more of them begin a date."""
_RUN_STATE_OR_WHOLE = ([], *([name] for name in RUN_STATE))
"""The second name of a committed path that cannot be: none, where `.agentforge` itself is a submodule."""


@dataclass(frozen=True, slots=True)
class Site:
    """A repository as AgentForge sees it."""

    git: Git
    project: ProjectFiles
    home: Home
    clock: Clock = utc_now

    @classmethod
    def open(cls, cwd: Path) -> "Site":
        """The repository that `cwd` is in, or a sentence on why it cannot be used."""
        git = Git.open(cwd)
        project = ProjectFiles(git.top.resolve())
        _refuse_planted(git, project)
        home = Home(home_path())
        # Before anything is written: what the user's own keys are, no text may hold.
        KeyStore(keys_file(home), os.environ, None).remember_all()
        return cls(git, project, home)

    def find(self, given: str | None) -> TaskFiles:
        """The task a person means: by a prefix, by its place among the newest (`@1`, `@2`), or the
        newest one. A task whose files are gone is restored from its ref.
        """
        archived = archive.archived_tasks(self.git)
        place = 1 if given is None else _place(given)
        if place is not None:
            given = self._newest(archived, place)
        assert given is not None
        files = self.project.task(find_task(self.project.tasks, given, archived))
        if not archive.is_whole(files):
            archive.restore(self.git, files.task_id, files)
        return files

    def task_names(self) -> list[str]:
        """Every task of this checkout, newest first."""
        return self._by_age(archive.archived_tasks(self.git))

    def _by_age(self, archived: Iterable[str]) -> list[str]:
        # A directory without a journal is a task that was killed before its first line: there is none.
        on_disk = (path.parent.name for path in self.project.tasks.glob(f"task-*/{_JOURNAL}"))
        return sorted({*filter(self._is_ours, archived), *on_disk}, key=self._age, reverse=True)

    def _newest(self, archived: Iterable[str], place: int) -> str:
        known = self._by_age(archived)
        if not known:
            raise UsageError("No tasks in this repository yet.", 'Start one with `agentforge start "…"`.')
        if not 1 <= place <= len(known):
            raise UsageError(
                f"There is no task @{place}; the newest is @1, the oldest @{len(known)}.",
                "`agentforge status` lists the tasks.",
            )
        return known[place - 1]

    def restore_archived(self) -> list[str]:
        """Puts back the tasks that `git clean` took and git still knows; returns their names."""
        gone = [
            name
            for name in archive.archived_tasks(self.git)
            if self._is_ours(name) and not archive.is_whole(self.project.task(name))
        ]
        return [name for name in gone if archive.restore(self.git, name, self.project.task(name))]

    def _is_ours(self, task_id: str) -> bool:
        """Whether a saved task was started in this checkout: linked checkouts share their refs."""
        return self.home.trees(self.git.top, task_id).root.exists()

    def _age(self, task_id: str) -> tuple[int, str]:
        path = self.project.task(task_id).journal
        return (path.stat().st_mtime_ns if path.exists() else 0, task_id)

    def read(self, files: TaskFiles) -> "Journal":
        """Opens a task's journal for reading."""
        from agentforge.store.task.journal import Journal  # noqa: PLC0415 - all of the rules: a list needs none

        return Journal.open(files, self.clock, write=False)


def _place(given: str) -> int | None:
    """The place that `@2` or a short number names; None for a name."""
    number = given.removeprefix("@")
    is_place = number != given or len(number) <= _LONGEST_PLACE
    return int(number) if is_place and number.isascii() and number.isdigit() else None


def _refuse_planted(git: Git, project: ProjectFiles) -> None:
    """Files of a repository are not ours: a link in our directory, and tasks that somebody committed, are
    refused before anything of them is read.
    """
    for link in links_below(project.root):
        raise refusal(link)
    if not any((project.root / name).exists() for name in RUN_STATE):
        return
    listed = os.fsdecode(git.run("ls-files", "-z", "--", project.root.name).out).split("\0")
    planted = [path for path in listed if path and path.split("/")[1:2] in _RUN_STATE_OR_WHOLE]
    if planted:
        places = sorted({"/".join(path.split("/")[:2]) for path in planted})
        raise PolicyError(
            f"`{one_line(planted[0])}` is committed in this repository, but `{places[0]}` is where "
            "AgentForge keeps what it did.",
            f"Run `git rm -r {' '.join(places)}` and commit; tasks of your own come back from their refs.",
        )
