"""The same probes from a command of a role and from a test, inside a task: behind the walls that the task itself
chose, nothing of them gets out.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.sandbox.walls import seccomp
from tests.depth import telling
from tests.sandbox.outside import INSIDE, elsewhere, scene_of
from tests.sandbox.probes import PROBES
from tests.whole.plays import Play, finished, patch, review, say

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not seccomp.is_available(), reason="this kernel takes no filters"),
]
# Where it may write is not where it is: a test's tree is read-only.
RUN = """
import json, os, pathlib, subprocess, sys, tempfile
here = pathlib.Path(__file__).resolve().parent

def reached():
    words = (sys.executable, "-I", str(here / "inside.py"), str(here / "facts.json"))
    with tempfile.TemporaryDirectory() as room:
        done = subprocess.run(words, cwd=room, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    return len(told), {name: said for name, said in told.items() if said}

if __name__ == "__main__":
    print("probes and what they reached:", *reached())
"""
IN_A_TEST = """
from probing.run import reached


def test_nothing_is_reached() -> None:
    count, found = reached()
    assert (count, found) == (COUNT, {})
"""
# A task's own repository stands in the place of these, and is guarded in other ways.
CHOSEN = telling([each for each in PROBES if not each.beside_a_task], 40)


def test_no_probe_gets_out_of_a_task_from_a_command_or_a_test(play: Play, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    with elsewhere(tmp_path / "else") as top, scene_of(top) as scene:
        files = {
            "probing/inside.py": INSIDE.read_text(encoding="utf-8"),
            "probing/facts.json": scene.text(CHOSEN),
            "probing/run.py": RUN,
            "tests/test_probes.py": IN_A_TEST.replace("COUNT", str(len(CHOSEN))),
        }
        play.person.write(files)
        play.person.commit_all()
        scene.look()
        command = {"name": "run_command", "args": {"argv": ["python", "probing/run.py"]}}
        done = play.start(
            say("patch", command),
            patch(expects=(rf"probes and what they reached: {len(CHOSEN)} \{{\}}",)),
            review(),
            lane="hotfix",
        )
        assert finished(done)["status"] == "completed"
        assert scene.reached({}) == {}
        assert scene.victim.poll() is None
    assert "test_nothing_is_reached" in play.file("evidence.json")


def test_a_test_that_finds_a_way_out_would_say_so(tmp_path: Path) -> None:
    """The control: the very test of the task, without walls."""
    (tmp_path / "scene").mkdir()
    with scene_of(tmp_path / "scene") as scene:
        (tmp_path / "probing").mkdir()
        (tmp_path / "probing/inside.py").write_text(INSIDE.read_text(encoding="utf-8"))
        (tmp_path / "probing/facts.json").write_text(scene.text([PROBES[0]]))
        (tmp_path / "probing/run.py").write_text(RUN)
        words = (sys.executable, str(tmp_path / "probing/run.py"))
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert PROBES[0].full_name in said
