"""Desks over one outbox, a provider on the loopback, and a carrier that dies at a given moment."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.activities.batches import BatchOutbox, Pace
from agentforge.core.state import State
from agentforge.models.batch import (
    Batcher,
    BatchOutcome,
    BatchSearch,
    Carrier,
    Encoded,
    LostBatch,
    Ticket,
    open_batcher,
)
from agentforge.models.provider_model import ProviderModel
from agentforge.store.user.outbox import Box, Outbox
from agentforge.testing import SERVERS
from agentforge.testing.batch_service import Batches
from tests.models.wire_talk import REQUEST, model_of

Moment = Literal["before submit", "after submit", "before results"]
PACE = Pace(window_s=0, first_s=0.01, last_s=0.01)
TASK = State(task_id="task-1", marker="m1")


class Killed(BaseException):
    """Nothing of ours catches it, as nothing catches SIGKILL: what is on disk is what is left."""


@dataclass(frozen=True, slots=True)
class Deadly:
    """A carrier that ends its process at one moment."""

    inner: Carrier
    at: Moment
    die: Callable[[], None]

    def create(self, items: Sequence[Encoded]) -> Ticket:
        if self.at == "before submit":
            self.die()
        ticket = self.inner.create(items)
        if self.at == "after submit":
            self.die()
        return ticket

    def status(self, ticket: Ticket) -> Ticket:
        return self.inner.status(ticket)

    def results(self, ticket: Ticket, custom_ids: Sequence[str]) -> Iterable[BatchOutcome]:
        if self.at == "before results":
            self.die()
        return self.inner.results(ticket, custom_ids)

    def cancel(self, ticket: Ticket) -> None:
        self.inner.cancel(ticket)

    def find(self, sought: LostBatch) -> BatchSearch:
        return self.inner.find(sought)


def deadly(at: Moment, die: Callable[[], None]) -> Callable[[ProviderModel], Batcher]:
    def opened(model: ProviderModel) -> Batcher:
        batcher = open_batcher(model)
        return replace(batcher, carrier=Deadly(batcher.carrier, at, die))

    return opened


def kill() -> None:
    raise Killed


@contextmanager
def provider(batches: Batches) -> Iterator[Batcher]:
    with SERVERS[batches.wire](routes=[batches.route]) as server:
        yield open_batcher(model_of(server))


def outbox_at(root: Path, pace: Pace = PACE) -> BatchOutbox:
    return BatchOutbox(Outbox(root / "batches"), pace=pace)


def put(batch_outbox: BatchOutbox, batcher: Batcher, key: str, task: State = TASK) -> tuple[Box, str]:
    return batch_outbox.put(batcher, task, key, REQUEST)


def item_until(batch_outbox: BatchOutbox, batcher: Batcher, box: Box, identity: str) -> dict[str, object]:
    """Works until the batch of the request is over."""
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        batch_outbox.work(box, batcher.carrier)
        waiting = box.request(identity)
        sent = box.batch_of(waiting) if waiting else None
        if sent is not None and sent.ended:
            return box.result(sent, identity) or {}
        batch_outbox.off.wait(0.01)
    raise AssertionError("the batch never ended")
