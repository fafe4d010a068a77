"""A call by batch outlives its driver; a late one is sent live; the bill is right in every case."""

from agentforge.core.digests import ContextDigest, RequestDigest
from agentforge.core.effects import Ask
from agentforge.core.events import (
    AskLost,
    AskPromoted,
    AskSent,
    AskTicketed,
    Discarded,
    event_from_json,
    event_to_json,
)
from agentforge.core.inputs import (
    Abort,
    Answered,
    AskLate,
    AskQueued,
    AskStarted,
    AskTrouble,
    Assembled,
    DriverStarted,
    Parked,
    Resume,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.values import Amount, ReplyDigest, Usage
from tests.core.panels import READER, SECURITY, convened, owed_to, reader, send_as
from tests.core.scenes import Played, begun, send

WORST = Amount(1, 24_000, 0)
COST = Amount(1, 1050, 0)


def sent_by_batch(task: Played) -> Ask:
    if task.run.point == "assemble":
        task.end("Assemble", Assembled(ContextDigest("context", 500)))
    ask = task.owed("Ask")
    assert isinstance(ask, Ask)
    reserved = worst_case(task.state, task.run)
    task.say(
        AskStarted(RequestDigest("hash", "anthropic:one", reserved, "generation", delivery="batch")),
        f"{ask.key}/sent",
    )
    return ask


def test_a_call_in_a_batch_outlives_its_driver_and_is_owed_under_the_same_key() -> None:
    task = begun()
    ask = sent_by_batch(task)
    task.say(DriverStarted(), "driver/1")
    task.say(AskQueued("batch_1"), f"{ask.key}/ticket/0")
    task.say(DriverStarted(), "driver/2")
    (flight,) = task.state.flights
    assert (flight.key, flight.model, flight.delivery, flight.ticket) == (
        ask.key,
        "anthropic:one",
        "batch",
        "batch_1",
    )
    assert (task.owed("Ask"), task.told(AskLost), task.state.in_flight()) == (ask, [], WORST)
    task.end("Ask", Answered(ReplyDigest("reply", Usage(1000, 50), COST, 1, delivery="batch")))
    assert (task.state.spent, task.state.unaccounted, task.state.flights) == (COST, Amount(), ())


def test_a_live_call_is_lost_with_its_driver_as_ever() -> None:
    task = begun()
    send(task)
    task.say(DriverStarted(), "driver/1")
    assert [lost.reserved for lost in task.told(AskLost)] == [WORST]


def test_a_parked_call_leaves_no_trace() -> None:
    task = begun()
    ask = sent_by_batch(task)
    before = list(task.events)
    task.say(Parked(), ask.key)
    assert (list(task.events), task.owed("Ask")) == (before, ask)


def test_a_late_batch_is_billed_at_its_worst_and_the_call_goes_live_under_a_new_key() -> None:
    task = begun()
    ask = sent_by_batch(task)
    task.say(AskQueued("batch_1"), f"{ask.key}/ticket/0")
    task.end("Ask", AskLate(maybe_billed=True))
    again = task.owed("Ask")
    assert isinstance(again, Ask)
    assert (again.live, again.key != ask.key, task.state.unaccounted, task.state.flights) == (
        True,
        True,
        WORST,
        (),
    )
    assert [event.unaccounted for event in task.told(AskPromoted)] == [WORST]
    send(task)
    task.end("Ask", Answered(ReplyDigest("reply", Usage(1000, 50), COST, 0)))
    assert (task.state.spent, task.run.troubles) == (COST, 0)


def test_a_late_batch_of_one_reviewer_is_promoted_once_and_nobody_elses_call_is() -> None:
    task = convened()
    ask = send_as(task, SECURITY)
    task.say(AskLate(maybe_billed=False), ask.key)
    again = owed_to(task, "Ask", SECURITY)
    assert isinstance(again, Ask)
    assert (again.live, again.key != ask.key) == (True, True)
    assert (reader(task, READER).hurried, task.run.hurried, task.state.flights) == (False, False, ())


def test_a_late_call_that_was_in_no_batch_costs_nothing_and_the_next_step_may_wait_again() -> None:
    task = begun()
    sent_by_batch(task)
    task.end("Ask", AskLate(maybe_billed=False))
    assert task.state.unaccounted == Amount()
    task.say(Abort("ada"), "abort")
    task.say(Resume("ada"), "resume")
    assert not task.run.hurried


def test_what_comes_late_for_a_call_that_was_promoted_changes_nothing_but_the_bill() -> None:
    task = begun()
    ask = sent_by_batch(task)
    task.end("Ask", AskLate(maybe_billed=True))
    live = send(task)
    task.say(Answered(ReplyDigest("late", Usage(1000, 50), COST, 1, delivery="batch")), ask.key)
    assert [event.cost for event in task.told(Discarded)] == [COST]
    assert task.owed("Ask").key == live.key
    task.say(AskQueued("batch_2"), f"{ask.key}/ticket/1")
    assert task.told(AskTicketed) == []


def test_a_call_in_a_batch_of_a_task_that_is_over_is_lost_with_the_next_driver() -> None:
    task = begun()
    ask = sent_by_batch(task)
    task.say(Abort("ada"), "abort")
    task.say(DriverStarted(), "driver/1")
    assert ([lost.key for lost in task.told(AskLost)], pending(task.state), task.state.unaccounted) == (
        [ask.key],
        (),
        WORST,
    )


def test_a_withdrawn_call_is_billed_only_if_its_batch_may_be() -> None:
    for billed, cost in ((True, WORST), (False, Amount())):
        task = begun()
        ask = sent_by_batch(task)
        task.say(Abort("ada"), "abort")
        task.say(
            AskTrouble("unreachable", "nothing is waiting", retryable=False, maybe_billed=billed), ask.key
        )
        assert (task.state.unaccounted, task.state.flights) == (cost, ())


def test_the_record_tells_how_a_call_goes_and_an_old_one_was_live() -> None:
    task = begun()
    sent_by_batch(task)
    (sent,) = task.told(AskSent)
    assert event_from_json(event_to_json(sent)) == sent
    old = {key: value for key, value in event_to_json(sent).items() if key != "delivery"}
    assert event_from_json(old).request.delivery == "live"  # type: ignore[union-attr]  # it is the same event
