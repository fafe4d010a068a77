"""What the tests of the wrappers stand on: a clock that moves when somebody waits, and a model that does as
it is told.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from agentforge.models.base import Answer, Block, ModelTrouble, Request, Reservation, TroubleKind, Usage

STUCK_S = 30.0
"""A test that waits longer in real time has found a deadlock."""


class FakeClock:
    """Time passes only while somebody waits for a while, and then at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 1000.0
        self.waits = 0

    def now(self) -> float:
        with self._lock:
            return self._now

    def pass_(self, seconds: float) -> None:
        with self._lock:
            self._now += seconds

    def wait(self, call: threading.Event, seconds: float | None) -> bool:
        with self._lock:
            self.waits += 1
            if seconds is not None:
                self._now += seconds
        if seconds is None and not call.wait(STUCK_S):
            raise AssertionError("nobody called a caller that waits")
        return call.is_set()


def request(text: str = "hello", tier: str = "generation", most: int = 100) -> Request:
    return Request("stage/1/1/ask/1", "stage", "", (Block("task", text),), (), most, tier=tier)


def answer(used: int = 10, model: str = "plain") -> Answer:
    return Answer("{}", None, None, Usage(used, 0), 0, model, "end")


def trouble(kind: TroubleKind, **more: int | bool) -> ModelTrouble:
    retryable = kind in ("rate_limit", "unreachable", "timeout", "server")
    after = more.get("after")
    return ModelTrouble(
        kind,
        f"{kind} happened.",
        retryable=bool(more.get("retryable", retryable)),
        retry_after_s=None if after is None else int(after),
    )


@dataclass
class Told:
    """Answers, or raises, as `say` decides; counts."""

    say: Callable[[Request], Answer]
    name: str = "plain"
    asked: list[str] = field(default_factory=list)

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        return Reservation(input_tokens + request.max_output_tokens, 7)

    def ask(self, request: Request) -> Answer:
        self.asked.append(request.key)
        return self.say(request)


def saying(*turns: Answer | ModelTrouble, name: str = "plain") -> Told:
    """One after the other; the last one again and again."""
    left = list(turns)
    lock = threading.Lock()

    def say(_: Request) -> Answer:
        with lock:
            turn = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(turn, ModelTrouble):
            raise turn
        return turn

    return Told(say, name)


def together(works: list[Callable[[], None]]) -> None:
    """Each in a thread of its own, all let go at once; fails if one does not come back or raises."""
    start, wrong = threading.Barrier(len(works)), list[BaseException]()

    def run(work: Callable[[], None]) -> None:
        try:
            start.wait(STUCK_S)
            work()
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(STUCK_S)
        assert not thread.is_alive(), "a caller never came back"
    if wrong:
        raise wrong[0]
