"""The test's end of drivers that are killed on order."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from agentforge.store.task.lines import complete
from tests.engines.crash_site import Scene
from tests.engines.deaths import Order, When
from tests.forked import ForkedCommand

TOP = Path(__file__).parents[2]


class Drivers:
    """Gives orders, and sees that no driver takes back what an earlier one recorded."""

    def __init__(self, scene: Scene, post: Sequence[str] = ()) -> None:
        """`post` is where a worker of the other engine finds its server, its queue and its workflow."""
        self._scene, self._post = scene, post

    def __enter__(self) -> Self:
        words = (
            sys.executable,
            "-m",
            "tests.engines.driver_child",
            str(self._scene.root),
            self._scene.task_id,
            *self._post,
        )
        self._child = ForkedCommand(words, cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._child:
            self._child.kill()

    def start(self, order: Order) -> None:
        """Has one driver follow the order, and looks at nothing."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(asdict(order)) + "\n")
        self._child.stdin.flush()

    def obey(self, order: Order) -> int:
        """Has one driver follow the order; the answer is its exit code, negative for the signal that ended
        it.
        """
        before = complete(self._scene.files.journal.read_bytes())
        self.start(order)
        assert self._child.stdout is not None
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
