"""`status` and `logs` as a person, a pipe and a program see them."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.surfaces.scene import CODE, COMMAND, QUESTION, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

HOSTILE = "Greet \x1b[31mthe\x07 world\n\u202e[bold]by default[/bold]"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, environments: Path) -> Scene:
    files = {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    scene = make_scene(tmp_path_factory.mktemp("status"), files)
    model = scene.script(("patch", QUESTION))
    done = scene.run("start", HOSTILE, "--lane", "hotfix", "--model", model)
    assert done.returncode == 3, done.stderr
    return scene


def test_a_pipe_gets_one_line_for_each_task_whatever_its_request(asked: Scene) -> None:
    (line,) = asked.run("status", "--no-banner").stdout.splitlines()
    assert line.startswith("a repository:  ESCALATED (ESC-001: Who is greeted by an empty name?)  ")
    assert line.endswith('[bold]by default[/bold]"')
    assert "\x1b" not in line
    everywhere = asked.run("status", "--all").stdout
    assert asked.task in everywhere


def test_a_task_its_phases_and_its_steps_are_shown_and_are_data(asked: Scene) -> None:
    task = asked.task
    page = asked.run("status", task, "--detail").stdout
    assert "progress\n  overall   " in page
    assert "  steps     patch 1\n" in page
    phase = asked.data("status", task, "--phase", "patch")
    assert (phase["phase"], phase["status"], phase["steps"]["total"]) == ("patch", "escalated", 1)
    assert {"objective", "exit_criteria", "files_touched", "started_at"} <= phase.keys()
    assert "exit criteria\n" in asked.run("status", task, "--phase", "patch").stdout
    step = asked.data("status", task, "--step", "1")
    assert {
        "timestamp",
        "duration_seconds",
        "action",
        "llm_call",
        "context_sent",
        "llm_response",
        "result",
        "state_after",
        "diff",
    } <= step.keys()
    assert step["action"]["type"] == "escalate"
    assert "task_frame" in step["context_sent"]
    wrong = asked.run("status", task, "--phase", "nowhere")
    assert (wrong.returncode, "has no phase 'nowhere'; it has patch" in wrong.stderr) == (2, True)
    assert asked.run("status", "--detail").returncode == 2


def test_logs_tell_what_happened_and_following_ends_where_a_person_is_waited_for(asked: Scene) -> None:
    followed = asked.run("logs", "--follow")
    assert followed.returncode == 0
    assert "worktree ready" in followed.stdout
    lines = asked.data("logs", asked.task)
    assert lines == [json.loads(line) for line in asked.run("logs", "-f", "--json").stdout.splitlines()]
    assert [line["seq"] for line in lines] == [*range(1, len(lines) + 1)]
    assert lines[0]["events"][0]["type"] == "task_created"


LOADED = """\
import sys
from agentforge.surfaces.cli.main import main
assert main(sys.argv[1:]) == 0
print(*sorted(sys.modules), file=sys.stderr)
"""
RULES = ("agentforge.core.events", "agentforge.store.task.journal")
FILES = ("agentforge.system.git", "agentforge.system.secrets")


def test_a_list_of_tasks_that_have_not_moved_loads_none_of_the_rules(asked: Scene) -> None:
    asked.run("status", "--all")  # the index is there, as after any task
    for words, heavy in ((("status", "--all"), (*RULES, *FILES)), (("status",), RULES)):
        done = subprocess.run(
            [sys.executable, "-c", LOADED, *words],
            cwd=asked.top,
            env=dict(asked.environ),
            capture_output=True,
            text=True,
            check=True,
        )
        assert asked.task in done.stdout
        loaded = set(done.stderr.split())
        assert "agentforge.app.record.rows" in loaded
        assert [name for name in sorted(loaded) if name.startswith(heavy)] == [], words


ENTERED = """\
import sys
from agentforge.surfaces.cli.entry import main
assert main() == 0
print(*sorted(sys.modules), file=sys.stderr)
"""
LIST = ("click", "ctypes", "dataclasses", "hashlib", "rich", "secrets", "shutil")


def test_the_list_of_all_tasks_in_a_pipe_is_that_of_the_command_without_loading_it(asked: Scene) -> None:
    said = asked.run("status", "--all", "--no-banner").stdout  # more words than are known beforehand
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, "status", "--all"],
        cwd=asked.top,
        env=dict(asked.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.sub(r"\d+[smh]", "", done.stdout) == re.sub(r"\d+[smh]", "", said)
    loaded = set(done.stderr.split())
    assert "agentforge.app.record.rows" in loaded
    assert not loaded & {*LIST, "agentforge.surfaces.cli.main"}


def test_the_list_of_all_tasks_still_says_what_is_wrong(asked: Scene, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    environ = {**asked.environ, "AGENTFORGE_HOME": str(home)}

    def listed() -> subprocess.CompletedProcess[str]:
        command = [COMMAND, "status", "--all"]
        return subprocess.run(
            command, cwd=asked.top, env=environ, capture_output=True, text=True, check=False
        )

    assert "No tasks on this machine yet" in listed().stdout
    (home / "index.db").write_bytes(b"no database" * 100)
    assert "was damaged" in listed().stderr
    (home / "repos.yaml").write_text("repositories:\n  - name: away\n    path: /not/there\n")
    (home / "repos.yaml").chmod(0o600)
    assert "/not/there" in listed().stderr
    environ["AGENTFORGE_HOME"] = str(home / "index.db")
    refused = listed()
    assert (refused.returncode, refused.stderr.count("Traceback")) == (2, 0), refused.stderr


def test_a_watched_list_fills_the_terminal_and_ends_with_ctrl_c(asked: Scene) -> None:
    master, slave = pty.openpty()
    with forked.ForkedCommand(
        [COMMAND, "status", "--watch"],
        cwd=asked.top,
        env={**asked.environ, "TERM": "xterm", "COLUMNS": "72", "LINES": "20"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    ) as process:
        os.close(slave)
        shown = b""
        while b"Waiting: ESC-001" not in shown:
            shown += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    os.close(master)
    page = shown.decode()
    assert "AGENTFORGE STATUS" in page
    assert "Active: 0    Completed: 0    Escalated: 1" in page
    assert "\x1b[31mthe" not in page
    assert max(len(line) for line in page.splitlines() if line.startswith("│") and "\x1b" not in line) == 72
