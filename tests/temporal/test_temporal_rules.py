"""The rules of the program really change while a workflow waits: it goes on under the new ones, and what was
is as it was.
"""

import asyncio
import shutil
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType

import agentforge
from agentforge.engines.temporal.client import workflow_id
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect
from tests.engines.crash_site import PROJECT, Scene, found
from tests.temporal.reading import ASK, DONE, READ, User, script, start_words
from tests.temporal.servers import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

OLD, NEW = "    if run.steps >= stage.max_steps:\n", "    if run.steps >= 2:\n"
"""When an attempt is over."""


def changed_program(place: Path) -> Path:
    """A copy of the program with another rule."""
    here = Path(agentforge.__file__).parent
    shutil.copytree(here, place / "agentforge")
    rules = place / "agentforge" / "core" / "decisions.py"
    text = rules.read_text(encoding="utf-8")
    assert text.count(OLD) == 1
    rules.write_text(text.replace(OLD, NEW), encoding="utf-8")
    return place


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_rule_that_changes_while_a_workflow_waits_holds_from_then_on_in_the_same_run(
    server: Server, tmp_path: Path, home: Path
) -> None:
    scene = found(tmp_path / "site", PROJECT)
    config = Config(address=server.address, queue="rules")
    before = User(scene.repo, home / ".agentforge", {"TEMPORAL_ADDRESS": server.address})
    after = User(
        scene.repo,
        home / ".agentforge",
        {"TEMPORAL_ADDRESS": server.address, "PYTHONPATH": str(changed_program(tmp_path / "new"))},
    )
    before.configure("temporal: {queue: rules}\n")

    with before.running("worker") as worker:
        asked = before.run(*start_words(script(tmp_path, ASK, READ, DONE)))
        assert asked.returncode == 3, asked.stderr
        worker.stop()
    (task,) = (scene.repo / ".agentforge" / "tasks").iterdir()
    scene = Scene(scene.root, task.name)
    name = workflow_id(task.name, scene.site().read(scene.files).state.marker)
    journal, artifacts, run = (
        scene.files.journal.read_bytes(),
        contents(scene.files.artifacts),
        run_of(config, name)[0],
    )

    with after.running("worker") as worker:
        done = after.run("resolve", "ESC-001", "--answer", "this")
        assert done.returncode == 0, done.stdout + done.stderr
        worker.stop()

    assert [key for key in scene.recorded() if key.endswith("/act")] == [
        "analyze/1/1/act",
        "analyze/1/2/act",
        "analyze/2/3/act",
    ]
    assert len(set(scene.recorded())) == len(scene.recorded())
    assert scene.files.journal.read_bytes().startswith(journal)
    assert contents(scene.files.artifacts).items() >= artifacts.items()
    assert run_of(config, name) == (run, "COMPLETED", [])


def run_of(config: Config, name: str) -> tuple[str, str, list[str]]:
    """Which run of the workflow there is, how it stands, and its steps that went wrong."""
    wrong = {EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED, EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT}

    async def look() -> tuple[str, str, list[str]]:
        handle = (await connect(config)).get_workflow_handle(name)
        found, history = await handle.describe(), await handle.fetch_history()
        failed = [EventType.Name(event.event_type) for event in history.events if event.event_type in wrong]
        return found.run_id, found.status.name if found.status else "", failed

    return asyncio.run(look())
