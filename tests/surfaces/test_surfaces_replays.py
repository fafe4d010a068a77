"""A command reads the journal of its task once, however much it does with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, QUESTION, Scene, make_scene

# Every whole reading of a journal is a call of `Journal.open`; the interpreter itself counts them.
COUNTING = """
import sys, threading
from agentforge.store.task.journal import Journal
from agentforge.surfaces.cli.main import main
opened, count = Journal.open.__func__.__code__, 0
def note(frame, event, _):
    global count
    count += event == "call" and frame.f_code is opened
threading.setprofile(note)
sys.setprofile(note)
code = main(sys.argv[1:])
sys.setprofile(None)
print(f"replays: {count}", file=sys.stderr)
sys.exit(code)
"""


def replays(scene: Scene, *words: str, code: int = 0) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, *words],
        cwd=scene.top,
        env=dict(scene.environ),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return int(done.stderr.rpartition("replays: ")[2])


@pytest.mark.slow
def test_every_command_replays_the_journal_of_its_task_once(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    model = scene.script(("intake", QUESTION))
    counts = {"start": replays(scene, "design", "Greet the world", "--model", model, code=3)}
    task = scene.task
    for words, code in (
        (("status", task), 0),
        (("diff",), 0),
        (("escalations", "list"), 0),
        (("escalations", "show", "ESC-001"), 0),
        (("continue",), 3),
        (("resolve", "ESC-001", "--answer", "world"), 1),  # it goes on at once, and the script has no more
        (("continue",), 1),
        (("verify", task), 1),
    ):
        counts[" ".join(words)] = replays(scene, *words, code=code)
    assert counts == dict.fromkeys(counts, 1)
    assert replays(scene, "status") == 0  # what has not changed since it was listed is not read again
    assert scene.run("design", "Greet nobody", "--model", model).returncode == 3
    (other,) = (each["task_id"] for each in scene.data("escalations", "list"))
    assert replays(scene, "resolve", "ESC-001", "--task", other, "--answer", "world", "--no-drive") == 1
    assert replays(scene, "abort", other) == 1
