"""Directories that several processes use and that one may want to remove: who uses one holds it, and what is
held is not removed.

The hold is a shared lock on `<directory>.use`, whose time is when the directory was last used. It ends with
its process, however that ends.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Hold:
    """A directory in use, as long as this object lives. Waits while somebody removes it."""

    _fd = -1

    def __init__(self, place: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(_file(place), _FLAGS, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_SH)
        os.utime(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Ends it before its time."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


@contextmanager
def unused(place: Path) -> Iterator[bool]:
    """Whether nobody uses a directory; if so, nobody begins to until the block ends."""
    made = last_used(place)
    fd = os.open(_file(place), _FLAGS, 0o600)
    try:
        os.utime(fd, (made, made))  # to look is not to use
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)


def last_used(place: Path) -> float:
    """When a directory was last used; one that nobody ever held counts from when it was made."""
    for path in (_file(place), place):
        try:
            return path.lstat().st_mtime
        except OSError:
            continue
    return 0.0


def _file(place: Path) -> Path:
    return place.with_name(f"{place.name}.use")
