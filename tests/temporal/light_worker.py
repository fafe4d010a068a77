"""A worker with light tasks in a process of its own, so that it can be killed and stopped. It waits where a test says.

A line in `<place>/waits` is a key: before that effect is performed, `<place>/at-<n>` appears, and `<place>/go-<n>` is waited for.
What is performed is noted in `<place>/log`, with the process that did it.
"""

import asyncio
import os
import sys
import time
from functools import partial
from pathlib import Path

from agentforge import __version__
from agentforge.core.effects import Effect
from agentforge.core.inputs import Outcome
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.worker import Place, serve
from tests.temporal.light import Light


def main(address: str, queue: str, place: Path, steps: int) -> None:
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

    config = Config(address=address, queue=queue, host_silence_s=30)
    light = Light(steps=steps, meddle=meddle)
    asyncio.run(serve(config, light, Place(place / "home", __version__), asyncio.Event(), partial(print, flush=True)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
