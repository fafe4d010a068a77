"""Workers and servers that are killed, stopped and lost: a task ends the same, and nothing is recorded twice."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.engines.temporal.config import Config
from agentforge.store.layout import TaskFiles
from tests.temporal.light import Light, driven_locally, found_task, keys, read_state
from tests.temporal.servers import Server
from tests.temporal.working import begin, connect

pytestmark = pytest.mark.slow

TOP = Path(__file__).parents[2]
STEPS = 5
WAITS = ("work/1/2/act", "work/1/3/act", "work/1/4/act")


class Stage:
    """A place for a task and for the workers that die on it."""

    def __init__(self, place: Path, config: Config) -> None:
        self.place, self.config = place, config
        (place / "waits").write_text("\n".join(WAITS), encoding="utf-8")
        self.files: TaskFiles = found_task(place)
        self._workers: list[subprocess.Popen[bytes]] = []

    def worker(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "tests.temporal.light_worker", self.config.address, self.config.queue, str(self.place), str(STEPS)]
        with (self.place / "worker.log").open("ab") as log:
            self._workers.append(subprocess.Popen(words, cwd=TOP, stdout=log, stderr=log))
        return self._workers[-1]

    def hand_over(self) -> None:
        async def run() -> None:
            await begin(await connect(self.config), self.config, self.files, heartbeat_s=2)

        asyncio.run(run())

    def wait_at(self, number: int) -> int:
        """Until the effect waits; the process that performs it."""
        self._until((self.place / f"at-{number}").exists)
        return [pid for pid, key in self.performed() if key == WAITS[number]][-1]

    def go_on(self, number: int) -> None:
        (self.place / f"go-{number}").touch()

    def performed(self) -> list[tuple[int, str]]:
        lines = (self.place / "log").read_text(encoding="utf-8").splitlines()
        return [(int(line.split()[0]), line.split()[1]) for line in lines]

    def finish(self) -> None:
        self._until(lambda: read_state(self.files).status == "completed")

    def end(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _until(self, condition: Callable[[], bool], seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, (self.place / "worker.log").read_text(encoding="utf-8")
            time.sleep(0.05)


@pytest.fixture
def stage(config: Config, tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, replace(config, host_silence_s=30))
    yield made
    made.end()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    """A server with a database."""
    with Server(tmp_path / "temporal.db", tmp_path) as running:
        yield running


def check(stage: Stage, place: Path) -> None:
    assert keys(stage.files) == driven_locally(place, Light(steps=STEPS))


def test_workers_die_in_an_effect_and_others_on_the_host_take_their_place(stage: Stage, tmp_path: Path) -> None:
    stage.worker()
    stage.worker()
    stage.hand_over()
    first = stage.wait_at(0)
    os.kill(first, signal.SIGKILL)
    stage.go_on(0)
    second = stage.wait_at(1)  # the other one sits down in its place
    os.kill(second, signal.SIGKILL)
    stage.go_on(1)
    stage.worker()
    third = stage.wait_at(2)
    stage.go_on(2)
    stage.finish()
    assert len({first, second, third}) == 3
    check(stage, tmp_path / "local")


def test_a_stopped_worker_a_killed_server_and_a_lost_database_change_nothing(mortal: Server, tmp_path: Path) -> None:
    stage = Stage(tmp_path, Config(address=mortal.address, queue="q", host_silence_s=30))
    try:
        stage.worker()
        stage.hand_over()
        zombie = stage.wait_at(0)
        os.kill(zombie, signal.SIGSTOP)
        time.sleep(3)  # the server gives the attempt up and plans another one
        os.kill(zombie, signal.SIGCONT)
        stage.go_on(0)

        stage.wait_at(1)
        mortal.kill()
        time.sleep(0.5)
        mortal.start()
        stage.go_on(1)

        stage.wait_at(2)
        mortal.kill()
        stage.go_on(2)
        assert mortal.database is not None
        for path in mortal.database.parent.glob("temporal.db*"):
            path.unlink()
        mortal.start()
        stage.hand_over()
        stage.finish()
    finally:
        stage.end()
    done = [key for _, key in stage.performed()]
    assert len(set(done)) == len(done)
    check(stage, tmp_path / "local")
