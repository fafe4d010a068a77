"""The two engines as the table of scenarios knows them: each drives a scene to its end, or has drivers that
die on order.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from temporalio.client import Client, WorkflowHandle

import agentforge
from agentforge.app.drivers.hosting import HostedSession, HostedTasks
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.port import Ref
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.store.task.journal import read_lines
from tests.depth import SOAK
from tests.engines import lines_ahead
from tests.engines.crash_site import Scene
from tests.engines.deaths import Order
from tests.engines.drivers import Drivers
from tests.temporal.working import begin, connect, working

NAMES = ("local", "temporal")
BOTH = pytest.mark.parametrize("engine", NAMES, indirect=True)
BOTH_IF_SOAKED = pytest.mark.parametrize("engine", NAMES if SOAK else NAMES[:1], indirect=True)


def both(name: str, values: Iterable[object], telling: Collection[object]) -> pytest.MarkDecorator:
    """Every value on the local engine; on the other one those that tell most."""
    rows = [
        (engine, value)
        for engine in NAMES
        for value in values
        if engine == "local" or SOAK or value in telling
    ]
    return pytest.mark.parametrize(("engine", name), rows, indirect=["engine"])


class Engine(Protocol):
    """Who drives."""

    @property
    def name(self) -> str:
        """`local` or `temporal`."""

    def drive(self, scene: Scene) -> list[str]:
        """What `agentforge continue` does, until the task rests; what was said on the way."""

    def drivers(self, scene: Scene) -> AbstractContextManager[Drivers]:
        """One after the other, each until it dies."""

    def next_line(self, scene: Scene) -> tuple[str, str]:
        """The first line that an effect adds, in a form that compares; then the driver is gone."""


class Local:
    """The process of the command."""

    name = "local"

    def drive(self, scene: Scene) -> list[str]:
        said: list[str] = []
        site = scene.site()
        with agentforge.open_driver(
            agentforge.OpenTask.open(site, site.find(scene.task_id)), progress=said.append
        ) as driver:
            driver.run()
        return said

    def drivers(self, scene: Scene) -> AbstractContextManager[Drivers]:
        return Drivers(scene)

    def next_line(self, scene: Scene) -> tuple[str, str]:
        return lines_ahead.next_line(scene)


@dataclass(frozen=True, slots=True)
class Temporal:
    """Workers of a real server. The workflow of a scene is started once, and lives through every death of a
    worker.
    """

    config: Config
    become: Callable[[Scene], None]
    """Makes this process one of the scene's user."""
    name: str = "temporal"

    def drive(self, scene: Scene) -> list[str]:
        self.become(scene)
        said: list[str] = []

        async def run() -> None:
            client = await connect(self.config)
            async with working(self.config, Heard(said), scene.home.path):
                handle = await self._begin(client, scene)
                await handle.result()

        asyncio.run(run())
        return said

    @contextmanager
    def drivers(self, scene: Scene) -> Iterator[Drivers]:
        async def hand_over() -> str:
            return (await self._begin(await connect(self.config), scene)).id

        name = asyncio.run(hand_over())
        try:
            with Drivers(scene, (self.config.address, self.config.queue, name)) as drivers:
                yield drivers
        finally:
            asyncio.run(self._forget(name))

    def next_line(self, scene: Scene) -> tuple[str, str]:
        before = len(scene.recorded())
        with self.drivers(scene) as drivers:
            drivers.obey(Order("next"))
        line = next(
            line for line in read_lines(scene.files.journal)[before:] if not line.key.startswith("driver/")
        )
        return lines_ahead.plain(line.key, line.body["events"])

    async def _begin(self, client: Client, scene: Scene) -> WorkflowHandle[Any, Any]:
        files = scene.site().find(scene.task_id)
        if read_engine(files).engine != "temporal":
            write_engine(files, Driven("temporal"))
        return await begin(client, self.config, files, heartbeat_s=0.5, home=scene.home.path)

    async def _forget(self, name: str) -> None:
        handle = (await connect(self.config)).get_workflow_handle(name)
        if (await handle.describe()).close_time is None:
            await handle.terminate()


class Heard(HostedTasks):
    """The tasks of this machine, and what is said of them."""

    def __init__(self, said: list[str]) -> None:
        self._said = said

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> HostedSession:
        def tell(sentence: str) -> None:
            self._said.append(sentence)
            progress(sentence)

        return super().open(ref, mine, tell)
