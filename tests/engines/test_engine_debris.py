"""What a crash, a person or git's own housekeeping leaves around a journal: none of it changes how the task
ends.
"""

import os
import shutil
from pathlib import Path

import pytest

import agentforge
from agentforge.core.errors import UsageError
from agentforge.core.inputs import Abort, Resume
from agentforge.store.task.journal import read_lines
from agentforge.system.git.repository import Git
from tests.engines.crash_site import Reference, Scene
from tests.engines.engines import BOTH, BOTH_IF_SOAKED, Engine, both

pytestmark = pytest.mark.slow

EDITED = "green/1/4/act"
"""The change is in the worktree and recorded; its checks, gates and commit are still to come."""
ASKED = "review/1/5/ask/0/sent"
"""The last call is on its way: everything has been judged."""


def collect_garbage(scene: Scene) -> None:
    scene.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    scene.git("gc", "-q", "--prune=now")


def drive_and_compare(site: Reference, scene: Scene, engine: Engine, named: tuple[str, ...] = ()) -> None:
    """The task ends as ever; `named` are the rows that `verify` finds changed by others."""
    recorded = scene.files.journal.read_bytes() if scene.files.journal.exists() else b""
    engine.drive(scene)
    assert scene.end() == site.finished.end()
    assert scene.files.journal.read_bytes().startswith(recorded)
    findings = agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
    wrong = [finding for finding in findings if not finding.ok]
    assert tuple(finding.row for finding in wrong) == named, wrong


@BOTH
def test_junk_in_the_worktree_is_saved_and_named_and_the_task_ends_the_same(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=EDITED)
    worktree = scene.trees / "worktree"
    (worktree / "shout.py").write_text("half an ed")
    (worktree / "notes" / "mine.txt").parent.mkdir()
    (worktree / "notes" / "mine.txt").write_text("not recorded")

    said = engine.drive(scene)

    assert scene.end() == site.finished.end()
    (saved,) = scene.salvaged()
    assert scene.git("show", f"{saved}:shout.py") == "half an ed"
    assert scene.git("show", f"{saved}:notes/mine.txt") == "not recorded"
    assert [line for line in said if "salvage/1" in line]


@BOTH_IF_SOAKED
def test_debris_found_at_an_abort_is_not_a_persons_work(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=EDITED)
    (scene.trees / "worktree" / "shout.py").write_text("half an ed")
    with agentforge.open_driver(agentforge.OpenTask.open(scene.site(), scene.files)) as driver:
        driver.tell("person/1", Abort("somebody"))
        driver.tell("person/2", Resume("somebody"))
    engine.drive(scene)
    state = scene.site().read(scene.files).state
    assert (state.status, state.human_commits) == ("completed", ())
    assert len(scene.salvaged()) == 1


@BOTH_IF_SOAKED
def test_a_file_that_was_removed_from_the_worktree_comes_back(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=ASKED)
    (scene.trees / "worktree" / "shout.py").unlink()
    drive_and_compare(site, scene, engine)
    assert len(scene.salvaged()) == 1


@BOTH_IF_SOAKED
def test_checkouts_whose_own_repository_and_index_are_damaged_are_made_again(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=EDITED)
    for name in ("worktree", "verdict"):
        shutil.rmtree(scene.trees / name / ".git")
        (scene.trees / f"{name}.index").write_bytes(b"DIRC and nothing that follows from it")
        (scene.trees / f"{name}.index.lock").touch()
    drive_and_compare(site, scene, engine)


@BOTH_IF_SOAKED
def test_refs_that_ran_ahead_stale_locks_a_torn_pack_and_damaged_views_are_no_obstacle(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=ASKED)
    git = Git.open(scene.repo)
    head = git.head()
    ahead = git.commit_tree(
        git.tree_of(head),
        [head],
        "never recorded\n",
        "2001-01-01T00:00:00+00:00",
        ("Nobody", "nobody@localhost"),
    )
    branch = f"refs/heads/agentforge/{scene.task_id}"
    steps, saved = (f"refs/agentforge/{scene.task_id}/{part}" for part in ("steps", "state"))
    git.update_ref(steps, ahead)
    for ref in (branch, saved):
        lock = scene.repo / ".git" / f"{ref}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        os.utime(lock, (0, 0))
    pack, whole = scene.files.pack.read_bytes(), site.finished.files.pack.read_bytes()
    assert whole.startswith(pack)
    scene.files.pack.write_bytes(whole[: len(pack) + (len(whole) - len(pack)) // 2])
    scene.files.state.write_text("status: [")
    scene.files.working_memory.unlink()
    scene.home.task_index.write_bytes(b"no database")
    # Whoever moved the ref of the steps took the trees before from it: that stays named.
    drive_and_compare(site, scene, engine, ("refs",))
    assert "completed" in scene.files.state.read_text()


@BOTH_IF_SOAKED
def test_no_garbage_collection_takes_what_is_recorded(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=EDITED)
    collect_garbage(scene)
    drive_and_compare(site, scene, engine)


@BOTH_IF_SOAKED
def test_garbage_collection_lost_checkouts_and_a_base_that_left_the_users_branches_lose_nothing(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment=EDITED, trees=False)
    scene.git("checkout", "-q", "--orphan", "elsewhere")
    scene.git("commit", "-qm", "Another beginning")
    scene.git("branch", "-D", "main")
    collect_garbage(scene)
    drive_and_compare(site, scene, engine)
    assert scene.salvaged() == []


@both("moment", ["red/1/3/commit/1", ASKED], telling=[ASKED])
def test_after_git_clean_a_task_goes_on_from_its_last_accepted_stage(
    site: Reference, tmp_path: Path, engine: Engine, moment: str
) -> None:
    scene = site.copy(tmp_path, moment=moment)
    scene.git("clean", "-qfdx")
    assert not scene.files.root.exists()
    collect_garbage(scene)
    drive_and_compare(site, scene, engine)


@BOTH_IF_SOAKED
def test_after_git_clean_before_any_accepted_stage_a_sentence_says_so(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, moment="prepare/1")
    scene.git("clean", "-qfdx")
    with pytest.raises(UsageError, match=scene.task_id):
        engine.drive(scene)
    with pytest.raises(UsageError, match="No tasks in this repository"):
        scene.site().find(None)


@BOTH_IF_SOAKED
def test_a_delivered_task_survives_git_clean_and_garbage_collection(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = site.copy(tmp_path, trees=False)
    scene.git("clean", "-qfdx")
    collect_garbage(scene)
    drive_and_compare(site, scene, engine)
    assert [line.key for line in read_lines(scene.files.journal)][-1] == "deliver/1"
