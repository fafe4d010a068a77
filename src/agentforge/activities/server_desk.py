"""Where language servers are asked while other things go on: nobody waits for what comes of it."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agentforge.core.errors import UserError
from agentforge.languages.servers.told import ToldUses
from agentforge.system.processes import kill_holding

_LAST_S, _TICK_S = 10.0, 0.05
"""How long the end is waited for, once what runs has been killed."""

Asking = Callable[[int], ToldUses | None]
"""Asks, with a descriptor that what runs for it holds; None where there was nobody to ask."""


@dataclass(slots=True)
class ServerDesk:
    """One asking, at most, for as long as a task is driven by this process."""

    _mine: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None
    _said: ToldUses | None = None
    _failed: BaseException | None = None
    _mark: int = -1
    """What everything that runs for it holds."""
    _closed: bool = False

    @property
    def is_free(self) -> bool:
        """Whether nothing was begun here yet."""
        return self._thread is None and not self._closed

    def begin(self, asking: Asking) -> None:
        """Asks beside whatever goes on; only the first call counts."""
        with self._mine:
            if not self.is_free:
                return
            self._mark, other = os.pipe()
            os.close(other)
            self._thread = threading.Thread(target=self._run, args=(asking,), daemon=True)
            self._thread.start()

    def said(self) -> ToldUses | None:
        """What came of it, if it has come."""
        if self._thread is None or self._thread.is_alive() or self._closed:
            return None
        if (failed := self._failed) is not None:
            self._failed = None  # told once: what is only help holds nobody up for ever
            raise failed
        return self._said

    def close(self) -> None:
        """Ends what runs, and forgets what it says: whoever drives the task next asks again."""
        with self._mine:
            self._closed = True
            thread, self._thread = self._thread, None
            if thread is None:
                return
            latest = time.monotonic() + _LAST_S
            while thread.is_alive() and time.monotonic() < latest:  # it may be about to start the next
                kill_holding(self._mark)
                thread.join(_TICK_S)
            os.close(self._mark)
            self._mark = -1

    def _run(self, asking: Asking) -> None:
        try:
            self._said = asking(self._mark)
        except (UserError, OSError):
            self._said = None  # what the world lacks for it, it will say where it matters
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise to: whoever asks is told
            self._failed = error
