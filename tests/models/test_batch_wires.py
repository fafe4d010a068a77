"""Batches on every wire that has them, over real HTTP on the loopback: the same request, the same reply, at
another price.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest

from agentforge.core.reply import Json
from agentforge.models.base import ModelTrouble, Request
from agentforge.models.batch import (
    Batcher,
    BatchOutcome,
    LostBatch,
    Ticket,
    batchable,
    custom_id,
    open_batcher,
)
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import Wire
from agentforge.models.router import Router
from agentforge.testing import SERVERS, Fault, WireServer
from agentforge.testing.batch_service import Batches, Fate
from agentforge.testing.batches import BATCHES
from tests.models.wire_talk import ACTIONS, KEY, REPLY, REQUEST, ask, model_of

WIRES: tuple[Wire, ...] = tuple(BATCHES)
NAMES = [custom_id("task", "marker", f"green/1/{step}/ask/0") for step in range(3)]
PRICES = Prices(4_000_000, 8_000_000, 400_000, batch=Prices(2_000_000, 4_000_000, 200_000))


@contextmanager
def counter(batches: Batches, prices: Prices | None = None) -> Iterator[tuple[Batcher, WireServer]]:
    with SERVERS[batches.wire](routes=[batches.route]) as server:
        yield open_batcher(model_of(server, prices=prices)), server


def carry(batcher: Batcher, names: list[str] = NAMES) -> tuple[Ticket, list[BatchOutcome]]:
    """Submits one request under each name and collects what comes."""
    ticket = batcher.carrier.create([batcher.codec.encode(name, REQUEST) for name in names])
    while not (ticket := batcher.carrier.status(ticket)).ended:
        pass
    return ticket, list(batcher.carrier.results(ticket, names))


def told(body: Mapping[str, Json]) -> dict[str, Json]:
    """What a request says. A job may have one model for all, and nothing in it is a stream."""
    return {key: value for key, value in body.items() if key not in ("model", "stream") and value is not None}


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_brings_the_answer_that_a_live_call_brings_at_half_the_price(wire: Wire) -> None:
    batches = BATCHES[wire](lambda _: REPLY, looks=2)
    with counter(batches, PRICES) as (batcher, _):
        _, items = carry(batcher)
        answer = batcher.codec.decode(items[0], REQUEST)
    live, server = ask(wire, REPLY)
    assert (batches.submissions, [item.custom_id for item in items]) == (1, NAMES)
    assert answer.usage.output_tokens == live.usage.output_tokens
    assert replace(answer, delivery="live", micro_usd=None, usage=live.usage) == live
    assert set(batches.keys) == {KEY}
    assert answer.reply is not None
    assert (answer.reply.actions, answer.delivery, answer.micro_usd) == (
        ACTIONS,
        "batch",
        PRICES.cost(answer.usage, "batch"),
    )
    (job,) = batches.jobs.values()
    assert unmarked(told(job.items[NAMES[0]])) == unmarked(told(server.requests[0].body))


def unmarked(value: Json) -> Json:
    """The same without marks for a prompt cache, and as one text where only marks made parts of it."""
    if isinstance(value, list):
        parts = [unmarked(item) for item in value]
        texts = [str(part["text"]) for part in parts if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(texts) if len(texts) == len(parts) > 0 else parts
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return value


def test_a_batch_asks_its_cache_for_an_hour_once_a_stage_goes_on_and_as_long_as_it_finds_anything() -> None:
    def marks(request: Request) -> list[str]:
        batches = BATCHES["anthropic"](lambda _: REPLY)
        with counter(batches, PRICES) as (batcher, _):
            batcher.carrier.create([batcher.codec.encode(NAMES[0], request)])
        (job,) = batches.jobs.values()
        return re.findall(r'"cache_control": {[^}]*}', json.dumps(job.items[NAMES[0]]))

    later = replace(REQUEST, ordinal=1)
    assert marks(REQUEST) == []
    assert marks(later) == ['"cache_control": {"type": "ephemeral", "ttl": "1h"}'] * 2
    assert marks(replace(later, cache_found=False)) == []
    assert marks(replace(later, blocks=tuple(replace(each, cache=False) for each in later.blocks))) == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_fails_in_its_batch_is_the_trouble_it_would_be_alone_and_not_billed(
    wire: Wire,
) -> None:
    faults = iter([Fault(status=429), Fault(status=400), Fault(status=500)])
    with counter(BATCHES[wire](lambda _: next(faults))) as (batcher, _):
        _, items = carry(batcher)
        troubles = []
        for item in items:
            with pytest.raises(ModelTrouble) as caught:
                batcher.codec.decode(item, REQUEST)
            troubles.append((caught.value.kind, caught.value.retryable, caught.value.maybe_billed))
    assert troubles == [("rate_limit", True, False), ("bad_request", False, False), ("server", True, False)]


@pytest.mark.parametrize("wire", WIRES)
def test_what_was_not_run_is_told_apart_and_may_go_into_another_batch(wire: Wire) -> None:
    fates: list[Fate] = ["missing", "run", "twice"]
    with counter(BATCHES[wire](lambda _: REPLY, fate=lambda number: fates[number])) as (batcher, _):
        _, items = carry(batcher)
        found = {item.custom_id: item for item in items}
        assert (len(items), found[NAMES[0]].status) == (3, "missing")
        with pytest.raises(ModelTrouble, match="in no result") as caught:
            batcher.codec.decode(found[NAMES[0]], REQUEST)
        assert caught.value.retryable
        assert batcher.codec.decode(found[NAMES[1]], REQUEST).reply is not None
    # Of two results the first counts, where the library shows both; a file that is read by name has one.
    assert found[NAMES[2]].status == "succeeded"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("ends_as", ["canceled", "expired"])
def test_a_batch_that_ended_early_says_so_of_every_request(wire: Wire, ends_as: str) -> None:
    batches = BATCHES[wire](lambda _: REPLY)
    batches.ends_as = "canceled" if ends_as == "canceled" else "expired"
    with counter(batches) as (batcher, _):
        _, items = carry(batcher)
    assert {item.status for item in items} == {ends_as}
    assert len(items) == len(NAMES)


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_whose_ticket_was_lost_is_found_by_what_it_holds(wire: Wire) -> None:
    batches = BATCHES[wire](lambda _: REPLY)
    batches.hold = True
    with counter(batches) as (batcher, server):
        since = time.time_ns() // 1_000_000
        first = batcher.carrier.create([batcher.codec.encode(name, REQUEST) for name in NAMES])
        group = batcher.codec.encode(NAMES[0], REQUEST).group
        other = batcher.carrier.create([batcher.codec.encode(name[::-1], REQUEST) for name in NAMES])
        early = batcher.carrier.find(LostBatch(frozenset(NAMES), group, since))
        assert early.wait == (wire in ("anthropic", "google"))
        batches.hold = False
        found = batcher.carrier.find(LostBatch(frozenset(NAMES), group, since, frozenset({other.id})))
        assert found.ticket is not None
        assert (
            found.ticket.id,
            [item.status for item in batcher.carrier.results(batcher.carrier.status(found.ticket), NAMES)],
        ) == (
            first.id,
            ["succeeded"] * 3,
        )
        strange = batcher.carrier.find(LostBatch(frozenset({"0" * 40, "1" * 40, "2" * 40}), group, since))
        assert (strange.ticket, strange.wait) == (None, False)
        later = batcher.carrier.find(LostBatch(frozenset(NAMES), group, since + 3_600_000))
        assert later.ticket is None
    assert not any(KEY in str(exchange.raw) for exchange in server.others)


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_can_be_canceled_and_a_ticket_is_all_that_another_process_needs(wire: Wire) -> None:
    batches = BATCHES[wire](lambda _: REPLY)
    with counter(batches) as (batcher, server):
        ticket = batcher.carrier.create([batcher.codec.encode(NAMES[0], REQUEST)])
        again = open_batcher(model_of(server))
        again.carrier.cancel(Ticket(ticket.id, ticket.handle))
        assert batches.cancels == [ticket.id]
        assert again.carrier.status(ticket).ended
    assert KEY not in ticket.handle


@pytest.mark.parametrize("wire", WIRES)
def test_a_refused_batch_and_one_that_may_exist_are_told_apart(wire: Wire) -> None:
    batches = BATCHES[wire](lambda _: REPLY, refusals=[401, 429], lost=1)
    with counter(batches) as (batcher, _):
        encoded = [batcher.codec.encode(NAMES[0], REQUEST)]
        seen = []
        for _ in range(3):
            with pytest.raises(ModelTrouble) as caught:
                batcher.carrier.create(encoded)
            seen.append((caught.value.kind, caught.value.retryable, caught.value.maybe_billed))
    assert seen == [("auth", False, False), ("rate_limit", True, False), ("server", True, True)]
    assert batches.submissions == 1


def test_the_model_is_found_below_its_wrappers_and_chat_completions_have_no_batches() -> None:
    with SERVERS["anthropic"]() as server, SERVERS["openai"]() as chat:
        model = model_of(server)
        assert batchable(Router.single(model).pick(REQUEST, 10).model) is model
        assert batchable(model_of(chat)) is None


def test_a_request_has_a_name_of_its_own_in_every_task() -> None:
    assert (
        len(
            {
                custom_id("t", "m", "k"),
                custom_id("t", "n", "k"),
                custom_id("tm", "", "k"),
                custom_id("t", "m", "l"),
            }
        )
        == 4
    )
    assert custom_id("t", "m", "k") == custom_id("t", "m", "k")
    assert len(custom_id("t", "m", "k")) == 40


def test_an_upload_that_is_sent_to_another_host_takes_no_key_along() -> None:
    batches = BATCHES["google"](lambda _: REPLY, uploads="localhost")
    with counter(batches) as (batcher, _):
        batcher.carrier.create([batcher.codec.encode(NAMES[0], REQUEST)])
    assert batches.keys == [KEY, None, KEY]
