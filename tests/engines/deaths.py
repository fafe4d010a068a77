"""Where a driver dies, whatever engine it is part of.

before    SIGKILL when the effect would start
after     SIGKILL when the effect is done and its outcome is not recorded
torn      the kernel ends it inside the append of the outcome, when a part of the line is written
line      SIGKILL when the line is on disk and nothing has come of it
next      SIGKILL when the first line of an effect is on disk
together  SIGKILL when each of several effects is done and no outcome is recorded
time      SIGKILL from outside after some milliseconds, wherever it is
"""

import os
import re
import resource
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from agentforge.core.effects import Effect
from agentforge.core.events import Event
from agentforge.core.inputs import Outcome
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.journal import Journal
from tests.engines.crash_site import Scene

When: TypeAlias = Literal["before", "after", "torn", "line", "next", "together", "time", "never"]
Perform: TypeAlias = Callable[[Effect, State], Outcome]
PART_OF_A_LINE = 20


def plain(key: str) -> str:
    """A key without the number of the try: a call that was lost is sent again under the next one."""
    return re.sub(r"/ask/\d+", "/ask", key)


@dataclass(frozen=True, slots=True)
class Order:
    """Where a driver dies."""

    when: When
    at: str = ""
    passed: tuple[str, ...] = ()
    """Effects it may perform on its way; any other one waits until the end, so that none slips by."""
    together: tuple[str, ...] = ()
    milliseconds: int = 0


Begun: TypeAlias = Callable[[], None]
"""Called when the driver takes the task; from then on time counts."""
Live: TypeAlias = Callable[[Scene, Order, Begun], str]
"""Drives until it dies; else how the task stands."""


class Death:
    """An order as one driver obeys it."""

    def __init__(self, order: Order) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        self._order = order
        self._together = set(order.together)

    def on_line(self, line: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        """For the journal."""
        key = str(line["key"])
        if self._order.when == "line" and plain(key) == self._order.at:
            _die()
        if self._order.when == "next" and not key.startswith("driver/"):
            _die()

    def around(self, perform: Perform, journal: Journal) -> Perform:
        """In place of what performs an effect."""
        order = self._order

        def deadly(effect: Effect, state: State) -> Outcome:
            key = plain(effect.key)
            if order.when == "before" and key == order.at:
                _die()
            if order.at and key != order.at and key not in order.passed:
                threading.Event().wait()
            outcome = perform(effect, state)
            if order.when == "after" and key == order.at:
                _die()
            if key in self._together:
                self._together.discard(key)
                if not self._together:
                    _die()
                threading.Event().wait()
            if order.when == "torn" and key == order.at:
                _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (journal.size + PART_OF_A_LINE, hard))
            return outcome

        return deadly


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives this")
