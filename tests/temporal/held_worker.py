"""A worker with real tasks in a process of its own that waits where a test says, so that it can be killed and
stopped there.

Before an effect whose key is named is performed, a file with the task's name appears in `<place>`; the effect
goes on when that is gone.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from agentforge import __version__
from agentforge.app.drivers.connection import read_temporal
from agentforge.app.drivers.hosting import HostedSession, HostedTasks
from agentforge.core.effects import Effect
from agentforge.core.inputs import Outcome
from agentforge.core.state import State
from agentforge.engines.temporal.port import Ref
from agentforge.engines.temporal.worker import WorkerSettings, serve
from agentforge.store.site import home_path


class HeldTasks(HostedTasks):
    """As they are, but for effects that wait."""

    def __init__(self, place: Path, keys: list[str]) -> None:
        self._place, self._keys = place, keys

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> HostedSession:
        session = super().open(ref, mine, progress)
        perform, sign = session.ports.perform, self._place / ref.task_id

        def held(effect: Effect, state: State) -> Outcome:
            if effect.key in self._keys:
                sign.touch()
                while sign.exists():
                    time.sleep(0.02)
            return perform(effect, state)

        session.ports = replace(session.ports, perform=held)
        return session


def main(place: Path, keys: list[str]) -> None:
    say = partial(print, flush=True)
    asyncio.run(
        serve(
            read_temporal(),
            HeldTasks(place, keys),
            WorkerSettings(home_path(), __version__, quiet=True),
            asyncio.Event(),
            say,
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
