"""Many tasks and many steps: all finish, each in its order, and neither history nor memory grows with them."""

import asyncio
import os
import resource
from pathlib import Path

import pytest

from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.workflow import LONGEST_HISTORY
from tests.temporal.light import Light, driven_locally, found_task, keys, read_state
from tests.temporal.working import begin, connect, until, working

pytestmark = pytest.mark.slow

SOAK = bool(os.environ.get("SOAK"))
"""`make soak`: the numbers that we promise. Every other run shows the same with fewer."""
TASKS, STEPS, HISTORY = (200, 2000, LONGEST_HISTORY) if SOAK else (24, 60, 250)


def test_many_tasks_on_two_workers_all_finish_each_in_its_order(config: Config, tmp_path: Path) -> None:
    tasks = [found_task(tmp_path / "tasks", f"task-{number}") for number in range(TASKS)]
    one, two = Light(), Light()

    async def run() -> None:
        client = await connect(config)
        async with working(config, one, tmp_path / "one"), working(config, two, tmp_path / "two"):
            handles = [await begin(client, config, files) for files in tasks]
            ends = await asyncio.gather(*(handle.result() for handle in handles))
            assert {end["status"] for end in ends} == {"completed"}

    asyncio.run(run())
    expected = driven_locally(tmp_path / "local", Light())
    assert all(keys(files) == expected for files in tasks)
    assert one.performed
    assert two.performed


def test_many_steps_leave_history_and_memory_as_they_were(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path)
    sizes: list[int] = []

    async def run() -> tuple[int, int]:
        client = await connect(config)
        async with working(config, Light(steps=STEPS), tmp_path):
            handle = await begin(client, config, files, longest_history=HISTORY)
            await until(lambda: read_state(files).step >= STEPS // 2, 120 if not SOAK else 3000)
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            found = await handle.result()
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            return found["runs"], (await client.get_workflow_handle(handle.id).describe()).history_length

    runs, length = asyncio.run(run())
    assert runs >= 3
    assert length < (10_000 if SOAK else 350)
    assert sizes[1] < sizes[0] * 1.1
    assert read_state(files).step == STEPS
    assert len(set(keys(files))) == len(keys(files))
