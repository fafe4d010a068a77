"""Trying again, for calls that no journal keeps: each attempt is told to whoever listens. Inside a task a
retry is a decision on record.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from agentforge.models.base import Answer, Model, ModelTrouble, Request, Reservation
from agentforge.models.wrap.clock import REAL, Clock


@dataclass(frozen=True, slots=True)
class Tries:
    """How often, and how long between."""

    most: int = 3
    first_s: float = 1.0
    """The pause after the first failure; it doubles."""
    longest_s: float = 60.0
    """A provider that asks for more is not waited for."""

    def pause(self, trouble: ModelTrouble, attempt: int, chance: float) -> float | None:
        """Seconds until the next attempt; None: it would be the same again, or it is too late. `chance` is
        from 0 to 1.
        """
        if not trouble.retryable or attempt >= self.most:
            return None
        asked = trouble.retry_after_s
        if asked is not None:
            # A little on top, so that callers who were told the same do not come back together.
            return asked + chance if asked <= self.longest_s else None
        grown: float = min(self.longest_s, self.first_s * 2 ** (attempt - 1))
        return grown * (0.5 + chance / 2)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt and how it ended."""

    number: int
    model: str
    trouble: ModelTrouble | None
    """None: it was answered."""
    pause_s: float | None
    """How long until the next one, if there is one."""


def _nobody(_: Attempt) -> None:
    """The listener where no one is interested in attempts."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """A model that is asked again when that may help."""

    inner: Model
    tries: Tries = Tries()
    on_attempt: Callable[[Attempt], None] = _nobody
    clock: Clock = REAL
    chance: Callable[[], float] = random.random

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.inner.name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """Every attempt may have to be paid."""
        one = self.inner.worst_case(request, input_tokens)
        return Reservation(
            one.tokens * self.tries.most, None if one.micro_usd is None else one.micro_usd * self.tries.most
        )

    def ask(self, request: Request) -> Answer:
        """Send it, and again; the last trouble is raised."""
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = self.inner.ask(request)
            except ModelTrouble as trouble:
                pause = self.tries.pause(trouble, attempt, self.chance())
                self.on_attempt(Attempt(attempt, self.name, trouble, pause))
                if pause is None:
                    raise
            else:
                self.on_attempt(Attempt(attempt, self.name, None, None))
                return answer
            self.clock.wait(threading.Event(), pause)
