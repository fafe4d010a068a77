"""Journals of every release stay readable."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentforge.core.effects import Await
from agentforge.core.pending import pending
from agentforge.core.state import TERMINAL
from agentforge.store.layout import TaskFiles
from agentforge.store.task.journal import Journal
from agentforge.store.task.upcast import VERSION, Recorded, TooNew, Upgrade, upcast
from agentforge.system.canon import digest

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
