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
from agentforge.system.bounded import LARGEST, MEBIBYTE, read_open
from agentforge.system.visible import one_line

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEVER_WAIT = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_unlinked(path: Path, flags: int, mode: int = 0o666) -> int:
    """A descriptor of the regular file, or with `O_DIRECTORY` the directory, at an absolute path. A link on
    the way, or at its end, is refused; a pipe or a device does not hold us up, and is refused, too.
    """
    assert path.is_absolute(), f"{path} would be looked for in the root directory"
    top = os.open("/", _DIRECTORY)
    try:
        fd = (by_kernel() or by_walking)(top, str(path).lstrip("/") or ".", flags | _NEVER_WAIT, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and (link := _first_link(path)) is not None:
            raise refusal(link) from None
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise _in_the_way(path, "no regular file") from None
        error.filename = str(path)
        raise
    finally:
        os.close(top)
    if not flags & os.O_DIRECTORY and not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _in_the_way(path, "no regular file")
    return fd


def read_unlinked(path: Path) -> bytes:
    """All bytes of a regular file. One that is larger than anything we write is refused."""
    fd = open_unlinked(path, os.O_RDONLY)
    try:
        return read_open(fd, LARGEST, str(path))
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise _in_the_way(
            path, f"larger than {LARGEST // MEBIBYTE} MiB, which is more than we write"
        ) from None
    finally:
        os.close(fd)


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


def is_private(folder: int) -> bool:
    """Whether an open directory is its owner's alone: then so is what is made in it, whatever the umask."""
    return not os.fstat(folder).st_mode & 0o077


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


def _in_the_way(path: Path, kind: str) -> PolicyError:
    return PolicyError(f"{one_line(str(path))} is {kind}.", "Move it away, and repeat the command.")


def _make(path: Path) -> None:
    try:
        with folder_unlinked(path):
            return
    except FileNotFoundError:
        _make(path.parent)
    except NotADirectoryError:
        steps = (*reversed(path.parents), path)
        raise _in_the_way(next(step for step in steps if not step.is_dir()), "no directory") from None
    with folder_unlinked(path.parent) as above, contextlib.suppress(FileExistsError):
        os.mkdir(path.name, 0o700 if is_private(above) else 0o777, dir_fd=above)


def _first_link(path: Path) -> Path | None:
    return next((step for step in (*reversed(path.parents), path) if step.is_symlink()), None)
