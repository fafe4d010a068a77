"""An open task: where it is and what is on record, replayed once and passed on to whatever a command does."""

from dataclasses import dataclass
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import Journal

__all__ = ["OpenTask", "Site", "known_task", "open_task", "open_task_or_branch"]


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task of a repository, with its journal."""

    site: Site
    journal: Journal

    @classmethod
    def open(cls, site: Site, files: TaskFiles) -> "OpenTask":
        """Replays the journal of a task whose files are known."""
        return cls(site, site.read(files))

    @property
    def files(self) -> TaskFiles:
        """The task's directory below `.agentforge/tasks`."""
        return self.journal.files

    @property
    def task_id(self) -> str:
        """The task's name, such as `task-20300131-add-a-version-flag`."""
        return self.journal.files.task_id

    @property
    def state(self) -> State:
        """As of the last line that was read or written."""
        return self.journal.state

    def refresh(self) -> State:
        """Takes in what another process has recorded since."""
        self.journal.catch_up()
        return self.journal.state


def open_task(where: Path, name: str | None = None) -> OpenTask:
    """The task of the repository around `where` that a person means: by its name, an unambiguous beginning of
    it, `@2` for the one before the newest, or the newest one.
    """
    site = Site.open(where)
    return OpenTask.open(site, site.find(name))


def known_task(where: Path, given: str) -> bool:
    """Whether `open_task_or_branch` would find a record here, and not only a branch of a clone."""
    site = Site.open(where)
    try:
        return site.find(_task_name(site, given)).journal.exists()
    except UsageError:
        return False


def open_task_or_branch(where: Path, given: str | None) -> OpenTask:
    """The task of that name, or the one that a branch belongs to: its last commit says so, since the branch's
    name may have a number of its own.
    """
    site = Site.open(where)
    return OpenTask.open(site, site.find(None if given is None else _task_name(site, given)))


def _task_name(site: Site, given: str) -> str:
    name = given.removeprefix("refs/heads/")
    if name.startswith("agentforge/"):
        asked = (
            "log",
            "-1",
            "--format=%(trailers:key=AgentForge-Task,valueonly)",
            f"refs/heads/{name}",
            "--",
        )
        trailer = site.git.run(*asked, check=False).out.decode("utf-8", "replace").strip()
        name = trailer or name.removeprefix("agentforge/")
    return name
