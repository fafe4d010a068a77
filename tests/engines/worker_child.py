"""A driver of the other engine: a worker of a Temporal server, with the tasks of the scene's home. It dies as
any driver does.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace

from agentforge import __version__
from agentforge.app.drivers.hosting import HostedSession, HostedTasks
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect
from agentforge.engines.temporal.port import Ref
from agentforge.engines.temporal.worker import WorkerSettings, serve
from tests.engines.crash_site import Scene
from tests.engines.deaths import Begun, Death, Live, Order

STICKY_S = 0.1


class DeadlyTasks(HostedTasks):
    """As they are, but for whoever opens one."""

    def __init__(self, death: Death, begun: Begun) -> None:
        self._death, self._begun = death, begun

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> HostedSession:
        self._begun()
        session = super().open(ref, mine, progress)
        session.journal.listeners.append(self._death.on_line)
        session.ports = replace(
            session.ports, perform=self._death.around(session.ports.perform, session.journal)
        )
        return session


def work_at(address: str, queue: str, workflow_id: str) -> Live:
    """A worker that lives until it dies, or until the workflow has ended."""

    async def work(home: Scene, tasks: HostedTasks) -> str:
        config, stop = Config(address=address, queue=queue), asyncio.Event()
        place = WorkerSettings(home.home.path, __version__, quiet=True, sticky_s=STICKY_S)
        worker = asyncio.create_task(serve(config, tasks, place, stop, lambda _: None))
        result = asyncio.create_task((await connect(config)).get_workflow_handle(workflow_id).result())
        await asyncio.wait([worker, result], return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await worker
        return str((await result)["status"])

    def live(scene: Scene, order: Order, begun: Begun) -> str:
        os.environ["AGENTFORGE_HOME"] = str(scene.home.path)
        return asyncio.run(work(scene, DeadlyTasks(Death(order), begun)))

    return live
