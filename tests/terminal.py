"""A person at a terminal: the installed command in a pseudo-terminal, what it shows, and what is typed."""

import os
import pty
import re
import select
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.forked import COMMAND, ForkedCommand

LIMIT_S = 240
_CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


class Terminal:
    """One command. `wait` reads on until the words are shown; whoever leaves the block has ended it."""

    def __init__(self, words: tuple[str, ...], where: Path, env: Mapping[str, str]) -> None:
        self._words, self._where, self._env = words, where, env
        self._seen = ""
        self.shown = ""
        """All that was shown, without colours."""

    def __enter__(self) -> Self:
        self._screen, terminal = pty.openpty()
        self._process = ForkedCommand(
            [COMMAND, *self._words],
            cwd=self._where,
            env={**self._env, "TERM": "xterm", "COLUMNS": "120"},
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        os.close(self._screen)

    def wait(self, words: str) -> str:
        """What was shown up to these words, from where the last wait ended."""
        at = len(self.shown) - len(self._seen)
        self.first_of(words)
        return self.shown[at : len(self.shown) - len(self._seen)]

    def first_of(self, *words: str) -> str:
        """Which of these is shown first; what was shown up to it is read."""
        deadline = time.monotonic() + LIMIT_S
        while not any(each in self._seen for each in words):
            assert time.monotonic() < deadline, f"none of {words} was shown:\n{self.shown[-3000:]}"
            assert self._read(), f"it ended before any of {words}:\n{self.shown[-3000:]}"
        found = min((each for each in words if each in self._seen), key=self._seen.index)
        self._seen = self._seen.partition(found)[2]
        return found

    def type(self, line: str) -> None:
        """A line, with the key at its end."""
        os.write(self._screen, f"{line}\n".encode())

    def press(self, key: str) -> None:
        """One key, as soon as somebody waits for one: what is typed before counts as a line."""
        deadline = time.monotonic() + LIMIT_S
        while termios.tcgetattr(self._screen)[3] & termios.ICANON:
            assert time.monotonic() < deadline, "nobody waits for a key"
            time.sleep(0.02)
        os.write(self._screen, key.encode())

    def kill(self) -> None:
        """The process is gone at once."""
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Reads to the end; the exit code."""
        while self._read():
            pass
        assert "Traceback" not in self.shown, self.shown
        return self._process.wait()

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], 1)
        if not ready:
            return True
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # the other end is closed
            return False
        text = _CODES.sub("", piece.decode("utf-8", "replace"))
        self._seen += text
        self.shown += text
        return bool(piece)
