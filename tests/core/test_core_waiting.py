"""A provider whose quota is used up: waited for as long as the person said, then a question."""

from dataclasses import replace

from agentforge.core.calls import QUOTA_PAUSES
from agentforge.core.effects import Pause
from agentforge.core.events import WaitLimitChanged
from agentforge.core.inputs import AskTrouble, ChangeWait, Create, DriverStarted, Elapsed, Resolution
from tests.core.scenes import Played, answered, begun, created, send

AT = 1_900_000_000
HOUR = 3600


def refused(at: int, told: int | None = None, *, kind: str = "quota") -> AskTrouble:
    trouble = AskTrouble("quota", "The quota is used up.", retryable=False, maybe_billed=False, at=at)
    if kind == "rate_limit":
        trouble = replace(trouble, kind="rate_limit", retryable=True)
    return replace(trouble, retry_after_s=told)


def waiting_task(max_wait_s: int = 6 * HOUR) -> Played:
    task = begun()
    task.state = replace(task.state, max_wait_s=max_wait_s)
    send(task)
    return task


def pause_of(task: Played) -> Pause:
    pause = task.owed("Pause")
    assert isinstance(pause, Pause)
    return pause


def asked(task: Played) -> str:
    waiting = task.state.open_escalation
    assert waiting is not None
    assert waiting.kind == "model"
    return waiting.question.text


def test_a_told_wait_is_kept_however_often_the_driver_dies_and_the_call_is_sent_again() -> None:
    task = waiting_task()
    task.end("Ask", refused(AT, 2 * HOUR))
    first = pause_of(task)
    task.say(DriverStarted())
    assert pause_of(task) == first
    assert (first.left(AT), first.left(AT + HOUR), first.left(AT + 3 * HOUR)) == (2 * HOUR, HOUR, 0)
    assert first.left(AT - HOUR) == 2 * HOUR  # the clock was set back: no longer for that
    assert first.left(AT - 0.5) == 2 * HOUR + 0.5  # what is shown is a whole second, and it is waited for
    task.end("Pause", Elapsed())
    send(task)
    task.end("Ask", answered())
    assert task.run.refused is None


def test_a_quota_without_a_time_is_asked_for_less_and_less_often_until_the_limit() -> None:
    task, now = waiting_task(), AT
    pauses = []
    while True:
        task.end("Ask", refused(now))
        if task.state.status == "blocked":
            break
        pauses.append(pause_of(task).seconds)
        now += pauses[-1]
        task.end("Pause", Elapsed())
        send(task)
    assert pauses[:5] == list(QUOTA_PAUSES)
    assert sum(pauses) <= 6 * HOUR < sum(pauses) + QUOTA_PAUSES[-1]
    assert asked(task).endswith(f"It was waited for {sum(pauses) // 60} minutes.")


def test_a_wait_beyond_the_limit_and_a_task_that_does_not_wait_ask_at_once() -> None:
    for limit, told in ((HOUR, HOUR + 1), (0, 1), (0, None)):
        task = waiting_task(limit)
        task.end("Ask", refused(AT, told))
        assert asked(task) == "The quota is used up."


def test_a_long_pause_of_a_rate_limit_is_waited_for_and_a_short_one_without_a_time_is_not() -> None:
    task = waiting_task()
    task.end("Ask", refused(AT, HOUR, kind="rate_limit"))
    assert pause_of(task).until == AT + HOUR
    task = waiting_task()
    for _ in range(2):
        task.end("Ask", refused(AT, kind="rate_limit"))
        task.end("Pause", Elapsed())
        send(task)
    task.end("Ask", refused(AT, kind="rate_limit"))
    asked(task)


def test_a_person_who_does_not_want_to_wait_is_asked_and_a_retry_is_sent_at_once() -> None:
    task = waiting_task()
    task.end("Ask", refused(AT, HOUR))
    task.say(ChangeWait(0, "ada"), "wait/9")
    assert task.told(WaitLimitChanged) == [WaitLimitChanged(0, "ada")]
    assert asked(task) == "The quota is used up."
    task.say(Resolution("ESC-001", "retry", "ada"), "resolution/1")
    assert task.run.point == "ask"


def test_a_task_of_an_earlier_release_asks_as_it_did() -> None:
    assert isinstance(created(), Create)
    task = waiting_task(created().spec.max_wait_s)
    task.end("Ask", refused(0, 2 * HOUR))
    asked(task)
