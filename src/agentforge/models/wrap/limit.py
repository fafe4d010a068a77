"""A rate limit: no more requests and tokens in any minute than an account may send. Callers wait in the order
in which they came.

Only the first in the line watches the clock; it wakes the second when it goes. After the provider itself
asked to slow down, one call goes alone before the others follow.
"""

import math
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from agentforge.models.base import (
    CHARACTERS_PER_TOKEN,
    Answer,
    Model,
    ModelTrouble,
    Request,
    Reservation,
    tool_tokens,
)
from agentforge.models.wrap.breaker import NotSent
from agentforge.models.wrap.clock import REAL, Clock

MINUTE: Final = 60.0
LONGEST_HOLD_S: Final = 60.0
"""A provider that asks for a longer pause is not waited for here: another model may be there, or it is a
person's affair.
"""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What may leave in one minute; None is no limit."""

    requests: int | None = None
    tokens: int | None = None


@dataclass(slots=True, eq=False)
class MeteredCall:
    """One call that was let go, with the tokens it counts for."""

    at: float
    tokens: int
    flying: bool = True
    counted: bool = True
    """Whether it is in the minute that is watched."""


@dataclass(slots=True, eq=False)
class _WaitingCall:
    """A call that waits for its turn."""

    tokens: int
    call: threading.Event = field(default_factory=threading.Event)
    called_off: bool = False


class Meter:
    """The minute of one account, shared by all its models; from any thread."""

    def __init__(self, name: str, rate: RateLimit, clock: Clock = REAL) -> None:
        self.name = name
        self.rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._line: deque[_WaitingCall] = deque()
        self._sent: deque[MeteredCall] = deque()
        self._tokens = 0
        self._flying = 0
        self._held_until: float | None = None
        self._careful = False
        """The provider asked to slow down: until a call has ended well, only one is on its way at a time."""

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        with self._lock:
            return len(self._line)

    @property
    def held_s(self) -> float:
        """How long nobody leaves, because the provider asked for it."""
        with self._lock:
            return self._hold_s()

    def enter(self, tokens: int) -> MeteredCall:
        """Waits for its turn. Raises `ModelTrouble` if it can never come, comes too late, or was called
        off.
        """
        if self.rate.tokens is not None and tokens > self.rate.tokens:
            sentence = (
                f"One call may need {tokens:,} tokens, and {self.name} may send "
                f"{self.rate.tokens:,} a minute (`tokens_per_minute`)."
            )
            raise NotSent("rate_limit", sentence)
        place = _WaitingCall(tokens)
        with self._lock:
            self._line.append(place)
        try:
            while not isinstance(turn := self._try(place), MeteredCall):
                self._clock.wait(place.call, turn)
        except BaseException:
            with self._lock:
                self._line.remove(place)
                self._call_first()
            raise
        return turn

    def leave(self, sent: MeteredCall, tokens: int, *, well: bool) -> None:
        """The call ended, and used so many tokens."""
        with self._lock:
            self._land(sent)
            self._correct(sent, tokens)
            if well:
                self._careful = False
            self._call_first()

    def give_back(self, sent: MeteredCall) -> None:
        """The call did not leave after all."""
        with self._lock:
            self._land(sent)
            self._correct(sent, 0)
            if sent.counted:
                self._sent.remove(sent)
                sent.counted = False
            self._call_first()

    def slow_down(self, seconds: float) -> None:
        """The provider asked for it: nobody leaves for so long, and then one alone."""
        with self._lock:
            until = self._clock.now() + seconds
            self._held_until = until if self._held_until is None else max(self._held_until, until)
            self._careful = True

    def call_off(self) -> None:
        """Everybody in the line goes home without being sent."""
        with self._lock:
            for place in self._line:
                place.called_off = True
                place.call.set()

    def _try(self, place: _WaitingCall) -> MeteredCall | float | None:
        """Its turn; or how long to wait before the next try, None for until it is called."""
        with self._lock:
            place.call.clear()
            if place.called_off:
                raise NotSent(
                    "unreachable",
                    f"The call to {self.name} was called off while it waited for its turn.",
                    retryable=True,
                )
            if (held := math.ceil(self._hold_s())) > LONGEST_HOLD_S:
                sentence = f"{self.name} asks to wait another {held} s; the call was not sent."
                raise NotSent("rate_limit", sentence, retryable=True, retry_after_s=held)
            wait = self._wait(place.tokens) if self._line[0] is place else None
            return self._go(place.tokens) if wait == 0 else wait

    def _wait(self, tokens: int) -> float | None:
        """How long the first in the line has to wait; 0: it may go; None: until somebody lands."""
        now = self._clock.now()
        while self._sent and self._sent[0].at + MINUTE <= now:
            old = self._sent.popleft()
            old.counted = False
            self._tokens -= old.tokens
        if held := self._hold_s():
            return held
        if self._careful and self._flying:
            return None
        return max(0.0, self._free_at(tokens, now) - now)

    def _hold_s(self) -> float:
        return 0.0 if self._held_until is None else max(0.0, self._held_until - self._clock.now())

    def _free_at(self, tokens: int, now: float) -> float:
        free = now
        if self.rate.requests is not None and len(self._sent) >= self.rate.requests:
            free = self._sent[len(self._sent) - self.rate.requests].at + MINUTE
        if self.rate.tokens is not None:
            over = self._tokens + tokens - self.rate.tokens
            for sent in self._sent:
                if over <= 0:
                    break
                over -= sent.tokens
                free = max(free, sent.at + MINUTE)
        return free

    def _go(self, tokens: int) -> MeteredCall:
        self._line.popleft()
        sent = MeteredCall(self._clock.now(), tokens)
        self._sent.append(sent)
        self._tokens += tokens
        self._flying += 1
        self._call_first()
        return sent

    def _land(self, sent: MeteredCall) -> None:
        if sent.flying:
            sent.flying = False
            self._flying -= 1

    def _correct(self, sent: MeteredCall, tokens: int) -> None:
        if sent.counted:
            self._tokens += tokens - sent.tokens
            sent.tokens = tokens

    def _call_first(self) -> None:
        if self._line:
            self._line[0].call.set()


@dataclass(frozen=True, slots=True)
class RateLimited:
    """A model that waits for its turn."""

    inner: Model
    meter: Meter

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.inner.name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """What the model itself would take."""
        return self.inner.worst_case(request, input_tokens)

    def ask(self, request: Request) -> Answer:
        """Send it when the account's minute has room."""
        sent = self.meter.enter(most_tokens(request) if self.meter.rate.tokens is not None else 0)
        used, well = sent.tokens, False
        try:
            answer = self.inner.ask(request)
            used, well = answer.usage.input_tokens + answer.usage.output_tokens, True
        except NotSent:
            self.meter.give_back(sent)
            raise
        except ModelTrouble as trouble:
            if trouble.kind == "rate_limit" and trouble.retryable:
                self.meter.slow_down(trouble.retry_after_s or 1)
            elif not trouble.maybe_billed:
                used = 0
            raise
        finally:
            if sent.flying:
                self.meter.leave(sent, used, well=well)
        return answer


def most_tokens(request: Request) -> int:
    """The most that a call can use, counted quickly and on the high side."""
    sizes = [len(request.system), *(len(block.text) + len(block.name) + 30 for block in request.blocks)]
    return -(-sum(sizes) // CHARACTERS_PER_TOKEN) + tool_tokens(request.tools) + request.max_output_tokens
