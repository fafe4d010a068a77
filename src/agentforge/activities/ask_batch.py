"""A call by batch: into the outbox, its ticket on record, and back with the answer. Safe to repeat: what is
there already is waited for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from agentforge.activities.batches import BatchOutbox, item_of, trouble_in
from agentforge.activities.world import World
from agentforge.core.effects import Ask
from agentforge.core.inputs import AskLate, AskQueued, Parked
from agentforge.core.state import Flight, State
from agentforge.core.values import Delivery
from agentforge.models.base import Answer, ModelTrouble, Request
from agentforge.models.batch import Batcher, BatchOutcome, batchable
from agentforge.models.router import Picked
from agentforge.store.user.outbox import BatchRecord, Box, Waiting

RESUBMITTED: Final = 2
"""How often a request goes into another batch before its trouble is told."""


def delivery_of(batch_outbox: BatchOutbox | None, picked: Picked, effect: Ask) -> Delivery:
    """How this call goes. `auto` takes the cheaper way where somebody said that there is time."""
    mode = (
        "live"
        if batch_outbox is None or effect.live
        else batch_outbox.delivery_modes.get(picked.tier, "live")
    )
    model = batchable(picked.model)
    if batch_outbox is None or model is None or mode == "live":
        return "live"
    patient = batch_outbox.detach or batch_outbox.deadline_s is not None
    cheaper = model.prices is None or model.prices.batch is not None
    return "batch" if mode == "batch" or (patient and cheaper) else "live"


def why_live(batch_outbox: BatchOutbox | None, picked: Picked, effect: Ask) -> str:
    """What to say where a batch was wanted and there is none."""
    wanted = (
        batch_outbox is not None
        and not effect.live
        and batch_outbox.delivery_modes.get(picked.tier) == "batch"
    )
    return (
        f"{picked.spec} has no batches, so the call is sent live."
        if wanted and batchable(picked.model) is None
        else ""
    )


def flight_of(state: State, effect: Ask) -> Flight | None:
    """The call, if an earlier driver sent it by batch."""
    return next((item for item in state.flights if item.key == effect.key and item.delivery == "batch"), None)


def ask_by_batch(
    world: World, effect: Ask, state: State, request: Request, picked: Picked
) -> Answer | AskLate | Parked:
    """The answer; or that it is late, or waits for another driver. Raises `ModelTrouble`."""
    batch_outbox, model = world.batch_outbox, batchable(picked.model)
    assert batch_outbox is not None
    assert model is not None, "a call by batch to a model that has none"
    batcher = batch_outbox.open(model)
    flight = flight_of(state, effect)
    if flight is not None and flight.ticket and not batch_outbox.holds(state, effect.key):
        return AskLate(maybe_billed=True)  # given up by a driver that could not write it down
    try:
        box, identity = batch_outbox.put(batcher, state, effect.key, request)
        came = BatchWait(batch_outbox, batcher, box, identity, partial(_ticketed, world, effect)).until_over(
            request
        )
    except ModelTrouble as trouble:
        world.models.ended(picked.tier, picked.spec, trouble)
        raise
    if isinstance(came, Answer):
        world.models.ended(picked.tier, picked.spec, came)
    return came


def _ticketed(world: World, effect: Ask, tries: int, ticket: str) -> None:
    """On record, once for each batch that it goes into."""
    world.record(f"{effect.key}/ticket/{tries}", AskQueued(ticket))


@dataclass(frozen=True, slots=True)
class BatchWait:
    """One call that waits in the outbox for its batch."""

    batch_outbox: BatchOutbox
    batcher: Batcher
    box: Box
    identity: str
    ticketed: Callable[[int, str], None]
    """Told the number of the submission and the ticket, as often as they are seen."""

    def until_over(self, request: Request) -> Answer | AskLate | Parked:
        """Waits until the call is answered, late or left to another driver. Raises `ModelTrouble`."""
        while True:
            self.batch_outbox.work(self.box, self.batcher.carrier)
            item = self.box.request(self.identity)
            if item is None:
                return AskLate(maybe_billed=True)
            sent = self.box.batch_of(item)
            if sent is not None and sent.ticket:
                self.ticketed(item.tries, sent.ticket)
            if sent is not None and sent.ended:
                if (answer := self._answer(item, sent, request)) is not None:
                    return answer
            elif (over := self._over(item, sent)) is not None:
                return over
            else:
                self.batch_outbox.off.wait(min(1.0, self.batch_outbox.pace.first_s))

    def _over(self, item: Waiting, sent: BatchRecord | None) -> AskLate | Parked | None:
        """How the wait ends without an answer: late, or left to another driver; None while it goes on."""
        if self.batch_outbox.off.is_set():
            billed = self.batch_outbox.give_up(self.box, self.batcher.carrier, self.identity)
            raise ModelTrouble(
                "unreachable", "Nothing is waiting for the batch any more.", maybe_billed=billed
            )
        limit = self.batch_outbox.deadline_s
        if limit is not None and item.at_ms + 1000 * limit <= self.box.now_ms():
            return AskLate(self.batch_outbox.give_up(self.box, self.batcher.carrier, self.identity))
        return Parked() if self.batch_outbox.detach and sent is not None and sent.ticket else None

    def _answer(self, item: Waiting, sent: BatchRecord, request: Request) -> Answer | None:
        """What its batch brought; None: it waits for another batch."""
        kept = self.box.result(sent, item.id)
        if kept is not None and (trouble := trouble_in(kept)) is not None:
            raise trouble
        try:
            return self.batcher.codec.decode(
                BatchOutcome(item.id, "missing") if kept is None else item_of(kept), request
            )
        except ModelTrouble as trouble:
            if not trouble.retryable:
                raise
            failure = trouble
        if item.tries < RESUBMITTED:
            self.box.again(item.id)
            return None
        sentence = f"{failure.user_sentence} It was sent in {item.tries + 1} batches."
        raise ModelTrouble(failure.kind, sentence, maybe_billed=failure.maybe_billed)
