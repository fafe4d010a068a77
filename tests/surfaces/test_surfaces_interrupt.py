"""Ctrl-C, a second driver, and messages to a driver that runs."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, COMMAND, QUESTION, Scene, make_scene

pytestmark = pytest.mark.slow

SLEEPY = "import time\n\n\ndef test_sleeps():\n    time.sleep(60)\n"
SOON_S = 60
"""For what takes a moment on a machine with nothing else to do; far less than the tests of the base sleep."""


@pytest.fixture
def running(tmp_path: Path, environments: Path) -> Iterator[tuple[Scene, subprocess.Popen[str]]]:
    """A driver that runs the tests of the base for a long time."""
    scene = make_scene(tmp_path, {"greeting.py": CODE, "test_sleeps.py": SLEEPY})
    words = [
        COMMAND,
        "start",
        "Greet the world",
        "--lane",
        "hotfix",
        "--model",
        scene.script(("patch", QUESTION)),
    ]
    child = subprocess.Popen(
        words,
        cwd=scene.top,
        env=dict(scene.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell that starts jobs in the background tells them to ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )
    assert child.stdout is not None
    try:
        assert any("running the tests on the base" in line for line in child.stdout)
        soon(lambda: any("pytest" in line for line in children_of(child.pid)))
        yield scene, child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def soon(claim: Callable[[], bool]) -> None:
    """Waits until something is so."""
    deadline = time.monotonic() + SOON_S
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children_of(pid: int) -> list[str]:
    """Programs of a session that are alive, by what they run."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return listed.splitlines()


def test_ctrl_c_ends_promptly_leaves_nothing_running_and_says_how_to_go_on(
    running: tuple[Scene, subprocess.Popen[str]],
) -> None:
    scene, child = running
    assert child.stdout is not None
    started = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    rest = child.stdout.read()
    assert child.wait(SOON_S) == 130
    assert time.monotonic() - started < SOON_S
    assert rest.strip().endswith(f"Interrupted. `agentforge continue {scene.task}` resumes the task.")
    assert "Traceback" not in rest
    done = scene.run("abort", scene.task, "--reason", "enough")
    assert (done.returncode, done.stderr) == (0, "")
    assert scene.data("status")[0]["status"]["stored"] == "cancelled"


def test_a_supervisor_that_ends_the_driver_is_told_how_to_go_on(
    running: tuple[Scene, subprocess.Popen[str]],
) -> None:
    scene, child = running
    assert child.stdout is not None
    assert scene.data("status")[0]["stopped"] is False
    os.kill(child.pid, signal.SIGTERM)
    rest = child.stdout.read()
    assert child.wait(SOON_S) == 128 + signal.SIGTERM
    # The walls around what it had started end after it.
    soon(lambda: scene.data("status")[0]["stopped"] is True)
    assert "stopped: no process is running it; `agentforge continue " in scene.run("status", "@1").stdout
    assert rest.strip().endswith(f"Interrupted. `agentforge continue {scene.task}` resumes the task.")
    assert children_of(child.pid) == []


def test_a_second_driver_is_refused_and_an_abort_reaches_the_first(
    running: tuple[Scene, subprocess.Popen[str]],
) -> None:
    scene, child = running
    second = scene.run("continue", scene.task)
    assert second.returncode == 4
    assert f"Another driver works on {scene.task} (process {child.pid}" in second.stderr
    done = scene.run("abort", scene.task, "--reason", "enough")
    assert done.returncode == 0, done.stderr
    assert f"Aborted {scene.task}" in done.stdout
    assert scene.data("status", scene.task)["status"]["stored"] == "cancelled"


def test_inspect_says_that_the_step_of_a_killed_driver_was_interrupted(
    running: tuple[Scene, subprocess.Popen[str]],
) -> None:
    scene, child = running
    while [step["outcome"] for step in scene.data("inspect")] != ["open"]:
        time.sleep(0.05)
    child.kill()
    child.wait(SOON_S)
    while scene.data("status")[0]["stopped"] is False:  # its last children are about to end
        time.sleep(0.05)
    assert [step["outcome"] for step in scene.data("inspect")] == ["interrupted"]
    assert "interrupted" in scene.run("inspect").stdout
