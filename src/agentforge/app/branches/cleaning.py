"""What tasks left on the disk and can be made again: checkouts of finished tasks, and environments. What is
used least recently goes first, down to the limits of the user.

Nothing goes that a driver or a command uses, that an unfinished task or an unmerged branch needs, or that git
does not have. A directory is moved away at once and then deleted, so that nobody ever finds a part of it;
what a killed command left half deleted, the next one deletes.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from agentforge.app.branches.kept_work import NeededKeys, checkout_is_needed
from agentforge.app.branches.trees import directories, measure
from agentforge.app.setup.settings import KeepLimits, read_own_settings
from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.store.layout import Home, ProjectFiles, repo_name
from agentforge.store.task.lock import not_driven
from agentforge.store.user.index import Index, TaskRow
from agentforge.system.bounded import remove_tree
from agentforge.system.files import make_own_directory
from agentforge.system.holds import last_used, unused

MEGABYTE = 1_000_000
_CHECKED = ".checked"
_READY = ".ready"

Kind = Literal["environment", "packages", "checkout"]


@dataclass(frozen=True, slots=True)
class KeptDirectory:
    """A directory that can be made again."""

    kind: Kind
    path: Path
    repo: str
    """The name that its repository has here."""
    used: float
    """When it was last used."""
    task_id: str = ""
    """Of a checkout."""
    bytes: int = 0
    reason: str = ""
    """Why it stays although it is over a limit; empty if it need not."""


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What a cleaning removed, or would, and what it left."""

    removed: tuple[KeptDirectory, ...]
    held: tuple[KeptDirectory, ...]
    """What should have gone and is needed."""
    environment_bytes: int
    """Of all environments that are left."""
    checkouts: int
    """Of finished tasks that are left."""
    limits: KeepLimits

    @property
    def bytes(self) -> int:
        """What is freed."""
        return sum(each.bytes for each in self.removed)


def clean(home: Home, *, everything: bool = False, dry_run: bool = False) -> Cleaning:
    """Brings what is kept down to the limits; with `everything`, removes all that nobody needs."""
    limits = read_own_settings(home.path / "config.yaml")[1].keep
    wanted = KeepLimits(0, 0) if everything else limits
    if not dry_run:
        _delete_moved(home)
    rows = _rows(home)
    checkouts = _Cleaner(home, dry_run=dry_run)
    finished = list(_finished(home, rows))
    for found in sorted(finished, key=lambda each: each.used)[: max(0, len(finished) - wanted.checkouts)]:
        checkouts.take(replace(found, bytes=measure(found.path)[0]), _checkout_reason(found, rows))
    environments = _Cleaner(home, dry_run=dry_run)
    total = _clean_environments(environments, wanted.environments_mb * MEGABYTE, rows)
    return Cleaning(
        (*checkouts.removed, *environments.removed),
        (*checkouts.held, *environments.held),
        total,
        len(finished) - len(checkouts.removed),
        limits,
    )


def clean_if_needed(home: Home) -> int:
    """The same after a task, where something has grown; returns how many bytes are free again. Nothing that
    goes wrong here is the task's trouble.
    """
    with contextlib.suppress(UserError, OSError):
        limits = read_own_settings(home.path / "config.yaml")[1].keep
        made = sum(len(directories(repo)) for repo in directories(home.all_trees))
        if made > limits.checkouts or _environments_grew(home):
            done = clean(home)
            (home.all_environments / _CHECKED).touch()
            return done.bytes
    return 0


class _Cleaner:
    """Removes, or only says what would be removed."""

    def __init__(self, home: Home, *, dry_run: bool) -> None:
        self.home = home
        self._dry_run = dry_run
        self.removed: list[KeptDirectory] = []
        self.held: list[KeptDirectory] = []

    def take(self, found: KeptDirectory, reason: Callable[[], str]) -> bool:
        """Removes a directory that nobody uses; whether it was removed, or would be in a dry run."""
        with contextlib.ExitStack() as stack:
            free = stack.enter_context(unused(found.path))
            if found.kind == "checkout":
                free = stack.enter_context(_undriven(found)) and free
            if why := reason() if free else "in_use":
                self.held.append(replace(found, reason=why))
                return False
            moved = None if self._dry_run else _move_away(self.home, found)
        if moved is not None:  # by now whoever needs it may make it again
            remove_tree(moved)
        self.removed.append(found)
        return True


