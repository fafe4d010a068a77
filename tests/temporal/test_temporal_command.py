"""The installed command, whole: a development server, a worker, and a task that asks, is answered, and ends
as on the local engine.
"""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agentforge.store.layout import ProjectFiles
from agentforge.surfaces.cli.main import main
from agentforge.system import strict_yaml
from tests import forked
from tests.engines.crash_site import PROJECT, REQUEST, SCRIPT, SMALL, Scene, found, reference, share_cache
from tests.judging import ASKED
from tests.temporal.servers import Server, free_port
from tests.whole.plays import SHOP
from tests.whole.walks import WANTED
from tests.whole.walks import script as walk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

QUESTION = {
    "stage": "frame",
    "expects": ["shout put an exclamation mark"],
    "usage": {"input_tokens": 1000, "output_tokens": 100},
    "reply": {
        "actions": [
            {
                "name": "escalate",
                "args": {
                    "question": "One mark or three?",
                    "options": ["one", "three"],
                    "recommendation": "one",
                },
            }
        ],
        "summary": "One question.",
    },
}

NAP = f"{random.randrange(10_000, 100_000)}"
SLEEPY = f"import subprocess\n\n\ndef test_sleeps():\n    subprocess.run(['sleep', '{NAP}'], check=True)\n"
SOON_S = 60
"""For what takes a moment on a machine with nothing else to do."""


