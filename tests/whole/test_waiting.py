"""A provider whose quota is used up is waited for: it is shown, it outlives a kill, and the task goes on by
itself.
"""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.testing import Fault, OpenAIServer, Scripted
from tests import forked
from tests.surfaces.scene import CODE, COMMAND, QUESTION, Scene, make_scene

USED_UP = b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}'


def used_up(seconds: int) -> Fault:
    return Fault(status=429, body=USED_UP, headers={"retry-after": str(seconds)})


@contextmanager
def provider(tmp_path: Path, *script: Scripted) -> Iterator[tuple[Scene, OpenAIServer]]:
    """A repository whose model says this, and then asks a person."""
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    with OpenAIServer([*script, QUESTION]) as server:
        over = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-" + "aB3dE6gH9jK2" * 4}
        yield replace(scene, environ={**scene.environ, **over}), server


def design(scene: Scene, *more: str) -> "subprocess.CompletedProcess[str]":
    return scene.run("design", "Greet the world", "--model", "openai:any", *more)


@contextmanager
def waiting(scene: Scene) -> Iterator["subprocess.Popen[bytes]"]:
    """A design in a process of its own, which waits for its provider by now; killed at the end."""
    words = [COMMAND, "design", "Greet the world", "--model", "openai:any"]
    child = forked.ForkedCommand(
        words, cwd=scene.top, env=dict(scene.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 240
        while not (rows := status(scene)) or rows[0].get("waits_for") is None:
            assert time.monotonic() < until, rows
            time.sleep(0.2)
        yield child
    finally:
        child.kill()
        child.wait()


def status(scene: Scene) -> Any:  # noqa: ANN401 - whatever the command prints
    return scene.data("status")


def test_a_used_up_quota_is_waited_out_and_the_task_goes_on_by_itself(tmp_path: Path) -> None:
    with provider(tmp_path, used_up(1), used_up(2)) as (scene, server):
        began = time.monotonic()
        done = design(scene)
        assert done.returncode == 3, done.stderr  # its own question, after the wait
        assert time.monotonic() - began > 3
        assert len(server.requests) == 3
        assert done.stdout.count("quota is used up") == 2
        assert "Who is greeted" in done.stdout


@pytest.mark.slow
def test_a_kill_while_it_waits_costs_nothing_and_the_rest_is_waited(tmp_path: Path) -> None:
    with provider(tmp_path, used_up(9)) as (scene, server):
        with waiting(scene) as child:
            (row,) = status(scene)
            assert row["waits_for"]["kind"] == "provider"
            assert "quota is used up" in row["waits_for"]["text"]
            shown = scene.run("status").stdout
            assert "Waiting: The model server" in shown
            assert "left)" in shown
            child.kill()
        assert "STOPPED" in scene.run("status").stdout
        done = scene.run("continue")
        assert done.returncode == 3, done.stderr
        asked = scene.data("status", scene.task)["waiting"]
        assert asked["question"] == "Who is greeted by an empty name?"
        assert asked["opened_at"] >= row["waits_for"]["until"]
        assert len(server.requests) == 2


@pytest.mark.slow
def test_who_does_not_want_to_wait_is_asked_now_or_later(tmp_path: Path) -> None:
    with provider(tmp_path, used_up(3600), used_up(3600)) as (scene, server):
        done = design(scene, "--no-wait")
        assert done.returncode == 3, done.stderr
        assert "quota is used up, and asks to wait 3,600 s" in done.stdout
        assert len(server.requests) == 1
        aborted = scene.run("abort", scene.task)
        assert aborted.returncode == 0
        discarded = scene.run("discard", scene.task)
        assert discarded.returncode == 0, discarded.stderr
        with waiting(scene) as child:
            child.kill()
        done = scene.run("continue", "--no-wait")
        assert done.returncode == 3, done.stderr
        assert "quota is used up" in done.stdout
        assert len(server.requests) == 2


def test_a_wait_that_is_longer_than_the_person_allows_is_a_question(tmp_path: Path) -> None:
    with provider(tmp_path, used_up(100)) as (scene, _):
        home = Path(scene.environ["AGENTFORGE_HOME"])
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text("max_wait: 1m30s\n", encoding="utf-8")
        (home / "config.yaml").chmod(0o600)
        done = design(scene)
        assert done.returncode == 3, done.stderr
        assert "top up the account" in done.stdout
