"""A delivered branch in a person's own line of work: merged, refused, cut off, thrown away."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.surfaces.scene import CODE, COMMAND, PATCH, QUESTION, REVIEW, TEST, Scene, make_scene

pytestmark = pytest.mark.slow

FILES = {"greeting.py": CODE, "tests/test_greeting.py": TEST, "notes.txt": "one\n"}
STRICT = 'from greeting import greet\n\n\ndef test_empty():\n    assert greet("") == "Hello "\n'
"""What a colleague holds to on `main`, and the task changed: each side is green, both together are red."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A task with a branch, and a `main` that may have gone on."""

    scene: Scene
    task: str
    base: str
    tip: str

    @property
    def branch(self) -> str:
        return f"agentforge/{self.task}"

    @property
    def head(self) -> str:
        return self.scene.git("rev-parse", "HEAD").strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (
                self.scene.top / name.replace("__", "/").replace("_py", ".py").replace("_txt", ".txt")
            ).write_text(text, encoding="utf-8")
        self.scene.git("add", "--all")
        self.scene.git("commit", "--quiet", "--message", "Mine")
        return self.head

    def merge(self) -> "subprocess.CompletedProcess[str]":
        return self.scene.run("merge", self.task)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, environments: Path) -> Delivered:
    scene = make_scene(tmp_path_factory.mktemp("merge"), FILES)
    model = scene.script(("patch", PATCH), ("review", REVIEW))
    done = scene.run("start", "Greet the world by default", "--lane", "hotfix", "--model", model)
    assert done.returncode == 0, done.stdout + done.stderr
    task = scene.task
    base, tip = (scene.git("rev-parse", name).strip() for name in ("main", f"agentforge/{task}"))
    return Delivered(scene, task, base, tip)


@pytest.fixture
def delivered(made: Delivered) -> Delivered:
    made.scene.git("switch", "--quiet", "--force", "main")
    made.scene.git("reset", "--quiet", "--hard", made.base)
    made.scene.git("clean", "--quiet", "-fd")
    made.scene.git("branch", "--force", made.branch, made.tip)
    return made


def test_an_unmoved_target_goes_forward_to_the_proved_tree_and_a_second_merge_says_so(
    delivered: Delivered,
) -> None:
    done = delivered.merge()
    assert done.returncode == 0, done.stderr
    assert "(fast-forward): its tree is the one that the task proved" in done.stdout
    assert delivered.head == delivered.tip
    assert (delivered.scene.top / "tests/test_world.py").exists()
    assert not delivered.scene.git("status", "--porcelain")
    again = delivered.scene.data("merge", delivered.task)
    assert (again["outcome"], again["before"], again["commit"]) == ("already_merged", *(delivered.tip,) * 2)