class Here:
    """A repository, its home, and the command in it."""

    def __init__(self, scene: Scene, environ: Mapping[str, str]) -> None:
        self.scene = scene
        self.environ = {**os.environ, **environ, "AGENTFORGE_HOME": str(scene.home.path)}

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return forked.run(words, self.scene.repo, self.environ)

    @contextmanager
    def running(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that runs until it is stopped, once it has said its first line; stopped, it ends well."""
        with self.started(*words) as child:
            assert child.stdout is not None
            first = child.stdout.readline()
            assert first.startswith(f"{words[0]}: "), first
            yield child
            child.send_signal(signal.SIGTERM)
            assert child.wait(120) == 0, child.stdout.read()

    @contextmanager
    def started(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        child = forked.ForkedCommand(
            [forked.COMMAND, *words],
            cwd=self.scene.repo,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield child
        finally:
            child.kill()
            child.communicate()


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mine = tmp_path_factory.getbasetemp()
    return mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine


@pytest.fixture
def packages(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what one run of the tests shares is made. Packages are compiled: every pytest below starts twice
    as fast.
    """
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    return shared


def next_lines(shown: str) -> list[list[str]]:
    """What the end of the output tells a person to type, without the command's own name."""
    lines = shown.partition("\nNext:\n")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  ")]


def script_with_a_question(place: Path) -> Path:
    script: Any = strict_yaml.load(SCRIPT.read_text(encoding="utf-8"), str(SCRIPT))
    script["replies"].insert(0, QUESTION)
    path = place / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return path


def test_a_task_asks_is_answered_and_ends_as_on_the_local_engine(
    packages: Path, tmp_path: Path, home: Path
) -> None:
    site = reference(packages, SMALL)
    scene = found(tmp_path / "site", PROJECT)
    share_cache(packages, scene)
    script, port = script_with_a_question(tmp_path), free_port()
    here = Here(scene, {"TEMPORAL_ADDRESS": f"127.0.0.1:{port}"})
    start = ("start", REQUEST, "--lane", "small", "--model", f"scripted:{script}", "--engine", "temporal")

    with here.running("server", "dev", "--port", str(port)), here.running("worker"):
        asked = here.run(*start)
        assert asked.returncode == 3, asked.stderr
        assert "One mark or three?" in asked.stdout
        (files,) = [
            ProjectFiles(scene.repo).task(path.name)
            for path in (scene.repo / ".agentforge" / "tasks").iterdir()
        ]
        shown = here.run("status", files.task_id)
        assert "engine: temporal, host agentforge@" in shown.stdout
        refused = here.run("continue", files.task_id, "--engine", "local")
        assert refused.returncode == 2
        assert "--take-over" in refused.stderr

        answer, show, _ = next_lines(asked.stdout)
        assert here.run(*show).returncode == 0
        done = here.run(*(word.replace("YOUR ANSWER", "one") for word in answer))
        assert done.returncode == 0, done.stdout + done.stderr
        ended = Scene(scene.root, files.task_id)
        assert ended.end().tree == site.finished.end().tree
        assert ended.end().branches
        assert len(set(ended.recorded())) == len(ended.recorded())
        _, verify, merge = next_lines(done.stdout)
        assert [here.run(*words).returncode for words in (verify, merge)] == [0, 0]


def test_a_design_is_revised_approved_and_extended_by_workers(
    server: Server, tmp_path: Path, home: Path
) -> None:
    scene = found(tmp_path / "site", SHOP)
    share_cache(tmp_path, scene)
    place = tmp_path / "script.json"
    place.write_text(json.dumps({"replies": list(walk())}), encoding="utf-8")
    (scene.home.path / "config.yaml").write_text("temporal: {queue: readers}\n", encoding="utf-8")
    here = Here(scene, {"TEMPORAL_ADDRESS": server.address})
    words = ("design", "Take the discount off in net", "--iterate", "--model", f"scripted:{place}")
    with here.running("worker"):
        shown = here.run(*words, "--engine", "temporal")
        assert (shown.returncode, "specification v1 is ready" in shown.stdout) == (3, True), shown.stderr
        (task,) = [path.name for path in (scene.repo / ".agentforge" / "tasks").iterdir()]
        again = here.run("feedback", task, WANTED)
        assert (again.returncode, "specification v2 is ready" in again.stdout) == (3, True), again.stderr
        approved = here.run("approve", task)
        assert approved.returncode == 0
        _, extend, inspect = next_lines(approved.stdout)
        assert here.run(*inspect).returncode == 0
        assert extend == ["continue", task, "--extend-to", "deliver"]
        done = here.run("continue", task, "--extend-to", "red", "--json")
        assert done.returncode == 0, done.stderr
    found_now = json.loads(done.stdout)
    assert (found_now["status"], found_now["cost"]["calls"]) == ("completed", 7)
    ended = Scene(scene.root, task)
    assert len(set(ended.recorded())) == len(ended.recorded())
    assert here.run("verify", task).returncode == 0


def test_a_worker_takes_its_queue_and_how_much_it_does_at_once_from_its_options(
    server: Server, tmp_path: Path, home: Path
) -> None:
    scene = found(tmp_path / "site", PROJECT)
    here = Here(scene, {"TEMPORAL_ADDRESS": server.address})
    with here.started("worker", "--queue", "night", "--max-concurrent", "3") as worker:
        assert worker.stdout is not None
        first = worker.stdout.readline()
        worker.send_signal(signal.SIGINT)
        worker.communicate(timeout=SOON_S)
    assert first.startswith("worker: works on queue night ")
    assert "3 effects at once" in first


def test_ctrl_c_leaves_a_task_to_the_workers_and_an_abort_ends_what_runs(
    packages: Path, server: Server, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ASKED)  # also what a judge runs
    reference(packages, SMALL)  # the packages of an environment
    scene = found(tmp_path / "site", {**PROJECT, "tests/test_shout.py": SLEEPY})
    share_cache(packages, scene)
    (scene.home.path / "config.yaml").write_text("temporal: {queue: sleepy}\n", encoding="utf-8")
    here = Here(scene, {"TEMPORAL_ADDRESS": server.address})
    start = ("start", REQUEST, "--lane", "small", "--model", f"scripted:{SCRIPT}", "--engine", "temporal")
    with here.started("worker") as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline().startswith("worker: works on queue sleepy ")
        with here.started(*start) as follower:
            assert follower.stdout is not None
            assert any("running the tests on the base" in line for line in follower.stdout)
            until(sleeps, every_s=0.3)
            follower.send_signal(signal.SIGINT)
            rest = follower.stdout.read()
            assert follower.wait(SOON_S) == 130, rest
        (task,) = [path.name for path in (scene.repo / ".agentforge" / "tasks").iterdir()]
        assert f"The workers continue with {task}." in rest
        until(
            lambda: "  now: running the tests on the base: " in here.run("status", task).stdout,
            every_s=0.3,
        )
        shown = json.loads(here.run("status", task, "--json").stdout)
        flights = {(each["effect"], each["taken"]): each["doing"] for each in shown["engine_in_flight"]}
        assert flights["baseline", True].startswith("running the tests on the base: ")
        over = here.run("abort", task)
        assert over.returncode == 0, over.stderr
        until(lambda: not sleeps(), every_s=0.3)
        until(
            lambda: json.loads(here.run("status", task, "--json").stdout)["status"]["stored"] == "cancelled",
            every_s=0.3,
        )

        left = here.run(*start, "--detach")
        assert left.returncode == 0, left.stderr
        until(sleeps, every_s=0.3)
        worker.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert worker.poll() is None  # what runs may finish
        worker.send_signal(signal.SIGINT)
        said = worker.communicate(timeout=SOON_S)[0].splitlines()
        assert worker.returncode == 130
        until(lambda: not sleeps(), every_s=0.3)
    other = left.stdout.split()[0]
    told = [
        line
        for line in said
        if task in line or other in line or "worker: stops" in line or "worker: stopping" in line
    ]
    ended = told.index(f"worker: {task}: cancelled")  # it may hear of that while the other one begins
    assert [line for place, line in enumerate(told) if place != ended] == [
        f"worker: {task}: at work, in {scene.repo}",
        f"worker: {other}: at work, in {scene.repo}",
        "worker: stops; what runs has 10 s to finish",
        "worker: stopping at once; whatever was not recorded is done again",
    ]


def sleeps() -> bool:
    """Whether a test of the project sleeps, anywhere on this machine."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == b"sleep\0%s\0" % NAP.encode():
                return True
    return False


def until(condition: Callable[[], bool], every_s: float = 0.05) -> None:
    deadline = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(every_s)


def test_what_is_missing_is_said_in_one_sentence_with_the_next_step(
    server: Server, tmp_path: Path, home: Path
) -> None:
    scene = found(tmp_path / "site", PROJECT)
    start = ("start", REQUEST, "--lane", "small", "--model", f"scripted:{SCRIPT}", "--engine", "temporal")

    nobody = Here(scene, {"TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}"})
    for words in (start, ("worker",)):
        said = nobody.run(*words)
        assert said.returncode == 1
        assert said.stderr.startswith("error: No Temporal server answers at 127.0.0.1:"), said.stderr
        assert "agentforge server dev" in said.stderr
    assert not (scene.repo / ".agentforge" / "tasks").exists()  # nothing was recorded for nobody

    said = Here(scene, {"TEMPORAL_ADDRESS": server.address, "TEMPORAL_NAMESPACE": "nowhere"}).run(*start)
    assert said.returncode == 2
    assert "has no namespace 'nowhere'" in said.stderr

    (scene.home.path).mkdir(parents=True, exist_ok=True)
    (scene.home.path / "config.yaml").write_text("temporal: {queue: lonely}\n", encoding="utf-8")
    lonely = Here(scene, {"TEMPORAL_ADDRESS": server.address})
    said = lonely.run(*start)
    assert said.returncode == 1
    assert "No worker is listening on the queue lonely" in said.stderr
    assert "agentforge worker" in said.stderr

    (task,) = [path.name for path in (scene.repo / ".agentforge" / "tasks").iterdir()]
    assert "No worker is listening on the queue lonely" in lonely.run("status", task).stdout
    shown = json.loads(lonely.run("status", task, "--json").stdout)
    assert (shown["engine"], shown["host"]) == ("temporal", None)
    assert shown["engine_says"][0].startswith("No worker is listening on the queue lonely")
    assert json.loads(lonely.run("status", "--json").stdout)[0]["engine"] == "temporal"
    aborted = nobody.run("abort", task)  # the lock is free, so it is on record; the server hears of it later
    assert aborted.returncode == 0
    assert "Your message is recorded" in aborted.stderr
    taken = nobody.run("continue", task, "--engine", "local", "--take-over", "--detach")
    assert taken.returncode == 2
    assert "finds the task taken over" in taken.stderr

    (scene.home.path / "config.yaml").write_text(
        f"temporal: {{metrics: '{server.address}'}}\n", encoding="utf-8"
    )
    assert lonely.run("worker").stderr.startswith(f"error: Metrics cannot be offered at '{server.address}'")
    (scene.home.path / "config.yaml").write_text("temporal: {adress: here}\n", encoding="utf-8")
    said = lonely.run("status", task)
    assert said.returncode == 0
    said = lonely.run("worker")
    assert said.returncode == 2
    assert "temporal.adress: unknown key; did you mean `address`?" in said.stderr


def test_without_the_extra_its_name_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "temporalio", None)
    assert main(["worker"]) == 2
    assert "[temporal]" in capsys.readouterr().err
