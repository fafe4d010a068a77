"""Workers in this process, and the client's side of a task, without a command line."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from agentforge import __version__
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect
from agentforge.engines.temporal.port import Tasks
from agentforge.engines.temporal.worker import WorkerSettings, serve
from agentforge.engines.temporal.workflow import LONGEST_HISTORY, Task, TaskWorkflow
from agentforge.store.layout import Home, TaskFiles
from agentforge.store.site import home_path
from agentforge.store.user.task_tokens import hand_over_proof


@asynccontextmanager
async def working(
    config: Config, tasks: Tasks, home: Path, version: str = __version__, at_once: int = 16
) -> AsyncIterator[list[str]]:
    """A worker, until the block ends; what it said."""
    stop, ready, said = asyncio.Event(), asyncio.Event(), list[str]()

    def say(sentence: str) -> None:
        said.append(sentence)
        ready.set()

    worker = asyncio.create_task(serve(config, tasks, WorkerSettings(home, version, at_once), stop, say))
    try:
        waits = asyncio.create_task(ready.wait())
        await asyncio.wait([worker, waits], return_when=asyncio.FIRST_COMPLETED)
        yield said
    finally:
        stop.set()
        await worker
        waits.cancel()
        with suppress(asyncio.CancelledError):
            await waits


async def begin(
    client: Client,
    config: Config,
    files: TaskFiles,
    *,
    heartbeat_s: float = 3,
    longest_history: int = LONGEST_HISTORY,
    home: Path | None = None,
) -> WorkflowHandle[Any, Any]:
    """The workflow of a task."""
    place = files.root.parents[2]
    task = Task(
        files.task_id,
        str(place),
        __version__,
        config.host_silence_s,
        heartbeat_s,
        longest_history,
        proof=hand_over_proof(Home(home or home_path()), str(place), files.task_id),
    )
    name = f"{config.queue}-{place.name}-{files.task_id}"
    return await client.start_workflow(TaskWorkflow.run, task, id=name, task_queue=config.queue)


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for something that comes true by itself."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not condition():
        assert loop.time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


__all__ = ["begin", "connect", "until", "working"]
