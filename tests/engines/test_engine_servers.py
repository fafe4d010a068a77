"""What is pulled away under a worker with a real task, its server, its database, its files: the journal is
the truth, and it goes on.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import agentforge
from agentforge.app.drivers.hosting import HostedSession, HostedTasks
from agentforge.core.effects import Effect
from agentforge.core.inputs import Outcome
from agentforge.core.state import State
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.port import Ref
from agentforge.store.task.engine import Driven, write_engine
from tests.engines.crash_site import Reference
from tests.temporal.servers import Server
from tests.temporal.working import begin, connect, until, working

pytestmark = pytest.mark.slow


class Waiting(HostedTasks):
    """Real tasks, whose effects of these names wait until a test lets them."""

    def __init__(self, *names: str) -> None:
        self.at = {name: threading.Event() for name in names}
        self.go_on = {name: threading.Event() for name in names}
        self.performed: list[str] = []

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> HostedSession:
        session = super().open(ref, mine, progress)
        perform = session.ports.perform

        def wait(effect: Effect, state: State) -> Outcome:
            self.performed.append(effect.key)
            if effect.key in self.at:
                self.at[effect.key].set()
                assert self.go_on[effect.key].wait(60)
            return perform(effect, state)

        session.ports = replace(session.ports, perform=wait)
        return session


def test_a_killed_server_and_a_lost_database_change_nothing_of_a_real_task(
    site: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = site.copy(tmp_path / "site", moment="red/1/3/commit/1")
    write_engine(scene.files, Driven("temporal"))
    monkeypatch.setenv("AGENTFORGE_HOME", str(scene.home.path))
    database, killed, lost = tmp_path / "temporal.db", "green/1/4/check/1", "review/1/5/ask/0"
    tasks = Waiting(killed, lost)

    async def run(server: Server) -> None:
        config = Config(address=server.address, queue="q", host_silence_s=60)
        async with working(config, tasks, scene.home.path):
            await begin(await connect(config), config, scene.files, heartbeat_s=1)
            await until(tasks.at[killed].is_set, 120)
            server.kill()
            server.start()
            tasks.go_on[killed].set()

            await until(tasks.at[lost].is_set, 120)
            server.kill()
            server.forget()
            server.start()
            again = await begin(await connect(config), config, scene.files, heartbeat_s=1)
            tasks.go_on[lost].set()
            assert (await again.result())["status"] == "completed"

    with Server(database, tmp_path) as server:
        asyncio.run(run(server))
    assert scene.end() == site.finished.end()
    assert len(set(tasks.performed)) == len(tasks.performed)
    assert sorted(scene.recorded()) == sorted(site.finished.recorded())
    assert [
        finding
        for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
        if not finding.ok
    ] == []


def test_git_clean_under_a_worker_takes_the_task_back_to_its_last_accepted_stage_and_it_goes_on(
    site: Reference, tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = site.copy(tmp_path, moment="green/1/4/act")
    write_engine(scene.files, Driven("temporal"))
    monkeypatch.setenv("AGENTFORGE_HOME", str(scene.home.path))
    cleaned = "review/1/5/ask/0"
    tasks = Waiting(cleaned)

    async def run() -> None:
        async with working(config, tasks, scene.home.path):
            handle = await begin(await connect(config), config, scene.files)
            await until(tasks.at[cleaned].is_set, 120)
            await asyncio.to_thread(scene.git, "clean", "-qfdx")
            tasks.go_on[cleaned].set()
            assert (await handle.result())["status"] == "completed"

    asyncio.run(run())
    assert scene.end() == site.finished.end()
    assert tasks.performed.count(cleaned) == 2
    assert sorted(scene.recorded()) == sorted(site.finished.recorded())
    assert [
        finding
        for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
        if not finding.ok
    ] == []
