"""Files and trees that others may have made, read and removed within limits: no size, no depth and no kind of
file can hold us up or fill our memory.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

MEBIBYTE = 1 << 20
SETTINGS_BYTES = 4 * MEBIBYTE
"""A larger file is nothing that a person wrote to set something."""
LARGEST = 64 * MEBIBYTE
"""Of a report, of a block of a pack, of a file of ours."""
MOST_FILES = 200_000

_OPENED = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def read_bounded(path: Path, most: int, *, follow: bool = True) -> bytes:
    """The bytes of a regular file. What is none, or larger, is an `OSError` that says so."""
    with os.fdopen(os.open(path, _OPENED | (0 if follow else os.O_NOFOLLOW)), "rb") as file:
        return read_open(file.fileno(), most, str(path))


def read_open(fd: int, most: int, name: str) -> bytes:
    """The bytes of an open file from where it stands, with the same limits."""
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", name)
    if about.st_size - os.lseek(fd, 0, os.SEEK_CUR) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // MEBIBYTE} MiB", name)
    with os.fdopen(os.dup(fd), "rb") as file:
        return file.read(most)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether a link leads to a directory; one that goes round leads nowhere."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def files_below(
    top: Path, skip: Callable[[Path], bool] = lambda _: False, *, links: bool = False
) -> Iterator[Path]:
    """Every regular file below a directory, in order, however deep; links are not followed, though named if
    they are wanted, and directories that are to be skipped not entered. What is too deep for a path, or
    cannot be opened, is left out, and so is what is beyond a great number.
    """
    waiting, left = [top], MOST_FILES
    while waiting and left > 0:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        left -= len(entries)
        for entry in entries:
            if entry.is_file(follow_symlinks=False) or (
                links and entry.is_symlink() and not _is_directory(entry)
            ):
                yield Path(entry.path)
        below = (Path(each.path) for each in reversed(entries) if each.is_dir(follow_symlinks=False))
        waiting += [folder for folder in below if not skip(folder)]


def remove_tree(top: Path) -> None:
    """Removes a directory with all that is in it, however deep; what cannot be removed stays."""
    try:
        shutil.rmtree(top, ignore_errors=True)
    except RecursionError:
        with contextlib.suppress(OSError):
            _flatten(top)
            top.rmdir()


def _flatten(top: Path) -> None:
    """Empties a directory by taking what is below it up, level by level: no path grows long."""
    above = os.open(top, _DIRECTORY)
    number = 0
    try:
        while names := os.listdir(above):  # noqa: PTH208  a descriptor is no path
            for name in names:
                if _unlinked(name, above):
                    continue
                os.chmod(name, 0o700, dir_fd=above)
                below = os.open(name, _DIRECTORY, dir_fd=above)
                try:
                    for inner in os.listdir(below):  # noqa: PTH208  the same
                        if not _unlinked(inner, below):
                            os.chmod(inner, 0o700, dir_fd=below)
                            number += 1
                            os.rename(
                                inner, f".up-{number}-{os.getpid()}", src_dir_fd=below, dst_dir_fd=above
                            )
                finally:
                    os.close(below)
                os.rmdir(name, dir_fd=above)
    finally:
        os.close(above)


def _unlinked(name: str, folder: int) -> bool:
    """Whether a name was no directory, and is gone."""
    try:
        os.unlink(name, dir_fd=folder)
    except (IsADirectoryError, PermissionError):
        return False
    return True
