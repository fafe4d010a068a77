"""A worker: takes tasks from the shared queue, and what follows of them from the queue of its place on this
host.
"""

import asyncio
import fcntl
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from agentforge.engines.temporal.activities import Host, OpenTasks
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import ailment, connect, runtime_for, sentences
from agentforge.engines.temporal.port import Tasks
from agentforge.engines.temporal.workflow import ATTRIBUTES, TaskWorkflow
from agentforge.system.canon import digest
from agentforge.system.files import make_own_directory

AT_ONCE = 16
GRACE_S = 10
_LOOK_S = 2.0
_PULSE = timedelta(milliseconds=200)
"""An activity knows how often it must be heard; no beat of it is held back for longer."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a worker runs: its directory, its version and how much it does at once."""

    home: Path
    """The user's directory, where what belongs to this host lies."""
    version: str
    at_once: int = AT_ONCE
    """How many effects it performs at the same time."""
    quiet: bool = False
    """Whether the library keeps its own log to itself."""
    sticky_s: float = 3.0
    """How long a step of a workflow waits for this worker, which has it in memory, before any other may read
    its history.
    """


class Seats:
    """Numbered seats of the workers of one home. A worker that starts again gets the seat of the one that
    died, and so its tasks.
    """

    def __init__(self, home: Path, queue: str) -> None:
        self._folder = home / "workers"
        make_own_directory(self._folder)
        self._queue = queue
        self._stack = ExitStack()
        self.mine: list[int] = []

    def sit(self) -> str:
        """Takes the first free seat, and returns the name of its queue."""
        number = 0
        while not self._take(number):
            number += 1
        return self.name(number)

    def orphans(self) -> list[str]:
        """Seats whose workers are gone: taken now, so that their tasks go on here."""
        return [
            self.name(number)
            for number in self._seat_numbers()
            if number not in self.mine and self._take(number)
        ]

    def name(self, number: int) -> str:
        """The queue of a seat: this machine, this home, this number."""
        return f"{self._queue}@{socket.gethostname()}-{digest(str(self._folder))[:8]}-{number}"

    def leave(self) -> None:
        """Frees every seat that this worker took."""
        self._stack.close()

    def _seat_numbers(self) -> list[int]:
        prefix = f"{digest(self._queue)[:8]}-"
        return sorted(int(path.name.removeprefix(prefix)) for path in self._folder.glob(f"{prefix}*"))

    def _take(self, number: int) -> bool:
        fd = os.open(
            self._folder / f"{digest(self._queue)[:8]}-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666
        )
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._stack.callback(os.close, fd)
        self.mine.append(number)
        return True


async def serve(
    config: Config, tasks: Tasks, settings: WorkerSettings, stop: asyncio.Event, say: Callable[[str], None]
) -> None:
    """Works until it is told to stop."""
    client = await connect(config, runtime_for(config, quiet=settings.quiet))
    attributes = await _register(client, config, say)
    seats = Seats(settings.home, config.queue)
    try:
        first = seats.sit()
        open_tasks = OpenTasks(tasks, Host(first, settings.version, attributes), say)
        with sentences(config):
            async with AsyncExitStack() as stack:
                stack.push_async_callback(open_tasks.clear)
                await stack.enter_async_context(_host_worker(client, first, open_tasks, settings))
                await stack.enter_async_context(_shared_worker(client, config, open_tasks, settings))
                say(
                    f"works on queue {config.queue} of {config.address}, as {first}; at most "
                    f"{settings.at_once} effects at once"
                )
                ails = ""
                while not await _is_stopped(stop):
                    ails = await _watch(client, config, say, ails)
                    for name in seats.orphans():
                        say(f"takes the place of a worker that is gone: {name}")
                        other = OpenTasks(tasks, Host(name, settings.version, attributes), say)
                        stack.push_async_callback(other.clear)
                        await stack.enter_async_context(_host_worker(client, name, other, settings))
                say(f"stops; what runs has {GRACE_S} s to finish")
    finally:
        seats.leave()


async def _is_stopped(stop: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(stop.wait(), _LOOK_S)
    except TimeoutError:
        return False
    return True


async def _watch(client: Client, config: Config, say: Callable[[str], None], before: str) -> str:
    """Says once what is wrong with the server, and once that it is well again: the worker goes on asking by
    itself.
    """
    now = await ailment(client, config)
    if now != before:
        say(now or "the server answers again")
    return now


def _host_worker(client: Client, queue: str, open_tasks: OpenTasks, settings: WorkerSettings) -> Worker:
    return Worker(
        client,
        task_queue=queue,
        activities=open_tasks.all(),
        max_concurrent_activities=settings.at_once,
        max_heartbeat_throttle_interval=_PULSE,
        default_heartbeat_throttle_interval=_PULSE,
        graceful_shutdown_timeout=timedelta(seconds=GRACE_S),
    )


def _shared_worker(client: Client, config: Config, open_tasks: OpenTasks, settings: WorkerSettings) -> Worker:
    """Workflows, and the first word of each. The workflow is ours and imports nothing: it needs no
    sandbox.
    """
    return Worker(
        client,
        task_queue=config.queue,
        workflows=[TaskWorkflow],
        workflow_runner=UnsandboxedWorkflowRunner(),
        activities=[open_tasks.begin()],
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=settings.sticky_s),
        max_concurrent_activities=settings.at_once,
        max_heartbeat_throttle_interval=_PULSE,
        default_heartbeat_throttle_interval=_PULSE,
    )


async def _register(client: Client, config: Config, say: Callable[[str], None]) -> bool:
    """Makes the search attributes known to the server, where we may. True if it has them."""
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    try:
        found = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=config.namespace)
        )
        missing = [name for name in ATTRIBUTES if name not in found.custom_attributes]
        if missing:
            wanted = AddSearchAttributesRequest(
                namespace=config.namespace, search_attributes=dict.fromkeys(missing, keyword)
            )
            await client.operator_service.add_search_attributes(wanted)
    except RPCError as error:
        say(
            f"without search attributes: the server does not let us add {', '.join(ATTRIBUTES)} "
            f"({error.message})"
        )
        return False
    return True
