"""The rate limit: no cap is passed in any minute, nobody starves, and a free place wakes one caller."""

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.models.base import Answer, ModelTrouble, OfferedTool, Request
from agentforge.models.wrap.breaker import Breaker, Circuit, NotSent, Patience
from agentforge.models.wrap.limit import MINUTE, Meter, RateLimit, RateLimited, most_tokens
from tests.fuzzing import tries
from tests.models.doubles import STUCK_S, FakeClock, Told, answer, request, saying, together, trouble


class Caller(NamedTuple):
    tokens: int
    used: int
    ends: str


def call(meter: Meter, caller: Caller, log: list[tuple[float, int]], lock: threading.Lock) -> None:
    sent = meter.enter(caller.tokens)
    with lock:
        log.append((sent.at, caller.used))
    if caller.ends == "slow_down":
        meter.slow_down(5)
    if caller.ends == "given_back":
        with lock:
            log[:] = [item for item in log if item != (sent.at, caller.used)]
        meter.give_back(sent)
    else:
        meter.leave(sent, caller.used, well=caller.ends == "well")


def most_in_a_minute(log: Sequence[tuple[float, int]]) -> tuple[int, int]:
    windows = [[used for at, used in log if start <= at < start + MINUTE] for start, _ in log]
    return max(map(len, windows), default=0), max(map(sum, windows), default=0)


