"""Batches as a delivery: the same request, answered later at a lower price. The port, its values, and who has
it.

A request is encoded alone and decoded alone; what lies between goes by tickets, so that any process can go on
with it.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from agentforge.models.base import Answer, Model, ModelTrouble, Request
from agentforge.models.known.providers import Wire
from agentforge.models.provider_model import ProviderModel, load_library

WIRES: Final[frozenset[Wire]] = frozenset({"anthropic", "openai-responses", "google", "mistral"})
"""Where there are batches. OpenAI has them for responses, and here not for chat completions."""

ItemStatus = Literal["succeeded", "errored", "expired", "canceled", "missing"]
"""How the provider finished one request; `missing`: the batch has ended and says nothing of it."""
AGAIN: Final[frozenset[ItemStatus]] = frozenset({"expired", "canceled", "missing"})
"""Nothing ran, nothing is billed, and another batch may do better."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One request in the provider's own form."""

    custom_id: str
    group: str
    """What requests of one batch must have in common, in the words of the library."""
    body: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """A batch that the provider has."""

    id: str
    handle: str
    """All that another process needs to go on with it: plain JSON without a secret."""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What became of one request of a batch."""

    custom_id: str
    status: ItemStatus
    body: str | None = None
    """The reply or the error in the provider's own form."""


@dataclass(frozen=True, slots=True)
class LostBatch:
    """A batch that may have been submitted: its ticket was lost with the process that had it."""

    custom_ids: frozenset[str]
    group: str
    since_ms: int
    """When it was about to leave."""
    known: frozenset[str] = frozenset()
    """Batches of ours that it is not."""


@dataclass(frozen=True, slots=True)
class BatchSearch:
    """What a search for a batch found: its ticket, or whether it is worth to look again."""

    ticket: Ticket | None = None
    wait: bool = False
    """A batch that is not over could be it, and shows what it holds when it is."""


class Carrier(Protocol):
    """Takes batches to the provider. Each method is one or a few requests and raises `ModelTrouble`."""

    def create(self, items: Sequence[Encoded]) -> Ticket:
        """Submit. Trouble that is `maybe_billed` leaves open whether the batch exists."""
        ...

    def status(self, ticket: Ticket) -> Ticket:
        """The ticket of the batch with its present state."""
        ...

    def results(self, ticket: Ticket, custom_ids: Sequence[str]) -> Iterable[BatchOutcome]:
        """What became of each request of a batch that has ended; the first result of each counts."""
        ...

    def cancel(self, ticket: Ticket) -> None:
        """Ask the provider to stop it."""
        ...

    def find(self, sought: LostBatch) -> BatchSearch:
        """Look a batch up that may have been submitted."""
        ...


class Codec(Protocol):
    """Between a request and its form in a batch."""

    def encode(self, custom_id: str, request: Request) -> Encoded:
        """The request, with all that it would have if it were sent alone."""
        ...

    def decode(self, item: BatchOutcome, request: Request) -> Answer:
        """The answer, at the price of a batch. Raises `ModelTrouble` where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Batcher:
    """All that is needed to send requests of one model in batches."""

    model: ProviderModel
    carrier: Carrier
    codec: Codec

    def box(self, encoded: Encoded) -> str:
        """Names what may share a batch: provider, address, model, credential. Tells nothing of the key."""
        provider = self.model.provider
        parts = (provider.name, provider.base_url, self.model.model, self.model.api_key or "", encoded.group)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


Open = Callable[[ProviderModel], Batcher]


def open_batcher(model: ProviderModel) -> Batcher:
    """The way that the library has for this wire. Loads it."""
    load_library(model.provider)
    from agentforge.models.wire.batches import WireBatches  # noqa: PLC0415 - what it needs is loaded by now

    way = WireBatches(model)
    return Batcher(model, way, way)


def batchable(model: Model) -> ProviderModel | None:
    """The model itself below all that is wrapped around it, if its wire has batches."""
    inner: object = model
    while not isinstance(inner, ProviderModel):
        inner = getattr(inner, "inner", None)
        if inner is None:
            return None
    return inner if inner.provider.wire in WIRES else None


def custom_id(task: str, marker: str, key: str) -> str:
    """What a request is called in its batch: the same for the same effect, whoever sends it. `marker` tells
    tasks of one name apart.
    """
    return hashlib.sha256(f"{task}\0{marker}\0{key}".encode("utf-8", "replace")).hexdigest()[:40]


def unrun(item: BatchOutcome, model: str) -> ModelTrouble:
    """The trouble with a request that the provider did not run."""
    words = {
        "expired": "expired before it was run",
        "canceled": "was canceled before it was run",
        "missing": "is in no result of its batch",
    }
    return ModelTrouble(
        "server", f"The request to {model} {words.get(item.status, 'failed')}.", retryable=True
    )


def at_batch_price(answer: Answer, model: ProviderModel) -> Answer:
    """The same answer with what it costs this way."""
    price = model.prices.cost(answer.usage, "batch") if model.prices else None
    return replace(answer, micro_usd=price, delivery="batch")