def test_a_target_that_moved_gets_a_merge_commit_whose_tests_ran_even_if_the_first_try_was_killed(
    delivered: Delivered,
) -> None:
    mine = delivered.commit(notes_txt="two\n")
    with forked.ForkedCommand(
        [COMMAND, "merge", delivered.task],
        cwd=delivered.scene.top,
        env=dict(delivered.scene.environ),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("running the tests" in line for line in process.stdout)
        process.kill()
    assert (delivered.head, delivered.scene.git("status", "--porcelain")) == (mine, "")
    done = delivered.merge()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(merge commit): its tests ran on the merged tree and on main" in done.stdout
    assert delivered.scene.git("log", "-1", "--format=%P %an").split() == [mine, delivered.tip, "Ada"]
    assert f"AgentForge-Task: {delivered.task}" in delivered.scene.git("log", "-1", "--format=%b")
    assert (delivered.scene.top / "notes.txt").read_text(encoding="utf-8") == "two\n"
    assert not delivered.scene.git("status", "--porcelain")


def test_two_green_sides_that_are_red_together_leave_the_target_where_it_was(delivered: Delivered) -> None:
    mine = delivered.commit(tests__test_empty_py=STRICT)
    done = delivered.merge()
    assert done.returncode == 1
    assert "tests fail on the merged tree" in done.stdout
    assert "tests/test_empty.py::test_empty passes on the target and is failed after the merge" in done.stdout
    assert (delivered.head, delivered.scene.git("status", "--porcelain")) == (mine, "")


def test_a_conflict_names_its_files_and_changes_nothing(delivered: Delivered) -> None:
    mine = delivered.commit(greeting_py=CODE.replace('"Hello " + name', '"Hi " + name'))
    done = delivered.merge()
    assert done.returncode == 1
    assert "conflict.\n  greeting.py\nmain is where it was." in done.stdout
    assert (delivered.head, delivered.scene.git("status", "--porcelain")) == (mine, "")


def test_what_cannot_be_a_target_is_refused_with_the_next_step(delivered: Delivered) -> None:
    scene, head = delivered.scene, delivered.head
    (scene.top / "notes.txt").write_text("unsaved\n", encoding="utf-8")
    dirty = delivered.merge()
    assert (dirty.returncode, "main has uncommitted changes: notes.txt." in dirty.stderr) == (2, True)
    scene.git("checkout", "--quiet", "notes.txt")
    # A file that git does not know is no change, until the merge would write over it.
    (scene.top / "tests/test_world.py").write_text("mine\n", encoding="utf-8")
    in_the_way = delivered.merge()
    assert (in_the_way.returncode, "git refused" in in_the_way.stdout) == (1, True)
    assert (scene.top / "tests/test_world.py").read_text(encoding="utf-8") == "mine\n"
    (scene.top / "tests/test_world.py").unlink()
    scene.git("switch", "--quiet", "--detach")
    assert "No branch is checked out here." in delivered.merge().stderr
    scene.git("switch", "--quiet", delivered.branch)
    assert "itself is checked out here" in delivered.merge().stderr
    scene.git("switch", "--quiet", "main")
    assert (delivered.head, scene.git("status", "--porcelain")) == (head, "")


def test_a_branch_that_is_gone_is_named_with_the_command_that_brings_it_back(delivered: Delivered) -> None:
    delivered.scene.git("branch", "-D", delivered.branch)
    done = delivered.merge()
    assert done.returncode == 2
    assert f"`git branch {delivered.branch} {delivered.tip[:12]}` brings it back." in done.stderr


def test_a_checkout_that_git_left_half_way_is_put_back_but_never_a_persons_edit(delivered: Delivered) -> None:
    scene = delivered.scene
    new = scene.git("show", f"{delivered.tip}:greeting.py")
    note = {"before": delivered.base, "after": delivered.tip}
    record = scene.top / ".agentforge/tasks" / delivered.task / "merging.json"
    record.write_text(json.dumps(note), encoding="utf-8")
    # Git was killed with both files written, and the person edited one of them since.
    (scene.top / "tests/test_world.py").write_text(
        scene.git("show", f"{delivered.tip}:tests/test_world.py"), encoding="utf-8"
    )
    (scene.top / "greeting.py").write_text(new + "# mine\n", encoding="utf-8")
    first = delivered.merge()
    assert "main has uncommitted changes: greeting.py." in first.stderr
    assert (scene.top / "greeting.py").read_text(encoding="utf-8").endswith("# mine\n")
    assert not (scene.top / "tests/test_world.py").exists()
    # Now without an edit: all of it was ours.
    record.write_text(json.dumps(note), encoding="utf-8")
    (scene.top / "greeting.py").write_text(new, encoding="utf-8")
    second = delivered.merge()
    assert second.returncode == 0, second.stderr
    assert delivered.head == delivered.tip
    assert not record.exists()


def test_trees_are_listed_with_owner_size_and_age(delivered: Delivered) -> None:
    rows: Any = delivered.scene.data("trees", "list")
    (row,) = [row for row in rows if row["task_id"] == delivered.task]
    assert (row["repo"], row["state"], row["in_use"]) == (
        os.path.realpath(delivered.scene.top),
        "completed",
        False,
    )
    assert row["bytes"] > 0
    shown = delivered.scene.run("trees", "list").stdout
    assert delivered.task in shown
    assert "1 directory," in shown


def test_discard_keeps_every_commit_and_edit_of_a_person_and_removes_the_rest(
    tmp_path: Path, environments: Path
) -> None:
    scene = make_scene(tmp_path / "one", FILES)
    model = scene.script(("patch", QUESTION))
    start = ("start", "Greet\x1b[31m the world", "--lane", "hotfix", "--model", model)
    assert scene.run(*start).returncode == 3
    task = scene.task
    (worktree,) = (Path(scene.environ["AGENTFORGE_HOME"]) / "trees").glob(f"*/{task}/worktree")
    (worktree / "notes.txt").write_text("mine\n", encoding="utf-8")
    refused = scene.run("discard", "@1")
    assert refused.returncode == 2
    assert f"`agentforge discard {task}` removes it for good." in refused.stderr
    done = scene.run("discard", task)
    assert done.returncode == 0, done.stderr
    assert f"kept: agentforge/{task}-edits has the edits" in done.stdout
    assert scene.git("show", f"agentforge/{task}-edits:notes.txt") == "mine\n"
    assert not worktree.parent.exists()
    assert not (scene.top / ".agentforge/tasks" / task).exists()
    assert "No tasks" in scene.run("status").stdout
    assert not scene.git("for-each-ref", "refs/agentforge")


def test_discard_keeps_a_branch_that_a_person_went_on_with(delivered: Delivered, tmp_path: Path) -> None:
    top = tmp_path / "copy"
    shutil.copytree(delivered.scene.top, top)
    copied = replace(delivered, scene=replace(delivered.scene, top=top))
    copied.scene.git("switch", "--quiet", "--force", copied.branch)
    mine = copied.commit(notes_txt="four\n")
    copied.scene.git("switch", "--quiet", "main")
    kept = copied.scene.data("discard", copied.task)
    assert kept["kept"] == [f"{copied.branch} has commits of a person that no other branch has"]
    assert copied.scene.git("rev-parse", copied.branch).strip() == mine
    gone = copied.merge()
    assert (gone.returncode, "No task here is called" in gone.stderr) == (2, True)


def test_every_effect_of_a_task_is_in_the_log_with_its_time_outcome_and_cost(made: Delivered) -> None:
    text = (Path(made.scene.environ["AGENTFORGE_HOME"]) / "logs/effects.jsonl").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    assert {line["task"] for line in found} == {made.task}
    assert found[0]["effect"] == "Prepare"
    assert (found[-1]["effect"], found[-1]["outcome"]) == ("Deliver", "DeliveryMade")
    asks = [line for line in found if line["outcome"] == "Answered"]
    assert len(asks) == 2
    assert all(
        {"time", "repository", "key", "seconds", "tokens", "usd", "model"} <= set(line) for line in asks
    )
    assert len({line["key"] for line in found}) == len(found), "each effect once"
