"""A pause before the next try of a call: as long as it was asked for, and not a moment longer than the task
lives.
"""

import threading
import time
from pathlib import Path

from agentforge.activities.batches import BatchOutbox
from agentforge.activities.perform import perform
from agentforge.activities.world import World
from agentforge.app.models.answering import NobodyAnswers
from agentforge.catalog.load import Catalog
from agentforge.core.effects import Pause
from agentforge.core.inputs import Elapsed
from agentforge.core.runs import WORKER, Run
from agentforge.core.state import State
from agentforge.models.router import Router
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.sandbox.worktree import Workspace
from agentforge.store.layout import TaskFiles
from agentforge.store.task.pack import Pack
from agentforge.store.user.outbox import Outbox
from tests.gates.bench_of_judges import make_site


def test_a_pause_ends_with_its_task(tmp_path: Path) -> None:
    site, files = make_site(tmp_path, {"a.py": ""}), TaskFiles(tmp_path / "task-1")
    batch_outbox = BatchOutbox(Outbox(tmp_path / "batches"))
    world = World(
        files=files,
        pack=Pack(files.pack),
        workspace=Workspace(site.git, tmp_path / "space", "task-1"),
        sandbox=NoSandbox(),
        models=Router.single(NobodyAnswers()),
        catalogue=Catalog.packaged().resolve("implement", "hotfix"),
        settings={},
        cache=tmp_path / "cache",
        created_at="2030-01-31T00:00:00.000Z",
        record=lambda _key, _input: (),
        head=lambda: "",
        batch_outbox=batch_outbox,
    )
    state = State(runs=(Run(WORKER, "patch", 1, ""),))
    began = time.monotonic()
    assert perform(world, Pause(WORKER, "patch/1/1/pause/1", 1), state) == Elapsed()
    assert time.monotonic() - began >= 1
    threading.Timer(0.1, batch_outbox.off.set).start()
    assert perform(world, Pause(WORKER, "patch/1/1/pause/2", 600), state) == Elapsed()
    assert time.monotonic() - began < 300
