"""What a person sees while workers drive: the journal is followed whatever happens, and what holds a task up
is said soon.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge import __version__
from agentforge.app.drivers import engine_view as view_of_engine
from agentforge.app.drivers import following, holdups, remote
from agentforge.app.drivers.connection import workflow_name
from agentforge.app.drivers.ended_workflows import end_reason
from agentforge.app.drivers.engine_view import EngineView, engine_fields, engine_view
from agentforge.app.drivers.holdups import Case
from agentforge.app.drivers.remote import drive_remotely
from agentforge.app.ports import Tone
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import Unusable
from agentforge.core.inputs import Resolution
from agentforge.core.state import State
from agentforge.engines.temporal import client as client_side
from agentforge.engines.temporal.client import Connection
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.look import NEXT_STEP, Look, PendingActivity
from agentforge.engines.temporal.workflow import Task
from agentforge.store.layout import Home, ProjectFiles
from agentforge.store.site import Site
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.surfaces.cli.main import main
from agentforge.surfaces.cli.pages.screen import ScreenWatcher
from agentforge.system.git.repository import Git
from tests.forked import ForkedCommand
from tests.temporal.light import Light, found_task, keys, read_state
from tests.temporal.servers import Server, free_port
from tests.temporal.working import until, working

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
STEPS = 4
WAITS = ("work/1/2/act", "work/1/3/act")


class Kept:
    """A screen that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str, tone: Tone = "plain") -> None:
        self.lines.append(text)

    def now(self, text: str) -> None:
        pass

    def still(self) -> AbstractContextManager[None]:
        return nullcontext()

    def count(self, words: str) -> int:
        return sum(words in line for line in self.lines)


