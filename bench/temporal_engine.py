"""Measures the second engine; loaded only where its library is installed."""

import asyncio
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from agentforge.engines.temporal.config import Config
from agentforge.store.layout import TaskFiles
from bench.temporal_bare import Bare, nothing
from tests.temporal.light import Light, driven_locally, found_task
from tests.temporal.servers import Server
from tests.temporal.working import begin, connect, working

ROUNDS = 5
STEPS = 12
TASKS = 30


@dataclass(frozen=True, slots=True)
class Measured:
    """Medians over rounds that were run by turns."""

    bare_ms: float
    ours_ms: float
    local_ms: float
    """The same effects on the local engine: what the journal and the rules take."""
    one_worker: float
    two_workers: float
    """Tasks per minute."""


def measure(place: Path) -> Measured:
    """All of it, on one server."""
    place.mkdir(parents=True, exist_ok=True)
    with Server(None, place) as server:
        bare, ours = asyncio.run(_effects(server.address, place))
        return Measured(
            bare,
            ours,
            _local(place),
            _throughput(server.address, place, 1),
            _throughput(server.address, place, 2),
        )


async def _effects(address: str, place: Path) -> tuple[float, float]:
    config = Config(address=address, queue="ours", host_silence_s=600)
    client = await connect(config)
    tasks = Light(steps=STEPS)
    bare: list[float] = []
    ours: list[float] = []
    workflows = Worker(
        client, task_queue="bare", workflows=[Bare], workflow_runner=UnsandboxedWorkflowRunner()
    )
    async with (
        workflows,
        Worker(client, task_queue="bare-host", activities=[nothing]),
        working(config, tasks, place),
    ):
        for number in range(ROUNDS + 1):
            before, started = len(tasks.performed), time.perf_counter()
            handle = await begin(client, config, found_task(place / f"ours-{number}"), heartbeat_s=20)
            await handle.result()
            effects = len(tasks.performed) - before + 1  # the first one is `begin`
            between = time.perf_counter()
            await client.execute_workflow(
                Bare.run, args=["bare-host", effects], id=f"bare-{number}", task_queue="bare"
            )
            if number:  # the first round only warms up
                ours.append((between - started) / effects * 1000)
                bare.append((time.perf_counter() - between) / effects * 1000)
    return statistics.median(bare), statistics.median(ours)


def _local(place: Path) -> float:
    times = []
    for number in range(ROUNDS):
        host = Light(steps=STEPS)
        started = time.perf_counter()
        driven_locally(place / f"local-{number}", host)
        times.append((time.perf_counter() - started) / len(host.performed) * 1000)
    return statistics.median(times)


def _throughput(address: str, place: Path, workers: int) -> float:
    """Tasks per minute, each worker in a process of its own."""
    queue, homes = f"many-{workers}", [place / f"host-{workers}-{number}" for number in range(workers)]
    for home in homes:
        home.mkdir()
        (home / "waits").touch()
    words = [
        [sys.executable, "-m", "tests.temporal.light_worker", address, queue, str(home), "1"]
        for home in homes
    ]
    children = [
        subprocess.Popen(each, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for each in words
    ]
    try:
        for child in children:
            assert child.stdin is not None
            assert child.stderr is not None
            child.stdin.write(b"one\n")
            child.stdin.flush()
            child.stderr.readline()  # it works
        tasks = [found_task(place / f"many-{workers}-{number}") for number in range(TASKS)]
        return asyncio.run(_all(address, queue, tasks))
    finally:
        for child in children:
            child.kill()
            child.communicate()


async def _all(address: str, queue: str, tasks: list[TaskFiles]) -> float:

    config = Config(address=address, queue=queue, host_silence_s=600)
    client = await connect(config)
    started = time.perf_counter()
    handles = [await begin(client, config, files, heartbeat_s=20) for files in tasks]
    await asyncio.gather(*(handle.result() for handle in handles))
    return len(tasks) / (time.perf_counter() - started) * 60
