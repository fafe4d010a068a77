"""A task that waits for others: until they have come so far, through kills, and with a question where they
will not.
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.system import strict_yaml
from tests import forked
from tests.surfaces.scene import CODE, COMMAND, PATCH, QUESTION, SPECIFICATION, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

FILES = {"greeting.py": CODE, "tests/test_greeting.py": TEST}
ARTIFACTS: Any = PATCH["artifacts"]
INTAKE = {
    "artifacts": {"intake_record": ARTIFACTS["intake_record"]},
    "signal": "success",
    "summary": "Taken in.",
}
UNTIL_S = 90


@pytest.fixture
def scene(tmp_path: Path, environments: Path) -> Scene:
    return make_scene(tmp_path, FILES)


def data_layer(scene: Scene) -> Scene:
    """Another repository, registered, with a task that asks before its intake is accepted, and after."""
    top = scene.top.parent / "data"
    top.mkdir()
    other = replace(scene, top=top)
    other.git("init", "--quiet", "--initial-branch=main")
    (top / "schema.sql").write_text("create table events (id integer);\n", encoding="utf-8")
    other.git("add", "--all")
    other.git("commit", "--quiet", "--message", "First")
    assert scene.run("repo", "add", str(top), "--name", "data-layer").returncode == 0
    script = top.parent / "data.yaml"
    replies = [("intake", QUESTION), ("intake", INTAKE), ("analyze", QUESTION)]
    script.write_text(
        strict_yaml.dump({"replies": [{"stage": stage, "reply": reply} for stage, reply in replies]}),
        encoding="utf-8",
    )
    done = other.run(
        "design",
        "schema.sql: every event must have a time, else inserting it fails",
        "--model",
        f"scripted:{script}",
    )
    assert done.returncode == 3, done.stderr
    return other


def specified(scene: Scene, **dependencies: object) -> tuple[str, ...]:
    """The command that writes tests of a specification which waits for these."""
    path = scene.top.parent / "spec.yaml"
    path.write_text(strict_yaml.dump({**SPECIFICATION, "dependencies": dependencies}), encoding="utf-8")
    return ("test", "--spec", str(path), "--model", scene.script(("analyze", QUESTION)))


@contextmanager
def running(scene: Scene, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command in a process of its own, once its task waits for others; killed at the end."""
    child = forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env=dict(scene.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until = time.monotonic() + UNTIL_S
        while not (rows := scene.data("status")) or not rows[0]["waits_for"] or rows[0]["stopped"]:
            assert child.poll() is None, child.stdout and child.stdout.read()
            assert time.monotonic() < until, rows
            time.sleep(0.3)
        yield child
    finally:
        child.kill()
        child.communicate()


def test_a_task_waits_for_another_repository_through_a_kill_and_goes_on_with_its_artifact(
    scene: Scene,
) -> None:
    data = data_layer(scene)
    words = specified(
        scene,
        tasks=[{"task_id": data.task, "required_stage": "intake", "reason": "The schema comes first"}],
        external=[{"repo": "data-layer", "artifact": "intake_record", "version": ">=1, <2"}],
    )
    with running(scene, *words) as first:
        (row,) = scene.data("status")
        assert (row["waits_for"]["kind"], row["depends_on"]) == ("tasks", [data.task])
        assert f"Waiting: {data.task} to reach intake (The schema comes first)" in scene.run("status").stdout
        asked = scene.data("inbox")
        assert [each["waiting_costs"]["depends_on_it"] for each in asked] == [[row["task_id"]]]
        first.kill()
    left = scene.run("continue", "--detach")
    assert left.returncode == 0, left.stderr
    assert f"is waiting for {data.task} to reach intake" in left.stdout
    with running(scene, "continue") as again:
        answered = data.run("resolve", "ESC-001", "--answer", "world")
        assert answered.returncode == 3, answered.stdout  # its intake is accepted, and analyze asks
        said, _ = again.communicate(timeout=UNTIL_S)
        assert again.returncode == 3, said
    assert "what it waited for is there" in said
    assert scene.data("status")[0]["waits_for"] is None
    shown = scene.run("context", "--text").stdout
    assert "intake_record 1 of data-layer" in shown
    calls = scene.data("cost", scene.task)["total"]["calls"]
    assert calls == 1  # the wait costs nothing


def test_a_dependency_that_was_aborted_is_a_question_and_a_person_may_go_on_without(scene: Scene) -> None:
    data = data_layer(scene)
    words = specified(scene, tasks=[{"task_id": data.task}])
    assert data.run("abort", data.task).returncode == 0
    done = scene.run(*words)
    assert done.returncode == 3, done.stderr
    (asked,) = scene.data("escalations", "list")
    assert asked["kind"] == "dependency"
    assert f"{data.task} was aborted without it" in asked["question"]
    assert asked["options"] == ["retry", "go on without", "abort"]
    again = scene.run("continue")  # looks again, and asks again
    assert again.returncode == 3
    (asked,) = scene.data("escalations", "list")
    assert (asked["id"], asked["kind"]) == ("ESC-002", "dependency")
    done = scene.run("resolve", "ESC-002", "--answer", "go on without")
    assert done.returncode == 3, done.stdout
    assert "goes on without what it waited for" in scene.run("logs").stdout
    assert [each["kind"] for each in scene.data("escalations", "list")] == ["question"]


def test_what_cannot_be_waited_for_is_refused_when_it_is_handed_in(scene: Scene) -> None:
    data = data_layer(scene)
    wrong: list[tuple[dict[str, object], str]] = [
        ({"tasks": [{"task_id": "task-nowhere"}]}, "there is no task task-nowhere on this machine"),
        (
            {"tasks": [{"task_id": data.task, "required_stage": "golden"}]},
            f"{data.task} has no stage golden; it has intake, clarify, analyze, spec, deliver",
        ),
        ({"external": [{"repo": "nobody", "artifact": "x"}]}, "no repository is registered as nobody"),
        ({"external": [{"repo": "data-layer", "version": "newest"}]}, "'newest' is no range of versions"),
    ]
    for dependencies, words in wrong:
        done = scene.run(*specified(scene, **dependencies))
        assert done.returncode == 2, done.stdout
        assert words in done.stderr
    assert not (scene.top / ".agentforge" / "tasks").exists()
