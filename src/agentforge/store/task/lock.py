"""The driver's lock: one driver per task. Its children inherit it, so that a new driver starts only when they
are gone too.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from agentforge.core.errors import PolicyError, Unusable
from agentforge.store.task.moments import Clock, stamp, utc_now
from agentforge.system.files import disk_errors
from agentforge.system.unlinked import make_unlinked, open_unlinked

_GRACE_S = 3.0
_LOOK_S = 0.05
_HOLDER = re.compile(r"pid: (\d+)\nsince: (\S+)\n")

_EXITING = 0x4
"""Linux's flag of a process that is being taken down (`PF_EXITING`)."""


class LockTaken(PolicyError):
    """Another process has the task; it may be worth waiting for."""


class DriverLock:
    """An exclusive `flock` on the task's lock file, held while the context is open. Give `fd` to every child
    process.
    """

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self._path = path
        self._clock = clock
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        """The descriptor that holds the lock."""
        assert self._fd is not None, "the lock is not held"
        return self._fd

    def __enter__(self) -> Self:
        with disk_errors():
            make_unlinked(self._path.parent)
            fd = self._take()
            holder = f"pid: {os.getpid()}\nsince: {stamp(self._clock())}\n"
            os.ftruncate(fd, 0)
            os.pwrite(fd, holder.encode(), 0)
        self._fd = fd
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closed, not unlocked: unlocking would also free it of children that still hold it.
        os.close(self.fd)
        self._fd = None

    def _take(self) -> int:
        deadline = time.monotonic() + _GRACE_S
        while True:
            fd = open_unlinked(self._path, os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(fd, self._path):
                    os.set_inheritable(fd, True)  # noqa: FBT003 - the signature of the system
                    return fd
            except BlockingIOError:
                holder = os.pread(fd, 200, 0).decode(errors="replace")
                os.close(fd)
                if time.monotonic() > deadline or _is_alive(holder):
                    raise self._refusal(holder) from None
                time.sleep(_LOOK_S)  # its driver is gone; the last of its children are about to be
                continue
            except OSError as error:
                os.close(fd)
                raise Unusable(f"{self._path} cannot be locked: {error}.") from error
            os.close(fd)  # somebody removed the file between our two calls

    def _refusal(self, text: str) -> LockTaken:
        found = _HOLDER.fullmatch(text)
        who = f"process {found[1]}, since {found[2]}" if found else "its process is not known"
        return LockTaken(
            f"Another driver works on {self._path.parent.name} ({who}).",
            "Wait for it, or stop it; it holds the task until its last child process is gone.",
        )


@contextmanager
def not_driven(path: Path) -> Iterator[bool]:
    """Whether no driver holds the lock; if so, one that comes waits a moment until the block ends: there is
    no holder's name in the file that it could refuse for.
    """
    try:
        fd = open_unlinked(path, os.O_RDWR | os.O_CREAT)
    except FileNotFoundError:  # there is no such task any more
        yield True
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        os.ftruncate(fd, 0)
        yield True
    finally:
        os.close(fd)


def is_held(path: Path) -> bool:
    """Whether a driver, or the last child of one, holds the lock. Looks, and makes no file; a driver that
    begins just then takes it a moment later.
    """
    try:
        fd = open_unlinked(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _is_alive(holder: str) -> bool:
    """Whether the process that wrote the lock file still runs; one that was killed and is still being taken
    down, or not yet reaped, does not.
    """
    found = _HOLDER.fullmatch(holder)
    if found is None:
        return False
    try:
        os.kill(int(found[1]), 0)
        said = Path(f"/proc/{found[1]}/stat").read_text(encoding="utf-8", errors="replace")
        state, *_, flags = said.rpartition(")")[2].split()[:7]
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's, or a system without /proc
    return state not in ("Z", "X") and not int(flags) & _EXITING


def _is_at(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False