class Stand:
    """A repository with a light task, its server as the user configured it, and workers that can be
    killed.
    """

    def __init__(self, place: Path, config: Config) -> None:
        self.place, self.config = place, config
        subprocess.run(("git", "init", "-q", str(place)), check=True)
        self.files = found_task(
            place, f"task-{place.parent.name}"
        )  # names a workflow of a server that tests share
        git = Git.open(place)
        self.site = Site(git, ProjectFiles(git.top), Home(Path(os.environ["AGENTFORGE_HOME"])))
        self.site.home.path.mkdir(parents=True)
        own = f"temporal: {{queue: {config.queue}, host_silence_s: {config.host_silence_s}}}\n"
        (self.site.home.path / "config.yaml").write_text(own, encoding="utf-8")
        (place / "waits").write_text("\n".join(WAITS), encoding="utf-8")
        self.screen = Kept()

    @contextmanager
    def workers(self) -> Iterator[Callable[[], int]]:
        """Gives what starts another one."""
        words = [
            sys.executable,
            "-m",
            "tests.temporal.light_worker",
            self.config.address,
            self.config.queue,
            str(self.place),
            str(STEPS),
        ]
        with ForkedCommand(
            words, cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as parent:
            assert parent.stdin is not None
            assert parent.stdout is not None

            def another() -> int:
                print(file=parent.stdin, flush=True)
                assert parent.stdout is not None
                return int(parent.stdout.readline())

            try:
                yield another
            finally:
                parent.kill()

    @contextmanager
    def followed(self, another: Callable[[], int]) -> Iterator[tuple["Future[State]", int]]:
        """Once there is a worker: how it ends, and the process of that worker."""
        worker = another()
        with Connection(self.config) as line:
            self.until(lambda: line.pollers(self.config.queue) > 0)
        end: Future[State] = Future()

        def follow() -> None:
            try:
                end.set_result(drive_remotely(self.task, ScreenWatcher(self.screen)))
            except Unusable as error:
                end.set_exception(error)

        threading.Thread(target=follow, daemon=True).start()  # a test that fails does not wait for it
        yield end, worker

    @property
    def task(self) -> OpenTask:
        return OpenTask.open(self.site, self.files)

    def says(self) -> EngineView:
        return engine_view(self.task)

    def until(self, condition: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "\n".join(self.screen.lines)
            time.sleep(0.05)

    def wait_at(self, number: int) -> None:
        self.until((self.place / f"at-{number}").exists)

    def go_on(self, number: int) -> None:
        (self.place / f"go-{number}").touch()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """As patient as a test."""
    monkeypatch.setattr(following, "LOOK_S", 0.5)
    for module in (holdups, view_of_engine, remote):
        monkeypatch.setattr(module, "SLOW_S", 2.5)
    monkeypatch.setattr(client_side, "TELL_S", 1)


@pytest.fixture
def mine(
    request: pytest.FixtureRequest,
    config: Config,
    tmp_path: Path,
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Stand:
    monkeypatch.setenv("TEMPORAL_ADDRESS", config.address)
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    return Stand(
        tmp_path / "repo", replace(config, host_silence_s=getattr(request, "param", config.host_silence_s))
    )


OFFERED = PendingActivity("act", taken=False, seconds=9, queue="q@host-0")
STUCK = PendingActivity(NEXT_STEP, taken=False, seconds=90, queue="q")


@pytest.mark.parametrize(
    ("look", "workers", "idle_s", "wanted"),
    [
        (Look("running"), True, 9999, []),
        (
            Look("running", flights=(PendingActivity("judge", True, 3000, "q@host-0", heard=1),)),
            True,
            3000,
            [],
        ),
        (
            Look("running", flights=(PendingActivity("judge", True, 3000, "q@host-0", heard=9),)),
            True,
            3000,
            ["silent"],
        ),
        (Look("running", flights=(OFFERED,)), True, 3000, ["silent"]),
        (Look("running", flights=(OFFERED,)), False, 3000, ["nobody"]),
        (Look("running", flights=(replace(OFFERED, seconds=601),)), True, 601, ["host_lost"]),
        (Look("running", True, ("The disk is full.",), (OFFERED,)), False, 0, ["host_lost", "tried"]),
        (Look("running", flights=(STUCK,)), False, 30, ["nobody"]),
        (
            Look("running", flights=(STUCK,)),
            False,
            900,
            ["host_lost"],
        ),  # the server gave the host up, and nobody is there to say so
    ],
)
def test_what_holds_a_task_up_is_found_in_what_the_server_knows(
    look: Look, workers: bool, idle_s: float, wanted: list[str]
) -> None:
    case = Case("task-1", Driven("temporal", "q@host-0"), Config(), idle_s)
    assert [each.kind for each in holdups.holdups(case, look, workers=workers)] == wanted


def test_a_server_that_goes_away_or_forgets_everything_ends_no_following(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(tmp_path / "temporal.db", tmp_path) as server:
        monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
        stand = Stand(tmp_path / "site" / "repo", Config(address=server.address, queue="q"))
        screen = stand.screen
        with stand.workers() as another, stand.followed(another) as (end, _):
            stand.wait_at(0)
            server.kill()
            stand.until(lambda: screen.count("does not answer") == 1)
            stand.go_on(0)
            stand.until(
                lambda: screen.count("read_file a.py") == 2
            )  # the worker goes on as far as it can, and is followed
            server.start()
            stand.until(lambda: screen.count("The server answers again.") == 1)
            stand.wait_at(1)
            server.kill()
            server.forget()
            server.start()
            stand.until(lambda: screen.count(": starting another one") >= 1)
            stand.go_on(1)
            assert end.result(60).status == "completed"
        assert (
            0 <= screen.count("does not answer") - screen.count("The server answers again.") <= 1
        )  # each change is said once
        assert len(set(keys(stand.files))) == len(keys(stand.files))


@pytest.mark.parametrize("mine", [600], indirect=True)
def test_a_worker_that_dies_is_missed_within_seconds_and_the_next_one_is_followed(mine: Stand) -> None:
    screen = mine.screen
    with Connection(mine.config) as line:  # noticed by the server sooner than usual
        task = Task(mine.files.task_id, str(mine.place), __version__, host_silence_s=600, heartbeat_s=3)
        line.begin(workflow_name(mine.task), task, {})
    with mine.workers() as another, mine.followed(another) as (end, first):
        mine.wait_at(0)
        mine.until(
            lambda: any(
                line.startswith("now: act, for ") and "heard from 0 s ago" in line
                for line in mine.says().lines
            )
        )
        os.kill(first, signal.SIGKILL)
        host = read_engine(mine.files).host
        mine.until(lambda: screen.count("its work (act)") > 0)
        mine.until(
            lambda: any(
                f"No worker has picked up its work (act) from the queue {host} for" in line
                for line in mine.says().lines
            )
        )
        shown: Any = engine_fields(mine.says())
        assert (
            shown["no_worker_for_s"] > 0,
            shown["host_lost"],
            shown["engine_in_flight"][0]["attempt"],
        ) == (True, False, 2)
        another()
        mine.go_on(0)
        mine.go_on(1)
        assert end.result(60).status == "completed"
    assert (
        screen.count("A worker has picked it up again.") == screen.count("its work (act)") <= 2
    )  # once each, however long it lasts


def test_a_lost_host_is_a_question_to_a_person_until_it_is_answered(
    mine: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    task, host = mine.files.task_id, f"{mine.config.queue}@elsewhere-0"
    write_engine(mine.files, Driven("temporal", host))

    def said(*words: str, code: int = 0) -> str:
        assert main(words) == code
        found = capsys.readouterr()
        return found.out + found.err

    def ask() -> None:
        ended = said("continue", task, code=1)
        assert f"error: host_lost: the worker {host}, which runs {task}, does not answer." in ended
        assert f"`agentforge continue {task} --take-over`" in ended
        listed = said("escalations", "list")
        assert listed.startswith(f"HOST-LOST  {task}  host_lost\n    host_lost: the worker {host}")
        (view,) = json.loads(said("escalations", "list", "--json"))
        assert (view["kind"], view["answer_with"]) == ("host_lost", f"agentforge continue {task} --take-over")
        assert f"agentforge continue {task} --engine local --take-over" in said(
            "escalations", "show", "host-lost"
        )
        assert f"{task} needs your decision. host_lost:" in said("status")
        assert json.loads(said("status", "--json"))[0]["host_lost"] is True
        assert json.loads(said("status", task, "--json"))["host_lost"] is True
        assert "--take-over" in said("resolve", "HOST-LOST", "--answer", "wait", code=2)

    def look_without_a_server() -> None:
        started = time.monotonic()
        listed = said("escalations", "list")
        assert "Could not find out whether a host is lost" in listed
        assert "No open questions." in listed
        assert time.monotonic() - started < 30, "a server that is away is not waited for"

    async def run(environ: pytest.MonkeyPatch) -> None:
        async with working(mine.config, Light(), mine.place / "other"):
            await asyncio.to_thread(ask)
            with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections and says nothing
                environ.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{mute.getsockname()[1]}")
                await asyncio.to_thread(look_without_a_server)
            environ.setenv("TEMPORAL_ADDRESS", mine.config.address)
            await asyncio.to_thread(said, "continue", task, "--take-over", "--detach")
            await until(lambda: read_state(mine.files).status == "completed")
        environ.setenv("TEMPORAL_ADDRESS", f"127.0.0.1:{free_port()}")
        assert (
            await asyncio.to_thread(said, "escalations", "list") == "No open questions.\n"
        )  # a task at rest asks no server

    with pytest.MonkeyPatch.context() as environ:
        asyncio.run(run(environ))


def test_an_answer_that_no_worker_could_be_told_of_is_taken_up_by_the_next_one(mine: Stand) -> None:
    async def run() -> None:
        light = Light(steps=2, asks_person=True)
        async with working(mine.config, light, mine.place):
            blocked = await asyncio.to_thread(drive_remotely, mine.task, ScreenWatcher(mine.screen))
            assert blocked.status == "blocked"
        with pytest.raises(
            Unusable, match=r"No worker has picked up its work|No worker is listening|host_lost"
        ):
            await asyncio.to_thread(drive_remotely, mine.task, ScreenWatcher(mine.screen), answers)
        async with working(mine.config, light, mine.place):
            await until(lambda: read_state(mine.files).status == "completed")

    def answers(state: State, length: int) -> list[tuple[str, Resolution]]:
        return [("inbox/ESC-001", Resolution("ESC-001", "this", "ada"))] if state.status == "blocked" else []

    asyncio.run(run())


def test_a_stranger_who_ends_the_workflow_is_named_and_the_task_goes_on(mine: Stand) -> None:
    with Connection(mine.config) as line, mine.workers() as another:
        with mine.followed(another) as (end, _):
            mine.wait_at(0)
            assert line.terminate(workflow_name(mine.task), "taken over by the engine temporal")
            with pytest.raises(
                Unusable, match=r"somebody without the task's token \(.+\) ended its workflow"
            ):
                end.result(timeout=60)
        said = mine.says().lines
        assert any("somebody without the task's token" in each and "continue" in each for each in said), said
        (mine.place / "waits").write_text("", encoding="utf-8")
        for number in (0, 1):
            mine.go_on(number)
        assert drive_remotely(mine.task, ScreenWatcher(mine.screen)).status == "completed"
        assert mine.screen.count("ended its workflow on the server") == 1


def test_a_workflow_that_we_end_ourselves_is_no_strangers_act(mine: Stand) -> None:
    with Connection(mine.config) as line, mine.workers() as another:
        with mine.followed(another) as (end, _):
            mine.wait_at(0)
            run = line.look(workflow_name(mine.task)).run
            line.terminate(workflow_name(mine.task), end_reason(mine.task, run, "taken over"))
            with pytest.raises(Unusable, match=r"^The workflow of \S+ was ended\."):
                end.result(timeout=60)
        mine.go_on(0)
        assert not any("token" in each for each in mine.says().lines)
