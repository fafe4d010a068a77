"""The demo: honest about what is scripted, three mistakes caught, a branch and its proof at the end. README shows
what it prints, and its last commands work as they are.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import forked
from tests.depth import shown_by, telling
from tests.project.pages import ROOT, fences, shown_in_order
from tests.surfaces.scene import Scene, make_scene
from tests.surfaces.test_surfaces_screens import DEMO, PICTURES, WIDTHS, same_each_time

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.mark.parametrize("width", telling(WIDTHS, 1))
def test_the_demo_ends_with_a_verified_branch_and_shows_what_it_caught(tmp_path: Path, width: int) -> None:
    scene = make_scene(tmp_path)
    place = tmp_path / "kept"
    closed = {"PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE", "UV_FIND_LINKS", "AGENTFORGE_HOME"}
    environ = {name: value for name, value in scene.environ.items() if name not in closed}
    look = {"TERM": "xterm", "NO_COLOR": "1"}
    code, said = forked.at_a_terminal(("demo", "--keep", str(place)), scene.top, environ | look, width)
    assert code == 0, said
    check_picture(f"{DEMO}{width}", said.replace(str(place), "/somewhere/kept"))
    assert said.count("The model's words are scripted.") == 2
    for part in (
        "gate red failed",
        "no_match",
        "test_lock",
        "bubblewrap",
        "failed → passed",
        "2 files changed",
        str(place / "pantry"),
    ):
        assert part in said, part
    assert "Caught on the way" in said
    evidence = json.loads(next((place / "pantry").glob(".agentforge/tasks/*/evidence.json")).read_bytes())
    assert evidence["review"]["verdict"] == "approve"
    (shown,) = [body for kind, body in fences(ROOT / "README.md") if "gate red failed" in body]
    assert shown_in_order(shown, said) == []
    pasted = said.partition("Next:\n")[2].partition("\n\n")[0]
    ran = paste(pasted, tmp_path, environ)
    assert ran.returncode == 0, pasted + ran.stdout + ran.stderr
    assert "the proof holds" in ran.stdout
    assert "its tree is the one that the task proved" in ran.stdout
    refused = scene.run("demo", "--keep", str(place))
    assert refused.returncode == 2
    assert "is not empty" in refused.stderr


def test_an_interrupted_demo_goes_on_from_anywhere(tmp_path: Path) -> None:
    demo = demo_in(tmp_path)
    first = demo.task
    assert first in demo.run("status").stdout


@shown_by(
    "tests/whole/test_replay.py::test_a_fork_shares_what_came_before_pays_only_for_its_own_and_is_proved_by_itself"
)
def test_a_fork_at_any_step_of_the_demo_reaches_its_end_and_pays_only_for_its_own(tmp_path: Path) -> None:
    """At every step, and each played again is as on record."""
    demo = demo_in(tmp_path)
    first = demo.task
    steps = demo.data("inspect", first)
    for step in reversed(range(len(steps))):
        other = demo.data("fork", first, "--from-step", str(step))
        assert other["status"] == "completed", step
        assert other["cost"]["calls"] == len(steps) - step
    again = demo.data("replay", "--all")
    assert [each["same"] for each in again] == [True] * (len(steps) + 1), again


def demo_in(tmp_path: Path) -> Scene:
    """The project of a demo that was interrupted, and went on by what it said then."""
    scene = make_scene(tmp_path)
    closed = {"PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE", "UV_FIND_LINKS", "AGENTFORGE_HOME"}
    demo = Scene(
        tmp_path / "kept/pantry",
        {name: value for name, value in scene.environ.items() if name not in closed},
    )
    stopped = interrupted("--keep", str(tmp_path / "kept"), at=scene.top, environ=demo.environ)
    assert stopped.startswith("Interrupted. `sh "), stopped
    (how,) = re.findall("`(.*)`", stopped)
    done = paste(how, tmp_path, demo.environ)
    assert done.returncode == 0, how + done.stdout + done.stderr
    assert f"verify {demo.task}" in done.stdout
    return demo


def interrupted(*words: str, at: Path, environ: Mapping[str, str]) -> str:
    """What the demo says when somebody presses Ctrl-C in its first stage."""
    with forked.ForkedCommand(
        [forked.COMMAND, "demo", *words],
        cwd=at,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert any("stage red" in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        said = str(running.stderr.read()).strip()
    assert running.returncode == 130
    return said


def paste(lines: str, at: Path, environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """What was printed, in a shell that is somewhere else, has another home, and nothing of ours on its path."""
    bare = {**environ, "PATH": os.defpath}
    words = ["sh", "-e", "-c", lines]
    return subprocess.run(words, cwd=at, env=bare, capture_output=True, text=True, check=False)


def check_picture(name: str, shown: str) -> None:
    """The screen as it was kept, without the line that is overwritten; `SCREENS=write` keeps it anew. What is
    done side by side may be told in another order.
    """
    lines = re.sub(r"(?m)^[\u2800-\u28ff] .*\n", "", same_each_time(shown))
    picture = PICTURES / f"{name}.txt"
    if os.environ.get("SCREENS") == "write":
        picture.write_text(lines, encoding="utf-8")
    assert sorted(lines.splitlines()) == sorted(picture.read_text(encoding="utf-8").splitlines())
