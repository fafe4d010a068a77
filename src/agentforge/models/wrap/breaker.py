"""A circuit breaker: a model that is down is left alone for a while, and then tried by one call before the
others come back.
"""

import math
import threading
from dataclasses import dataclass
from typing import Final, Literal

from agentforge.models.base import Answer, Model, ModelTrouble, Request, Reservation, TroubleKind
from agentforge.models.wrap.clock import REAL, Clock

DOWN: Final[frozenset[TroubleKind]] = frozenset({"unreachable", "timeout", "server"})
"""What says that a model is down. A refused key or request says only that somebody answered."""
_ANSWERED: Final[frozenset[TroubleKind]] = frozenset(
    {"auth", "rate_limit", "bad_request", "quota", "no_model"}
)

CircuitState = Literal["closed", "open", "half-open"]
CallEnd = Literal["well", "down", "unknown"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How much a model is borne, and how long it is left alone then."""

    trips: int = 3
    """So many failures in a row open the circuit."""
    cool_s: float = 30.0
    """Doubled each time that the one call which tries it fails too."""
    longest_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a circuit at one moment."""

    state: CircuitState
    wait_s: float = 0.0
    """How long until the next call may try, if it is open."""


class NotSent(ModelTrouble):
    """The call was kept back on this side: it says nothing new about the model, and costs nothing."""


class Circuit:
    """What is known about one model; shared by all that ask it, from any thread."""

    def __init__(self, name: str, patience: Patience = Patience(), clock: Clock = REAL) -> None:  # noqa: B008 - a frozen value
        self.name = name
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._cool_s = patience.cool_s
        self._opens_at: float | None = None
        """When one call may try it; None while it is closed."""
        self._probing = False
        self._era = 0
        """Grows with each change of state: what was sent before says nothing about now."""

    def standing(self) -> Standing:
        """Whether the circuit lets calls through, for those who choose between models."""
        with self._lock:
            return self._standing()

    def enter(self) -> int:
        """Leave to send one call, or `NotSent`. Give what it returns to `leave`."""
        with self._lock:
            standing = self._standing()
            if standing.state == "closed":
                return self._era
            if standing.state == "open":
                raise self._refusal(
                    f"is left alone for another {math.ceil(standing.wait_s)} s", math.ceil(standing.wait_s)
                )
            if self._probing:
                raise self._refusal("is being tried by another call right now", 1)
            self._probing = True
            self._era += 1
            return self._era

    def leave(self, era: int, outcome: CallEnd) -> None:
        """Records how the call that `enter` let go ended."""
        with self._lock:
            if era != self._era:
                return
            if outcome == "well":
                self._close()
            elif outcome == "unknown":
                self._probing = False
            elif self._probing:
                self._cool_s = min(self._cool_s * 2, self._patience.longest_s)
                self._open()
            else:
                self._failures += 1
                if self._failures >= self._patience.trips:
                    self._open()

    def _standing(self) -> Standing:
        if self._opens_at is None:
            return Standing("closed")
        wait = self._opens_at - self._clock.now()
        return Standing("open", wait) if wait > 0 else Standing("half-open")

    def _open(self) -> None:
        self._opens_at = self._clock.now() + self._cool_s
        self._probing = False
        self._era += 1

    def _close(self) -> None:
        self._failures = 0
        self._opens_at = None
        self._probing = False
        self._cool_s = self._patience.cool_s

    def _refusal(self, what: str, wait_s: int) -> NotSent:
        sentence = f"{self.name} failed {self._failures} times in a row and {what}; the call was not sent."
        return NotSent("unreachable", sentence, retryable=True, retry_after_s=max(1, wait_s))


@dataclass(frozen=True, slots=True)
class Breaker:
    """A model whose calls are held back while its circuit is open."""

    inner: Model
    circuit: Circuit

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.inner.name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """What the model itself would take."""
        return self.inner.worst_case(request, input_tokens)

    def ask(self, request: Request) -> Answer:
        """Send it, unless the model is down."""
        era = self.circuit.enter()
        outcome: CallEnd = "unknown"
        try:
            answer = self.inner.ask(request)
            outcome = "well"
        except ModelTrouble as trouble:
            if trouble.kind in DOWN:
                outcome = "down"
            elif trouble.kind in _ANSWERED:
                outcome = "well"
            raise
        finally:
            self.circuit.leave(era, outcome)
        return answer
