"""One call's stay in the outbox: each way in which a batch can end for it."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.activities.ask_batch import BatchWait, delivery_of, why_live
from agentforge.activities.batches import BatchOutbox
from agentforge.core.effects import Ask
from agentforge.core.inputs import AskLate, Parked
from agentforge.core.values import Delivery
from agentforge.models.base import Answer, Model, ModelTrouble
from agentforge.models.batch import Batcher
from agentforge.models.known.prices import Prices
from agentforge.models.known.tiers import DeliveryMode
from agentforge.models.router import Picked
from agentforge.testing import SERVERS, Fault, Scripted
from agentforge.testing.batch_service import Fate
from agentforge.testing.batches import AnthropicBatches
from tests.activities.batch_scene import outbox_at, provider, put
from tests.models.wire_talk import REPLY, REQUEST, model_of

KEY = "green/1/1/ask/0"


class Call:
    """A call, and what was put on record of it."""

    def __init__(self, batch_outbox: BatchOutbox, batcher: Batcher) -> None:
        self.tickets: dict[int, str] = {}
        self.box, self.identity = put(batch_outbox, batcher, KEY)
        self._wait = BatchWait(batch_outbox, batcher, self.box, self.identity, self.tickets.__setitem__)

    def wait(self) -> Answer | AskLate | Parked:
        return self._wait.until_over(REQUEST)


def script(*turns: Scripted) -> AnthropicBatches:
    said: Iterator[Scripted] = iter(turns)
    return AnthropicBatches(lambda _: next(said))


@pytest.mark.parametrize("first", ["expired", "canceled", "missing"])
def test_what_was_not_run_goes_into_another_batch_with_a_ticket_of_its_own(
    first: Fate, tmp_path: Path
) -> None:
    batches = AnthropicBatches(lambda _: REPLY, fate=lambda number: "run" if number else first)
    with provider(batches) as batcher:
        call = Call(outbox_at(tmp_path), batcher)
        assert isinstance(call.wait(), Answer)
    assert (list(call.tickets), batches.submissions, len(set(call.tickets.values()))) == ([0, 1], 2, 2)


def test_a_failure_that_may_pass_is_tried_in_three_batches_and_then_told(tmp_path: Path) -> None:
    batches = script(Fault(status=500), Fault(status=429), Fault(status=529))
    with provider(batches) as batcher, pytest.raises(ModelTrouble, match="in 3 batches") as caught:
        Call(outbox_at(tmp_path), batcher).wait()
    assert (batches.submissions, caught.value.retryable, caught.value.maybe_billed) == (3, False, False)


def test_a_failure_that_stays_is_told_at_once(tmp_path: Path) -> None:
    batches = script(Fault(status=400, message="no such thing"))
    with provider(batches) as batcher, pytest.raises(ModelTrouble, match="no such thing") as caught:
        Call(outbox_at(tmp_path), batcher).wait()
    assert (batches.submissions, caught.value.kind) == (1, "bad_request")


def test_of_two_results_the_first_counts(tmp_path: Path) -> None:
    with provider(AnthropicBatches(lambda _: REPLY, fate=lambda _: "twice")) as batcher:
        answer = Call(outbox_at(tmp_path), batcher).wait()
    assert isinstance(answer, Answer)
    assert answer.reply is not None
    assert answer.reply.thought == REPLY["thought"]


def test_a_late_call_is_given_up_and_billed_only_if_it_is_in_a_batch(tmp_path: Path) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    batches.hold = True
    with provider(batches) as batcher:
        slow = replace(outbox_at(tmp_path / "a"), deadline_s=1)
        assert Call(slow, batcher).wait() == AskLate(maybe_billed=True)
        assert (batches.submissions, len(batches.cancels)) == (1, 1)
        never = outbox_at(tmp_path / "b")
        unsent = replace(never, deadline_s=0, pace=replace(never.pace, window_s=60))
        assert Call(unsent, batcher).wait() == AskLate(maybe_billed=False)
    assert batches.submissions == 1


def test_a_result_that_is_there_at_the_deadline_is_taken(tmp_path: Path) -> None:
    with provider(AnthropicBatches(lambda _: REPLY)) as batcher:
        batch_outbox = outbox_at(tmp_path)
        assert isinstance(Call(batch_outbox, batcher).wait(), Answer)
        assert isinstance(Call(replace(batch_outbox, deadline_s=0), batcher).wait(), Answer)


def test_a_detached_call_is_parked_once_it_has_a_ticket_and_another_driver_takes_its_answer(
    tmp_path: Path,
) -> None:
    batches = AnthropicBatches(lambda _: REPLY, looks=2)
    batches.hold = True
    with provider(batches) as batcher:
        batch_outbox = replace(outbox_at(tmp_path), detach=True)
        call = Call(batch_outbox, batcher)
        assert call.wait() == Parked()
        assert list(call.tickets.values()) == list(batches.jobs)
        assert Call(batch_outbox, batcher).wait() == Parked()
        batches.hold = False
        assert isinstance(Call(outbox_at(tmp_path), batcher).wait(), Answer)
    assert batches.submissions == 1


def test_a_task_that_is_over_waits_for_nothing_and_its_batch_is_canceled(tmp_path: Path) -> None:
    batches = AnthropicBatches(lambda _: REPLY)
    batches.hold = True
    with provider(batches) as batcher:
        batch_outbox = outbox_at(tmp_path)
        threading.Timer(0.3, batch_outbox.off.set).start()
        with pytest.raises(ModelTrouble) as caught:
            Call(batch_outbox, batcher).wait()
    assert (caught.value.maybe_billed, len(batches.cancels)) == (True, 1)


HALF = Prices(4, 4, 4, batch=Prices(2, 2, 2))
DELIVERY_MODES: list[tuple[DeliveryMode, bool, Prices | None, Delivery]] = [
    ("live", True, HALF, "live"),
    ("batch", False, None, "batch"),
    ("auto", False, HALF, "live"),
    ("auto", True, HALF, "batch"),
    ("auto", True, Prices(4, 4, 4), "live"),
]


@pytest.mark.parametrize(("mode", "patient", "prices", "delivery"), DELIVERY_MODES)
def test_how_a_call_goes(
    mode: DeliveryMode, patient: bool, prices: Prices | None, delivery: Delivery, tmp_path: Path
) -> None:
    batch_outbox = replace(outbox_at(tmp_path), delivery_modes={"generation": mode}, detach=patient)
    with SERVERS["anthropic"]() as server, SERVERS["openai"]() as chat:
        picked = _picked(model_of(server, prices=prices))
        assert delivery_of(batch_outbox, picked, Ask("worker", "k", 0)) == delivery
        assert delivery_of(batch_outbox, picked, Ask("worker", "k", 0, live=True)) == "live"
        assert delivery_of(None, picked, Ask("worker", "k", 0)) == "live"
        assert delivery_of(batch_outbox, _picked(model_of(chat)), Ask("worker", "k", 0)) == "live"
        assert bool(why_live(batch_outbox, _picked(model_of(chat)), Ask("worker", "k", 0))) == (
            mode == "batch"
        )


def _picked(model: Model) -> Picked:
    return Picked(model, "mine:some-model", "generation", "")
