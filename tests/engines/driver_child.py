"""Forks one driver per order, each with a death of its own: the local loop, or a worker of a Temporal server.

Forked from a process that has imported everything, a driver costs a tenth of a started one. This process
never speaks to a server: the threads of the library would not live on in a fork.
"""

import fcntl
import json
import os
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import agentforge
from agentforge.activities.perform import perform
from agentforge.core.errors import UserError
from agentforge.engines.local import Ports, drive
from agentforge.sandbox.walls.ladder import choose
from tests.engines.crash_site import Scene
from tests.engines.deaths import Begun, Death, Live, Order
from tests.judging import ASKED, ask_judges_once


def main(root: Path, task_id: str, *post: str) -> None:
    """Forks a driver per line of the input and says how each ended."""
    scene, live = Scene(root, task_id), _live_of(post)
    if asked := os.environ.pop(ASKED, ""):
        ask_judges_once(asked)
    with suppress(UserError):
        choose("auto")  # what works on this machine is found out once
    for text in sys.stdin:
        code = _fork(scene, Order(**json.loads(text)), live)
        _wait_for_its_children(scene)
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


def _live_of(post: tuple[str, ...]) -> Live:
    if not post:
        return _drive
    # a local driver has no need of the library
    from tests.engines.worker_child import work_at  # noqa: PLC0415

    return work_at(*post)


def _fork(scene: Scene, order: Order, live: Live) -> int:
    begun, begins = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(begun)
        _become(scene, order, live, begins)
    os.close(begins)
    if order.when == "time" and os.read(begun, 1):
        time.sleep(order.milliseconds / 1000)
        os.kill(child, signal.SIGKILL)
    os.close(begun)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _become(scene: Scene, order: Order, live: Live, begins: int) -> NoReturn:
    code = 4
    try:
        code = 0 if live(scene, order, lambda: _tell(begins)) == "completed" else 3
    except BaseException:  # noqa: BLE001  # as the interpreter would
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _tell(begins: int) -> None:
    with suppress(OSError):  # nobody waits for it
        os.write(begins, b".")


def _drive(scene: Scene, order: Order, begun: Begun) -> str:
    begun()
    death = Death(order)
    with agentforge.open_driver(
        agentforge.OpenTask.open(scene.site(), scene.files), listener=death.on_line
    ) as driver:
        deadly = death.around(partial(perform, driver.world()), driver.journal)
        return drive(driver.journal, Ports(deadly, tuple, lambda key, error: None)).status


def _wait_for_its_children(scene: Scene) -> None:
    """They end with it, but on a busy machine not at once; a person would start the next driver later,
    too.
    """
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if not scene.files.lock.exists():
            return  # it died before it took the task
        with scene.files.lock.open("rb") as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