def _undriven(found: KeptDirectory) -> contextlib.AbstractContextManager[bool]:
    return not_driven(ProjectFiles(Path(found.repo)).task(found.task_id).lock)


def _move_away(home: Home, found: KeptDirectory) -> Path:
    """What was in the directory, in a place where nobody looks for it. A task's own directory stays, empty:
    it says that the task belongs to this checkout.
    """
    make_own_directory(home.removed)
    place = home.removed / secrets.token_hex(8)
    if found.kind != "checkout":
        found.path.rename(place)
        return place
    place.mkdir()
    # First what says how the worktree was left: without it, what is still there is nobody's work.
    for each in sorted(found.path.iterdir(), key=lambda each: each.name != "stands-at"):
        each.rename(place / each.name)
    return place


def _delete_moved(home: Home) -> None:
    for place in directories(home.removed):
        remove_tree(place)


def _rows(home: Home) -> dict[tuple[str, str], TaskRow]:
    """Every task that is known, by the name of its repository here and its own."""
    with Index(home.task_index, lambda _: None) as index:
        return {(repo_name(Path(row.repo)), row.task_id): row for row in index.rows()}


def _finished(home: Home, rows: dict[tuple[str, str], TaskRow]) -> Iterator[KeptDirectory]:
    """The checkouts of finished tasks. A directory whose task is not known may hold the only copy of
    something: it is not looked at.
    """
    for repo in directories(home.all_trees):
        for place in directories(repo):
            row = rows.get((repo.name, place.name))
            if row is not None and row.status in TERMINAL and directories(place):
                used = max(last_used(place), place.stat().st_mtime)
                yield KeptDirectory("checkout", place, row.repo, used, row.task_id)


def _checkout_reason(found: KeptDirectory, rows: dict[tuple[str, str], TaskRow]) -> Callable[[], str]:
    row = rows[found.path.parent.name, found.path.name]
    return lambda: checkout_is_needed(Path(row.repo), row.task_id)


def _environments(home: Home) -> Iterator[KeptDirectory]:
    """What set-up made, whole or cut off. Links are not followed."""
    if home.cache.is_symlink():
        return
    for repo in directories(home.all_environments):
        for place in directories(repo):
            kind: Kind = "packages" if place.name == "packages" else "environment"
            yield KeptDirectory(kind, place, repo.name, last_used(place), bytes=measure(place)[0])


def _environments_grew(home: Home) -> bool:
    """Whether an environment was made since they were last measured."""
    if home.cache.is_symlink():
        return False
    ready = (place / _READY for repo in directories(home.all_environments) for place in directories(repo))
    return max(map(_changed, ready), default=0) > _changed(home.all_environments / _CHECKED)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _clean_environments(cleaner: _Cleaner, cap: int, rows: dict[tuple[str, str], TaskRow]) -> int:
    """Removes what was used least recently until the rest is within the cap; returns what is left."""
    found = sorted(_environments(cleaner.home), key=lambda each: each.used)
    total = sum(each.bytes for each in found)
    needed = NeededKeys(rows)
    for each in _by_age(found):
        if total <= cap:
            break
        if cleaner.take(each, partial(needed.why, each.repo, each.path.name)):
            total -= each.bytes
    return total


def _by_age(found: Iterable[KeptDirectory]) -> list[KeptDirectory]:
    """Rubble first, then the oldest."""
    return sorted(found, key=lambda each: (_is_whole(each), each.used))


def _is_whole(found: KeptDirectory) -> bool:
    return found.kind != "environment" or (found.path / _READY).exists()
