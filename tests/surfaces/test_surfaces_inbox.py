"""Everything that waits for a person, from wherever they are: listed, shown, answered once."""

import json
import os
import pty
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests import forked
from tests.surfaces.scene import CODE, COMMAND, QUESTION, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

FILES = {"greeting.py": CODE, "tests/test_greeting.py": TEST}


@dataclass(frozen=True, slots=True)
class Desk:
    """A person with two repositories, each of which has a question for them; and a directory that is none."""

    first: Scene
    second: Scene
    nowhere: Scene


@pytest.fixture
def desk(tmp_path: Path, environments: Path, request: pytest.FixtureRequest) -> Desk:
    second_request = getattr(request, "param", "Greet everybody")
    first = make_scene(tmp_path / "one", FILES)
    other = make_scene(tmp_path / "two", FILES)
    second = replace(first, top=other.top.rename(other.top.with_name("second")))
    for scene, wish in ((first, "Greet the world"), (second, second_request)):
        model = scene.script(("patch", QUESTION))
        done = scene.run("start", wish, "--lane", "hotfix", "--model", model)
        assert done.returncode == 3, done.stderr
    (tmp_path / "nowhere").mkdir()
    return Desk(first, second, replace(first, top=tmp_path / "nowhere"))


def test_questions_of_all_repositories_are_one_list_and_each_is_answered_once_from_anywhere(
    desk: Desk,
) -> None:
    name = f"{desk.second.task}/ESC-001"
    listed = desk.nowhere.run("inbox").stdout
    assert listed.count("/ESC-001  question  patch  waits ") == 2
    assert "[recommended: world]" in listed
    records = desk.nowhere.data("inbox")
    assert sorted(record["repo"] for record in records) == ["a repository", "second"]
    (record,) = [record for record in records if record["repo"] == "second"]
    assert record["options"] == ["world", "nobody"]
    assert (record["recommendation"], record["status"]) == ("world", "open")
    assert record["opened_at"] <= record["shown_at"]
    assert record["waiting_costs"].keys() == {"seconds", "reserved", "depends_on_it"}
    assert Path(record["worktree"], "greeting.py").exists()
    wrong = desk.nowhere.run("resolve", name, "--option", "3", "--no-drive")
    assert (wrong.returncode, "It has: 1 world; 2 nobody." in wrong.stderr) == (2, True)
    assert desk.nowhere.run("resolve", name).returncode == 2  # nobody sits there
    # A number means the question that stood there when the list was shown, also once the list is shorter.
    assert listed.splitlines()[0].startswith(f"  1  {desk.first.task}/ESC-001")
    for each in ("2", "@1", "esc-1", desk.second.task):
        said = desk.second.run("resolve", each, "--option", "3", "--no-drive").stderr
        assert "ESC-001 has no option 3." in said, each
    shown = desk.nowhere.run("escalations", "show", "2").stdout
    assert f"ESC-001 of {desk.second.task} needs your answer" in shown
    assert "There is no question 3 in your inbox." in desk.nowhere.run("resolve", "3", "--abort").stderr
    # Two people at the same moment.
    racers = [
        forked.ForkedCommand(
            [COMMAND, "resolve", name, "--option", number, "--no-drive"],
            cwd=desk.nowhere.top,
            env=dict(desk.nowhere.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in ("1", "2")
    ]
    ends = [(*racer.communicate(), racer.returncode) for racer in racers]
    assert sorted(code for _, _, code in ends) == [0, 2], ends
    (lost,) = [said for _, said, code in ends if code == 2]
    assert "ESC-001" in lost
    assert "already" in lost  # it has an answer, or was answered: as far as the other one had come
    (kept,) = [record for record in desk.nowhere.data("inbox", "--all") if record["repo"] == "second"]
    assert kept["answer"] == ("world" if ends[0][2] == 0 else "nobody")
    assert len(desk.nowhere.data("inbox")) == 1
    late = desk.nowhere.run("resolve", "2", "--option", "1", "--no-drive")
    assert (late.returncode, "was already answered" in late.stderr) == (2, True), late.stderr
    # A repository that moved away is not asked for.
    desk.first.top.rename(desk.first.top.with_name("moved"))
    assert desk.nowhere.run("inbox").stdout == "No open questions.\n"
    gone = desk.nowhere.run("resolve", "task-1/ESC-001", "--abort")
    assert (gone.returncode, "No task on this machine has asked task-1/ESC-001." in gone.stderr) == (2, True)


@pytest.mark.parametrize("desk", ["Greet the world"], indirect=True)
def test_at_a_terminal_a_question_is_chosen_read_and_answered(desk: Desk) -> None:
    name = f"{desk.first.task}/ESC-001"
    twins = desk.nowhere.run("resolve", name, "--option", "1")
    assert (twins.returncode, f"{name} is a question of 2 repositories: " in twins.stderr) == (2, True)
    shown = _typed(
        desk.nowhere, ["inbox"], [b"Number (Enter ends)", b"leaves it)", b"Number", b"now?"], "1\n2\n\nn\n"
    )
    assert "What waiting costs" in shown
    assert "1  world  (recommended)" in shown
    assert "`agentforge continue" in shown
    records = json.loads(desk.nowhere.run("inbox", "--all", "--json").stdout)
    answers = {record["answer"] for record in records}
    assert answers == {"nobody", None}


def _typed(scene: Scene, words: list[str], prompts: list[bytes], keys: str) -> str:
    """What a terminal shows while a person types a line at each prompt."""
    master, slave = pty.openpty()
    with forked.ForkedCommand(
        [COMMAND, *words],
        cwd=scene.top,
        env={**scene.environ, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    ) as process:
        os.close(slave)
        shown, at = b"", 0
        for prompt, line in zip(prompts, keys.splitlines(keepends=True), strict=True):
            while (found := shown.find(prompt, at)) < 0:
                shown += os.read(master, 65536)
            at = found + len(prompt)
            os.write(master, line.encode())
        try:
            while data := os.read(master, 65536):
                shown += data
        except OSError:
            pass
        assert process.wait(60) == 0
    os.close(master)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")
