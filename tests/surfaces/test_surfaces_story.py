"""One whole story through the installed command: a question, its answer, a verified branch; then every way to
look at it.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentforge.app.branches.kept_work import NeededKeys
from agentforge.core.inputs import Resolution
from agentforge.store.layout import Home, TaskFiles, repo_name
from agentforge.store.site import Site
from agentforge.store.task import inbox
from agentforge.store.task.lock import DriverLock
from agentforge.store.user.index import Index
from agentforge.system.holds import Hold
from tests.surfaces.scene import CODE, COMMAND, PATCH, QUESTION, REVIEW, TEST, Scene, make_scene
from tests.surfaces.shapes import OF_A_FINISHED_TASK, conform
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

Done = subprocess.CompletedProcess[str]
FILES = {"greeting.py": CODE, "tests/test_greeting.py": TEST}


@dataclass(frozen=True, slots=True)
class Story:
    scene: Scene
    asked: Done
    listed: Done
    shown: Done
    waiting: Done
    cleaned: Done
    again: Done
    answered: Done
    twice: Done
    finished: Done


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, environments: Path) -> Story:
    scene = make_scene(tmp_path_factory.mktemp("story"), FILES)
    model = scene.script(("patch", QUESTION), ("patch", PATCH), ("review", REVIEW))
    (scene.top / "unsaved.py").write_text("x = 1\n", encoding="utf-8")
    asked = scene.run("start", "Greet the world by default", "--lane", "hotfix", "--model", model)
    task = scene.task
    return Story(
        scene,
        asked,
        listed=scene.run("escalations", "list"),
        shown=scene.run("escalations", "show", "ESC-001", "--task", task),
        waiting=scene.run("status", "--json"),
        cleaned=scene.run("clean", "--all", "--json"),
        again=scene.run("continue"),
        answered=scene.run("resolve", "ESC-001", "--answer", "world", "--no-drive"),
        twice=scene.run("resolve", "ESC-001", "--task", task, "--answer", "nobody"),
        finished=scene.run("resume", task),
    )


def test_a_question_ends_the_command_with_exit_3_and_the_words_to_type(story: Story) -> None:
    assert story.asked.returncode == 3, story.asked.stdout + story.asked.stderr
    assert "Who is greeted by an empty name?" in story.asked.stdout
    assert "recommended world" in story.asked.stdout
    assert f"  agentforge resolve ESC-001 --task {story.scene.task} --answer world\n" in story.asked.stdout


def test_uncommitted_changes_are_named_as_no_part_of_the_task(story: Story) -> None:
    head = story.scene.git("rev-parse", "HEAD")[:12]
    assert f"uncommitted changes are not part of the task; it starts from commit {head}" in story.asked.stdout
    assert (story.scene.top / "unsaved.py").read_text(encoding="utf-8") == "x = 1\n"


def test_the_question_is_listed_and_shown(story: Story) -> None:
    assert f"ESC-001  {story.scene.task}  question" in story.listed.stdout
    assert "Who is greeted by an empty name?" in story.shown.stdout
    assert [row["status"]["state"] for row in json.loads(story.waiting.stdout)] == ["escalated"]


def test_continue_on_a_task_that_waits_asks_again(story: Story) -> None:
    assert story.again.returncode == 3
    assert "Who is greeted by an empty name?" in story.again.stdout


def test_the_first_answer_wins(story: Story) -> None:
    assert story.answered.returncode == 0, story.answered.stderr
    assert f"agentforge continue {story.scene.task}" in story.answered.stdout
    assert story.twice.returncode == 2
    assert "ESC-001 was already answered by" in story.twice.stderr


def test_the_end_names_branch_difference_proof_cost_sandbox_and_what_to_type(story: Story) -> None:
    said, task = story.finished.stdout, story.scene.task
    assert story.finished.returncode == 0, said + story.finished.stderr
    for part in (
        f"Done: {task}",
        f"agentforge/{task} at ",
        "2 files changed",
        "REQ-001 An empty name greets the world",
        "failed → passed  tests/test_world.py::test_nobody_is_the_world",
        "review: approve",
        "one role wrote both the test and the change",
        "cost      3 calls",
        "sandbox   ",
        f"agentforge verify {task}",
        f"agentforge merge {task}",
    ):
        assert part in said, part
    assert "\x1b" not in said


def test_the_checkout_is_untouched_and_the_branch_holds_the_change(story: Story) -> None:
    scene = story.scene
    assert scene.git("status", "--porcelain").strip() == "?? unsaved.py"
    assert '(name or "world")' in scene.git("show", f"agentforge/{scene.task}:greeting.py")


def test_diff_is_a_patch_that_git_takes(story: Story) -> None:
    scene = story.scene
    patch = scene.run("diff", scene.task).stdout
    subprocess.run(
        ["git", "apply", "--check"],
        cwd=scene.top,
        env=dict(scene.environ),
        input=patch,
        text=True,
        check=True,
    )
    assert "greeting.py" in scene.run("diff", "--stat").stdout


def test_status_shows_one_task_by_the_beginning_of_its_name(story: Story) -> None:
    scene = story.scene
    said = scene.run("status", scene.task[5:14]).stdout
    for part in (
        "completed",
        "hotfix",
        "patch",
        "accepted at",
        "specification_final.yaml",
        "ESC-001",
        "answered: world",
    ):
        assert part in said, part
    assert scene.data("status", scene.task)["pipeline"]["lane"] == "hotfix"


def test_inspect_lists_the_steps_and_shows_context_reply_and_state(story: Story) -> None:
    scene = story.scene
    steps = scene.data("inspect", scene.task)
    assert [(step["step"], step["stage"]) for step in steps] == [(1, "patch"), (2, "patch"), (3, "review")]
    assert steps[0]["actions"][0]["name"] == "escalate"
    assert "create_file tests/test_world.py" in scene.run("inspect", scene.task).stdout
    assert "===== system" in scene.run("inspect", scene.task, "--step", "1", "--show", "context").stdout
    assert (
        "A person answered: world"
        in scene.run("inspect", scene.task, "--step", "2", "--show", "context").stdout
    )
    assert (
        json.loads(scene.run("inspect", scene.task, "--step", "2", "--show", "reply").stdout)["summary"]
        == PATCH["summary"]
    )
    assert json.loads(scene.run("inspect", scene.task, "--step", "1", "--show", "state").stdout)["step"] == 1
    assert "outcome" in scene.run("inspect", scene.task, "--step", "2").stdout
    missing = scene.run("inspect", scene.task, "--step", "9")
    assert missing.returncode == 2
    assert "has no step 9; it has 3" in missing.stderr


def test_a_person_walks_along_the_steps_by_keys(story: Story) -> None:
    scene = story.scene
    environ = {**scene.environ, "PAGER": "cat", "LINES": "24"}
    with Terminal(("inspect", scene.task, "--step", "1"), scene.top, environ) as screen:
        assert "step 1: stage patch" in screen.wait("step 1 of 3")
        for key, words in (
            ("p", "This is the first step."),
            ("n", "step 2: stage patch"),
            ("c", "===== system"),
        ):
            screen.press(key)
            screen.wait(words)
        screen.press("n")
        assert "===== system" in screen.wait("step 3 of 3")
        screen.press("q")
        assert screen.end() == 0
    assert scene.run("inspect", scene.task, "--step", "1", "--walk").returncode == 2
    with Terminal(("inspect", scene.task, "--step", "1", "--no-walk"), scene.top, environ) as screen:
        assert screen.end() == 0


def test_context_explains_every_block_of_a_step_and_what_a_cache_can_reuse(story: Story) -> None:
    scene = story.scene
    first, second = (scene.data("context", scene.task, "--step", number) for number in ("1", "2"))
    assert first["reusable_tokens"] == 0
    assert first["begins_like_step"] is None
    assert second["begins_like_step"] == 1
    assert 0 < second["reusable_tokens"] < second["tokens"]
    assert second["blocks"][0]["name"].startswith("tools: ")
    assert all(block["why"] and block["source"] and block["tokens"] for block in second["blocks"])
    assert second["block_tokens"] <= second["cap"]
    reuse = [block["reusable"] for block in second["blocks"]]
    assert reuse == sorted(reuse, reverse=True)  # an unbroken beginning
    page = scene.run("context", scene.task, "--step", "2").stdout
    assert "\x1b" not in page
    assert "the outlines of what has to be submitted (from: catalogue; task)" in page
    assert "which step 1 began with" in page
    whole = scene.run("context", scene.task, "--step", "2", "--text").stdout
    assert "A person answered: world" in whole


def test_a_completed_task_cannot_be_aborted_and_whoever_continues_it_is_shown_its_result(
    story: Story,
) -> None:
    scene = story.scene
    done = scene.run("abort", scene.task)
    assert done.returncode == 2
    assert "completed" in done.stderr
    journal = scene.top / ".agentforge" / "tasks" / scene.task / "actions.yaml"
    before = journal.read_bytes()
    again = scene.run("continue")
    assert again.returncode == 0
    assert f"agentforge/{scene.task}" in again.stdout
    assert journal.read_bytes() == before


def test_every_command_prints_what_its_schema_says(story: Story) -> None:
    scene, key = story.scene, ""
    for command, words, code in OF_A_FINISHED_TASK:
        given = [key if word == "KEY" else word for word in words]
        tail = ("--", "true") if command == "sandbox run" else ()
        done = scene.run(*given, "--json", *tail)
        assert done.returncode == code, (words, done.stderr)
        found = conform(command, done.stdout)
        key = found["key"] if command == "keys show" else key


def test_the_proof_holds_and_one_changed_byte_is_named(story: Story) -> None:
    scene = story.scene
    held = scene.run("verify", f"agentforge/{scene.task}")
    assert held.returncode == 0, held.stdout
    assert "the proof holds" in held.stdout
    path = scene.top / ".agentforge" / "tasks" / scene.task / "evidence.json"
    whole = path.read_bytes()
    path.write_bytes(
        whole.replace(b'"outcome":"failed"', b'"outcome":"passed"', 1).replace(
            b"An empty name", b"Any empty name", 1
        )
    )
    try:
        broken = scene.run("verify", scene.task, "--json")
    finally:
        path.write_bytes(whole)
    value = json.loads(broken.stdout)
    assert (broken.returncode, value["ok"]) == (1, False)
    assert [finding["row"] for finding in value["findings"] if not finding["ok"]]


def test_clean_takes_the_checkout_of_a_finished_task_alone_and_it_is_made_again(story: Story) -> None:
    scene = story.scene
    assert conform("clean", story.cleaned.stdout)["removed"] == []  # it waited for an answer then
    home, files = (
        Home(Path(scene.environ["AGENTFORGE_HOME"])),
        TaskFiles(scene.top / ".agentforge" / "tasks" / scene.task),
    )
    worktree = home.trees(scene.top, scene.task).worktree

    def held() -> list[str]:
        found = scene.data("clean", "--all")
        return [each["reason"] for each in found["held"]] if found["removed"] == [] else ["removed"]

    edited = worktree / "note.txt"
    edited.write_text("by hand", encoding="utf-8")
    assert held() == ["edited"]
    edited.unlink()
    with DriverLock(files.lock):
        assert held() == ["in_use"]
    with Hold(worktree.parent):
        assert held() == ["in_use"]
    assert "Would free" in scene.run("clean", "--all", "--dry-run").stdout
    assert worktree.is_dir()
    assert held() == ["removed"]
    assert [*worktree.parent.iterdir()] == []
    assert "greeting.py" in scene.run("diff", "--stat").stdout
    assert scene.run("continue").returncode == 0
    again = scene.run("verify", scene.task, "--rerun")
    assert again.returncode == 0, again.stdout
    assert (worktree.parent / "verdict").is_dir()


def test_an_environment_that_an_unmerged_branch_needs_is_known(story: Story) -> None:
    scene = story.scene
    home = Home(Path(scene.environ["AGENTFORGE_HOME"]))
    with Index(home.task_index, lambda _: None) as index:
        rows = {(repo_name(Path(row.repo)), row.task_id): row for row in index.rows()}
    key = (
        Site.open(scene.top).read(TaskFiles(scene.top / ".agentforge" / "tasks" / scene.task)).state.baseline
    )
    assert key is not None
    name = repo_name(scene.top)
    assert NeededKeys(rows).why(name, key.env_key) == "unmerged"
    scene.git("branch", "merged", f"agentforge/{scene.task}")
    assert NeededKeys(rows).why(name, key.env_key) == ""


def test_every_line_under_next_works_when_it_is_pasted(story: Story) -> None:
    scene = story.scene
    path = f"{Path(COMMAND).parent}:{scene.environ['PATH']}"
    ended = {"escalations": 0, "diff": 0, "verify": 0, "merge": 0}
    told = [line.strip() for said in (story.asked, story.finished) for line in _next(said.stdout)]
    assert [line.split()[1] for line in told] == [
        "resolve",
        "escalations",
        "abort",
        "diff",
        "verify",
        "merge",
    ]
    for line in told:
        if line.split()[1] in ended:  # the others were true when they were said, and were typed then
            done = subprocess.run(
                line,
                shell=True,
                cwd=scene.top,
                env={**scene.environ, "PATH": path},
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, (line, done.stderr)
    assert '(name or "world")' in (scene.top / "greeting.py").read_text(encoding="utf-8")


def _next(said: str) -> list[str]:
    return said.partition("Next:\n")[2].splitlines()


def test_a_script_without_replies_fails_and_says_how_to_go_on(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, FILES)
    done = scene.run("design", "Greet the world", "--model", scene.script(), "--json")
    value = json.loads(done.stdout)
    assert (done.returncode, value["status"], value["exit_code"]) == (1, "failed", 1)
    assert "is out of replies" in value["failure"]
    assert value["next"][0] == f"agentforge continue {scene.task}"
    assert "stage intake" in done.stderr
    assert [step["outcome"] for step in scene.data("inspect")] == ["interrupted"], "nothing is open any more"
    scene.script(("intake", QUESTION))
    resumed = scene.run("continue")
    assert resumed.returncode == 3, resumed.stdout + resumed.stderr
    ended = scene.run("resolve", "esc-001", "--abort")
    assert (ended.returncode, ended.stdout.strip().endswith("is aborted; its work is kept.")) == (0, True)
    assert scene.data("status")[0]["status"]["stored"] == "cancelled"


def test_an_answer_that_several_tasks_wait_for_needs_a_name(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, FILES)
    model = scene.script(("intake", QUESTION))
    for request in ("one", "two"):
        assert scene.run("design", request, "--model", model).returncode == 3
    done = scene.run("resolve", "ESC-001", "--answer", "world")
    assert done.returncode == 2
    assert "is open in 2 tasks" in done.stderr
    assert len(scene.data("escalations", "list")) == 2


def test_of_two_answers_at_once_the_second_is_told_and_the_first_is_taken_up(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, FILES)
    assert scene.run("design", "one", "--model", scene.script(("intake", QUESTION))).returncode == 3
    files = TaskFiles(scene.top / ".agentforge" / "tasks" / scene.task)
    assert inbox.send(files, Resolution("ESC-001", "world", "Ada"), "ESC-001")
    late = scene.run("resolve", "ESC-001", "--answer", "nobody")
    assert late.returncode == 2
    assert "already has an answer, and the first one counts" in late.stderr
    assert "ESC-001 answered by Ada: world" in scene.run("continue").stdout
