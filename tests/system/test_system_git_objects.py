"""The reader that stays open, the answers that are kept, and trees that are computed here."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentforge.system.git.objects import MOST_KEPT, Known, is_id
from agentforge.system.git.repository import Git
from agentforge.system.git.trees import TREE
from tests.rows import every

ASKS_AND_WAITS = """
import sys, time
from pathlib import Path
from agentforge.system.git.repository import Git

git = Git.open(Path(sys.argv[1]))
git.head()
print(git.reader._child.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(params=["sha1", "sha256"])
def repo(tmp_path: Path, request: pytest.FixtureRequest) -> Git:
    top = tmp_path / "repo"
    run(tmp_path, "init", "-q", f"--object-format={request.param}", str(top))
    (top / "a.txt").write_text("one\n")
    commit(top)
    return Git.open(top)


def run(cwd: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def commit(top: Path) -> None:
    run(top, "add", "-A")
    run(top, "commit", "-qm", "next")


def reader_of(git: Git) -> int:
    assert git.reader._child is not None
    return git.reader._child.pid


def test_every_question_goes_to_one_process_and_new_objects_are_seen(repo: Git) -> None:
    head = repo.head()
    first = reader_of(repo)
    assert repo.read_blob(head, "a.txt") == b"one\n"
    (repo.top / "a.txt").write_text("two\n")
    (repo.top / "empty").touch()
    commit(repo.top)
    run(repo.top, "gc", "-q", "--prune=now")
    assert repo.head() != head
    assert repo.read_blob("HEAD", "a.txt") == b"two\n"
    assert repo.read_blob("HEAD", "empty") == b""
    assert repo.read_blob("HEAD", "") is None, "a tree is no file"
    assert repo.read_blob("HEAD", "no such file") is None
    assert repo.tree_of(head) != repo.tree_of("HEAD")
    assert reader_of(repo) == first


def test_a_reader_that_dies_is_replaced_and_a_damaged_object_is_an_error_like_any(repo: Git) -> None:
    head = repo.head()
    os.kill(reader_of(repo), signal.SIGKILL)
    assert repo.read_blob(head, "a.txt") == b"one\n"
    assert repo.read_blob(head, "a.txt") == b"one\n"
    assert repo.find(f"{head}:a\nb") is None
    assert repo.find("HEAD\n") is None


def test_large_content_comes_whole_and_the_next_answer_is_its_own(repo: Git) -> None:
    data = os.urandom(3_000_000)
    oid = repo.hash_blob(data)
    found = repo.find(oid)
    assert found is not None
    assert (found.oid, found.kind, found.data) == (oid, "blob", data)
    assert repo.find(oid[:-1] + "0") is None or oid.endswith("0")
    assert repo.read_blob("HEAD", "a.txt") == b"one\n"


def test_a_reader_holds_no_lock_and_is_gone_after_a_kill_of_whoever_asked(repo: Git, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as mine:
        fcntl.flock(mine, fcntl.LOCK_EX)
        os.set_inheritable(mine.fileno(), True)
        held = repo.holding(mine.fileno())
        held.head()
    with (tmp_path / "lock").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert reader_of(held) == reader_of(repo), "the same repository has one"
    with subprocess.Popen(
        [sys.executable, "-c", ASKS_AND_WAITS, str(repo.top)], stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        reader = int(asking.stdout.readline())
        asking.kill()
    deadline = time.monotonic() + 120
    while _runs(reader):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_forked_process_does_not_take_the_answers_of_its_parent(repo: Git) -> None:
    head = repo.head()
    child = os.fork()
    if child == 0:
        os._exit(0 if repo.head() == head and repo.read_blob(head, "a.txt") == b"one\n" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert repo.head() == head


def test_what_ids_say_is_asked_once_and_what_names_say_each_time(repo: Git) -> None:
    tree = repo.tree_of("HEAD")
    entries = repo.ls_tree(tree)
    assert repo.ls_tree(tree) == entries
    entries.clear()
    assert [entry.path for entry in repo.ls_tree(tree)] == ["a.txt"], "a caller's list is its own"
    assert [entry.path for entry in repo.ls_tree("HEAD")] == ["a.txt"]
    (repo.top / "b.txt").write_text("new\n")
    commit(repo.top)
    assert [entry.path for entry in repo.ls_tree("HEAD")] == ["a.txt", "b.txt"]
    assert [change.path for change in repo.diff_names(tree, "HEAD")] == ["b.txt"]


def test_answers_are_kept_within_bounds() -> None:
    known = Known()
    asked: list[str] = []

    def ask(name: str, size: int) -> str:
        def find() -> tuple[str, int]:
            asked.append(name)
            return name, size

        return known.once(name, find)

    for name in ("a", "b", "a", "b"):
        assert ask(name, 10) == name
    ask("huge", MOST_KEPT)
    ask("huge", MOST_KEPT)
    for number in range(8):
        ask(str(number), MOST_KEPT // 4)
    ask("a", 10)
    assert asked == ["a", "b", "huge", "huge", *"01234567", "a"]


@every(
    ("name", "whole"),
    [("a" * 40, True), ("0" * 64, True), ("a" * 39, False), ("HEAD", False), ("g" * 40, False)],
)
def test_a_whole_id_is_told_from_a_name(name: str, whole: bool) -> None:
    assert is_id(name) is whole


def test_a_computed_tree_is_the_one_that_git_makes(repo: Git) -> None:
    one, two = repo.hash_blob(b"1"), repo.hash_blob(b"2")
    names = ("a", "a.b", "a-b/x", "a/b/c", "a/z", "a0", "ü/ß", "bin\udcff", "dir/with space", "link")
    entries = {
        name: (
            "120000" if name == "link" else "100755" if name == "a0" else "100644",
            one if len(name) % 2 else two,
        )
        for name in names
    }
    del entries["a"]
    empty = repo.text("mktree")
    assert repo.make_tree(entries) == repo.overlay_tree(empty, entries)
    inner = repo.tree_of("HEAD")
    grafted = repo.make_tree({**entries, "trees/base": (TREE, inner)})
    assert [entry.path for entry in repo.ls_tree(grafted) if entry.path.startswith("trees/")] == [
        "trees/base/a.txt"
    ]
