"""A design that is revised, approved and built, from any line of its journal on: whoever died there, the next
one comes to the same end, with the same words of the same person, and no call is paid twice.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import agentforge
from agentforge.app.intake.extending import extend_line
from agentforge.app.intake.watching import Watching
from agentforge.app.people.answers import answer
from agentforge.core.errors import UsageError
from agentforge.core.state import State
from tests.depth import telling
from tests.engines.crash_site import Reference, Scene, found, reference_of, share_cache
from tests.whole.plays import SHOP
from tests.whole.walks import CALLS, WANTED, script

pytestmark = pytest.mark.slow

REQUEST = "Take the discount off in net"
LINES = 79
"""Decisions of the whole walk."""


def walk(scene: Scene, drive: Callable[[Scene], object] = Scene.drive) -> State:
    """All that is left of the walk: drives, and decides as the person does."""
    for _ in range(9):
        task = agentforge.OpenTask.open(scene.site(), scene.files)
        state = task.state
        waiting = state.open_escalation
        if state.status == "completed" and state.pipeline.exit_stage == "deliver":
            return state
        if state.status == "completed":
            extend_line(task, "deliver")
        elif waiting is not None and state.status == "blocked":
            first = state.iterations[-1].number == 1
            with suppress(UsageError):  # it was said, and whoever took it down died: `continue` uses it
                answer(task, waiting.id, f"revise: {WANTED}" if first else "approve")
            drive(scene)
        else:
            drive(scene)
    raise AssertionError(scene.recorded())


def make(root: Path) -> str:
    scene = found(root / "finished", SHOP)
    share_cache(root.parent, scene)
    place = root / "script.json"
    place.write_text(json.dumps({"replies": list(script())}), encoding="utf-8")
    options = agentforge.StartOptions(
        REQUEST, pipeline="design", model=f"scripted:{place}", watching=Watching(iterate=True)
    )
    task_id = agentforge.start(scene.site(), options).task_id
    scene = Scene(scene.root, task_id)
    walk(scene)
    return task_id


@pytest.fixture
def walked(shared: Path, home: Path, network: None, monkeypatch: pytest.MonkeyPatch) -> Reference:
    """The walk, gone once."""
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    return reference_of(shared, "walk-site", make)


def cut(walked: Reference, place: Path, lines: int) -> Scene:
    """The walk with only the first lines of its journal. What the person said later is not said yet."""
    scene = walked.cut(place, lines, trees=lines % 2 == 0)
    state = scene.site().read(scene.files).state
    for message in scene.files.inbox.glob("*.yaml"):
        if message.stem not in {item.id for item in state.escalations}:
            message.unlink()
    return scene


def test_the_walk_has_all_that_the_matrix_is_about(walked: Reference) -> None:
    scene = walked.finished
    state = scene.site().read(scene.files).state
    assert len(scene.recorded()) == LINES
    assert [item.decision for item in state.iterations] == ["revise", "approve"]
    assert (state.status, state.spent.calls, state.pipeline.exit_stage) == ("completed", CALLS, "deliver")


@pytest.mark.parametrize("lines", telling(range(2, LINES), 3))
def test_the_walk_goes_on_from_any_line_to_the_same_end(
    walked: Reference, tmp_path: Path, lines: int
) -> None:
    scene = cut(walked, tmp_path, lines)
    recorded, known = scene.files.journal.read_bytes(), scene.recorded()
    lost = {key.removesuffix("/sent") for key in known if key.endswith("/sent")} - set(known)
    walk(scene)
    assert scene.end() == walked.finished.end()
    assert scene.files.journal.read_bytes().startswith(recorded)
    assert scene.unaccounted().calls == len(lost)
    task = agentforge.OpenTask.open(scene.site(), scene.files)
    assert [found for found in agentforge.verify(task, rerun=False) if not found.ok] == []
