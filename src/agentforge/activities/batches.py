"""Moves what is in the outbox to the provider and back. Whoever waits does a turn of this work; nobody else
is needed for it.
"""

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.models.base import ModelTrouble, Request
from agentforge.models.batch import (
    Batcher,
    BatchOutcome,
    Carrier,
    Encoded,
    LostBatch,
    Open,
    Ticket,
    custom_id,
    open_batcher,
)
from agentforge.models.known.tiers import DeliveryMode
from agentforge.store.user.outbox import BatchRecord, Box, Outbox, Waiting

POLL_ENV: Final = "AGENTFORGE_BATCH_POLL_S"
"""How often to look at a batch, where the usual pace is not wanted."""
MOST_REQUESTS: Final = 1000
MOST_BYTES: Final = 32_000_000
"""One batch holds no more: all of it is in memory while it leaves and while it comes."""
UNSURE_TRIES: Final = 5
"""How often a batch is tried of which nobody knows whether it arrived."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait for others who may share a batch, and between two looks at one."""

    window_s: float = 2.0
    """For others who may share a batch."""
    first_s: float = 1.0
    last_s: float = 60.0
    """Between two looks at a batch: the first pause, which doubles up to the last."""

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ, window_s: float = 2.0) -> "Pace":
        """The pace, with the pause that the environment sets if it sets one."""
        text = environ.get(POLL_ENV, "")
        fixed = float(text) if text.replace(".", "", 1).isdigit() else None
        return cls(window_s) if fixed is None else cls(window_s, fixed, fixed)

    def pause_ms(self, looks: int) -> int:
        """How long to wait before the next look at a batch, in milliseconds."""
        return round(1000 * min(self.last_s, self.first_s * 2.0 ** min(looks, 20)))


@dataclass(frozen=True, slots=True)
class BatchOutbox:
    """The outbox of a user as one process works on it: puts requests in, submits batches and
    takes results.
    """

    outbox: Outbox
    delivery_modes: Mapping[str, DeliveryMode] = field(default_factory=dict)
    """How replies of each tier are wanted."""
    deadline_s: int | None = None
    """How long a call may wait for its batch before it is sent live."""
    detach: bool = False
    """Do not wait at all: somebody collects later."""
    pace: Pace = Pace()
    open: Open = open_batcher
    off: threading.Event = field(default_factory=threading.Event)
    """Set when the task is over: nobody waits any more."""

    def put(self, batcher: Batcher, state: State, key: str, request: Request) -> tuple[Box, str]:
        """The request in the outbox, on disk; where it was before, it stays."""
        identity = custom_id(state.task_id, state.marker, key)
        if (box := self.outbox.find(identity)) is not None:
            return box, identity
        encoded = batcher.codec.encode(identity, request)
        box = self.outbox.box(batcher.box(encoded))
        box.put(Waiting(identity, owner(state), key, encoded.group, self.outbox.now_ms()), encoded.body)
        return box, identity

    def holds(self, state: State, key: str) -> bool:
        """Whether a call is in the outbox."""
        return self.outbox.find(custom_id(state.task_id, state.marker, key)) is not None

    def tidy(self, state: State) -> None:
        """Gives up what the task does not wait for any more."""
        self.outbox.tidy(owner(state), (flight.key for flight in state.flights if flight.delivery == "batch"))

    def work(self, box: Box, carrier: Carrier) -> None:
        """One turn, if nobody else has it: what is under way goes on, what waits is submitted when its window
        is over.
        """
        with box.turn() as mine:
            if mine:
                for sent in box.batches():
                    self._go_on(box, carrier, sent)
                self._submit(box, carrier)

    def give_up(self, box: Box, carrier: Carrier, identity: str) -> bool:
        """Nobody waits for a request any more. Its batch is canceled if it holds nothing else. Whether it may
        be billed.
        """
        with box.turn(wait=True):
            item = box.request(identity)
            sent = box.batch_of(item) if item is not None else None
            box.forget(identity)
            if sent is None or sent.ended:
                return sent is not None
            self._go_on(box, carrier, replace(sent, look_ms=0))
            return True

    def _go_on(self, box: Box, carrier: Carrier, sent: BatchRecord) -> None:
        wanted = [name for name in sent.ids if box.waits_for(name)]
        if not wanted:
            if sent.ticket and not sent.ended:
                _try(lambda: carrier.cancel(_ticket(sent)))
            box.clear(sent)
        elif not sent.ended and sent.look_ms <= box.now_ms():
            try:
                self._look(box, carrier, sent)
            except ModelTrouble as trouble:
                if trouble.retryable or sent.failures < UNSURE_TRIES:
                    self._later(box, sent, failures=sent.failures + 1)
                else:  # nobody will be let in, and what it costs is not known
                    box.end(sent, [(name, _refused(trouble, billed=True)) for name in sent.ids])

    def _look(self, box: Box, carrier: Carrier, sent: BatchRecord) -> None:
        if not sent.ticket:
            self._recover(box, carrier, sent)
            return
        ticket = carrier.status(_ticket(sent))
        if ticket.ended:
            box.end(replace(sent, handle=ticket.handle), _kept(carrier.results(ticket, tuple(sent.ids))))
        else:
            self._later(box, replace(sent, handle=ticket.handle))

    def _recover(self, box: Box, carrier: Carrier, sent: BatchRecord) -> None:
        """An intent without a ticket: whether it was submitted is looked up before it is submitted again."""
        known = frozenset(other.ticket for other in box.batches() if other.ticket)
        found = carrier.find(LostBatch(frozenset(sent.ids), sent.group, sent.at_ms, known))
        if found.ticket is not None:
            box.write(
                replace(
                    sent, ticket=found.ticket.id, handle=found.ticket.handle, look_ms=0, looks=0, failures=0
                )
            )
        elif found.wait:
            self._later(box, sent)
        else:
            self._create(box, carrier, replace(sent, at_ms=box.now_ms()))

    def _submit(self, box: Box, carrier: Carrier) -> None:
        unsent = box.unsent()
        full = len(unsent) >= MOST_REQUESTS
        if unsent and (full or unsent[0].at_ms + self.pace.window_s * 1000 <= box.now_ms()):
            for chunk in _chunks(unsent):
                self._create(box, carrier, box.intend(chunk))

    def _create(self, box: Box, carrier: Carrier, sent: BatchRecord) -> None:
        """Submits what is still waited for; the intent on disk names exactly that."""
        items = [Encoded(name, sent.group, body) for name in sent.ids if (body := box.body(name))]
        sent = replace(sent, ids={item.custom_id: sent.ids[item.custom_id] for item in items})
        box.write(sent)
        if not items:
            return
        try:
            ticket = carrier.create(items)
        except ModelTrouble as trouble:
            if trouble.maybe_billed and sent.failures < UNSURE_TRIES:
                self._later(box, sent, failures=sent.failures + 1)
            else:
                box.end(sent, [(name, _refused(trouble)) for name in sent.ids])
            return
        box.write(
            replace(
                sent,
                ticket=ticket.id,
                handle=ticket.handle,
                look_ms=box.now_ms() + self.pace.pause_ms(0),
                looks=1,
                failures=0,
            )
        )

    def _later(self, box: Box, sent: BatchRecord, failures: int = 0) -> None:
        due = box.now_ms() + self.pace.pause_ms(sent.looks)
        box.write(replace(sent, look_ms=due, looks=sent.looks + 1, failures=failures))


