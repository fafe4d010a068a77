"""The files of a workflow in a checkout: read once, written without following one link, by one process at a
time.

Only what lies below `.claude/forge`, `docs/forge` and `workflows` is touched, and nothing is committed. Every
file is whole or as it was; the state comes last, so that a command that was killed is simply run again.
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentforge.core.errors import ModelMistake, PolicyError, UsageError
from agentforge.phases.log import LOG
from agentforge.phases.tree import CONFIG, DOCS, ROOTS, SNAPSHOTS, STATE, WORKFLOW, WorkflowTree
from agentforge.system.beneath import (
    Content,
    list_beneath,
    make_folders,
    open_beneath,
    read_beneath,
    replace_beneath,
    state_beneath,
)
from agentforge.system.files import disk_errors

_MOST_BYTES = 1 << 20
_MOST_FILES = 5000
_MOST_SNAPSHOTS = 20
"""Read back in a repair; of older ones only that they are there."""
_FOLDER = ".claude/forge"


@contextlib.contextmanager
def workflow_lock(top: Path) -> Iterator[None]:
    """Hold the workflow of a checkout. Whoever comes meanwhile is told so."""
    with linkless():
        make_folders(top, STATE)
        fd = open_beneath(top, _FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PolicyError(
                "Another command is working on this workflow.", "Wait until it has ended, and run this again."
            ) from None
        yield
    finally:
        os.close(fd)


def read_files(top: Path) -> dict[str, str]:
    """Every file of the workflow that is text. A link among them is refused by its path."""
    with linkless():
        found: dict[str, str] = {}
        for root in ROOTS:
            _refuse_link(top, root)
        for path in (STATE, CONFIG, WORKFLOW):
            _read_into(found, top, path)
        for path in _below(top, DOCS):
            if path.endswith(".md") and not path.startswith(f"{DOCS}/archive/"):
                _read_into(found, top, path)
        snapshots = sorted(path for path in _below(top, SNAPSHOTS) if path.endswith(".md"))
        for path in snapshots[-_MOST_SNAPSHOTS:]:
            _read_into(found, top, path)
        return found


def write_files(top: Path, tree: WorkflowTree) -> list[str]:
    """Write what shall be different; the paths, the state last."""
    paths = sorted(tree.written, key=lambda path: (path == STATE, path))
    with linkless():
        for path in (*paths, LOG):  # all of them before the first is written
            found = state_of(top, path)
            if found is not None and not stat.S_ISREG(found.st_mode):
                raise PolicyError(
                    f"{path} has to be written, but it is not a file.", "Move it out of the way."
                )
        for path in paths:
            replace_beneath(top, path, Content(tree.written[path].encode()))
    return paths


def _below(top: Path, folder: str) -> Iterator[str]:
    """The regular files below a directory; nothing if there is none."""
    if state_of(top, folder) is None:
        return
    waiting, count = [folder], 0
    while waiting:
        here = waiting.pop()
        for name, found in list_beneath(top, here):
            path = f"{here}/{name}"
            count += 1
            if count > _MOST_FILES:
                raise UsageError(f"There are more than {_MOST_FILES:,} files below {folder}.")
            if stat.S_ISLNK(found.st_mode):
                raise _is_link(path)
            if stat.S_ISDIR(found.st_mode):
                waiting.append(path)
            elif stat.S_ISREG(found.st_mode):
                yield path


def state_of(top: Path, path: str) -> os.stat_result | None:
    """What lies at a path; None if nothing does. A link on the way is refused."""
    _refuse_link(top, path)
    return state_beneath(top, path)


def _read_into(found: dict[str, str], top: Path, path: str) -> None:
    if state_of(top, path) is None:
        return
    data = read_beneath(top, path, _MOST_BYTES)
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} is larger than {_MOST_BYTES >> 20} MiB.", "Shorten it.")
    try:
        found[path] = data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.", "Save it as UTF-8.") from None


def _refuse_link(top: Path, path: str) -> None:
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        found = state_beneath(top, part)
        if found is None:
            return
        if stat.S_ISLNK(found.st_mode):
            raise _is_link(part)


def _is_link(path: str) -> PolicyError:
    return PolicyError(
        f"{path} is a link, and a workflow neither reads nor writes through one.",
        "Replace it with what it points to.",
    )


@contextlib.contextmanager
def linkless() -> Iterator[None]:
    """A refusal of the layer below, and a disk that fails, are sentences for the person here."""
    try:
        with disk_errors():
            yield
    except ModelMistake as error:
        raise PolicyError(f"{error.text[:1].upper()}{error.text[1:]}.") from None
