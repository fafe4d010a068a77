"""Where the kernel gives a user no namespaces, walls are weak: a person is asked before a repository's code runs.

The machine without namespaces is a real one: within a user namespace that may have no further ones.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from agentforge.sandbox.walls.landlock import kernel_abi
from tests.whole.checkouts import COMMAND, Done
from tests.whole.plays import REQUEST, Play, ask, asked

NO_FURTHER = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
WITHOUT = ("unshare", "--user", "--map-root-user", "/bin/sh", "-c", NO_FURTHER, "without")


def without_namespaces(play: Play, *words: str) -> Done:
    done = subprocess.run(
        (*WITHOUT, str(COMMAND), *words),
        cwd=play.top,
        env=play.person.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def walled(play: Play) -> Play:
    works = shutil.which("unshare") and subprocess.run((*WITHOUT, "/bin/true"), check=False).returncode == 0
    if not works or not kernel_abi():
        pytest.skip("a machine without namespaces cannot be made here, or it would have no walls at all")
    return play


@pytest.mark.slow
def test_weak_walls_are_asked_about_once_before_code_of_a_repository_runs(
    walled: Play, agentforge_home: Path
) -> None:
    ran = walled.top / "tests/conftest.py"
    ran.write_text("print('code of the repository')\n", encoding="utf-8")
    walled.person.commit_all()
    walled.person.scripted(ask("frame"))
    model = f"scripted:{walled.person.script}"
    done = without_namespaces(walled, "start", REQUEST, "--lane", "small", "--model", model, "--json")
    assert done.code == 3, done.said
    question = done.data["escalation"]
    assert question["question"]["text"].startswith("The sandbox of this machine is weak")
    assert question["question"]["options"] == ["allow", "retry", "abort"]
    assert not (agentforge_home / "trees").exists() or not [*agentforge_home.glob("trees/*/*/verdict/*")]

    words = ("resolve", question["id"], "--task", done.data["task_id"], "--json", "--answer")
    again = without_namespaces(walled, *words, "retry")
    assert again.data["escalation"]["question"]["text"].startswith("The sandbox of this machine is weak")
    words = ("resolve", again.data["escalation"]["id"], "--task", done.data["task_id"], "--json", "--answer")
    assert asked(without_namespaces(walled, *words, "allow")) == "Which of the two?"
    assert "consents" in (agentforge_home / "consents.yaml").read_text(encoding="utf-8")


def test_doctor_names_weak_walls_and_the_sockets_that_they_let_through(walled: Play) -> None:
    said = without_namespaces(walled, "doctor").out
    assert "landlock without namespaces, weak" in said
    assert "sockets of other programs were reached: file" in said
