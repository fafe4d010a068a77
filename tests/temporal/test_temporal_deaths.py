"""Workers of one host that are stopped and killed: others take their place, a task ends the same, and nothing
is recorded twice.

Real tasks whose drivers and servers die are in `tests/engines/`, where one table is for both engines.
"""

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
from tests.forked import ForkedCommand
from tests.temporal.light import Light, driven_locally, found_task, keys, read_state
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
        words = [
            sys.executable,
            "-m",
            "tests.temporal.light_worker",
            config.address,
            config.queue,
            str(place),
            str(STEPS),
        ]
        with (place / "worker.log").open("ab") as log:
            self._parent = ForkedCommand(
                words, cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._workflow = ""

    def worker(self) -> int:
        """Another one; its process."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write("\n")
        self._parent.stdin.flush()
        return int(self._parent.stdout.readline())

    def hand_over(self) -> None:
        async def run() -> str:
            return (await begin(await connect(self.config), self.config, self.files, heartbeat_s=1)).id

        self._workflow = asyncio.run(run())

    def wait_at(self, number: int) -> int:
        """Until the effect waits; the process that performs it."""
        self._until((self.place / f"at-{number}").exists)
        return [pid for pid, key in self.performed() if key == WAITS[number]][-1]

    def wait_for_another_try(self) -> None:
        """Until the server has given an attempt up, and has handed out another one."""

        async def attempts() -> list[int]:
            found = await (await connect(self.config)).get_workflow_handle(self._workflow).describe()
            return [each.attempt for each in found.raw_description.pending_activities]

        self._until(lambda: max(asyncio.run(attempts()), default=0) > 1)

    def go_on(self, number: int) -> None:
        (self.place / f"go-{number}").touch()

    def performed(self) -> list[tuple[int, str]]:
        lines = (self.place / "log").read_text(encoding="utf-8").splitlines()
        return [(int(line.split()[0]), line.split()[1]) for line in lines]

    def finish(self) -> None:
        self._until(lambda: read_state(self.files).status == "completed")

    def end(self) -> None:
        with self._parent:
            self._parent.kill()

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


def test_a_stopped_worker_comes_back_and_dead_ones_are_followed_by_others(
    stage: Stage, tmp_path: Path
) -> None:
    stage.worker()
    stage.worker()
    stage.hand_over()
    zombie = stage.wait_at(0)
    os.kill(zombie, signal.SIGSTOP)
    stage.wait_for_another_try()
    os.kill(zombie, signal.SIGCONT)
    stage.go_on(0)

    first = stage.wait_at(1)
    assert first == zombie
    os.kill(first, signal.SIGKILL)
    stage.go_on(1)
    second = stage.wait_at(2)  # the other one sits down in its place
    os.kill(second, signal.SIGKILL)
    third = stage.worker()
    stage.go_on(2)
    stage.finish()

    assert len({first, second, third}) == 3
    done = [key for _, key in stage.performed()]
    assert [done.count(key) for key in WAITS] == [1, 2, 2]
    assert len(done) == len(set(done)) + 2
    assert keys(stage.files) == driven_locally(tmp_path / "local", Light(steps=STEPS))
