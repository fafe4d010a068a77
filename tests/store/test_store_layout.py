"""Names of files and of tasks."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home, ProjectFiles, TaskFiles, find_task, new_task_id, repo_name, slug
from tests.rows import every


def test_a_task_keeps_its_files_where_the_design_says() -> None:
    files = ProjectFiles(Path("repo")).task("task-20260102-x")
    assert files == TaskFiles(Path("repo/.agentforge/tasks/task-20260102-x"))
    names = [
        files.task,
        files.journal,
        files.state,
        files.working_memory,
        files.pack,
        files.evidence,
        files.lock,
    ]
    expected = [
        "task.yaml",
        "actions.yaml",
        "state.yaml",
        "working_memory.yaml",
        "steps.pack",
        "evidence.json",
        "lock",
    ]
    assert [path.relative_to(files.root).as_posix() for path in names] == expected
    assert (
        files.version("spec", "specification", 2).relative_to(files.root).as_posix()
        == "artifacts/phases/spec/specification_v2.yaml"
    )
    assert files.final("spec", "specification").name == "specification_final.yaml"
    assert files.patch(1).relative_to(files.root).as_posix() == "artifacts/snapshots/step_001.patch"
    assert (
        files.original_request.relative_to(files.root).as_posix() == "artifacts/inputs/original_request.yaml"
    )
    assert files.escalation("ESC-001") == Path("repo/.agentforge/escalations/task-20260102-x-ESC-001.yaml")


@every("name", ["..", "a/b", "", ".hidden", "a\0b", "-option", "a\n"])
def test_a_name_cannot_leave_its_directory(name: str) -> None:
    with pytest.raises(UsageError):
        ProjectFiles(Path("repo")).task(name)
    with pytest.raises(UsageError):
        TaskFiles(Path("t")).version("spec", name, 1)


def test_two_checkouts_of_one_name_have_different_trees(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first, second = home.trees(tmp_path / "a" / "app", "task-1"), home.trees(tmp_path / "b" / "app", "task-1")
    assert first.worktree != second.worktree
    assert {first.worktree.name, first.verdict.name, first.env.name} == {"worktree", "verdict", "env"}
    assert repo_name(tmp_path / "a" / "мой проект").isascii()


@every(
    ("request_text", "expected"),
    [
        ("Add OAuth2 authentication to the API", "add-oauth2-authentication-to-the-api"),
        ("  Fix   the bug!!  ", "fix-the-bug"),
        ("Größe für Straße ändern", "grosse-fur-strasse-andern"),
        ("Don't crash", "dont-crash"),
        ("修复 login 错误", "login"),
    ],
)
def test_a_slug_is_the_first_words_in_ascii(request_text: str, expected: str) -> None:
    assert slug(request_text) == expected


def test_a_request_without_ascii_still_has_a_name_of_its_own() -> None:
    assert slug("修复登录") != slug("修复注销")
    assert slug("修复登录").isalnum()


def test_a_long_request_ends_at_a_word() -> None:
    assert (
        slug("rename the configuration option of the exporter module")
        == "rename-the-configuration-option-of-the"
    )
    assert len(slug("x" * 500)) == 40


@given(st.text())
def test_every_request_has_a_slug_that_can_be_a_branch_and_a_file(request_text: str) -> None:
    found = slug(request_text)
    assert found
    assert len(found) <= 40
    assert found.isascii()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not found.startswith("-")
    assert not found.endswith("-")


def test_a_taken_name_gets_a_number() -> None:
    taken = {"task-20260102-fix-it", "task-20260102-fix-it-2"}
    assert new_task_id("Fix it", "20260102", taken.__contains__) == "task-20260102-fix-it-3"
    assert new_task_id("Fix it", "20260103", taken.__contains__) == "task-20260103-fix-it"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    for name in ("task-20260102-fix-it", "task-20260102-fix-it-2", "task-20260103-add-flag"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("given_name", "expected"),
    [
        ("task-20260102-fix-it", "task-20260102-fix-it"),
        ("task-20260102-fix-it-", "task-20260102-fix-it-2"),
        ("task-20260103", "task-20260103-add-flag"),
        ("20260103-a", "task-20260103-add-flag"),
    ],
)
def test_an_unambiguous_beginning_names_a_task(given_name: str, expected: str, tasks: Path) -> None:
    assert find_task(tasks, given_name) == expected


def test_an_ambiguous_beginning_lists_the_candidates(tasks: Path) -> None:
    with pytest.raises(
        UsageError, match=r"3 tasks: task-20260102-fix-it, task-20260102-fix-it-2, task-20260103-add-flag"
    ):
        find_task(tasks, "task-")


@pytest.mark.parametrize("name", ["nothing", "", "../x"])
def test_an_unknown_name_says_how_to_see_the_tasks(name: str, tasks: Path) -> None:
    with pytest.raises(UsageError, match="agentforge status"):
        find_task(tasks, name)
    with pytest.raises(UsageError, match="agentforge status"):
        find_task(tasks / "missing", name)


def test_a_task_that_is_only_archived_is_found(tasks: Path) -> None:
    assert find_task(tasks, "20251231", ["task-20251231-old"]) == "task-20251231-old"
