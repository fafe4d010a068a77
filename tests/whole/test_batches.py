"""One request by batch: on every wire to the end that a live one has, whatever is killed on the way, and left
alone while it waits.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.core.events import AskAnswered, AskPromoted, AskSent, AskTicketed, Event
from agentforge.core.reply import Json
from agentforge.core.runs import run_name
from agentforge.core.state import State
from agentforge.core.values import Amount
from agentforge.models.known.providers import ReplyFormat, Wire, known
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import read_lines
from agentforge.testing import SERVERS, Scripted, WireServer
from agentforge.testing.batch_service import Batches
from agentforge.testing.batches import BATCHES
from tests.depth import SOAK, telling
from tests.forked import ForkedCommand
from tests.whole.checkouts import FIX, PROJECT, QUESTION, Person, make_repository, patch, review
from tests.whole.full_plays import SECURITY, analyze, approves, intake, spec
from tests.whole.moments import before_the_first_call
from tests.whole.plays import REQUEST, SHOP

pytestmark = pytest.mark.slow

TO_THE_END: list[Any] = [patch(*FIX)["reply"], review()["reply"]]
TO_A_QUESTION: list[Any] = [patch(*FIX, QUESTION)["reply"]]
"""The same change and the same papers; what is judged after them is no matter of the way they came."""
MEANS: dict[Wire, ReplyFormat] = {"openai-responses": "schema"}
TOP = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTFORGE_BATCH_POLL_S", "0.05")


@contextmanager
def provider(wire: Wire, home: Path, replies: list[Any]) -> Iterator[tuple[Batches, WireServer]]:
    """A provider that says its lines once, to whoever asks next, live or by batch."""
    turns = iter(replies)

    def answer(_: Mapping[str, Json]) -> Scripted:
        said: Scripted = next(turns)
        return said

    batches = BATCHES[wire](answer)
    with SERVERS[wire](answer, routes=[batches.route]) as server:
        entry = {"wire": wire, "base_url": server.base_url, "reply": MEANS.get(wire, "calls")}
        (home / "config.yaml").write_text(
            json.dumps({"providers": {"mine": entry}, "batch": {"window_s": 0}})
        )
        yield batches, server


def by_batch(deadline_s: int = 0) -> agentforge.StartOptions:
    return agentforge.StartOptions(
        "double must double", lane="hotfix", model="mine:any", delivery="batch", deadline_s=deadline_s
    )


def finish(site: Site, files: TaskFiles) -> State:
    with agentforge.open_driver(agentforge.OpenTask.open(site, files)) as driver:
        return driver.run()


def events(files: TaskFiles) -> list[Event]:
    return [event for line in read_lines(files.journal) for event in line.events]


def left(home: Path) -> list[Path]:
    return [path for path in (home / "batches").rglob("*") if path.is_file() and path.name != "lock"]


def test_one_request_by_batch_on_every_wire_makes_the_tree_of_a_live_one_whoever_is_killed_around_it(
    tmp_path: Path, agentforge_home: Path
) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"replies": [patch(*FIX, QUESTION)]}))
    live = make_repository(tmp_path / "live", PROJECT)
    options = agentforge.StartOptions("double must double", lane="hotfix", model=f"scripted:{script}")
    trees = {finish(Site.open(live), agentforge.start(Site.open(live), options).files).tree}
    replies = TO_THE_END if SOAK else TO_A_QUESTION
    with provider("anthropic", agentforge_home, []):
        moment = before_the_first_call(make_repository(tmp_path / "checkout", PROJECT), by_batch())
    assert all(known({})[wire].wire == wire for wire in BATCHES)
    for wire in telling([*BATCHES], 2):  # each of them in tests/activities/test_activities_batches.py
        site, files = moment.copy(tmp_path / wire)
        with provider(wire, agentforge_home, replies) as (batches, server):
            if wire == "anthropic":
                kill_around_the_batch(site, files, batches)
            state = finish(site, files)
        assert state.status == ("completed" if SOAK else "blocked"), (wire, state.open_escalation)
        told = events(files)
        assert [event.reply.delivery for event in told if isinstance(event, AskAnswered)] == [
            "batch" for _ in replies
        ], wire
        assert len([event for event in told if isinstance(event, AskTicketed)]) == len(replies), wire
        sent = [event.key for event in told if isinstance(event, AskSent)]
        assert len(sent) == len(set(sent)) == state.spent.calls == len(replies), wire
        assert (batches.submissions, len(server.requests), state.unaccounted, left(agentforge_home)) == (
            len(replies),
            0,
            Amount(),
            [],
        ), wire
        trees.add(state.tree)
    assert len(trees) == 1


def kill_around_the_batch(site: Site, files: TaskFiles, batches: Batches) -> None:
    """Three drivers of the one task, each killed a little later."""
    words = (sys.executable, "-m", "tests.whole.batch_driver", str(site.git.top), files.task_id)
    with ForkedCommand(words, cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as drivers:
        assert drivers.stdin is not None
        assert drivers.stdout is not None
        for moment, made in (("before submit", 0), ("after submit", 1), ("before results", 1)):
            drivers.stdin.write(f"{moment}\n")
            drivers.stdin.flush()
            assert (int(drivers.stdout.readline()), batches.submissions) == (-signal.SIGKILL, made), moment


def test_a_task_that_waits_for_a_batch_is_left_and_collected(tmp_path: Path, agentforge_home: Path) -> None:
    person = Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")
    with provider("anthropic", agentforge_home, TO_THE_END) as (batches, server):
        batches.hold = True
        refused = person.run("start", "double must double", "--model", "mine:any", "--detach")
        assert (refused.code, "needs --engine temporal or --batch" in refused.said) == (2, True), refused.said
        none = person.run("start", "double must double", "--model", "ollama:any", "--batch")
        assert (none.code, "Batches are not available from" in none.said) == (2, True), none.said
        words = (
            "start",
            "double must double",
            "--lane",
            "hotfix",
            "--model",
            "mine:any",
            "--batch",
            "--detach",
        )
        done = person.run(*words)
        assert (done.code, batches.submissions) == (0, 1), done.said
        assert f"is waiting for a batch; `agentforge continue {person.only_task()}` collects" in done.said
        again = person.run("continue", "--detach")
        assert (again.code, "is waiting for a batch" in again.said, batches.submissions) == (0, True, 1), (
            again.said
        )
        batches.hold = False
        done = person.run("continue")
        assert (done.code, "Done:" in done.said) == (0, True), done.said
    assert (batches.submissions, len(server.requests)) == (2, 0)


def test_a_call_whose_batch_is_late_is_sent_live_and_the_batch_is_canceled(
    tmp_path: Path, agentforge_home: Path
) -> None:
    site = Site.open(make_repository(tmp_path / "checkout", PROJECT))
    with provider("anthropic", agentforge_home, TO_A_QUESTION) as (batches, server):
        batches.hold = True
        files = agentforge.start(site, by_batch(deadline_s=1)).files
        state = finish(site, files)
    told = events(files)
    assert state.status == "blocked"
    assert state.open_escalation is not None
    assert state.open_escalation.kind == "question", state.open_escalation
    assert [event.request.delivery for event in told if isinstance(event, AskSent)] == ["batch", "live"]
    assert len([event for event in told if isinstance(event, AskPromoted)]) == 1
    assert (len(server.requests), len(batches.cancels), state.unaccounted.calls, state.spent.calls) == (
        1,
        1,
        1,
        1,
    )
    assert left(agentforge_home) == []


def test_a_reviewers_call_whose_batch_is_late_is_submitted_once_and_the_task_comes_to_its_end(
    tmp_path: Path, agentforge_home: Path
) -> None:
    person = Person(make_repository(tmp_path / "checkout", SHOP), tmp_path / "script.yaml")
    said = [entry["reply"] for entry in (intake(), analyze(), spec(), approves("spec", SECURITY))]
    with provider("anthropic", agentforge_home, said) as (batches, server):
        batches.hold = True
        words = ("--pipeline", "design", "--model", "mine:any", "--batch", "--deadline", "1s", "--json")
        done = person.run("start", REQUEST, *words)
    assert (done.code, done.data["status"]) == (0, "completed"), done.said
    told = events(Site.open(person.checkout).find(person.only_task()))
    asked = [(run_name(event.run), event.request.delivery) for event in told if isinstance(event, AskSent)]
    assert asked == [("", "batch"), ("", "live")] * 3 + [(SECURITY, "batch"), (SECURITY, "live")]
    assert [run_name(event.run) for event in told if isinstance(event, AskPromoted)] == ["", "", "", SECURITY]
    assert (batches.submissions, len(batches.cancels), len(server.requests)) == (4, 4, 4)
    assert left(agentforge_home) == []
