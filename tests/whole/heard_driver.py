"""Drives a task in which what a language server says always comes in before a step's actions are done: a scripted
model answers at once. As a program it dies when it has come in, before it is on record.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentforge.activities.world import World
from agentforge.app.drivers.driver import open_driver
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.effects import Act, Effect
from agentforge.core.inputs import Acted, Outcome
from agentforge.core.state import State
from agentforge.engines.local import drive
from agentforge.store.site import Site

LONG = 120


def drive_heard(task: OpenTask, then: Callable[[Outcome], None] = lambda _: None) -> State:
    """Drives to the end; `then` sees each outcome before it is on record."""
    with open_driver(task) as driver:
        world = driver.world()
        ports = driver.ports(world)

        def perform(effect: Effect, state: State) -> Outcome:
            if isinstance(effect, Act):
                _wait(world, state)
            outcome = ports.perform(effect, state)
            then(outcome)
            return outcome

        try:
            drive(driver.journal, replace(ports, perform=perform))
        finally:
            world.desk.close()
        return driver.settle(world)


def _wait(world: World, state: State) -> None:
    until = time.monotonic() + LONG
    while state.told is None and not world.desk.is_free and world.desk.said() is None:
        assert time.monotonic() < until
        time.sleep(0.02)


def _die(outcome: Outcome) -> None:
    if isinstance(outcome, Acted) and outcome.done.told:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    site = Site.open(Path(sys.argv[1]))
    drive_heard(OpenTask.open(site, site.find(sys.argv[2])), _die)
