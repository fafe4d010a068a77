"""Where everything is: the names of files and directories, of tasks, and of what a person may call a task.

Its values are named tuples: a list of tasks in a pipe is shown sooner than `dataclasses` is loaded.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from agentforge.core.errors import UsageError

ENGINE_FILE = "engine.yaml"
"""What somebody who took a task over wrote beside `task.yaml`."""
_LONGEST_SLUG = 40
_CANDIDATES_SHOWN = 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Letters that have no decomposition, but a spelling every keyboard knows.
_SPELLED = str.maketrans({"ß": "ss", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})


def plain_name(name: str) -> str:
    """`name`, if it can only be the name of a file in the directory it is put in."""
    if not is_plain_name(name):
        raise UsageError(f"{name[:80]!r} cannot be a name here; use letters, digits, `.`, `_` and `-`.")
    return name


def is_plain_name(name: str) -> bool:
    """Whether it can only be the name of a file, and is one word for a shell."""
    return _NAME.fullmatch(name) is not None


class TaskFiles(NamedTuple):
    """Everything of one task; `root` is `.agentforge/tasks/<task_id>`."""

    root: Path

    @property
    def task_id(self) -> str:
        """The name of the task, which is the name of its directory."""
        return self.root.name

    @property
    def task(self) -> Path:
        """Request, limits and base: never changed."""
        return self.root / "task.yaml"

    @property
    def journal(self) -> Path:
        """The journal: every decision of the task. All other files can be made from it, or
        are named in it.
        """
        return self.root / "actions.yaml"

    @property
    def state(self) -> Path:
        """The state of the task for people and other programs; written from the journal and
        never read back.
        """
        return self.root / "state.yaml"

    @property
    def working_memory(self) -> Path:
        """What the roles know, for people; written from the journal and never read back."""
        return self.root / "working_memory.yaml"

    @property
    def pack(self) -> Path:
        """Contexts, replies and tool results, each stored once under its hash."""
        return self.root / "steps.pack"

    @property
    def artifacts(self) -> Path:
        """Documents under contracts, inputs and patches."""
        return self.root / "artifacts"

    @property
    def original_request(self) -> Path:
        """What the person wrote, word for word."""
        return self.artifacts / "inputs" / "original_request.yaml"

    def external_input(self, contract: str) -> Path:
        """A document that was handed in, as it came."""
        return self.root / "external_inputs" / f"{plain_name(contract)}.yaml"

    @property
    def snapshots(self) -> Path:
        """One patch per step that changed files."""
        return self.artifacts / "snapshots"

    @property
    def inbox(self) -> Path:
        """The directory of messages from people to the driver."""
        return self.root / "inbox"

    @property
    def evidence(self) -> Path:
        """The proof that goes with the branch."""
        return self.root / "evidence.json"

    @property
    def merging(self) -> Path:
        """Exists while a merge moves the user's checkout; says from which commit to which."""
        return self.root / "merging.json"

    @property
    def lock(self) -> Path:
        """The lock file, held by the one process that drives the task."""
        return self.root / "lock"

    @property
    def escalations(self) -> Path:
        """Questions of all tasks of the project."""
        return self.root.parent.parent / "escalations"

    def version(self, phase: str, contract: str, version: int) -> Path:
        """The file of one version of an artifact."""
        return self.artifacts / "phases" / plain_name(phase) / f"{plain_name(contract)}_v{version}.yaml"

    def final(self, phase: str, contract: str) -> Path:
        """The accepted version of an artifact."""
        return self.artifacts / "phases" / plain_name(phase) / f"{plain_name(contract)}_final.yaml"

    def earlier_final(self, phase: str, contract: str, version: int) -> Path:
        """An artifact that was handed over before the task was taken up again."""
        return self.artifacts / "phases" / plain_name(phase) / f"{plain_name(contract)}_v{version}_final.yaml"

    def patch(self, step: int) -> Path:
        """The patch of all that a step changed."""
        return self.snapshots / f"step_{step:03d}.patch"

    def escalation(self, identity: str) -> Path:
        """The page of one question of this task."""
        return self.escalations / f"{self.task_id}-{plain_name(identity)}.yaml"


RUN_STATE = ("tasks", "escalations", "violations", "audit")
"""Directories of `.agentforge` that hold what tasks left here; the others are meant to be shared."""


class ProjectFiles(NamedTuple):
    """The files that AgentForge keeps in a checkout, below `.agentforge`."""

    top: Path
    """The root of the checkout."""

    @property
    def root(self) -> Path:
        """The directory `.agentforge` itself."""
        return self.top / ".agentforge"

    @property
    def tasks(self) -> Path:
        """The directory that holds one directory per task."""
        return self.root / "tasks"

    @property
    def violations(self) -> Path:
        """What checks have found, a file each, and what persons have said about it."""
        return self.root / "violations"

    def audit(self, task_id: str, suffix: str) -> Path:
        """Where the report about a task is kept."""
        return self.root / "audit" / f"{plain_name(task_id)}.{suffix}"

    def task(self, task_id: str) -> TaskFiles:
        """The files of the task with this id."""
        return TaskFiles(self.tasks / plain_name(task_id))