callers = st.builds(
    lambda tokens, share, ends: Caller(tokens, tokens * share // 4, ends),
    st.integers(1, 10),
    st.integers(0, 4),
    st.sampled_from(["well", "well", "well", "failed", "slow_down", "given_back"]),
)


@tries(40)
@given(
    st.one_of(st.none(), st.integers(1, 4)),
    st.one_of(st.none(), st.integers(10, 30)),
    st.lists(callers, min_size=1, max_size=12),
)
def test_whatever_callers_do_no_minute_holds_more_than_the_caps_and_all_come_back(
    requests: int | None, tokens: int | None, given_callers: list[Caller]
) -> None:
    clock, log, lock = FakeClock(), list[tuple[float, int]](), threading.Lock()
    meter = Meter("a provider", RateLimit(requests, tokens), clock)
    # a default binds it
    together([lambda caller=caller: call(meter, caller, log, lock) for caller in given_callers])  # type: ignore[misc]
    count, used = most_in_a_minute(log)
    assert requests is None or count <= requests
    assert tokens is None or used <= tokens
    assert (meter.waiting, meter._flying) == (0, 0)


def test_a_hundred_callers_at_once_pass_no_cap_and_each_is_woken_once() -> None:
    clock, log, lock = FakeClock(), list[tuple[float, int]](), threading.Lock()
    meter = Meter("a provider", RateLimit(10, 1400), clock)
    together([lambda: call(meter, Caller(150, 100, "well"), log, lock) for _ in range(100)])
    count, used = most_in_a_minute(log)
    assert (len(log), count <= 10, used <= 1400) == (100, True, True)
    # Each waits at most once for the place in front and once or twice for the minute; a herd would wake all
    # for every place.
    assert clock.waits <= 300


def test_callers_leave_in_the_order_in_which_they_came() -> None:
    clock, order = FakeClock(), list[int]()
    meter = Meter("a provider", RateLimit(1), clock)
    gate = threading.Event()
    first = meter.enter(0)

    # The clock stands still until all are in the line.
    def wait(call: threading.Event, seconds: float | None) -> bool:
        assert gate.wait(STUCK_S)
        return FakeClock.wait(clock, call, seconds)

    clock.wait = wait  # type: ignore[method-assign]  # a clock with a brake

    def come(number: int) -> None:
        sent = meter.enter(0)
        order.append(number)
        meter.leave(sent, 0, well=True)

    threads = []
    for number in range(8):
        threads.append(threading.Thread(target=come, args=(number,), daemon=True))
        threads[-1].start()
        until = time.monotonic() + STUCK_S
        while meter.waiting <= number and time.monotonic() < until:
            time.sleep(0.001)
    gate.set()
    meter.leave(first, 0, well=True)
    for thread in threads:
        thread.join(STUCK_S)
    assert order == list(range(8))


def test_after_a_provider_asked_to_slow_down_one_call_goes_alone_first() -> None:
    clock, flying, most = FakeClock(), 0, 0
    lock, turns = threading.Lock(), iter([False])

    def say(_: Request) -> Answer:
        nonlocal flying, most
        with lock:
            flying += 1
            calm = next(turns, True)
            if not calm:
                flying -= 1
                raise trouble("rate_limit", after=20)
            most = max(most, flying) if not done else most
        time.sleep(0.005)
        with lock:
            flying -= 1
            done.append(1)
        return answer()

    done: list[int] = []
    model = RateLimited(Told(say), Meter("a provider", RateLimit(1000), clock))
    with pytest.raises(ModelTrouble):
        model.ask(request())
    before = clock.now()

    def ask() -> None:
        model.ask(request())

    together([ask] * 20)
    assert clock.now() - before >= 20
    assert (most, len(done)) == (1, 20)


def test_a_line_can_be_called_off_and_works_again_afterwards() -> None:
    meter = Meter("a provider", RateLimit(1))
    held, wrong = meter.enter(0), list[ModelTrouble]()

    def come() -> None:
        with pytest.raises(ModelTrouble) as caught:
            meter.enter(0)
        wrong.append(caught.value)

    threads = [threading.Thread(target=come, daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + STUCK_S
    while meter.waiting < 5 and time.monotonic() < until:
        time.sleep(0.001)
    meter.call_off()
    for thread in threads:
        thread.join(STUCK_S)
    assert [(each.kind, each.retryable, each.maybe_billed) for each in wrong] == [
        ("unreachable", True, False)
    ] * 5
    meter.give_back(held)
    assert meter.enter(0).flying


def test_a_call_that_no_minute_can_hold_is_refused_and_names_the_setting() -> None:
    model = RateLimited(saying(answer()), Meter("openai", RateLimit(tokens=50), FakeClock()))
    with pytest.raises(ModelTrouble, match=r"openai may send 50 a minute \(`tokens_per_minute`\)") as caught:
        model.ask(request(most=60))
    assert not caught.value.retryable


def test_a_call_that_a_breaker_kept_back_uses_no_place() -> None:
    clock = FakeClock()
    down = Breaker(saying(trouble("server")), Circuit("m", Patience(trips=1), clock))
    model = RateLimited(down, Meter("a provider", RateLimit(2), clock))
    with pytest.raises(ModelTrouble):
        model.ask(request())
    before = clock.now()
    for _ in range(10):
        with pytest.raises(NotSent):
            model.ask(request())
    assert clock.now() == before


def test_what_was_not_used_is_free_for_the_next() -> None:
    clock = FakeClock()
    model = RateLimited(saying(answer(used=10)), Meter("a provider", RateLimit(tokens=150), clock))
    for _ in range(4):
        model.ask(request(most=100))
    assert clock.now() == 1000.0


def test_the_count_of_tokens_is_on_the_high_side_and_knows_tools() -> None:
    plain = request("x" * 300, most=1)
    tool = OfferedTool("read_file", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
    with_tool = Request(plain.key, plain.stage, plain.system, plain.blocks, (tool,), plain.max_output_tokens)
    assert 100 < most_tokens(plain) < 130
    assert most_tokens(with_tool) > most_tokens(plain) + 20


def test_a_pause_of_more_than_a_minute_is_not_waited_for() -> None:
    clock = FakeClock()
    meter = Meter("a provider", RateLimit(10), clock)
    meter.slow_down(61)
    with pytest.raises(
        NotSent, match=r"a provider asks to wait another 61 s; the call was not sent\."
    ) as caught:
        meter.enter(0)
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after_s) == ("rate_limit", True, 61)
    assert (clock.waits, meter.waiting) == (0, 0)
    clock.pass_(1)
    assert meter.enter(0).at == 1061.0
