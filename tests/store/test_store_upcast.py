"""Journals of every release stay readable."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentforge.core.digests import RequestDigest
from agentforge.core.effects import Ask, Await
from agentforge.core.events import event_from_json, event_to_json
from agentforge.core.evolve import evolve
from agentforge.core.inputs import AskStarted, DriverStarted, Resolution, Resume
from agentforge.core.machine import TERMINAL
from agentforge.core.pending import pending, worst_case
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.upcast import VERSION, Recorded, TooNew, Upgrade, upcast
from agentforge.system.canon import digest
from tests.core.random_world import World, outcomes

JOURNALS = sorted((Path(__file__).parent / "journals").glob("*.yaml"))


def test_there_are_journals_of_earlier_releases() -> None:
    assert {f"v{version}" for version in range(1, VERSION + 1)} <= {
        path.name.split("-")[0] for path in JOURNALS
    }


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_a_journal_of_a_release_still_replays_to_its_end(path: Path, tmp_path: Path) -> None:
    files = TaskFiles(tmp_path / "task")
    files.root.mkdir()
    data = path.read_bytes()
    files.journal.write_bytes(data)
    journal = Journal.open(files, lambda: datetime(2030, 1, 1, tzinfo=UTC), write=False)
    assert journal.size == len(data)
    owed = pending(journal.state)
    assert journal.state.status in TERMINAL or owed
    assert (journal.state.status == "blocked") == any(isinstance(effect, Await) for effect in owed)
    assert digest(data) == digest(files.journal.read_bytes()), "reading changes nothing"


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_every_outcome_of_an_old_journal_has_the_key_that_is_owed_there_today(path: Path) -> None:
    state = State()
    for line in read_lines(path):
        call, _, number = line.key.rpartition("/ticket/")
        owed = {effect.key for effect in pending(state)} | {flight.key for flight in state.flights}
        if state.task_id and not line.key.startswith(("driver/", "ESC-", "inbox/", "resume/", "abort/")):
            assert (call if number.isdigit() and call else line.key.removesuffix("/sent")) in owed, line.key
        for event in line.events:
            state = evolve(state, event)


@pytest.mark.parametrize(
    "path", [path for path in JOURNALS if path.stem.startswith(f"v{VERSION}")], ids=lambda path: path.stem
)
def test_an_event_is_written_today_as_every_journal_of_its_version_has_it(path: Path) -> None:
    for line in path.read_text().partition("actions:\n")[2].splitlines():
        for recorded in json.loads(line.removeprefix("- "))["events"]:
            assert event_to_json(event_from_json(recorded)) == recorded


def _finish(state: State) -> State:
    """Drives a task to its end, in a world where everything goes well and people say yes."""
    world = World(state)
    world.advance("driver", DriverStarted())
    for number in range(400):
        state = world.state
        if state.status == "completed":
            break
        waiting, owed = state.open_escalation, pending(state)
        if waiting is not None:
            world.advance(f"yes/{number}", Resolution(waiting.id, "yes", "ada"))
        elif state.status in TERMINAL:
            world.advance(f"again/{number}", Resume("ada"))
        elif isinstance(ask := owed[0], Ask) and state.flight(ask.key) is None:
            sent = AskStarted(RequestDigest("hash", "model", worst_case(state, state.run_of(ask.run))))
            world.advance(f"{ask.key}/sent", sent)
        else:
            world.advance(owed[0].key, outcomes(owed[0], state)[0])
    return world.state


@pytest.mark.slow
@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_a_task_of_an_old_release_finishes_from_wherever_its_driver_was_killed(path: Path) -> None:
    state = State()
    for line in read_lines(path):
        for event in line.events:
            state = evolve(state, event)
        if line.seq % 5 == 0:
            assert _finish(state).status == "completed", line.seq
    assert _finish(state).status == "completed"


def test_events_of_the_first_version_name_their_runs_and_hold_their_values() -> None:
    seated: Recorded = {"type": "ask_answered", "key": "k", "seat": "reviewer", "ref": "r", "actions": 2}
    assert upcast(1, seated) == {
        "type": "ask_answered",
        "key": "k",
        "run": "worker/reviewer",
        "reply": {"ref": "r", "actions": 2},
    }
    assert upcast(1, {"type": "step_opened", "step": 3}) == {
        "type": "step_opened",
        "step": 3,
        "run": "worker",
    }
    assert upcast(1, {"type": "review_given", "seat": "arbiter"}) == {
        "type": "handed_in",
        "run": "worker/arbiter",
    }
    assert upcast(1, {"type": "discarded", "key": "k", "seat": "reviewer"}) == {
        "type": "discarded",
        "key": "k",
    }
    assert upcast(1, {"type": "task_created", "task_id": "t"}) == {
        "type": "task_created",
        "spec": {"task_id": "t"},
    }
    entered = upcast(1, {"type": "stage_entered", "stage": "spec", "seat": "reviewer"})
    assert (entered["run"], entered["owner"], entered["parent"]) == ("worker/reviewer", "reviewer", "worker")
    for stage, seat, run in (("spec", "", "worker"), ("spec/reviewer", "reviewer", "worker/reviewer")):
        asked = upcast(1, {"type": "escalated", "escalation": {"stage": stage, "seat": seat}})
        assert asked["escalation"] == {"stage": stage, "run": run}
    nobody = upcast(1, {"type": "escalated", "escalation": {"stage": "prepare"}})
    assert nobody["escalation"] == {"stage": "prepare"}


def _rename(event: Recorded) -> Recorded:
    return {**event, "type": "stage_entered"} if event["type"] == "phase_entered" else event


def _count_from_one(event: Recorded) -> Recorded:
    return {**event, "attempt": int(str(event["attempt"])) + 1} if event["type"] == "stage_entered" else event


def test_old_events_pass_through_every_version_between() -> None:
    upgrades: dict[int, Upgrade] = {1: _rename, 2: _count_from_one}
    old: Recorded = {"type": "phase_entered", "stage": "red", "attempt": 0}
    assert upcast(1, old, upgrades, 3) == {"type": "stage_entered", "stage": "red", "attempt": 1}
    assert upcast(2, {"type": "stage_entered", "attempt": 0}, upgrades, 3)["attempt"] == 1
    assert upcast(3, old, upgrades, 3) is old


def test_a_version_from_the_future_is_refused() -> None:
    with pytest.raises(TooNew):
        upcast(VERSION + 1, {"type": "moved"})
