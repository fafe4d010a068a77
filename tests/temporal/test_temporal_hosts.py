"""Two hosts with one queue and one repository, real tasks, and the host that has them is stopped, comes back
late, and dies.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.common import SearchAttributeKey

import agentforge
from agentforge import __version__
from agentforge.app.drivers.hosting import HostedTasks
from agentforge.core.errors import UsageError
from agentforge.engines.temporal.client import workflow_id
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect
from agentforge.engines.temporal.port import Ref
from agentforge.engines.temporal.workflow import NAME, Task
from agentforge.store.layout import Home
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.store.user.task_tokens import hand_over_proof
from tests import forked
from tests.engines.crash_site import SMALL, Reference, Scene, reference
from tests.sharing import start_as_before
from tests.temporal.reading import DONE, READ, REQUEST, Running, User, script, until
from tests.temporal.servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

HELD = ("green/1/4/check/1", "analyze/1/1/act")
"""Where the first host waits in an effect."""


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, home: Path, monkeypatch: pytest.MonkeyPatch) -> Reference:
    """The reference run; packages come from this machine alone."""
    mine = tmp_path_factory.getbasetemp()
    shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    return reference(shared, SMALL)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


class Hosts:
    """The tasks of one repository, handed to workers with little patience."""

    def __init__(self, config: Config, runner: asyncio.Runner) -> None:
        self._config, self._runner = config, runner
        self._client = runner.run(connect(config))

    def begin(self, scene: Scene) -> None:
        task = Task(
            scene.task_id,
            str(scene.site().git.top),
            __version__,
            self._config.host_silence_s,
            heartbeat_s=1,
            proof=hand_over_proof(scene.home, str(scene.site().git.top), scene.task_id),
        )
        # A host that is stopped is handed steps of workflows all the same, and takes them with it.
        begun = self._client.start_workflow(
            NAME, task, id=_name(scene), task_queue=self._config.queue, task_timeout=timedelta(seconds=1)
        )
        self._runner.run(begun)

    def all_are(self, status: str, *scenes: Scene) -> bool:
        """As the server can be searched for it."""

        async def look(scene: Scene) -> str | None:
            found = await self._client.get_workflow_handle(_name(scene)).describe()
            return found.typed_search_attributes.get(SearchAttributeKey.for_keyword("AgentForgeStatus"))

        return all(self._runner.run(look(scene)) == status for scene in scenes)


def _name(scene: Scene) -> str:
    return workflow_id(scene.task_id, scene.site().read(scene.files).state.marker)


def reading_task(scene: Scene, model: str) -> Scene:
    """Another, light task of the same repository."""
    options = agentforge.StartOptions(REQUEST, pipeline="review", model=model, engine="temporal")
    return Scene(scene.root, agentforge.start(scene.site(), options).task_id)


@contextmanager
def held(user: User, place: Path) -> Iterator[Running]:
    """A worker that waits in certain effects."""
    place.mkdir()
    words = [sys.executable, "-m", "tests.temporal.held_worker", str(place), *HELD]
    with (place.parent / "held.log").open("wb") as log:
        child = forked.ForkedCommand(words, cwd=forked.TOP, env=user.environ, stdout=log, stderr=log)
    running = Running(child, place.parent / "held.log")
    try:
        running.says("works on queue")
        yield running
    finally:
        child.kill()
        child.wait()


def test_a_stopped_host_a_late_one_a_dead_one_and_a_take_over_all_end_as_if_nothing_had_happened(
    site: Reference, server: Server, tmp_path: Path, runner: asyncio.Runner
) -> None:
    taken = site.copy(tmp_path / "site", moment="green/1/4/act")
    write_engine(taken.files, Driven("temporal"))
    late, returned = (reading_task(taken, script(tmp_path, READ, DONE)) for _ in range(2))
    tasks = (taken, late, returned)
    hosts = Hosts(Config(address=server.address, queue="hosts", host_silence_s=2), runner)
    one = User(taken.repo, taken.home.path, {"TEMPORAL_ADDRESS": server.address})
    two = User(taken.repo, tmp_path / "two", {"TEMPORAL_ADDRESS": server.address})
    start_as_before(replace(taken.site(), home=Home(two.home)), taken.files)
    (two.home / "cache").symlink_to(site.root.parent / "crash-cache")
    for user in (one, two):
        user.configure("temporal: {queue: hosts, host_silence_s: 2}\n")

    def completed(scene: Scene) -> bool:
        return scene.site().read(scene.files).state.status == "completed"

    place = tmp_path / "held"
    with held(one, place) as first:
        for scene in tasks:
            hosts.begin(scene)
        until(lambda: all((place / scene.task_id).exists() for scene in tasks), first.said)
        before = {scene.task_id: scene.recorded() for scene in tasks}
        mine = read_engine(taken.files).host
        with two.running("worker") as second:
            # Stopped in the middle of an effect: it is silent, but it has the lock, and what it does may go
            # on at any time.
            first.signal(signal.SIGSTOP)
            until(lambda: hosts.all_are("host_lost", *tasks), second.said)
            refused = two.run("continue", taken.task_id, "--take-over")
            assert refused.returncode == 4, refused.stderr
            assert f"Another driver works on {taken.task_id} (process " in refused.stderr
            assert {scene.task_id: scene.recorded() for scene in tasks} == before

            # Back, late: every effect that it was in goes on, once.
            first.signal(signal.SIGCONT)
            (place / late.task_id).unlink()
            until(lambda: completed(late), first.said)
            until(lambda: hosts.all_are("running", taken, returned), first.said)

            # Dead.
            first.signal(signal.SIGKILL)
            until(lambda: hosts.all_are("host_lost", taken, returned), second.said)
            page = two.run("status", taken.task_id).stdout
            assert "host_lost" in page
            assert f"agentforge continue {taken.task_id} --take-over" in page
            assert "host_lost" in two.run("status", taken.task_id, "--json").stdout
            over = two.run("continue", taken.task_id, "--take-over")
            assert over.returncode == 0, over.stdout + over.stderr
            assert returned.recorded() == before[returned.task_id]

            # And back once more, as another process of that home.
            with one.running("worker") as third:
                until(lambda: completed(returned), third.said)
                third.stop()
            second.stop()

    # An attempt of the first host that wakes up only now finds that the task is not its own any more.
    with pytest.raises(UsageError, match="was taken over by the host hosts@"):
        HostedTasks().open(Ref(taken.task_id, str(taken.site().git.top)), mine, print)
    assert taken.end() == site.finished.end()
    assert [read_engine(scene.files).host == mine for scene in tasks] == [False, True, True]
    for scene in tasks:
        assert len(set(scene.recorded())) == len(scene.recorded())
        assert scene.recorded()[: len(before[scene.task_id])] == before[scene.task_id]
        assert [
            finding
            for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
            if not finding.ok
        ] == []
