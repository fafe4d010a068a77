"""The local engine: one process, one loop, several effects in flight. `advance` is the only line that changes
anything.
"""

import queue
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from agentforge.core.effects import Await, Effect
from agentforge.core.errors import StateInvalid, UserError
from agentforge.core.inputs import DriverStarted, Input, Message, Outcome, Parked
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State

IN_FLIGHT = 4
POLL_SECONDS = 0.5


class DrivenJournal(Protocol):
    """The journal of a task, as far as an engine needs it."""

    state: State
    length: int

    def known(self, key: str) -> bool:
        """Whether this key is on record."""

    def waited_s(self, escalation: str) -> int:
        """How long a question has been open, in whole seconds."""

    def advance(self, key: str, given: Input) -> tuple[Effect, ...]:
        """Decides, appends one line, and says what is owed next."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the loop needs of the outside world."""

    perform: Callable[[Effect, State], Outcome]
    """Makes an effect real; what is `Parked` is not tried again by this driver.

    Raises `UserError` when the world fails: that stops the driver, and nothing is recorded.
    """
    messages: Callable[[], Iterable[tuple[str, Message]]]
    """What people said since the last look, keyed."""
    refused: Callable[[str, UserError], None]
    """Tells a person that their message made no sense."""
    withdraw: Callable[[], None] = lambda: None
    """Ends what still flies for a task that is over; its outcomes are discarded."""


def drive(journal: DrivenJournal, ports: Ports) -> State:
    """Runs a task until it is over, waits for a person or a batch, or the world fails. Returns where it
    stands.
    """
    done: queue.SimpleQueue[tuple[str, Outcome | BaseException]] = queue.SimpleQueue()
    flying: dict[str, Effect] = {}
    parked: set[str] = set()
    owed = journal.advance(f"driver/{journal.length}", DriverStarted())

    def fly(effect: Effect, state: State) -> None:
        try:
            done.put((effect.key, ports.perform(effect, state)))
        except BaseException as error:  # noqa: BLE001  # a thread has nobody to raise to: the loop raises it
            done.put((effect.key, error))

    while True:
        owed = _hear(journal, ports, owed)
        for effect in _startable(owed, flying, parked):
            flying[effect.key] = effect
            threading.Thread(target=fly, args=(effect, journal.state), daemon=True).start()
        if not flying:
            return journal.state
        if journal.state.status in TERMINAL:
            ports.withdraw()
        try:
            key, outcome = done.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        del flying[key]
        if not isinstance(outcome, BaseException):
            parked |= {key} if isinstance(outcome, Parked) else set()
            owed = journal.advance(key, outcome)
        elif journal.state.status not in TERMINAL:
            raise outcome


def _hear(journal: DrivenJournal, ports: Ports, owed: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Puts on record what people said since the last look, and returns what is owed then."""
    for key, message in ports.messages():
        if not journal.known(key):
            try:
                owed = journal.advance(key, message)
            except StateInvalid as error:
                ports.refused(key, error)
    return owed


def _startable(
    owed: tuple[Effect, ...], flying: dict[str, Effect], parked: Collection[str] = ()
) -> list[Effect]:
    """What may start beside what flies: bounded, and one user of the worktree at a time."""
    room = IN_FLIGHT - len(flying)
    busy = any(effect.uses == "worktree" for effect in flying.values())
    chosen: list[Effect] = []
    for effect in owed:
        wants = effect.uses == "worktree"
        if (
            isinstance(effect, Await)
            or effect.key in {*flying, *parked}
            or len(chosen) == room
            or (wants and busy)
        ):
            continue
        busy = busy or wants
        chosen.append(effect)
    return chosen
