"""Which tier is asked, what its call may cost, and how long a provider may ask us to wait."""

from dataclasses import replace

from agentforge.core.calls import LONGEST_WAIT_S
from agentforge.core.digests import ActionResults, ContextDigest, RequestDigest
from agentforge.core.events import AskAnswered, AskFailed, AskSent, event_from_json, event_to_json
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskStarted,
    AskTrouble,
    Assembled,
    BaselineReady,
    Create,
    Elapsed,
    Prepared,
    Resolution,
)
from agentforge.core.pending import worst_case
from agentforge.core.values import ActionDigest, Amount, Budget, Price, ReplyDigest, TierPrice, Usage
from tests.core.scenes import BASELINE, Played, answered, begun, created, send, step
from tests.rows import every

READ = ActionDigest("read_file", ok=True, target="a.py")
CHEAP, DEAR = Price(1_000_000, 1_000_000), Price(10_000_000, 10_000_000)


def _priced(*prices: TierPrice, budget: Budget | None = None) -> Played:
    task = Played()
    task.say(Create(replace(created(budget=budget).spec, prices=prices, price=CHEAP)))
    task.end("Prepare", Prepared("t0"))
    task.end("TakeBaseline", BaselineReady(BASELINE))
    return task


def _fail_an_attempt(task: Played) -> None:
    attempt = task.run.attempt
    while task.run.attempt == attempt:
        step(task, answered(), Acted(ActionResults("ref", task.state.tree, (READ,))))


def test_a_role_is_asked_at_its_own_tier_and_one_higher_after_a_failed_attempt() -> None:
    task = begun()
    usual = task.stage.tier
    assert task.state.tier_of(task.run) == usual
    _fail_an_attempt(task)
    assert (usual, task.state.tier_of(task.run)) == ("generation", "reasoning")


def test_the_worst_case_of_a_call_is_that_of_its_tier() -> None:
    task = _priced(TierPrice("generation", CHEAP), TierPrice("reasoning", DEAR))
    cheap = worst_case(task.state, task.run)
    _fail_an_attempt(task)
    assert worst_case(task.state, task.run).micro_usd == 10 * cheap.micro_usd


def test_a_tier_without_a_price_of_its_own_has_that_of_the_task() -> None:
    task = _priced(TierPrice("reasoning", DEAR))
    assert worst_case(task.state, task.run).micro_usd == 24_000


def test_a_model_that_may_cost_more_than_is_left_is_not_asked_and_a_person_is() -> None:
    task = _priced(budget=Budget(micro_usd=30_000))
    ask = _send_with(task, Amount(1, 24_000, 30_001))
    assert (task.state.flights, task.state.status) == ((), "blocked")
    waiting = task.state.open_escalation
    assert waiting is not None
    assert waiting.kind == "budget"
    task.say(Resolution(waiting.id, "double", "ada"))
    task.end("Prepare", Prepared("t0"))
    _send_with(task, Amount(1, 24_000, 30_001))
    assert [flight.reserved.micro_usd for flight in task.state.flights] == [30_001]
    assert task.told(AskSent)[0].key != ask


def _send_with(task: Played, reserved: Amount) -> str:
    if task.run.point == "assemble":
        task.end("Assemble", Assembled(ContextDigest("context", 500)))
    key = task.owed("Ask").key
    task.say(
        AskStarted(RequestDigest("hash", "openai:one", reserved, "reasoning", "the first model is down")),
        f"{key}/sent",
    )
    return key


def test_the_record_of_a_call_names_its_tier_its_model_and_why() -> None:
    task = begun()
    _send_with(task, Amount(1, 24_000, 0))
    task.end(
        "Ask",
        Answered(
            ReplyDigest("reply", Usage(10, 5, 4, 2), Amount(1, 15), 1, model="one-2026", delivery="batch")
        ),
    )
    sent, came = task.told(AskSent)[0], task.told(AskAnswered)[0]
    assert (sent.request.model, sent.request.tier, sent.request.why) == (
        "openai:one",
        "reasoning",
        "the first model is down",
    )
    assert (came.reply.model, came.reply.delivery, came.reply.usage.written_tokens) == (
        "one-2026",
        "batch",
        2,
    )
    assert event_from_json(event_to_json(came)) == came


@every(("asked", "waits"), [(None, 1), (0, 1), (7, 7), (LONGEST_WAIT_S, LONGEST_WAIT_S)])
def test_a_provider_is_given_the_time_it_asks_for(asked: int | None, waits: int) -> None:
    task = begun()
    send(task)
    task.end(
        "Ask", AskTrouble("rate_limit", "slow down", retryable=True, maybe_billed=False, retry_after_s=asked)
    )
    assert f"seconds={waits}," in str(task.owed("Pause"))


def test_the_time_that_one_answer_asked_for_is_not_kept_for_the_next_trouble() -> None:
    task = begun()
    send(task)
    task.end(
        "Ask", AskTrouble("rate_limit", "slow down", retryable=True, maybe_billed=False, retry_after_s=60)
    )
    task.end("Pause", Elapsed())
    send(task)
    task.end("Ask", AskTrouble("server", "failed", retryable=True, maybe_billed=False))
    assert "seconds=3," in str(task.owed("Pause"))


def test_a_provider_that_asks_for_hours_is_a_persons_affair() -> None:
    task = begun()
    send(task)
    task.end(
        "Ask",
        AskTrouble(
            "rate_limit", "slow down", retryable=True, maybe_billed=False, retry_after_s=LONGEST_WAIT_S + 1
        ),
    )
    assert task.state.status == "blocked"
    assert [event.retry for event in task.told(AskFailed)] == [False]
