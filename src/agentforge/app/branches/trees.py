"""The directories that tasks work in, outside of every checkout: whose they are, how large, and when they
were last used.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentforge.store.layout import Home, ProjectFiles, repo_name
from agentforge.store.task.lock import is_held
from agentforge.store.task.times import stamp
from agentforge.store.user.index import Index, TaskRow


@dataclass(frozen=True, slots=True)
class TreeLease:
    """The directory of one task."""

    path: Path
    task_id: str
    repo: Path | None
    """The checkout that the task belongs to; None if no known one has it."""
    state: str
    """The task's state in one word; empty if there is no such task any more."""
    bytes: int
    used_at: str
    in_use: bool
    """Whether a driver holds the task now."""


def list_leases(home: Home) -> list[TreeLease]:
    """Every directory of a task on this machine, the largest first."""
    with Index(home.task_index, lambda _: None) as index:
        rows = index.rows()
    owners = {(repo_name(Path(row.repo)), row.task_id): row for row in rows}
    found = [_lease(place, owners.get((place.parent.name, place.name))) for place in _places(home)]
    return sorted(found, key=lambda lease: (-lease.bytes, lease.path))


def _places(home: Home) -> Iterator[Path]:
    for repo in directories(home.all_trees):
        yield from directories(repo)


def directories(top: Path) -> list[Path]:
    """Those in a directory; links are not followed, and where there is nothing, there are none."""
    try:
        with os.scandir(top) as entries:
            return sorted(Path(each.path) for each in entries if each.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _lease(place: Path, row: TaskRow | None) -> TreeLease:
    size, used = measure(place)
    in_use = row is not None and is_held(ProjectFiles(Path(row.repo)).task(row.task_id).lock)
    return TreeLease(
        place,
        place.name,
        None if row is None else Path(row.repo),
        "" if row is None else row.word,
        size,
        stamp(datetime.fromtimestamp(used, UTC)),
        in_use,
    )


def measure(top: Path) -> tuple[int, float]:
    """Bytes on disk, files with several names counted once; and when the directory last changed."""
    size, newest, seen, waiting = 0, 0.0, set[tuple[int, int]](), [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif about.st_nlink > 1:
                if (about.st_dev, about.st_ino) in seen:
                    continue
                seen.add((about.st_dev, about.st_ino))
            size += about.st_blocks * 512
    # Files keep the times of what wrote them; the directory itself changes whenever the task works.
    for place in (top, *top.glob("*")):
        newest = max(newest, place.lstat().st_mtime)
    return size, newest
