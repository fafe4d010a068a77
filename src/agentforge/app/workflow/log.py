"""The log of a checkout's workflow: appended to by every command that writes, and read for whoever asks."""

import os
from dataclasses import dataclass
from pathlib import Path

from agentforge.app.workflow.files import linkless, state_of
from agentforge.core.errors import UsageError
from agentforge.phases.log import LOG, LogLine, WorkflowLog, read_log, spell
from agentforge.system.beneath import open_beneath, read_beneath
from agentforge.system.canon import digest

_MOST_BYTES = 64 << 20
_TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class LoggedFiles:
    """A log, and the files that are not as it knows them."""

    log: WorkflowLog
    changed: tuple[str, ...]
    """Somebody else changed them since."""
    gone: tuple[str, ...]


def append_line(top: Path, line: LogLine) -> None:
    """Write a line behind the last one. One that was cut short stays as it is."""
    with linkless():
        fd = open_beneath(top, LOG, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        last, whole = _last_line(fd)
        os.write(fd, (b"" if whole else b"\n") + spell(line, last) + b"\n")
    finally:
        os.close(fd)


def read_logged(top: Path) -> LoggedFiles:
    """The log of a checkout, compared with the files that are there."""
    with linkless():
        if state_of(top, LOG) is None:
            return LoggedFiles(WorkflowLog(()), (), ())
        data = read_beneath(top, LOG, _MOST_BYTES)
        if len(data) > _MOST_BYTES:
            raise UsageError(f"{LOG} is larger than {_MOST_BYTES >> 20} MiB.", "Remove it; a new one begins.")
        log = read_log(data)
        known = {path: after for path, after in log.known().items() if after is not None}
        now = {path: _digest(top, path) for path in known}
    changed = tuple(path for path, found in now.items() if found is not None and found != known[path])
    return LoggedFiles(log, changed, tuple(path for path, found in now.items() if found is None))


def _digest(top: Path, path: str) -> str | None:
    return digest(read_beneath(top, path, _MOST_BYTES)) if state_of(top, path) is not None else None


def _last_line(fd: int) -> tuple[bytes, bool]:
    """The last line that says something, and whether its line break is there."""
    size, length = os.fstat(fd).st_size, _TAIL
    while True:
        data = os.pread(fd, length, max(0, size - length))
        lines = [line for line in data.split(b"\n") if line]
        if length >= size or len(lines) > 1:
            return (lines[-1] if lines else b""), not data or data.endswith(b"\n")
        length *= 4
