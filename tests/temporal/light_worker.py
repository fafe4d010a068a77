"""Workers with light tasks in processes of their own, so that they can be killed and stopped. They wait where
a test says.

A line of the input has a worker forked; its number is said. A line in `<place>/waits` is a key: before that
effect is performed, `<place>/at-<n>` appears, and `<place>/go-<n>` is waited for. What is performed is noted
in `<place>/log`, with the process that did it.
"""

import asyncio
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import NoReturn

from agentforge import __version__
from agentforge.core.effects import Effect
from agentforge.core.inputs import Outcome
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.worker import WorkerSettings, serve
from agentforge.system.processes import ends_with_us
from tests.temporal.light import Light


def main(address: str, queue: str, place: Path, steps: int) -> None:
    """Forks from a process that has imported everything, and never spoke to a server."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries who dies
    end_with_us = ends_with_us()
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            end_with_us()
            os.dup2(2, 1)  # what the library logs is no number of a worker
            _work(Config(address=address, queue=queue, host_silence_s=30), place, steps)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def _work(config: Config, place: Path, steps: int) -> NoReturn:
    waits = (place / "waits").read_text(encoding="utf-8").split()

    def meddle(effect: Effect) -> Outcome | None:
        with (place / "log").open("a", encoding="utf-8") as log:
            log.write(f"{os.getpid()} {effect.key}\n")
        if effect.key in waits:
            number = waits.index(effect.key)
            (place / f"at-{number}").touch()
            while not (place / f"go-{number}").exists():
                time.sleep(0.02)
        return None

    where = WorkerSettings(place / "home", __version__, sticky_s=0.1)
    say = partial(print, file=sys.stderr, flush=True)
    asyncio.run(serve(config, Light(steps=steps, meddle=meddle), where, asyncio.Event(), say))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
