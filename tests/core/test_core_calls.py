"""Calls and money: every call is reserved before it leaves, and the cap is a rule."""

from agentforge.core.digests import ActionResults, RequestDigest
from agentforge.core.effects import Ask
from agentforge.core.events import AskFailed, AskLost, BudgetRaised, Escalated
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskStarted,
    AskTrouble,
    DriverStarted,
    Elapsed,
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.pending import PAUSES, fits, pending, worst_case
from agentforge.core.values import ActionDigest, Amount, Budget, Price, ReplyDigest, Usage
from tests.core.scenes import Played, answered, begun, created, send, step
from tests.rows import every

READ = ActionDigest("read_file", ok=True, target="a.py")
WORST = Amount(1, 24_000, 0)
TIMEOUT = AskTrouble("timeout", "no answer in time", retryable=True, maybe_billed=True)
REFUSED = AskTrouble("rate_limit", "slow down", retryable=True, maybe_billed=False)


def _read(task: Played) -> None:
    step(task, answered(), Acted(ActionResults("ref", task.state.tree, (READ,))))


def _waiting(task: Played) -> str:
    waiting = task.state.open_escalation
    assert waiting is not None
    return waiting.kind


def test_a_call_is_reserved_at_its_worst_case_before_it_leaves() -> None:
    task = begun(price=Price(2_000_000, 8_000_000))
    send(task)
    assert task.state.in_flight() == Amount(1, 24_000, 96_000)
    assert task.owes() == ["Ask"]
    task.end("Ask", Answered(ReplyDigest("reply", Usage(1000, 50, 800), Amount(1, 1050, 2400), 1)))
    assert (task.state.spent, task.state.in_flight(), task.state.cached_tokens) == (
        Amount(1, 1050, 2400),
        Amount(),
        800,
    )


def test_money_is_rounded_up() -> None:
    assert Price(3, 5).worst(1, 1) == 1
    assert Price(1_000_000, 0).worst(7, 9) == 7


def test_a_call_of_unknown_price_is_counted_as_such() -> None:
    task = begun()
    send(task)
    task.end("Ask", Answered(ReplyDigest("reply", Usage(5, 5), Amount(1, 10), 1, priced=False)))
    assert task.state.unpriced == 1


def test_a_call_that_is_not_owed_may_not_leave() -> None:
    task = begun()
    task.say(AskStarted(RequestDigest("hash", "scripted", WORST)), "frame/1/1/ask/0/sent")
    assert task.state.flights == ()


def test_the_ordinal_of_a_call_counts_the_answers_of_its_stage() -> None:
    task = begun()
    for ordinal in range(3):
        assert send(task).ordinal == ordinal
        task.end("Ask", answered())
        task.end("Act", Acted(ActionResults("ref", "t0", (READ,))))


def test_a_call_lost_with_its_driver_is_billed_at_its_worst_case_and_sent_again_under_a_new_key() -> None:
    task = begun()
    first = send(task)
    events = task.say(DriverStarted())
    assert events == (AskLost("worker", "frame/1/1/ask/0", WORST),)
    assert (task.state.unaccounted, task.state.in_flight(), task.state.spent) == (WORST, Amount(), Amount())
    again = task.owed("Ask")
    assert isinstance(again, Ask)
    assert (again.key, again.ordinal) == ("frame/1/1/ask/1", first.ordinal)


def test_a_driver_that_finds_nothing_in_flight_changes_nothing() -> None:
    task = begun()
    assert task.say(DriverStarted()) == ()
    assert task.why == ""


def test_a_lost_call_that_took_the_room_of_the_next_is_asked_about() -> None:
    task = begun(budget=Budget(calls=1))
    send(task)
    task.say(DriverStarted())
    assert (task.state.status, _waiting(task)) == ("blocked", "budget")


def test_trouble_is_tried_again_after_longer_and_longer_pauses_and_then_a_person_is_asked() -> None:
    task = begun()
    for number, seconds in enumerate(PAUSES[:2]):
        assert send(task).key == f"frame/1/1/ask/{number}"
        task.end("Ask", REFUSED)
        assert f"seconds={seconds}" in str(task.owed("Pause"))
        task.end("Pause", Elapsed())
    send(task)
    task.end("Ask", REFUSED)
    assert (task.state.status, _waiting(task)) == ("blocked", "model")
    assert task.state.unaccounted == Amount()
    assert [event.retry for event in task.told(AskFailed)] == [True, True, False]


