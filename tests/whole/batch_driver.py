"""Drivers in processes of their own, each killed at the moment of its first batch that a line of input names.
Says how each one ended.
"""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import agentforge
from agentforge.engines.local import drive

# what takes long to load is loaded once for all drivers
from agentforge.models.wire import anthropic, batches  # noqa: F401
from agentforge.store.site import Site
from tests.activities.batch_scene import Moment, deadly


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(checkout: Path, task: str, moment: Moment) -> None:
    site = Site.open(checkout)
    with agentforge.open_driver(agentforge.OpenTask.open(site, site.find(task))) as driver:
        world = driver.world()
        assert world.batch_outbox is not None
        world = replace(world, batch_outbox=replace(world.batch_outbox, open=deadly(moment, kill)))
        drive(driver.journal, driver.ports(world))


if __name__ == "__main__":
    for line in sys.stdin:
        # Forked from here, where nothing runs yet and everything is imported.
        if (child := os.fork()) == 0:
            main(Path(sys.argv[1]), sys.argv[2], line.strip())  # type: ignore[arg-type]  # a moment
            os._exit(0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()
