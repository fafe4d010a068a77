"""What stands around every model of a process: tracing, the rate limit of its account, the breaker of the
model itself; and the recording of what it sends, where somebody asked for one.

The breaker is innermost: a caller that has waited for its turn is told at the last moment that the model went
down.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentforge.models.base import Model
from agentforge.models.known.providers import Provider
from agentforge.models.provider_model import ProviderModel
from agentforge.models.wrap.breaker import Breaker, Circuit, Patience
from agentforge.models.wrap.clock import REAL, Clock
from agentforge.models.wrap.limit import Meter, RateLimit, RateLimited
from agentforge.models.wrap.trace import Tracer, Tracing


@dataclass(frozen=True, slots=True)
class Stack:
    """The circuits and meters of one process; from any thread."""

    tracer: Tracer | None = None
    patience: Patience = Patience()
    clock: Clock = REAL
    _circuits: dict[str, Circuit] = field(default_factory=dict)
    _meters: dict[str, Meter] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def around(self, spec: str, model: Model, provider: Provider | None) -> Model:
        """The model with all that it needs. A script has no account."""
        model = Breaker(model, self.circuit(spec))
        if provider is not None:
            model = RateLimited(model, self.meter(provider))
        return Tracing(model, self.tracer, self.clock) if self.tracer else model

    def circuit(self, spec: str) -> Circuit:
        """The circuit of a model, shared by all that ask it."""
        with self._lock:
            return self._circuits.setdefault(spec, Circuit(spec, self.patience, self.clock))

    def meter(self, provider: Provider) -> Meter:
        """The meter of an account. Without numbers it still waits when the provider asks to slow down."""
        rate = RateLimit(provider.requests_per_minute, provider.tokens_per_minute)
        with self._lock:
            return self._meters.setdefault(provider.name, Meter(provider.name, rate, self.clock))

    def call_off(self) -> None:
        """Nobody waits for a turn any more."""
        with self._lock:
            meters = list(self._meters.values())
        for meter in meters:
            meter.call_off()


def recorded(model: Model, environ: Mapping[str, str]) -> Model:
    """The bare model with the recording or the replay that AGENTFORGE_RECORD or AGENTFORGE_REPLAY ask for."""
    if not isinstance(model, ProviderModel) or not (
        environ.get("AGENTFORGE_RECORD") or environ.get("AGENTFORGE_REPLAY")
    ):
        return model
    from agentforge.models.wrap.record import wrap_from  # noqa: PLC0415 - loads the HTTP library

    return replace(model, wrap=wrap_from(environ))
