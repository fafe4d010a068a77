"""The demo: honest about what is scripted, three mistakes caught, a branch and its proof at the end. README shows
what it prints, and its last commands work as they are.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.project.pages import ROOT, fences, shown_in_order
from tests.surfaces.scene import make_scene

pytestmark = [pytest.mark.slow, pytest.mark.network]


def test_the_demo_ends_with_a_verified_branch_and_shows_what_it_caught(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    place = tmp_path / "kept"
    closed = {"PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE", "UV_FIND_LINKS", "AGENTFORGE_HOME"}
    environ = {name: value for name, value in scene.environ.items() if name not in closed}
    done = type(scene)(scene.top, environ).run("demo", "--keep", str(place))
    said = done.stdout
    assert done.returncode == 0, said + done.stderr
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
    ran = subprocess.run(
        ["bash", "-e", "-c", pasted], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, pasted + ran.stdout + ran.stderr
    assert "the proof holds" in ran.stdout
    assert "its tree is the one that the task proved" in ran.stdout
    refused = scene.run("demo", "--keep", str(place))
    assert refused.returncode == 2
    assert "is not empty" in refused.stderr
