"""The loop alone: a real journal, and a world in which every effect just answers."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Handover,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.errors import Unusable, UserError
from agentforge.core.events import AskLost, Discarded, Event, Resumed
from agentforge.core.inputs import (
    Abort,
    Acted,
    AskStarted,
    Assembled,
    BaselineReady,
    CheckRan,
    CommitMade,
    DeliveryMade,
    DependenciesReady,
    Elapsed,
    Judged,
    Message,
    Outcome,
    Parked,
    Prepared,
    Resolution,
    Resume,
)
from agentforge.core.pending import worst_case
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Question
from agentforge.engines.local import IN_FLIGHT, Ports, _startable, drive
from agentforge.store.layout import TaskFiles
from agentforge.store.task import inbox
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.times import utc_now
from tests.core.broken import broken_rule
from tests.core.scenes import BASELINE, PASSED, answered, created, handed_in

SOON_S = 10
"""Longer than anything here takes; a test that waits so long has failed."""


@dataclass
class World:
    """Answers every effect at once, notes what ran beside what, and lets a test step in before an answer."""

    journal: Journal
    before: Callable[[Effect, State], Outcome | None] = lambda effect, state: None
    started: list[str] = field(default_factory=list)
    beside: list[frozenset[str]] = field(default_factory=list)
    """For each start: what used the worktree at that moment, the starter included."""
    refused: list[str] = field(default_factory=list)
    _using: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def perform(self, effect: Effect, state: State) -> Outcome:
        with self._lock:
            self.started.append(effect.key)
            if effect.uses == "worktree":
                self._using.add(effect.key)
            self.beside.append(frozenset(self._using))
        try:
            return self.before(effect, state) or self.answer(effect, state)
        finally:
            with self._lock:
                self._using.discard(effect.key)

    def answer(self, effect: Effect, state: State) -> Outcome:  # noqa: C901  # one arm per effect is the point
        match effect:
            case Prepare():
                return Prepared(state.tree)
            case TakeBaseline():
                return BaselineReady(BASELINE)
            case Assemble():
                return Assembled(ContextDigest("context", 500))
            case Ask():
                self.send(effect, state)
                return answered("success")
            case Pause():
                return Elapsed()
            case Act():
                stage = state.stage_of(state.run_of(effect.run))
                return handed_in(stage, f"{state.tree}'" if stage.checks else state.tree)
            case Check():
                return CheckRan(PASSED, "checks")
            case Judge(run, _, gate):
                products = state.stage_of(state.run_of(run)).products
                finals = tuple(ArtifactRef(item.contract, item.phase, 1, "final") for item in products)
                return Judged(VerdictDigest(gate, "passed", (), f"verdict-{gate}", finals))
            case Commit():
                return CommitMade(StageResult(state.tree, f"commit-{state.run_of(effect.run).stage}"))
            case Deliver():
                return DeliveryMade(Handover("branch", state.commit, "evidence"))
            case Depend():
                return DependenciesReady()
            case Await():
                raise AssertionError("nobody performs a person")

    def send(self, effect: Ask, state: State) -> None:
        self.journal.advance(
            f"{effect.key}/sent",
            AskStarted(RequestDigest("hash", "scripted", worst_case(state, state.run_of(effect.run)))),
        )

    def messages(self) -> Iterable[tuple[str, Message]]:
        return inbox.receive(self.journal.files, self.journal.known, lambda _: None)

    def drive(self) -> State:
        return drive(self.journal, Ports(self.perform, self.messages, self._refuse))

    def say(self, message: Message, identity: str) -> None:
        assert inbox.send(self.journal.files, message, identity)

    def told(self) -> list[Event]:
        return [event for line in read_lines(self.journal.files.journal) for event in line.events]

    def wait_for(self, condition: Callable[[State], bool]) -> None:
        """Until the loop has taken something in."""
        for _ in range(SOON_S * 100):
            if condition(self.journal.state):
                return
            threading.Event().wait(0.01)
        raise AssertionError("it never came")

    def _refuse(self, key: str, error: UserError) -> None:
        inbox.refuse(self.journal.files, key)
        self.refused.append(f"{key}: {error}")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Journal.create(TaskFiles(tmp_path / "task-1"), created(), utc_now))


def test_a_task_runs_to_its_end_and_each_effect_is_performed_once(world: World) -> None:
    assert world.drive().status == "completed"
    assert len(set(world.started)) == len(world.started)
    recorded = [line.key for line in read_lines(world.journal.files.journal)]
    assert sorted(world.started) == sorted(
        key for key in recorded if key != "create" and not key.endswith("/sent")
    )


def test_a_task_that_is_over_owes_nothing(world: World) -> None:
    world.drive()
    started, length = list(world.started), world.journal.length
    assert world.drive().status == "completed"
    assert (world.started, world.journal.length) == (started, length)


def test_the_baseline_is_taken_beside_the_first_call(world: World) -> None:
    asked = threading.Event()

    def before(effect: Effect, state: State) -> None:
        if isinstance(effect, Ask):
            asked.set()
        if isinstance(effect, TakeBaseline):
            assert asked.wait(SOON_S)

    world.before = before
    assert world.drive().status == "completed"


def test_a_withdrawn_effect_keeps_the_worktree_until_it_ends_and_is_then_discarded(world: World) -> None:
    def before(effect: Effect, state: State) -> None:
        if effect.key == "frame/1/1/act":
            world.say(Abort("ada", "wrong request"), "1")
            world.wait_for(lambda state: state.status == "cancelled")
            world.say(Resume("ada"), "2")
            world.wait_for(lambda state: state.segment == 2)

    world.before = before
    assert world.drive().status == "completed"
    assert "prepare/2" in world.started
    assert max(len(users) for users in world.beside) == 1
    told = world.told()
    discarded = next(number for number, event in enumerate(told) if isinstance(event, Discarded))
    assert discarded > next(number for number, event in enumerate(told) if isinstance(event, Resumed))
    assert world.started.index("frame/1/2/assemble") > world.started.index("prepare/2")


def test_an_answer_that_comes_after_an_abort_is_paid_and_not_used(world: World) -> None:
    def before(effect: Effect, state: State) -> Outcome | None:
        if not isinstance(effect, Ask):
            return None
        world.send(effect, state)
        world.say(Abort("ada"), "1")
        world.wait_for(lambda state: state.status == "cancelled")
        return answered("success")

    world.before = before
    state = world.drive()
    cost = answered().reply.cost
    assert (state.status, state.spent, state.unaccounted.calls, state.flights) == ("cancelled", cost, 0, ())
    assert world.told()[-1] == Discarded("frame/1/1/ask/0", cost)
    assert "frame/1/1/act" not in world.started


def test_when_only_a_person_is_owed_the_driver_ends_and_an_answer_in_the_inbox_goes_on(world: World) -> None:
    def before(effect: Effect, state: State) -> Outcome | None:
        if effect.key == "frame/1/1/act":
            return Acted(ActionResults("results", state.tree, ()), question=Question("Which flag?"))
        return None

    world.before = before
    state = world.drive()
    assert state.status == "blocked"
    assert state.open_escalation is not None

    world.say(Resolution(state.open_escalation.id, "--size", "ada"), "1")
    assert world.drive().status == "completed"


def test_a_message_that_makes_no_sense_is_refused_and_the_task_goes_on(world: World) -> None:
    world.say(Resolution("ESC-009", "yes", "ada"), "1")
    assert world.drive().status == "completed"
    assert len(world.refused) == 1
    assert world.refused[0].startswith("inbox/1: ESC-009 is not an escalation")


def test_a_failing_world_stops_the_driver_and_nothing_is_recorded(world: World) -> None:
    def before(effect: Effect, state: State) -> None:
        if effect.key == "green/1/3/act":
            raise Unusable("The disk is full.")

    world.before = before
    with pytest.raises(Unusable, match="The disk is full"):
        world.drive()
    keys = [line.key for line in read_lines(world.journal.files.journal)]
    assert keys[-1] == "green/1/3/ask/0"

    world.before = lambda effect, state: None
    assert world.drive().status == "completed"
    assert [line.key for line in read_lines(world.journal.files.journal)][: len(keys) + 1] == [
        *keys,
        "green/1/3/act",
    ]
    assert world.journal.state.unaccounted.calls == 0


def test_a_bug_in_an_effect_crashes_the_driver_instead_of_hanging_it(world: World) -> None:
    def before(effect: Effect, state: State) -> None:
        if isinstance(effect, Act):
            raise ZeroDivisionError

    world.before = before
    with pytest.raises(ZeroDivisionError):
        world.drive()


def test_a_call_that_was_in_flight_when_the_driver_died_is_lost_and_sent_again(world: World) -> None:
    def before(effect: Effect, state: State) -> None:
        if isinstance(effect, Ask):
            world.send(effect, state)
            raise Unusable("The machine goes down.")

    world.before = before
    with pytest.raises(Unusable):
        world.drive()
    reserved = world.journal.state.in_flight()

    world.before = lambda effect, state: None
    state = world.drive()
    assert (state.status, state.unaccounted) == ("completed", reserved)
    assert AskLost(WORKER, "frame/1/1/ask/0", reserved) in world.told()
    assert "frame/1/1/ask/1" in world.started


def test_a_parked_call_ends_the_driver_and_the_next_one_owes_it_under_the_same_key(world: World) -> None:
    def before(effect: Effect, state: State) -> Outcome | None:
        if not isinstance(effect, Ask):
            return None
        world.journal.advance(
            f"{effect.key}/sent",
            AskStarted(
                RequestDigest("hash", "one", worst_case(state, state.run_of(effect.run)), delivery="batch")
            ),
        )
        return Parked()

    world.before = before
    state = world.drive()
    assert (state.status, [flight.key for flight in state.flights]) == ("running", ["frame/1/1/ask/0"])
    assert world.started.count("frame/1/1/ask/0") == 1
    assert "frame/1/1/ask/0" not in [line.key for line in read_lines(world.journal.files.journal)]

    world.before = lambda effect, state: None
    state = world.drive()
    assert (state.status, state.unaccounted.calls, world.started.count("frame/1/1/ask/0")) == (
        "completed",
        0,
        2,
    )


def test_what_may_start_is_bounded_and_uses_the_worktree_alone() -> None:
    calls = tuple(Ask(WORKER, f"ask/{number}", 0) for number in range(IN_FLIGHT + 2))
    assert _startable(calls, {}) == list(calls[:IN_FLIGHT])
    assert _startable(calls, {call.key: call for call in calls[:2]}) == list(calls[2:IN_FLIGHT])

    owed: tuple[Effect, ...] = (
        Await("await/ESC-001", "ESC-001"),
        Act(WORKER, "act"),
        Check(WORKER, "check"),
        TakeBaseline("baseline"),
    )
    assert _startable(owed, {}) == [Act(WORKER, "act"), TakeBaseline("baseline")]
    assert _startable(owed, {"act": Act(WORKER, "act")}) == [TakeBaseline("baseline")]


def test_an_effect_that_is_owed_again_after_its_outcome_is_performed_once_and_halts_the_task_by_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with broken_rule(monkeypatch):
        state = world.drive()
    assert state.open_escalation is not None
    assert (state.status, state.open_escalation.kind) == ("blocked", "confused")
    assert "frame/1/1/assemble is owed again" in state.open_escalation.question.text
    assert world.started.count("frame/1/1/assemble") == 1
    world.say(Resolution("ESC-001", "retry", "ada"), "1")
    assert world.drive().status == "completed", "mended, it goes on"
