"""The clock of the wrappers: what time it is, and waiting until it is later or somebody calls. Tests bring
their own.
"""

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock that can wait."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        ...

    def wait(self, call: threading.Event, seconds: float | None) -> bool:
        """Waits until `call` is set, or for so long; whether it was set."""
        ...


class RealClock:
    """The monotonic clock of this machine."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def wait(self, call: threading.Event, seconds: float | None) -> bool:
        """Waits until `call` is set, or for so long; whether it was set."""
        return call.wait(seconds)


REAL: Clock = RealClock()
