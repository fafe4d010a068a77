"""A log of what drivers do: one JSON object on a line for each effect, in files of the user's own, for
whoever operates AgentForge and for programs that collect lines.

It is no record: the journal is. So nobody waits for it. Lines are written by a thread; one that cannot be
written is dropped and counted, and a disk that fails is nobody's trouble here.
"""

import contextlib
import fcntl
import itertools
import json
import os
import queue
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from agentforge.core.errors import UserError
from agentforge.core.reply import Json
from agentforge.system.files import make_own_directory
from agentforge.system.secrets.values import clean
from agentforge.system.unlinked import folder_unlinked

NAME = "effects.jsonl"
LARGEST = 5 << 20
"""Bytes of a file; then it is put aside."""
KEPT = 5
"""Files that were put aside and are kept."""
_MOST_WAITING = 10_000
_LAST_WORDS_S = 2.0

LogLine: TypeAlias = "Mapping[str, Json | float]"


class EffectLog:
    """The log of this process, open inside a `with`. Any thread may add to it."""

    def __init__(self, folder: Path, *, largest: int = LARGEST, kept: int = KEPT) -> None:
        self._folder, self._largest, self._kept = folder, largest, kept
        self._waiting: queue.Queue[LogLine | None] = queue.Queue(_MOST_WAITING)
        self._dropped = 0
        self._thread: threading.Thread | None = None

    def add(self, line: LogLine) -> None:
        """Has a line written, soon. It never waits and never fails."""
        try:
            self._waiting.put_nowait(line)
        except queue.Full:
            self._dropped += 1
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_all, daemon=True)
            self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(_LAST_WORDS_S)
            self._thread = None

    def _write_all(self) -> None:
        is_open = True
        while is_open:
            lines = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    lines.append(self._waiting.get_nowait())
            is_open = None not in lines
            self._append(b"".join(_spelled(line) for line in lines if line is not None))

    def _append(self, data: bytes) -> None:
        dropped, self._dropped = self._dropped, 0
        if dropped:
            data += _spelled({"event": "dropped", "lines": dropped})
        try:
            make_own_directory(self._folder)
            with folder_unlinked(self._folder) as folder:
                self._rotate(folder, len(data))
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                fd = os.open(NAME, flags, 0o600, dir_fd=folder)
                try:
                    os.write(fd, data)
                finally:
                    os.close(fd)
        except (OSError, UserError):
            self._dropped += dropped + data.count(b"\n")

    def _rotate(self, folder: int, more: int) -> None:
        """Puts a full file aside. Of several processes one does it; what another one still writes goes into
        the file that was put aside.
        """
        if not self._is_full(folder, more):
            return
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            if not self._is_full(folder, more):
                return
            names = [NAME, *(f"{NAME}.{number}" for number in range(1, self._kept + 1))]
            for old, new in reversed(list(itertools.pairwise(names))):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(old, new, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            fcntl.flock(folder, fcntl.LOCK_UN)

    def _is_full(self, folder: int, more: int) -> bool:
        try:
            size = os.stat(NAME, dir_fd=folder, follow_symlinks=False).st_size
        except FileNotFoundError:
            return False
        return size > 0 and size + more > self._largest


def _spelled(line: LogLine) -> bytes:
    numbers = {key: value for key, value in line.items() if isinstance(value, float)}
    kept = clean({key: value for key, value in line.items() if not isinstance(value, float)})
    assert isinstance(kept, dict)
    in_order = {key: numbers.get(key, kept.get(key)) for key in line}
    return json.dumps(in_order, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