def owner(state: State) -> str:
    """A task, in a form that no other one of the user has."""
    return f"{state.task_id}/{state.marker}"


def item_of(result: Mapping[str, Json]) -> BatchOutcome:
    """A kept result as a value."""
    body = result.get("body")
    # `_kept` wrote it
    return BatchOutcome(str(result["id"]), result["status"], body if isinstance(body, str) else None)  # type: ignore[arg-type]


def trouble_in(result: Mapping[str, Json]) -> ModelTrouble | None:
    """Why the provider did not take the batch, if it did not."""
    if result["status"] != "refused":
        return None
    wait = result.get("retry_after_s")
    return ModelTrouble(
        result["kind"],  # type: ignore[arg-type]  # `_refused` wrote it
        str(result["sentence"]),
        retryable=bool(result["retryable"]),
        maybe_billed=bool(result["maybe_billed"]),
        retry_after_s=wait if isinstance(wait, int) else None,
    )


def _ticket(sent: BatchRecord) -> Ticket:
    return Ticket(sent.ticket, sent.handle, sent.ended)


def _kept(items: Iterable[BatchOutcome]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for item in items:
        yield item.custom_id, {"status": item.status, "body": item.body}


def _refused(trouble: ModelTrouble, *, billed: bool = False) -> Mapping[str, Json]:
    return {
        "status": "refused",
        "kind": trouble.kind,
        "sentence": trouble.user_sentence,
        "retryable": trouble.retryable and not trouble.maybe_billed,
        "maybe_billed": trouble.maybe_billed or billed,
        "retry_after_s": None if trouble.retry_after_s is None else math.ceil(trouble.retry_after_s),
    }


def _chunks(items: Iterable[Waiting]) -> Iterator[list[Waiting]]:
    """Splits calls into groups, each as large as one batch may be."""
    chunk: list[Waiting] = []
    size = 0
    for item in items:
        if chunk and (len(chunk) == MOST_REQUESTS or size + item.size > MOST_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += item.size
    if chunk:
        yield chunk


def _try(work: Callable[[], None]) -> None:
    try:
        work()
    except ModelTrouble:
        return  # it goes on without us, and nobody takes its results
