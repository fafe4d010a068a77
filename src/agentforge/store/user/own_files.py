"""Files of the user's own that decide what is allowed: believed only if nobody else could have written them,
and private.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentforge.core.errors import UsageError

_LARGEST = 1_000_000


def read_own(path: Path) -> bytes | None:
    """The bytes of the file, if only its owner could have written them; None if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(fd, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise UsageError("it is no ordinary file")
        if state.st_uid != os.getuid() or state.st_mode & 0o022:
            raise UsageError("others can write it; run `chmod 600` on it")
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise UsageError("it is too large")
    return data


def replace_own(path: Path, data: bytes) -> None:
    """The whole file at once, readable by its owner alone from its first byte."""
    from agentforge.system.files import append_durable, disk_errors  # noqa: PLC0415 - who only reads is quick

    temporary = path.with_name(f".tmp-{os.urandom(8).hex()}")
    with disk_errors():
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            append_durable(fd, data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(fd)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Two commands at once must not lose what one of them wrote."""
    from agentforge.system.files import disk_errors, make_own_directory  # noqa: PLC0415 - as above

    make_own_directory(path.parent)
    with disk_errors():
        fd = os.open(
            path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
