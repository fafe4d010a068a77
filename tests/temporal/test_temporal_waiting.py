"""Waiting on the Temporal engine: for a quota, through the death of a worker, and for a person who never
answers.
"""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.testing import OpenAIServer
from tests import forked
from tests.surfaces.scene import CODE, COMMAND, QUESTION, Scene, make_scene
from tests.temporal.servers import free_port
from tests.whole.test_dependencies import FILES, data_layer, specified
from tests.whole.test_waiting import used_up

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SOON_S = 60


@contextmanager
def running(scene: Scene, *words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that runs until the end of the block, once it has said its first line."""
    child = forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env=dict(scene.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first.startswith(f"{words[0]}: "), first
        yield child
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()


def test_a_quota_is_waited_for_through_the_death_of_a_worker_and_a_late_question_answers_itself(
    tmp_path: Path,
) -> None:
    scene, port = make_scene(tmp_path, {"greeting.py": CODE}), free_port()
    home = Path(scene.environ["AGENTFORGE_HOME"])
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("questions: {timeout: 3s}\n", encoding="utf-8")
    (home / "config.yaml").chmod(0o600)
    with OpenAIServer([used_up(8), QUESTION, QUESTION]) as server:
        over = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-" + "aB3dE6gH9jK2" * 4}
        scene = replace(scene, environ={**scene.environ, **over, "TEMPORAL_ADDRESS": f"127.0.0.1:{port}"})
        words = ("design", "Greet the world", "--model", "openai:any", "--engine", "temporal", "--detach")
        with running(scene, "server", "dev", "--port", str(port)):
            with running(scene, "worker"):
                started = scene.run(*words)
                assert started.returncode == 0, started.stderr
                until = time.monotonic() + SOON_S
                while (awaited := scene.data("status")[0]["waits_for"]) is None:
                    assert time.monotonic() < until
                    time.sleep(0.2)
            with running(scene, "worker"):
                while len(asked := scene.data("escalations", "list", "--all")) < 2:
                    assert time.monotonic() < until, asked
                    time.sleep(0.3)
    first = next(each for each in asked if each["id"] == "ESC-001")
    assert first["opened_at"] >= awaited["until"]
    assert (first["answer"], first["answered_by"]) == ("world", "the timeout")
    assert len(server.requests) == 3


def test_another_task_is_waited_for_through_the_death_of_a_worker(tmp_path: Path, environments: Path) -> None:
    scene, port = make_scene(tmp_path, FILES), free_port()
    scene = replace(scene, environ={**scene.environ, "TEMPORAL_ADDRESS": f"127.0.0.1:{port}"})
    data = data_layer(scene)
    words = specified(scene, tasks=[{"task_id": data.task, "required_stage": "intake"}])
    with running(scene, "server", "dev", "--port", str(port)):
        with running(scene, "worker"):
            started = scene.run(*words, "--engine", "temporal", "--detach")
            assert started.returncode == 0, started.stderr
            until = time.monotonic() + SOON_S
            while (awaited := scene.data("status")[0]["waits_for"]) is None:
                assert time.monotonic() < until
                time.sleep(0.2)
            assert awaited["kind"] == "tasks"
        assert data.run("resolve", "ESC-001", "--answer", "world").returncode == 3  # its intake is accepted
        with running(scene, "worker"):
            while not (asked := scene.data("escalations", "list")):
                assert time.monotonic() < until
                time.sleep(0.3)
    assert [each["kind"] for each in asked] == ["question"]
    assert "what it waited for is there" in scene.run("logs").stdout
    assert scene.data("cost", scene.task)["total"]["calls"] == 1, "the wait costs nothing"
