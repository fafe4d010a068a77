"""`worker`: this machine works on tasks that a Temporal server hands out."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import click


@click.command(
    epilog="""\b
Examples:
  agentforge worker
  agentforge worker --queue night --max-concurrent 8

Address, namespace, TLS and key come from `temporal:` in ~/.agentforge/config.yaml, or TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE and TEMPORAL_API_KEY. Models are called with this worker's keys. Ctrl-C gives running
work a few seconds to finish; a second Ctrl-C stops it at once. Whatever was not recorded is done again. A
worker that restarts on this machine resumes the tasks of one that died."""
)
@click.option(
    "--queue",
    metavar="NAME",
    help="The queue to take tasks from; `agentforge` by default.",
)
@click.option(
    "--max-concurrent",
    metavar="N",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="How many pieces of work run at once.",
)
def worker(*, queue: str | None, max_concurrent: int) -> int:
    """Run tasks from a Temporal server until stopped."""
    from agentforge.app.drivers.connection import need_temporal

    need_temporal()
    import asyncio

    asyncio.run(_work(queue, max_concurrent))
    # Everything is put away. Threads of the library may still be on their way to an interpreter that is being
    # taken down, and
    # would end a worker that was stopped well with a crash.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


async def _work(queue: str | None, at_once: int) -> None:
    import asyncio
    import signal

    from agentforge.app.drivers.hosting import host
    from agentforge.surfaces.cli.pages.screen import Plain

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    screen = Plain(sys.stdout)  # a reader that went away does not stop a worker

    def say(sentence: str) -> None:
        screen.line(f"worker: {sentence}")

    def halt() -> None:
        if stop.is_set():
            _end_at_once(say)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, halt)

    plain = os.environ.get("AGENTFORGE_DEBUG") != "1"
    if plain:
        _speak_plainly(say)
    await host(stop, say, queue=queue or "", at_once=at_once, quiet=plain)


def _end_at_once(say: Callable[[str], None]) -> NoReturn:
    """As if killed: what was not recorded is done again, by whoever has this place next."""
    from agentforge.system.processes import kill_all

    say("stopping at once; whatever was not recorded is done again")
    kill_all()
    os._exit(130)


def _speak_plainly(say: Callable[[str], None]) -> None:
    """What the library would log, with its tracebacks, as one line each."""
    import asyncio
    import logging

    class PlainLines(logging.Handler):
        last = ""

        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[1] if record.exc_info else None
            if isinstance(error, asyncio.CancelledError):
                return
            text = record.getMessage()
            if error is not None:  # ours has a sentence and, first among its details, the next step
                text = " ".join(
                    [str(getattr(error, "message", error)), *map(str, getattr(error, "details", ())[:1])]
                )
            text = " ".join(text.split())[:300]
            if text != self.last:  # another try that fails the same way is no news
                self.last = text
                say(text)

    logger = logging.getLogger("temporalio")
    logger.addHandler(PlainLines(logging.WARNING))
    logger.propagate = False
