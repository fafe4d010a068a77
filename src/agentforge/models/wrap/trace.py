"""A hook around every call: when it began and ended, what it used, what went wrong. Never what was said,
never a key.
"""

import itertools
from dataclasses import dataclass, field
from typing import Protocol

from agentforge.models.base import (
    Answer,
    Delivery,
    Model,
    ModelTrouble,
    Request,
    Reservation,
    Stop,
    TroubleKind,
    Usage,
)
from agentforge.models.wrap.clock import REAL, Clock

_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call that is about to be sent."""

    number: int
    """Unique in this process."""
    model: str
    key: str
    stage: str
    tier: str


@dataclass(frozen=True, slots=True)
class EndedCall:
    """A call that ended: with usage, or with trouble."""

    call: TracedCall
    seconds: float
    usage: Usage | None = None
    micro_usd: int | None = None
    stop: Stop | None = None
    delivery: Delivery | None = None
    trouble: TroubleKind | None = None


class Tracer(Protocol):
    """Whoever wants to know. It is called in the thread of the call and should be quick."""

    def began(self, call: TracedCall) -> None:
        """Called just before the request is sent."""
        ...

    def ended(self, ended: EndedCall) -> None:
        """Called once for every call that began, after it was answered or failed."""
        ...


@dataclass(frozen=True, slots=True)
class Tracing:
    """A model whose calls a tracer is told of."""

    inner: Model
    tracer: Tracer
    clock: Clock = field(default=REAL)

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self.inner.name

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """What the model itself would take."""
        return self.inner.worst_case(request, input_tokens)

    def ask(self, request: Request) -> Answer:
        """Sends the request, and tells the tracer of its begin and end."""
        call = TracedCall(next(_NUMBERS), self.name, request.key, request.stage, request.tier)
        started = self.clock.now()
        self.tracer.began(call)
        answer: Answer | None = None
        trouble: TroubleKind | None = None
        try:
            answer = self.inner.ask(request)
        except ModelTrouble as error:
            trouble = error.kind
            raise
        finally:
            self.tracer.ended(_ended(call, self.clock.now() - started, answer, trouble))
        return answer


def _ended(call: TracedCall, seconds: float, answer: Answer | None, trouble: TroubleKind | None) -> EndedCall:
    if answer is None:
        return EndedCall(call, seconds, trouble=trouble)
    return EndedCall(call, seconds, answer.usage, answer.micro_usd, answer.stop, answer.delivery)
