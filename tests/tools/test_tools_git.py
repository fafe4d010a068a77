"""The git tools on a real repository: what they show, and that no argument becomes an option, a pattern or a
command.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import GitPort, ToolResult, Workbench
from agentforge.tools.look.git_reading import GIT_READING, git_branch, git_diff, git_log, git_status
from agentforge.tools.look.listing import list_dir


def ran(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("nothing was to run")


class Repository:
    """A real one. Remembers how git was called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[tuple[str, ...]] = []
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        (root / "a.txt").write_text("one\n")
        (root / ".env").write_text("TOKEN=old\n")
        self.commit("first")
        (root / "sub").mkdir()
        (root / "sub" / "b.txt").write_text("two\n")
        self.commit("second")

    def git(self, *words: str) -> str:
        argv = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *words]
        return subprocess.run(argv, cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def run(self, words: Sequence[str]) -> ToolResult:
        self.asked.append(tuple(words))
        done = subprocess.run(["git", *words], cwd=self.root, check=False, capture_output=True, text=True)
        return ToolResult(ok=done.returncode == 0, text=done.stdout or done.stderr)

    def now(self) -> str:
        self.git("add", "-A")
        return self.git("write-tree")

    def bench(self) -> Workbench:
        return Workbench(
            self.root,
            ran,
            git=GitPort(self.run, self.git("rev-parse", "HEAD"), self.now, "agentforge/task-1"),
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repo")


def test_status_names_what_was_added_changed_and_deleted(repository: Repository) -> None:
    bench = repository.bench()
    (repository.root / "a.txt").write_text("1\n")
    (repository.root / "new\nname").write_text("x\n")
    (repository.root / "sub" / "b.txt").unlink()
    result = git_status({}, bench)
    assert result.text.splitlines()[0].endswith("3 files changed.")
    assert result.text.splitlines()[1:] == ["changed a.txt", "added 'new\\nname'", "deleted sub/b.txt"]


def test_diff_shows_all_or_one_path_even_one_that_is_gone(repository: Repository) -> None:
    bench = repository.bench()
    assert git_diff({}, bench).text == "Nothing differs from the base of the task."
    (repository.root / "a.txt").write_text("1\n")
    (repository.root / "sub" / "b.txt").unlink()
    assert "+1" in git_diff({}, bench).text
    one = git_diff({"path": "sub/b.txt"}, bench).text
    assert "-two" in one
    assert "a.txt" not in one


def test_a_diff_names_a_closed_file_and_does_not_show_it(repository: Repository) -> None:
    bench = repository.bench()
    (repository.root / ".env").write_text("TOKEN=new\n")
    assert git_diff({}, bench).text == "[`.env` has changed and is not shown]"
    (repository.root / "a.txt").write_text("1\n")
    text = git_diff({}, bench).text
    assert "+1" in text
    assert "TOKEN" not in text
    with pytest.raises(ModelMistake, match="secrets"):
        git_diff({"path": ".env"}, bench)


def test_log_is_newest_first_bounded_and_by_path(repository: Repository) -> None:
    bench = repository.bench()
    assert [line.rpartition(": ")[2] for line in git_log({}, bench).text.splitlines()] == ["second", "first"]
    assert [line.rpartition(": ")[2] for line in git_log({"limit": 1}, bench).text.splitlines()] == ["second"]
    assert [line.rpartition(": ")[2] for line in git_log({"path": "a.txt"}, bench).text.splitlines()] == [
        "first"
    ]
    assert git_log({"path": "nowhere"}, bench).text == "No commit touches this path."


def test_branch_tells_the_tasks_own_and_the_others(repository: Repository) -> None:
    text = git_branch({}, repository.bench()).text
    assert "agentforge/task-1" in text
    assert "main " in text


HOSTILE = [
    "--output=stolen",
    "-Oorder",
    "--no-index",
    "--ext-diff",
    "./--output=stolen",
    "; touch PWN",
    "$(touch PWN)",
    "`touch PWN`",
    "| touch PWN",
    ":(exclude)a.txt",
    ":!a.txt",
    ":/",
    "*",
    "a.txt\nPWN",
    "../repo/a.txt",
    "/etc/passwd",
    "sub/../../x",
    ".git/config",
    "a\0b",
    "HEAD",
    "@{upstream}",
]


@pytest.mark.slow
@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("tool", [git_diff, git_log])
def test_a_hostile_path_is_refused_or_stands_literally_after_the_dashes(
    repository: Repository, tool: object, path: str
) -> None:
    bench = repository.bench()
    (repository.root / "a.txt").write_text("1\n")
    before = sorted(each.name for each in repository.root.iterdir())
    args: dict[str, Json] = {"path": path}
    assert tool in (git_diff, git_log)
    try:
        result = git_diff(args, bench) if tool is git_diff else git_log(args, bench)
    except ModelMistake as mistake:
        assert mistake.kind == "path"  # noqa: PT017 - either answer is right
    else:
        assert "+1" not in result.text
        assert all(
            "--literal-pathspecs" in words and words[words.index("--") + 1 :] == (path.rstrip("/"),)
            for words in repository.asked[-1:]
        )
    assert sorted(each.name for each in repository.root.iterdir()) == before
    if path.removeprefix("./").startswith("-"):
        assert not repository.asked


def test_a_pattern_in_a_name_is_only_a_name(repository: Repository) -> None:
    bench = repository.bench()
    (repository.root / "a.txt").write_text("1\n")
    (repository.root / "*").write_text("star\n")
    text = git_diff({"path": "*"}, bench).text
    assert "star" in text
    assert "a.txt" not in text


def test_without_a_repository_the_tools_say_so(tmp_path: Path) -> None:
    for tool in GIT_READING:
        result = tool.call({}, Workbench(tmp_path, ran))
        assert (result.ok, result.mistake) == (False, "not_configured")


def test_what_git_complains_of_is_a_result(repository: Repository) -> None:
    port = GitPort(repository.run, "0" * 40, repository.now, "b")
    for tool in (git_status, git_diff, git_log):
        assert tool({}, Workbench(repository.root, ran, git=port)).mistake == "git_failed"


def test_a_directory_is_listed_with_kinds_and_without_following_links(repository: Repository) -> None:
    (repository.root / "out").symlink_to("/etc")
    bench = repository.bench()
    rows = list_dir({}, bench).text.splitlines()
    assert rows == [".: 4 entries", "sub/", ".env (10 bytes)", "a.txt (4 bytes)", "out (a link)"]
    assert list_dir({"path": "sub"}, bench).text.splitlines() == ["sub: 1 entries", "b.txt (4 bytes)"]
    for path, kind in (
        ("out", "path"),
        ("..", "path"),
        ("a.txt", "path"),
        ("none", "no_such_directory"),
        (".git", "path"),
    ):
        with pytest.raises(ModelMistake) as caught:
            list_dir({"path": path}, bench)
        assert caught.value.kind == kind
