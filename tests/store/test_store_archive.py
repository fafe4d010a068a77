"""Tasks saved in git survive what people do to a checkout."""

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from agentforge.core.errors import Unusable
from agentforge.core.inputs import Create
from agentforge.store.layout import ProjectFiles, TaskFiles
from agentforge.store.task.archive import archived_tasks, restore, save
from agentforge.store.task.artifacts import write_inputs, write_patch, write_version
from agentforge.store.task.journal import Journal
from agentforge.store.task.pack import Pack
from agentforge.store.task.views import write_views
from agentforge.system.git.repository import Git

LOCK = os.open(os.devnull, os.O_RDONLY)
"""As under a driver, each git process inherits one: such a call does not copy this process first."""

Clock = Callable[[], datetime]


def _git(repo: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    path = tmp_path / 'a repo, größe \\ "q"'
    path.mkdir()
    _git(path, "init", "-q")
    (path / "a.txt").write_text("a\n", encoding="utf-8")
    _git(path, "add", "-A")
    _git(path, "commit", "-qm", "first")
    (path / ".git" / "info" / "attributes").write_text("* text eol=crlf\n", encoding="utf-8")
    (path / ".git" / "info" / "exclude").write_text(".agentforge/tasks/\n", encoding="utf-8")
    return path


@pytest.fixture
def task(repo: Path, create: Create, clock: Clock) -> TaskFiles:
    files = ProjectFiles(repo).task(create.spec.task_id)
    with Journal.create(files, create, clock) as journal, Pack(files.pack) as pack:
        pack.put("a context")
        write_inputs(files, create.spec, journal.times.created_at, "local")
        write_version(files, "specification", "spec", 1, {"title": "x"})
        write_patch(files, 1, b"diff\r\n\0\xff")
        write_views(files, journal.state, journal.head, journal.length, journal.times)
    files.evidence.write_bytes(b"{}\n")
    files.lock.write_bytes(b"pid: 1\n")
    return files


def _content(files: TaskFiles) -> dict[str, bytes]:
    return {
        path.relative_to(files.root).as_posix(): path.read_bytes()
        for path in files.root.rglob("*")
        if path.is_file()
    }


def test_a_task_comes_back_byte_for_byte_after_git_clean_and_gc(repo: Path, task: TaskFiles) -> None:
    git = Git.open(repo).holding(LOCK)
    tree = _git(repo, "rev-parse", "HEAD^{tree}")
    blob = git.hash_blob(b"only in a recorded tree\n")
    recorded = git.overlay_tree(tree, {"new.txt": ("100644", blob)})
    loose = git.commit_tree(recorded, [git.head()], "stage", "2026-01-02T03:04:05Z", ("A", "a@b.c"))
    before = _content(task)
    save(git, task.task_id, task, {"red": recorded, "stage-1": loose})
    _git(repo, "clean", "-ffdxq")
    _git(repo, "reflog", "expire", "--expire=now", "--all")
    _git(repo, "gc", "-q", "--prune=now")
    assert not task.root.exists()
    assert archived_tasks(git) == [task.task_id]
    assert restore(git, task.task_id, task)
    expected = {
        name: data
        for name, data in before.items()
        if name not in ("lock", "state.yaml", "working_memory.yaml")
    }
    assert _content(task) == expected
    assert git.read_blob(recorded, "new.txt") == b"only in a recorded tree\n"
    assert git.tree_of(loose) == recorded


def test_the_commit_names_the_head_of_the_journal_and_is_the_same_when_repeated(
    repo: Path, task: TaskFiles, clock: Clock
) -> None:
    git = Git.open(repo).holding(LOCK)
    first = save(git, task.task_id, task, {})
    head = Journal.open(task, clock, write=False).head
    assert f"AgentForge-Journal: {head}" in _git(repo, "log", "-1", "--format=%B", first)
    assert save(git, task.task_id, task, {}) == first
    assert git.read_ref(f"refs/agentforge/{task.task_id}/state") == first


def test_a_torn_tail_is_not_saved(repo: Path, task: TaskFiles) -> None:
    git = Git.open(repo).holding(LOCK)
    whole = task.journal.read_bytes()
    task.journal.write_bytes(whole + b'- {"seq":')
    save(git, task.task_id, task, {})
    shutil.rmtree(task.root)
    restore(git, task.task_id, task)
    assert task.journal.read_bytes() == whole


def test_what_stands_is_never_overwritten(repo: Path, task: TaskFiles) -> None:
    git = Git.open(repo).holding(LOCK)
    save(git, task.task_id, task, {})
    before = _content(task)
    assert not restore(git, task.task_id, task)
    assert _content(task) == before


def test_a_journal_alone_that_is_gone_comes_back_and_a_pack_that_grew_stays(
    repo: Path, task: TaskFiles
) -> None:
    git = Git.open(repo).holding(LOCK)
    save(git, task.task_id, task, {})
    with Pack(task.pack) as pack:
        ref = pack.put("later")
    task.journal.unlink()
    assert restore(git, task.task_id, task)
    assert task.journal.exists()
    with Pack(task.pack) as pack:
        assert pack.get_text(ref) == "later"


def test_a_task_that_was_never_saved_cannot_be_restored(repo: Path, task: TaskFiles) -> None:
    git = Git.open(repo).holding(LOCK)
    assert archived_tasks(git) == []
    assert not restore(git, "task-unknown", ProjectFiles(repo).task("task-unknown"))


def test_a_tree_that_is_not_there_is_not_promised(repo: Path, task: TaskFiles) -> None:
    with pytest.raises(Unusable, match="neither a tree nor a commit"):
        save(Git.open(repo).holding(LOCK), task.task_id, task, {"lost": "1" * 40})


def test_the_checkout_of_the_user_is_not_touched(repo: Path, task: TaskFiles) -> None:
    before = (
        _git(repo, "status", "--porcelain"),
        (repo / ".git" / "index").read_bytes(),
        _git(repo, "branch", "-a"),
    )
    save(Git.open(repo).holding(LOCK), task.task_id, task, {})
    assert (
        _git(repo, "status", "--porcelain"),
        (repo / ".git" / "index").read_bytes(),
        _git(repo, "branch", "-a"),
    ) == before