def test_resume_gives_the_provider_all_its_tries_again() -> None:
    task = begun()
    send(task)
    task.end("Ask", AskTrouble("auth", "The key is refused.", retryable=False, maybe_billed=False))
    assert (task.state.status, _waiting(task)) == ("blocked", "model")
    task.say(Resume("ada"))
    task.end("Prepare", Prepared("t0"))
    assert task.owed("Ask").key == "frame/1/1/ask/1"
    for _ in range(2):
        send(task)
        task.end("Ask", REFUSED)
        task.end("Pause", Elapsed())
    assert task.state.status == "running"


def test_trouble_that_may_have_been_billed_stays_on_the_bill() -> None:
    task = begun()
    send(task)
    task.end("Ask", TIMEOUT)
    assert (task.state.unaccounted, task.state.in_flight()) == (WORST, Amount())


def test_trouble_that_ate_the_budget_is_asked_about_instead_of_tried_again() -> None:
    task = begun(budget=Budget(calls=1))
    send(task)
    task.end("Ask", TIMEOUT)
    task.end("Pause", Elapsed())
    assert (task.state.status, _waiting(task)) == ("blocked", "budget")


def test_a_call_that_ended_in_a_riddle_stays_on_the_bill() -> None:
    task = begun()
    send(task)
    task.end("Ask", Unclassified("a riddle"))
    assert (task.state.unaccounted, task.state.flights) == (WORST, ())


@every(
    "budget",
    [Budget(calls=1), Budget(tokens=24_999), Budget(micro_usd=96_000)],
)
def test_the_next_call_must_fit_the_cap_whole(budget: Budget) -> None:
    task = begun(budget=budget, price=Price(2_000_000, 8_000_000))
    send(task)
    task.end("Ask", Answered(ReplyDigest("reply", Usage(900, 100), Amount(1, 1000, 1), 1)))
    task.end("Act", Acted(ActionResults("ref", "t0", (READ,))))
    assert (task.state.status, _waiting(task)) == ("blocked", "budget")
    waiting = task.state.open_escalation
    assert waiting is not None
    assert "1 of" in waiting.question.text


@every(("answer", "factor"), [("double", 2), ("x3", 3), ("5", 5), ("yes", 2), ("1", 2), ("²", 2), ("", 2)])
def test_an_answer_raises_the_budget_and_the_work_goes_on(answer: str, factor: int) -> None:
    task = begun(budget=Budget(calls=1, tokens=100_000, micro_usd=1_000_000))
    _read(task)
    task.say(Resolution("ESC-001", answer, "ada"))
    assert task.told(BudgetRaised) == [BudgetRaised(Budget(factor, 100_000 * factor, 1_000_000 * factor))]
    task.end("Prepare", Prepared("t0"))
    assert task.owes() == ["Assemble"]


def test_a_raise_that_is_still_too_small_is_asked_about_again() -> None:
    task = Played()
    task.say(created(budget=Budget(tokens=5000)))
    task.end("Prepare", Prepared("t0"))
    assert (task.state.status, _waiting(task)) == ("blocked", "budget")
    task.say(Resolution("ESC-001", "double", "ada"))
    assert (task.state.status, len(task.told(Escalated))) == ("blocked", 2)


def test_a_call_fits_up_to_the_last_token() -> None:
    task = begun(budget=Budget(tokens=24_000))
    assert worst_case(task.state, task.run) == WORST
    assert fits(task.state, task.run)
    send(task)
    assert not fits(task.state, task.run)
    assert [type(effect).__name__ for effect in pending(task.state)] == ["Ask"]


def test_a_budget_question_names_what_the_next_call_may_take_and_an_answer_that_is_enough() -> None:
    task = Played()
    task.say(created(budget=Budget(tokens=10_000)))
    task.end("Prepare", Prepared("t0"))
    waiting = task.state.open_escalation
    assert waiting is not None
    assert "it may take 24000 tokens" in waiting.question.text
    assert (waiting.question.options, waiting.question.recommendation) == (("x3", "abort"), "x3")
    task.say(Resolution(waiting.id, "x3", "ada"))
    task.end("Prepare", Prepared("t0"))
    assert "Assemble" in task.owes()
