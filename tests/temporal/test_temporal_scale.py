"""Many tasks and many steps: all finish, each in its order, and neither history nor memory grows with
them.
"""

import asyncio
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.workflow import LONGEST_HISTORY
from tests.depth import SOAK
from tests.temporal.light import Light, driven_locally, follow, found_task, keys, read_state
from tests.temporal.working import begin, connect, until, working

pytestmark = pytest.mark.slow

PATIENT_S = 600
"""As people have it: on a busy machine many tasks wait for their turn, and nobody is lost."""
TASKS, STEPS, HISTORY = (200, 2000, LONGEST_HISTORY) if SOAK else (12, 30, 130)
"""The numbers that we promise, in a soak; the same with fewer in every other run."""


def resident() -> int:
    """KiB of memory now; the most there ever were, where the system does not say."""
    try:
        return (
            int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            * resource.getpagesize()
            // 1024
        )
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_many_tasks_on_two_workers_all_finish_each_in_its_order(config: Config, tmp_path: Path) -> None:
    config = replace(config, host_silence_s=PATIENT_S)
    tasks = [found_task(tmp_path / "tasks", f"task-{number}") for number in range(TASKS)]
    one, two = Light(), Light()

    async def run() -> None:
        client = await connect(config)
        async with working(config, one, tmp_path / "one"), working(config, two, tmp_path / "two"):
            handles = [await begin(client, config, files, heartbeat_s=20) for files in tasks]
            ends = await asyncio.gather(*(handle.result() for handle in handles))
            assert {end["status"] for end in ends} == {"completed"}

    asyncio.run(run())
    expected = driven_locally(tmp_path / "local", Light())
    assert all(keys(files) == expected for files in tasks)
    assert one.performed
    assert two.performed


def test_many_steps_leave_history_and_memory_as_they_were(config: Config, tmp_path: Path) -> None:
    files, config = found_task(tmp_path), replace(config, host_silence_s=PATIENT_S)
    sizes: list[int] = []

    async def run() -> tuple[int, list[int]]:
        client, look = await connect(config), follow(files)
        async with working(config, Light(steps=STEPS), tmp_path):
            handle = await begin(client, config, files, heartbeat_s=20, longest_history=HISTORY)
            await until(lambda: look().step >= STEPS // 2, 120 if not SOAK else 3000)
            sizes.append(resident())
            found = await handle.result()
            sizes.append(resident())
            return found["runs"], [
                run.history_length async for run in client.list_workflows(f"WorkflowId = '{handle.id}'")
            ]

    runs, lengths = asyncio.run(run())
    # `make soak` shows it.
    print(  # noqa: T201
        f"hand-overs: {runs}; lengths of the histories: {lengths}; KiB of memory halfway and at the end: "
        f"{sizes}"
    )
    assert runs >= 3
    assert len(lengths) > 1
    assert max(lengths) < (10_000 if SOAK else 350)
    assert sizes[1] < sizes[0] * 1.1
    assert read_state(files).step == STEPS
    assert len(set(keys(files))) == len(keys(files))
