"""The breaker: opens on what says "down", and lets exactly one call try."""

import threading
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.models.base import Answer, ModelTrouble, Request, TroubleKind
from agentforge.models.wrap.breaker import Breaker, Circuit, NotSent, Patience
from tests.models.doubles import STUCK_S, FakeClock, Told, answer, request, saying, together, trouble
from tests.rows import every

PATIENCE = Patience(trips=3, cool_s=30, longest_s=100)


def failing(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ModelTrouble):
            breaker.ask(request())


def test_three_failures_in_a_row_open_it_and_the_refusal_says_until_when() -> None:
    clock = FakeClock()
    model = saying(trouble("server"), name="m")
    breaker = Breaker(model, Circuit("openai:m", PATIENCE, clock))
    failing(breaker, 3)
    clock.pass_(12)
    with pytest.raises(
        NotSent, match="openai:m failed 3 times in a row and is left alone for another 18 s"
    ) as caught:
        breaker.ask(request())
    assert (caught.value.retryable, caught.value.maybe_billed, caught.value.retry_after_s) == (
        True,
        False,
        18,
    )
    assert len(model.asked) == 3


@every("kind", ["auth", "bad_request", "rate_limit", "quota", "no_model"])
def test_a_server_that_refuses_is_not_down(kind: TroubleKind) -> None:
    breaker = Breaker(saying(trouble(kind)), Circuit("m", PATIENCE, FakeClock()))
    failing(breaker, 10)
    assert breaker.circuit.standing().state == "closed"


def test_a_success_between_starts_the_count_again() -> None:
    down = trouble("timeout")
    breaker = Breaker(saying(down, down, answer(), down, down, answer()), Circuit("m", PATIENCE, FakeClock()))
    failing(breaker, 2)
    breaker.ask(request())
    failing(breaker, 2)
    assert breaker.circuit.standing().state == "closed"


def test_of_a_hundred_callers_at_a_half_open_circuit_exactly_one_gets_through() -> None:
    clock, inside, refused = FakeClock(), threading.Semaphore(0), list[NotSent]()
    circuit = Circuit("m", PATIENCE, clock)
    failing(Breaker(saying(trouble("unreachable")), circuit), 3)
    clock.pass_(30)

    def say(_: Request) -> Answer:
        assert inside.acquire(timeout=STUCK_S)
        return answer()

    probe = Told(say)
    breaker = Breaker(probe, circuit)

    def come() -> None:
        try:
            breaker.ask(request())
        except NotSent as error:
            refused.append(error)
            if len(refused) == 99:
                inside.release()

    together([come] * 100)
    assert (len(probe.asked), len(refused)) == (1, 99)
    assert circuit.standing().state == "closed"


def test_a_failed_probe_leaves_it_alone_for_twice_as_long_up_to_a_limit() -> None:
    clock = FakeClock()
    breaker = Breaker(saying(trouble("server")), Circuit("m", PATIENCE, clock))
    failing(breaker, 3)
    waits = []
    for _ in range(3):
        waits.append(breaker.circuit.standing().wait_s)
        clock.pass_(waits[-1])
        failing(breaker, 1)
    assert (*waits, breaker.circuit.standing().wait_s) == (30, 60, 100, 100)


def test_an_interrupted_probe_lets_the_next_caller_try_at_once() -> None:
    clock = FakeClock()
    circuit = Circuit("m", PATIENCE, clock)
    failing(Breaker(saying(trouble("server")), circuit), 3)
    clock.pass_(30)

    def interrupted(_: Request) -> Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Breaker(Told(interrupted), circuit).ask(request())
    Breaker(saying(answer()), circuit).ask(request())
    assert circuit.standing().state == "closed"


def test_a_late_failure_from_before_it_opened_changes_nothing() -> None:
    clock = FakeClock()
    circuit = Circuit("m", PATIENCE, clock)
    late = [circuit.enter() for _ in range(5)]
    for era in late[:3]:
        circuit.leave(era, "down")
    clock.pass_(30)
    probe = circuit.enter()
    circuit.leave(late[3], "down")
    circuit.leave(late[4], "well")
    assert circuit.standing().state == "half-open"
    circuit.leave(probe, "well")
    assert circuit.standing().state == "closed"


Move = Literal["enter", "well", "down", "unknown", "time"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["enter", "well", "down", "unknown", "time"]), st.integers(0, 5)),
        max_size=60,
    )
)
def test_whatever_the_order_never_two_calls_are_let_through_a_circuit_that_is_not_closed(
    moves: list[tuple[Move, int]],
) -> None:
    clock = FakeClock()
    circuit = Circuit("m", Patience(trips=2, cool_s=10), clock)
    out: list[int] = []
    probes: set[int] = set()
    for move, number in moves:
        if move == "time":
            clock.pass_(number * 4)
        elif move == "enter":
            before = circuit.standing().state
            try:
                era = circuit.enter()
            except NotSent:
                assert before == "open" or (before == "half-open" and probes)
                continue
            assert before != "open"
            if before == "half-open":
                assert not probes
                probes.add(era)
            out.append(era)
        elif out:
            era = out.pop(number % len(out))
            circuit.leave(era, move)
            probes.discard(era)
        if circuit.standing().state == "closed":
            probes.clear()
