"""Drivers that are killed on order: a process that forks one driver per order, each with a death of its own.

    before    SIGKILL when the effect would start
    after     SIGKILL when the effect is done and its outcome is not recorded
    torn      the kernel ends it inside the append of the outcome, when a part of the line is written
    line      SIGKILL when the line is on disk and nothing has come of it
    together  SIGKILL when each of several effects is done and no outcome is recorded
    time      SIGKILL from outside after some milliseconds, wherever it is

Forked from a process that has imported everything, a driver costs a tenth of a started one.
"""

import fcntl
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, NoReturn, Self

from agentforge import wiring
from agentforge.activities.perform import perform
from agentforge.core.effects import Effect
from agentforge.core.errors import UserError
from agentforge.core.events import Event
from agentforge.core.inputs import Outcome
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.engines.local import Ports, drive
from agentforge.sandbox.ladder import choose
from agentforge.store.lines import complete
from tests.engines.crash_site import Scene

When = Literal["before", "after", "torn", "line", "together", "time", "never"]
TOP = Path(__file__).parents[2]
PART_OF_A_LINE = 20


def plain(key: str) -> str:
    """A key without the number of the try: a call that was lost is sent again under the next one."""
    return re.sub(r"/ask/\d+", "/ask", key)


@dataclass(frozen=True, slots=True)
class Order:
    """Where a driver dies."""

    when: When
    at: str = ""
    passed: tuple[str, ...] = ()
    """Effects it may perform on its way; any other one waits until the end, so that none slips by."""
    together: tuple[str, ...] = ()
    milliseconds: int = 0


class Drivers:
    """The test's end: gives orders, and sees that no driver takes back what an earlier one recorded."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def __enter__(self) -> Self:
        words = (sys.executable, "-m", "tests.engines.driver_child", str(self._scene.root), self._scene.task_id)
        self._child = subprocess.Popen(words, cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._child:
            self._child.kill()

    def obey(self, order: Order) -> int:
        """Has one driver follow the order; the answer is its exit code, negative for the signal that ended it."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        before = complete(self._scene.files.journal.read_bytes())
        self._child.stdin.write(json.dumps(asdict(order)) + "\n")
        self._child.stdin.flush()
        code = int(self._child.stdout.readline())
        assert complete(self._scene.files.journal.read_bytes()).startswith(before)
        return code

    def die(self, when: When, at: str, passed: Sequence[str]) -> None:
        """One driver, killed there and nowhere else."""
        code = self.obey(Order(when, at, tuple(passed)))
        assert code == (-signal.SIGXFSZ if when == "torn" else -signal.SIGKILL), (when, at, code)

    def die_of(self, keys: Sequence[str], passed: Sequence[str]) -> None:
        """One driver, killed when all of these are done, side by side."""
        assert self.obey(Order("together", keys[0], (*passed, *keys), tuple(keys))) == -signal.SIGKILL

    def finish(self) -> None:
        """One driver that may live."""
        assert self.obey(Order("never")) == 0


def main(root: Path, task_id: str) -> None:
    """Forks a driver per line of the input and says how each ended."""
    scene = Scene(root, task_id)
    with suppress(UserError):
        choose("auto")  # what works on this machine is found out once
    for text in sys.stdin:
        order = Order(**json.loads(text))
        child = os.fork()
        if child == 0:
            _live(scene, order)
        if order.when == "time":
            time.sleep(order.milliseconds / 1000)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        _wait_for_its_children(scene)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _wait_for_its_children(scene: Scene) -> None:
    """They end with it, but on a busy machine not at once; a person would start the next driver later, too."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with scene.files.lock.open("rb") as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.02)


def _live(scene: Scene, order: Order) -> NoReturn:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os._exit(0 if _drive(scene, order).status == "completed" else 3)


def _drive(scene: Scene, order: Order) -> State:
    site = scene.site()

    def on_line(line: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        if order.when == "line" and plain(str(line["key"])) == order.at:
            _die()

    with wiring.driving(site, scene.files, listener=on_line) as driver:
        world = driver.world()
        together = set(order.together)

        def deadly(effect: Effect, state: State) -> Outcome:
            key = plain(effect.key)
            if order.when == "before" and key == order.at:
                _die()
            if order.at and key != order.at and key not in order.passed:
                threading.Event().wait()
            outcome = perform(world, effect, state)
            if order.when == "after" and key == order.at:
                _die()
            if key in together:
                together.discard(key)
                if not together:
                    _die()
                threading.Event().wait()
            if order.when == "torn" and key == order.at:
                _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (driver.journal.size + PART_OF_A_LINE, hard))
            return outcome

        return drive(driver.journal, Ports(deadly, tuple, lambda key, error: None))


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives this")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
