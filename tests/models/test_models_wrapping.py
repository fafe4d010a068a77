"""Retry, fallback and tracing: each attempt is told, none is made that cannot help."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.models.base import Answer, ModelTrouble, Request, TroubleKind
from agentforge.models.known.providers import known
from agentforge.models.wrap.breaker import Patience
from agentforge.models.wrap.retry import Attempt, Retrying, Tries
from agentforge.models.wrap.stack import Stack
from agentforge.models.wrap.trace import EndedCall, TracedCall, Tracing
from tests.models.doubles import FakeClock, Told, answer, request, saying, trouble
from tests.rows import every


def retrying(model: Told, seen: list[Attempt], clock: FakeClock) -> Retrying:
    return Retrying(model, Tries(most=3), seen.append, clock, lambda: 0.0)


def test_every_attempt_is_told_with_its_pause() -> None:
    clock, seen = FakeClock(), list[Attempt]()
    model = saying(trouble("server"), trouble("rate_limit", after=7), answer())
    assert retrying(model, seen, clock).ask(request()).text == "{}"
    assert [(each.number, each.trouble.kind if each.trouble else None, each.pause_s) for each in seen] == [
        (1, "server", 0.5),
        (2, "rate_limit", 7),
        (3, None, None),
    ]
    assert clock.now() == 1007.5


@every("kind", ["auth", "bad_request", "quota", "no_model", "not_installed", "window"])
def test_what_would_only_happen_again_is_not_tried_again(kind: TroubleKind) -> None:
    seen: list[Attempt] = []
    model = saying(trouble(kind))
    with pytest.raises(ModelTrouble):
        retrying(model, seen, FakeClock()).ask(request())
    assert (len(model.asked), [each.pause_s for each in seen]) == (1, [None])


def test_a_provider_that_asks_for_an_hour_is_not_waited_for() -> None:
    clock = FakeClock()
    with pytest.raises(ModelTrouble):
        retrying(saying(trouble("rate_limit", after=3600)), [], clock).ask(request())
    assert clock.now() == 1000.0


@given(st.integers(1, 10), st.one_of(st.none(), st.integers(0, 100)), st.floats(0, 1))
def test_a_pause_is_never_shorter_than_asked_for_nor_longer_than_the_limit(
    attempt: int, asked: int | None, chance: float
) -> None:
    tries = Tries(most=8, longest_s=60)
    error = ModelTrouble("rate_limit", "Slow down.", retryable=True, retry_after_s=asked)
    pause = tries.pause(error, attempt, chance)
    if attempt >= 8 or (asked is not None and asked > 60):
        assert pause is None
    else:
        assert pause is not None
        assert (asked or 0) <= pause <= 61


def test_a_retry_reserves_every_attempt() -> None:
    one = saying(answer()).worst_case(request(), 50)
    assert Retrying(saying(answer()), Tries(most=3)).worst_case(request(), 50).tokens == 3 * one.tokens


class Notes:
    """A tracer that keeps everything."""

    def __init__(self) -> None:
        self.calls: list[TracedCall] = []
        self.ends: list[EndedCall] = []

    def began(self, call: TracedCall) -> None:
        self.calls.append(call)

    def ended(self, ended: EndedCall) -> None:
        self.ends.append(ended)


def test_a_tracer_sees_the_beginning_the_end_the_usage_and_the_trouble_but_no_text() -> None:
    notes, clock = Notes(), FakeClock()

    def say(_: Request) -> Answer:
        clock.pass_(2)
        return answer(33)

    Tracing(Told(say), notes, clock).ask(request("a secret text"))
    with pytest.raises(ModelTrouble):
        Tracing(saying(trouble("server")), notes, clock).ask(request())

    def interrupted(_: Request) -> Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tracing(Told(interrupted), notes, clock).ask(request())
    assert [
        (end.seconds, end.usage.input_tokens if end.usage else None, end.trouble) for end in notes.ends
    ] == [
        (2, 33, None),
        (0, None, "server"),
        (0, None, None),
    ]
    assert [end.call for end in notes.ends] == notes.calls
    assert len({call.number for call in notes.calls}) == 3
    assert "a secret text" not in repr((notes.calls, notes.ends))


def test_the_stack_shares_a_circuit_per_model_and_a_meter_per_account_and_calls_a_line_off() -> None:
    notes, clock = Notes(), FakeClock()
    stack = Stack(notes, Patience(trips=1), clock)
    provider = replace(known({})["openai"], requests_per_minute=3)
    down = stack.around("openai:a", saying(trouble("server")), provider)
    well = stack.around("openai:b", saying(answer()), provider)
    for _ in range(3):
        with pytest.raises(ModelTrouble):
            down.ask(request())
    assert [stack.circuit(spec).standing().state for spec in ("openai:a", "openai:b")] == ["open", "closed"]
    well.ask(request())
    well.ask(request())
    assert clock.now() == 1000.0  # two calls of `a` were kept back, and used no place
    well.ask(request())
    assert clock.now() == 1060.0
    assert len(notes.ends) == 6
    stack.call_off()
