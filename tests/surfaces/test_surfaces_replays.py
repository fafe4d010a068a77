"""A command reads the journal of its task once, however much it does with it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.surfaces.scene import CODE, QUESTION, Scene, make_scene

# Every whole reading of a journal is a call of `Journal.open`; the interpreter itself counts them. Each command
# is a process of its own, forked from one that has imported them all.
COUNTING = """
import json, os, pkgutil, sys, threading
import agentforge.app.drivers.driver, agentforge.models.scripted
from agentforge.store.task.journal import Journal
from agentforge.surfaces import cli
from agentforge.surfaces.cli.main import main
for module in pkgutil.walk_packages(cli.__path__, cli.__name__ + "."):
    __import__(module.name)
opened, count = Journal.open.__func__.__code__, 0
def note(frame, event, _):
    global count
    count += event == "call" and frame.f_code is opened
for line in sys.stdin:
    if os.fork():
        os.wait()
        continue
    answers = os.dup(1)
    os.dup2(2, 1)
    threading.setprofile(note)
    sys.setprofile(note)
    code = main(json.loads(line))
    sys.setprofile(None)
    sys.stdout.flush()
    os.write(answers, json.dumps([code, count]).encode() + b"\\n")
    os._exit(0)
"""
Replays = Callable[..., int]


@contextmanager
def counting(scene: Scene, log: Path) -> Iterator[Replays]:
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-c", COUNTING],
            cwd=scene.top,
            env=dict(scene.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        into, out = child.stdin, child.stdout

        def replays(*words: str, code: int = 0) -> int:
            into.write(json.dumps(words) + "\n")
            into.flush()
            answer = out.readline()
            ended, count = json.loads(answer or "[-1, 0]")
            assert ended == code, log.read_text()
            return int(count)

        yield replays
        into.close()


@pytest.mark.slow
def test_every_command_replays_the_journal_of_its_task_once(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    model = scene.script(("intake", QUESTION))
    with counting(scene, tmp_path / "said.log") as replays:
        check(scene, model, replays)


def check(scene: Scene, model: str, replays: Replays) -> None:
    counts = {"start": replays("design", "Greet the world", "--model", model, code=3)}
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
        counts[" ".join(words)] = replays(*words, code=code)
    assert counts == dict.fromkeys(counts, 1)
    assert replays("status") == 0  # what has not changed since it was listed is not read again
    assert scene.run("design", "Greet nobody", "--model", model).returncode == 3
    (other,) = (each["task_id"] for each in scene.data("escalations", "list"))
    assert replays("resolve", "ESC-001", "--task", other, "--answer", "world", "--no-drive") == 1
    assert replays("abort", other) == 1
