"""A task as it stands before its first model call, kept: what is about that call goes on from a copy, and no
baseline is taken again.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import agentforge
from agentforge.core.effects import Ask, Effect
from agentforge.core.inputs import Outcome
from agentforge.core.state import State
from agentforge.engines.local import Ports, drive
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from tests.sharing import share_here, start_as_before


class _Reached(Exception):
    """The moment is there: the driver ends as if it was stopped."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A checkout with its one task."""

    checkout: Path
    task_id: str

    def copy(self, place: Path) -> tuple[Site, TaskFiles]:
        """Another checkout where the same task stands at the same line."""
        shutil.copytree(self.checkout, place, symlinks=True)
        share_here(place)
        site = Site.open(place)
        files = site.find(self.task_id)
        start_as_before(site, files)
        return site, files


def before_the_first_call(checkout: Path, options: agentforge.StartOptions) -> Moment:
    """Starts the task, and lets it come as far as that."""
    site = Site.open(checkout)
    files = agentforge.start(site, options).files
    with agentforge.open_driver(agentforge.OpenTask.open(site, files)) as driver:
        ports = driver.ports(driver.world())
        try:
            drive(driver.journal, replace(ports, perform=_stopping(ports)))
        except _Reached:
            return Moment(checkout, files.task_id)
    raise AssertionError("the task never came to a call")


def _stopping(ports: Ports) -> Callable[[Effect, State], Outcome]:
    def perform(effect: Effect, state: State) -> Outcome:
        if isinstance(effect, Ask):
            raise _Reached
        return ports.perform(effect, state)

    return perform