class Trees(NamedTuple):
    """A task's directories outside of the checkout."""

    root: Path

    @property
    def worktree(self) -> Path:
        """The checkout that the roles change."""
        return self.root / "worktree"

    @property
    def verdict(self) -> Path:
        """The pristine checkout that is judged."""
        return self.root / "verdict"

    @property
    def env(self) -> Path:
        """The environment of the project under work."""
        return self.root / "env"


class Home(NamedTuple):
    """The user's own directory, `~/.agentforge`: what belongs to no single repository."""

    path: Path

    @property
    def task_index(self) -> Path:
        """Tasks of all repositories; can be rebuilt."""
        return self.path / "index.db"

    @property
    def listed(self) -> Path:
        """The questions that were shown last, so that their numbers stay."""
        return self.path / "inbox.json"

    @property
    def batches(self) -> Path:
        """Calls that wait for a batch, of all tasks."""
        return self.path / "batches"

    @property
    def logs(self) -> Path:
        """What drivers did, line by line, of all tasks."""
        return self.path / "logs"

    @property
    def cache(self) -> Path:
        """What can be downloaded or built again."""
        return self.path / "cache"

    @property
    def code_facts(self) -> Path:
        """What was read out of source files, by content."""
        return self.cache / "code.db"

    @property
    def check_readings(self) -> Path:
        """What checks read in source files, by content."""
        return self.cache / "checks.db"

    @property
    def all_environments(self) -> Path:
        """What set-up built, by repository."""
        return self.cache / "environments"

    def environments(self, repo: Path) -> Path:
        """What set-up built for the repository whose checkout is `repo`: no other one gets to see it."""
        return self.all_environments / repo_name(repo)

    @property
    def all_trees(self) -> Path:
        """The directories of tasks, by repository."""
        return self.path / "trees"

    @property
    def removed(self) -> Path:
        """What `clean` has taken away and is about to delete."""
        return self.path / "removed"

    def trees(self, repo: Path, task_id: str) -> Trees:
        """The directories of a task of the repository whose checkout is `repo`."""
        return Trees(self.all_trees / repo_name(repo) / plain_name(task_id))


def repo_name(repo: Path) -> str:
    """A name for a checkout: readable, and different for every path."""
    from agentforge.system.canon import digest  # noqa: PLC0415 - a list of tasks needs none

    real = repo.resolve()
    return f"{_ascii(real.name)[:_LONGEST_SLUG].strip('-') or 'repo'}-{digest(str(real))[:10]}"


def new_task_id(request: str, date: str, exists: Callable[[str], bool]) -> str:
    """`task-<yyyymmdd>-<slug>`, with a number behind it where that is taken."""
    name = f"task-{date}-{slug(request)}"
    number = 1
    found = name
    while exists(found):
        number += 1
        found = f"{name}-{number}"
    return found


def slug(request: str) -> str:
    """The first words of a request in ASCII, or a short hash of one that has none."""
    words = _ascii(request)
    if len(words) > _LONGEST_SLUG:
        words = words[: _LONGEST_SLUG + 1]
        words = words.rpartition("-")[0] or words[:_LONGEST_SLUG]
    if len(words) >= 3:
        return words
    from agentforge.system.canon import digest  # noqa: PLC0415 - as above

    return f"{words}-{digest(request)[:8]}".lstrip("-")


def find_task(tasks: Path, given: str, archived: Iterable[str] = ()) -> str:
    """The task that `given` names: its id or any unambiguous beginning of it, with or without `task-`."""
    on_disk = [entry.name for entry in tasks.iterdir() if entry.is_dir()] if tasks.is_dir() else []
    names = sorted({*on_disk, *archived})
    if given in names:
        return given
    found = [
        name
        for name in names
        if given and (name.startswith(given) or name.removeprefix("task-").startswith(given))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:_CANDIDATES_SHOWN]) + (", …" if len(found) > _CANDIDATES_SHOWN else "")
        raise UsageError(
            f"{given!r} is the beginning of {len(found)} tasks: {shown}.", "Write more of the name."
        )
    raise UsageError(f"No task here is called {given!r}.", "`agentforge status` lists the tasks.")


def _ascii(text: str) -> str:
    plain: str = (
        unicodedata.normalize("NFKD", text.casefold().translate(_SPELLED)).encode("ascii", "ignore").decode()
    )
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"['`]", "", plain)).strip("-")
