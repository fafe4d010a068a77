"""The index: as fresh as the journals, and never in the way."""

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from agentforge.core.inputs import Abort, Create
from agentforge.store.layout import ProjectFiles
from agentforge.store.task.journal import Journal
from agentforge.store.user.index import Index
from agentforge.system.git.repository import Git

Clock = Callable[[], datetime]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return tmp_path / "repo"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.db"


@pytest.fixture
def add(repo: Path, create: Create, clock: Clock) -> Callable[[str], Journal]:
    def made(task_id: str) -> Journal:
        journal = Journal.create(
            ProjectFiles(repo).task(task_id), Create(replace(create.spec, task_id=task_id)), clock
        )
        journal.close()
        return journal

    return made


def test_a_driver_and_a_reader_see_the_same_row(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    journal = add("task-1")
    with Index(database, pytest.fail) as index:
        index.update(Git(repo, repo / ".git", repo / ".git"), journal)
        (row,) = index.rows(repo)
    database.unlink()
    with Index(database, pytest.fail) as index:
        assert index.rows(repo) == [row]
    assert (row.task_id, row.status, row.word, row.repo) == ("task-1", "scheduled", "pending", str(repo))
    assert row.journal_size == journal.size


def test_a_stale_row_is_read_again_from_its_journal(
    repo: Path, database: Path, add: Callable[[str], Journal], clock: Clock
) -> None:
    journal = add("task-1")
    add("task-2")
    with Index(database, pytest.fail) as index:
        assert [row.task_id for row in index.rows(repo)] == ["task-2", "task-1"]
        with Journal.open(journal.files, clock, write=True) as again:
            again.advance("inbox/stop", Abort("Ada"))
        assert [(row.task_id, row.word) for row in index.rows(repo)] == [
            ("task-1", "aborted"),
            ("task-2", "pending"),
        ]


def test_a_fresh_row_is_not_read_again(repo: Path, database: Path, add: Callable[[str], Journal]) -> None:
    add("task-1")
    with Index(database, pytest.fail) as index:
        index.rows(repo)
        index._connection.execute("UPDATE tasks SET word = 'from the index'") if index._connection else None
        assert [row.word for row in index.rows(repo)] == ["from the index"]


def test_tasks_of_every_known_repository_are_listed_and_gone_ones_are_not(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    add("task-1")
    add("task-2")
    with Index(database, pytest.fail) as index:
        index.rows(repo)
        assert len(index.rows()) == 2
        shutil.rmtree(ProjectFiles(repo).tasks / "task-1")
        assert [row.task_id for row in index.rows()] == ["task-2"]
    with Index(database, pytest.fail) as index:
        assert [row.task_id for row in index.rows()] == ["task-2"]


def test_a_repository_on_a_disk_that_is_away_is_not_forgotten(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    add("task-1")
    with Index(database, pytest.fail) as index:
        index.rows(repo)
        away = repo.rename(repo.with_name("away"))
        assert (index.rows(), index.absent("task-1"), index.absent("task-2")) == ([], [str(repo)], [])
        away.rename(repo)
        assert [row.task_id for row in index.rows()] == ["task-1"]
        assert index.absent("task-1") == []


def test_an_index_of_another_version_forgets_no_repository(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    journal = add("task-1")
    with Index(database, pytest.fail) as index:
        index.update(Git(repo, repo / ".git", repo / ".git"), journal)
    with sqlite3.connect(database) as old:
        old.execute("ALTER TABLE tasks DROP COLUMN summary")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with Index(database, pytest.fail) as index:
        assert index.repos() == [str(repo)]
        assert [row.task_id for row in index.rows()] == ["task-1"]
        assert [row.task_id for row in index.rows()] == ["task-1"]


def test_a_damaged_journal_is_one_unreadable_row_among_the_others(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    add("task-1")
    damaged = add("task-2").files.journal
    damaged.write_bytes(damaged.read_bytes().replace(b"draft", b"drift"))
    with Index(database, pytest.fail) as index:
        rows = {row.task_id: row for row in index.rows(repo)}
    assert rows["task-1"].status == "scheduled"
    assert rows["task-2"].status == "unreadable"
    assert "line 6" in rows["task-2"].request


def test_a_damaged_index_is_set_aside_and_built_anew(
    repo: Path, database: Path, add: Callable[[str], Journal]
) -> None:
    add("task-1")
    database.parent.mkdir()
    database.write_bytes(b"this is not a database, and long enough to be looked at" * 100)
    notices: list[str] = []
    with Index(database, notices.append) as index:
        assert len(index.rows(repo)) == 1
        assert len(index.rows()) == 1
    assert len(notices) == 1
    assert "damaged" in notices[0]
    assert database.with_name("index.db.damaged").exists()


def test_a_locked_index_is_a_notice(repo: Path, database: Path, add: Callable[[str], Journal]) -> None:
    journal = add("task-1")
    notices: list[str] = []
    with Index(database, notices.append) as index:
        index.rows(repo)
        other = sqlite3.connect(database)
        other.execute("BEGIN EXCLUSIVE")
        try:
            index.update(Git(repo, repo / ".git", repo / ".git"), journal)
            assert len(index.rows(repo)) == 1
        finally:
            other.close()
    assert notices
    assert "locked" in notices[0]


def test_an_index_that_cannot_be_is_a_notice(
    repo: Path, tmp_path: Path, add: Callable[[str], Journal]
) -> None:
    add("task-1")
    (tmp_path / "home").write_text("a file where a directory should be", encoding="utf-8")
    notices: list[str] = []
    with Index(tmp_path / "home" / "index.db", notices.append) as index:
        assert len(index.rows(repo)) == 1
    assert notices


def test_a_linked_index_is_not_used_and_that_is_said_once_in_words(
    repo: Path, database: Path, tmp_path: Path
) -> None:
    database.parent.mkdir(exist_ok=True)
    database.symlink_to(tmp_path / "elsewhere.db")
    notices: list[str] = []
    with Index(database, notices.append) as index:
        index.rows(repo)
        index.rows(repo)
    assert notices == [f"The index {database} was not used: it is a symbolic link."]
    assert not (tmp_path / "elsewhere.db").exists()
