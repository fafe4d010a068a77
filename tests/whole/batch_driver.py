"""A driver in a process of its own that is killed at one moment of its first batch."""

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from agentforge import wiring
from agentforge.engines.local import drive
from agentforge.store.site import Site
from tests.activities.batch_desk import Moment, deadly


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(checkout: Path, task: str, moment: Moment) -> None:
    site = Site.open(checkout)
    with wiring.driving(site, site.find(task)) as driver:
        world = driver.world()
        assert world.desk is not None
        world = replace(world, desk=replace(world.desk, open=deadly(moment, kill)))
        drive(driver.journal, driver.ports(world))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])  # type: ignore[arg-type]  # a moment
