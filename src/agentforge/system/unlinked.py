"""Files of our own, opened without following a symbolic link at any place of their path.

A repository can commit a link where we keep our files, and whoever follows it reads or changes a file of the
user's. So the paths of our directories are real from the first name to the last, and a link among them is
refused by the kernel when it is opened, not looked for beforehand.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentforge.core.errors import PolicyError
from agentforge.system.beneath import by_kernel, by_walking
from agentforge.system.visible import one_line

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def open_unlinked(path: Path, flags: int, mode: int = 0o666) -> int:
    """A descriptor of the file at an absolute path. A link on the way, or at its end, is refused."""
    top = os.open("/", _DIRECTORY)
    try:
        return (by_kernel() or by_walking)(top, str(path).lstrip("/") or ".", flags | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and (link := _first_link(path)) is not None:
            raise refusal(link) from None
        error.filename = str(path)
        raise
    finally:
        os.close(top)


def read_unlinked(path: Path) -> bytes:
    """All bytes of a regular file."""
    fd = open_unlinked(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor is no path
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise PolicyError(
                f"{one_line(str(path))} is no regular file.", "Remove it, and repeat the command."
            )
        return file.read()


@contextlib.contextmanager
def folder_unlinked(path: Path, *, make: bool = False) -> Iterator[int]:
    """A descriptor of a directory; with `make` it and those above it are made where they are missing."""
    if make:
        _make(path)
    fd = open_unlinked(path, _DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def make_unlinked(path: Path) -> None:
    """Make a directory, and those above it, where they are missing."""
    with folder_unlinked(path, make=True):
        pass


def links_below(top: Path) -> Iterator[Path]:
    """Every symbolic link at or below a path; none of them is followed."""
    if top.is_symlink():
        yield top
        return
    waiting = [top]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                if entry.is_symlink():
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))


def refusal(link: Path) -> PolicyError:
    """The sentence about a link that is not followed."""
    return PolicyError(
        f"{one_line(str(link))} is a symbolic link, and AgentForge follows none in its own directories.",
        "Remove the link (`git rm`, if it is committed), and repeat the command.",
    )


def _make(path: Path) -> None:
    try:
        with folder_unlinked(path):
            return
    except FileNotFoundError:
        _make(path.parent)
    with folder_unlinked(path.parent) as above, contextlib.suppress(FileExistsError):
        os.mkdir(path.name, dir_fd=above)


def _first_link(path: Path) -> Path | None:
    return next((step for step in (*reversed(path.parents), path) if step.is_symlink()), None)
