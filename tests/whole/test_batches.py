"""One request by batch: on every wire to the end that a live one has, whatever is killed on the way, and left alone while it waits."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentforge import wiring
from agentforge.core.events import AskAnswered, AskPromoted, AskSent, AskTicketed, Event
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Amount
from agentforge.models.providers import Means, Wire, known
from agentforge.store.journal import read_lines
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.testing import SERVERS, Scripted, WireServer
from agentforge.testing.batches import BATCHES, Batches
from tests.whole.checkouts import FIX, PROJECT, Person, make_repository, patch, review

pytestmark = pytest.mark.slow

KEY = "a-key-of-no-known-form"
REPLIES: list[Any] = [patch(*FIX)["reply"], review()["reply"]]
MEANS: dict[Wire, Means] = {"openai-responses": "schema"}
TOP = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTFORGE_BATCH_POLL_S", "0.05")


@contextmanager
def provider(wire: Wire, home: Path) -> Iterator[tuple[Batches, WireServer]]:
    """A provider that says its lines once, to whoever asks next, live or by batch."""
    turns = iter(REPLIES)

    def answer(_: Mapping[str, Json]) -> Scripted:
        said: Scripted = next(turns)
        return said

    batches = BATCHES[wire](answer)
    with SERVERS[wire](answer, routes=[batches.route]) as server:
        entry = {"base_url": server.base_url, "reply": MEANS.get(wire, "calls")}
        (home / "config.yaml").write_text(json.dumps({"providers": {wire: entry}, "batch": {"window_s": 0}}))
        yield batches, server


def begin(checkout: Path, wire: Wire, deadline_s: int = 0) -> TaskFiles:
    options = wiring.StartOptions("double must double", lane="hotfix", model=f"{wire}:any", delivery="batch", deadline_s=deadline_s)
    return wiring.start(Site.open(checkout), options)


def finish(checkout: Path, files: TaskFiles) -> State:
    with wiring.driving(Site.open(checkout), files) as driver:
        return driver.run()


def events(files: TaskFiles) -> list[Event]:
    return [event for line in read_lines(files.journal) for event in line.events]


def left(home: Path) -> list[Path]:
    return [path for path in (home / "batches").rglob("*") if path.is_file() and path.name != "lock"]


def test_one_request_by_batch_on_every_wire_ends_in_the_tree_of_a_live_one(tmp_path: Path, agentforge_home: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"replies": [patch(*FIX), review()]}))
    live = make_repository(tmp_path / "live", PROJECT)
    options = wiring.StartOptions("double must double", lane="hotfix", model=f"scripted:{script}")
    trees = {finish(live, wiring.start(Site.open(live), options)).tree}
    for wire in BATCHES:
        assert known({})[wire].wire == wire
        checkout = make_repository(tmp_path / wire, PROJECT)
        with provider(wire, agentforge_home) as (batches, server):
            files = begin(checkout, wire)
            state = finish(checkout, files)
        assert state.status == "completed", (wire, state.open_escalation)
        told = events(files)
        assert [event.delivery for event in told if isinstance(event, AskAnswered)] == ["batch", "batch"], wire
        assert len([event for event in told if isinstance(event, AskTicketed)]) == 2, wire
        assert (batches.submissions, len(server.requests), state.unaccounted, left(agentforge_home)) == (2, 0, Amount(), []), wire
        trees.add(state.tree)
    assert len(trees) == 1


def test_a_driver_killed_around_its_batch_leaves_one_submission_and_no_bill(tmp_path: Path, agentforge_home: Path) -> None:
    checkout = make_repository(tmp_path / "checkout", PROJECT)
    with provider("anthropic", agentforge_home) as (batches, _):
        files = begin(checkout, "anthropic")
        for moment, made in (("before submit", 0), ("after submit", 1), ("before results", 1)):
            words = (sys.executable, "-m", "tests.whole.batch_driver", str(checkout), files.task_id, moment)
            done = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False)
            assert (done.returncode, batches.submissions) == (-signal.SIGKILL, made), (moment, done.stderr[-2000:])
        state = finish(checkout, files)
    assert (state.status, state.unaccounted, state.spent.calls, batches.submissions) == ("completed", Amount(), 2, 2)
    sent = [event.key for event in events(files) if isinstance(event, AskSent)]
    assert len(sent) == len(set(sent)) == 2


def test_a_task_that_waits_for_a_batch_is_left_and_collected(tmp_path: Path, agentforge_home: Path) -> None:
    person = Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")
    with provider("anthropic", agentforge_home) as (batches, server):
        batches.hold = True
        refused = person.run("start", "double must double", "--model", "anthropic:any", "--detach")
        assert (refused.code, "for batches" in refused.said) == (2, True), refused.said
        none = person.run("start", "double must double", "--model", "ollama:any", "--batch")
        assert (none.code, "can be asked by batch" in none.said) == (2, True), none.said
        words = ("start", "double must double", "--lane", "hotfix", "--model", "anthropic:any", "--batch", "--detach")
        done = person.run(*words)
        assert (done.code, batches.submissions) == (0, 1), done.said
        assert f"waits for a batch; `agentforge continue {person.only_task()}` collects" in done.said
        again = person.run("continue", "--detach")
        assert (again.code, "waits for a batch" in again.said, batches.submissions) == (0, True, 1), again.said
        batches.hold = False
        while (done := person.run("continue", "--detach")).code == 0 and "waits for a batch" in done.said:
            pass
        assert (done.code, "Done:" in done.said) == (0, True), done.said
    assert (batches.submissions, len(server.requests)) == (2, 0)


def test_a_call_whose_batch_is_late_is_sent_live_and_the_batch_is_canceled(tmp_path: Path, agentforge_home: Path) -> None:
    checkout = make_repository(tmp_path / "checkout", PROJECT)
    with provider("anthropic", agentforge_home) as (batches, server):
        batches.hold = True
        files = begin(checkout, "anthropic", deadline_s=1)
        state = finish(checkout, files)
    told = events(files)
    assert state.status == "completed", state.open_escalation
    assert [event.delivery for event in told if isinstance(event, AskSent)] == ["batch", "live", "batch", "live"]
    assert len([event for event in told if isinstance(event, AskPromoted)]) == 2
    assert (len(server.requests), len(batches.cancels), state.unaccounted.calls, state.spent.calls) == (2, 2, 2, 2)
    assert left(agentforge_home) == []
