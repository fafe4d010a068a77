"""A task's two checkouts: what they hold, what they tell the code that runs in them, and what no crash or
clean-up can take.
"""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.sandbox.worktree import AUTHOR, FIXED_DATE, TRAILER, Pointed, Workspace, WorktreeReset
from agentforge.system.git.repository import Git
from tests.devices import other_device

TASK = "task-20300101-x"
BRANCH = f"agentforge/{TASK}"
LOCK = os.open(os.devnull, os.O_RDONLY)
"""As under a driver, each git process inherits one: such a call does not copy this process first."""
FILES = {"src/a.py": "a = 1\n", "ü ñame.txt": "u\n", ".gitignore": "*.log\nbuild/\n"}


def git(where: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make(where: Path, *options: str) -> Path:
    where.mkdir(parents=True)
    git(where, "init", "-q", *options)
    for name, text in FILES.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return where


class Bench:
    """A repository and the workspace of one task on it."""

    def __init__(self, repository: Path, root: Path) -> None:
        self.repository, self.root = repository, root
        self.base = git(repository, "rev-parse", "HEAD")
        self.tree = git(repository, "rev-parse", "HEAD^{tree}")
        self.space = self.again()

    def again(self) -> Workspace:
        """The workspace as the next driver sees it."""
        self.space = Workspace(Git.open(self.repository).holding(LOCK), self.root, TASK)
        return self.space

    def reset_to(self, tree: str | None = None, *, keep: bool = False) -> WorktreeReset:
        return self.space.reset_to(tree or self.tree, self.base, keep_difference=keep)

    def write(self, name: str, text: str) -> None:
        (self.space.worktree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.space.worktree / name).write_text(text)

    def snapshot(self, name: str, text: str) -> str:
        self.write(name, text)
        return self.space.snapshot()

    def work(self, number: int) -> str:
        """A commit of the task."""
        return self.space.commit(self.tree, self.base, f"{number}\n", FIXED_DATE)

    def branches(self) -> dict[str, str]:
        """Every branch but the one that the person is on."""
        listed = git(self.repository, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads")
        found = dict(line.split() for line in listed.splitlines())
        del found["main"]
        return found

    def refs(self) -> list[str]:
        return git(self.repository, "for-each-ref", "--format=%(refname)", "refs/agentforge").split()

    def collect_garbage(self) -> None:
        git(self.repository, "reflog", "expire", "--expire=now", "--all")
        git(self.repository, "gc", "-q", "--prune=now")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(make(tmp_path / "repository"), tmp_path / "home" / "trees" / "task")


# ------------------------------------------------------------------ the stand-in


def test_code_in_the_worktree_finds_a_clean_repository_of_one_commit(bench: Bench) -> None:
    (bench.repository / "second.txt").write_text("2\n")
    git(bench.repository, "add", "-A")
    git(bench.repository, "commit", "-q", "-m", "second")
    bench.base, bench.tree = (
        git(bench.repository, "rev-parse", "HEAD"),
        git(bench.repository, "rev-parse", "HEAD^{tree}"),
    )
    bench.reset_to()
    assert git(bench.space.worktree, "rev-list", "HEAD") == bench.base
    assert git(bench.space.worktree, "status", "--porcelain") == ""
    assert git(bench.space.worktree, "fsck", "--strict") == ""


def test_nothing_in_the_stand_in_leads_to_the_persons_repository(bench: Bench) -> None:
    git(bench.repository, "remote", "add", "origin", "https://name:password@example.invalid/x")
    git(bench.repository, "config", "credential.helper", "store")
    git(bench.repository, "branch", "private")
    bench.reset_to()
    place = bench.space.worktree / ".git"
    for path in place.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert os.fsencode(bench.repository) not in content
            assert b"example.invalid" not in content
    assert git(bench.space.worktree, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert not (place / "objects/info/alternates").exists()


def test_settings_against_reading_do_not_keep_the_stand_in_empty(bench: Bench) -> None:
    git(bench.repository, "config", "transfer.hideRefs", "refs")
    git(bench.repository, "config", "protocol.file.allow", "never")
    bench.reset_to()
    assert git(bench.space.worktree, "rev-parse", "HEAD") == bench.base


@pytest.mark.parametrize(
    ("tags", "more", "expected"),
    [
        ((), 0, None),
        (("v1.2",), 0, "1.2"),
        (("release-2.0.1",), 0, "2.0.1"),
        (("v1.2",), 1, "1.2+1."),
        (("nightly",), 0, None),
    ],
)
def test_a_version_is_derived_from_the_nearest_tag_and_the_stand_in_knows_it(
    bench: Bench, tags: tuple[str, ...], more: int, expected: str | None
) -> None:
    for tag in tags:
        git(bench.repository, "tag", tag)
    for _ in range(more):
        git(bench.repository, "commit", "-q", "--allow-empty", "-m", "more")
    bench.base = git(bench.repository, "rev-parse", "HEAD")
    found = bench.space.describe_version(bench.base)
    assert found == expected or (more and str(found).startswith(str(expected)))
    bench.reset_to()
    assert git(bench.space.worktree, "tag") == ("" if expected is None else expected.partition("+")[0])


# ------------------------------------------------------------------ standing at a tree


def test_a_worktree_that_stands_is_left_alone(bench: Bench) -> None:
    assert bench.reset_to() == WorktreeReset(bench.tree)
    bench.write("ignored.log", "made by a test run\n")
    assert bench.reset_to() == WorktreeReset(bench.tree)
    assert (bench.space.worktree / "ignored.log").exists()


def test_what_differs_is_saved_under_a_ref_of_its_own_before_the_worktree_is_reset(bench: Bench) -> None:
    bench.reset_to()
    for number in (1, 2):
        bench.write("debris.txt", f"{number}\n")
        bench.write("src/a.py", "half writ")
        bench.again()
        ref = f"refs/agentforge/{TASK}/salvage/{number}"
        assert bench.reset_to() == WorktreeReset(bench.tree, salvage=ref)
        assert git(bench.repository, "show", f"{ref}:debris.txt") == str(number)
        assert git(bench.repository, "show", f"{ref}:src/a.py") == "half writ"
        assert not (bench.space.worktree / "debris.txt").exists()
        assert (bench.space.worktree / "src/a.py").read_text() == FILES["src/a.py"]


def test_a_persons_difference_is_kept_and_nothing_is_salvaged(bench: Bench) -> None:
    bench.reset_to()
    bench.write("by-hand.txt", "x\n")
    bench.again()
    stood = bench.reset_to(keep=True)
    assert stood.human
    assert git(bench.repository, "show", f"{stood.tree}:by-hand.txt") == "x"
    assert not any("salvage" in ref for ref in bench.refs())
    assert bench.again().reset_to(stood.tree, bench.base) == WorktreeReset(stood.tree)


def test_no_difference_is_nobodys_work(bench: Bench) -> None:
    bench.reset_to()
    bench.write("ignored.log", "x\n")
    bench.again()
    assert bench.reset_to(keep=True) == WorktreeReset(bench.tree)


def test_a_difference_is_saved_even_where_the_stand_in_is_gone(bench: Bench) -> None:
    bench.reset_to()
    shutil.rmtree(bench.space.worktree / ".git")
    bench.write("debris.txt", "x\n")
    bench.again()
    assert bench.reset_to().salvage
    assert git(bench.space.worktree, "rev-parse", "HEAD") == bench.base


def test_what_a_killed_first_checkout_left_is_nobodys_work(bench: Bench) -> None:
    bench.reset_to()
    (bench.root / "stands-at").unlink()
    (bench.space.worktree / "src/a.py").unlink()
    shutil.rmtree(bench.space.worktree / ".git")
    bench.again()
    assert bench.reset_to(keep=True) == WorktreeReset(bench.tree)
    assert (bench.space.worktree / "src/a.py").exists()
    assert bench.again().reset_to(bench.tree, bench.base) == WorktreeReset(bench.tree)


def test_what_a_killed_reset_left_is_saved_and_taken_for_nobodys_work(bench: Bench) -> None:
    bench.reset_to()
    bench.snapshot("new.py", "x\n")
    (bench.root / "stands-at").write_text("")
    (bench.space.worktree / "src/a.py").unlink()
    bench.again()
    stood = bench.reset_to(keep=True)
    assert (stood.tree, stood.human, bool(stood.salvage)) == (bench.tree, False, True)


def test_the_work_of_a_failed_attempt_is_neither_debris_nor_a_persons(bench: Bench) -> None:
    bench.reset_to()
    bench.snapshot("attempt.py", "of a role\n")
    assert bench.reset_to() == WorktreeReset(bench.tree)
    assert not (bench.space.worktree / "attempt.py").exists()
    bench.snapshot("attempt.py", "of a role, before a halt\n")
    bench.again()
    assert bench.reset_to(keep=True) == WorktreeReset(bench.tree)


def test_a_worktree_that_ran_ahead_of_the_journal_is_saved(bench: Bench) -> None:
    bench.reset_to()
    bench.snapshot("ahead.py", "the driver was killed before this was on record\n")
    bench.again()
    assert bench.reset_to().salvage == f"refs/agentforge/{TASK}/salvage/1"


def test_a_persons_edit_is_found_again_by_the_next_driver_until_it_is_on_record(bench: Bench) -> None:
    bench.reset_to()
    bench.write("by-hand.txt", "x\n")
    bench.again()
    first = bench.reset_to(keep=True)
    bench.again()
    assert bench.reset_to(keep=True) == first


def test_a_person_may_take_back_all_that_a_role_did(bench: Bench) -> None:
    bench.reset_to()
    tree = bench.snapshot("new.py", "x\n")
    (bench.space.worktree / "new.py").unlink()
    bench.again()
    assert bench.reset_to(tree, keep=True) == WorktreeReset(bench.tree, human=True)


@pytest.mark.parametrize("lost", ["worktree", "worktree.index", "."])
def test_a_lost_checkout_is_made_again(bench: Bench, lost: str) -> None:
    bench.reset_to()
    place = bench.root / lost
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    bench.again()
    assert bench.reset_to() == WorktreeReset(bench.tree)
    assert bench.space.snapshot() == bench.tree


def test_ignored_files_that_were_written_are_named(bench: Bench) -> None:
    bench.reset_to()
    bench.write("build/out.py", "x\n")
    tree = bench.snapshot("src/new.py", "x\n")
    assert bench.space.ignored(tree, ("build/out.py", "src/new.py", "src/gone.py", "ü ñame.txt")) == (
        "build/out.py",
    )


def test_removal_takes_the_checkouts_and_leaves_the_refs(bench: Bench) -> None:
    bench.reset_to()
    bench.snapshot("new.py", "x\n")
    before = bench.refs()
    bench.space.remove()
    assert not bench.root.exists()
    assert bench.refs() == before
    assert bench.reset_to() == WorktreeReset(bench.tree)


# ------------------------------------------------------------------ the pristine checkout


def test_verdicts_run_on_the_tree_and_not_on_what_lies_around_in_the_worktree(bench: Bench) -> None:
    bench.reset_to()
    tree = bench.snapshot("src/new.py", "x\n")
    bench.write("helps.log", "ignored, and makes tests pass\n")
    place = bench.space.pristine(tree, bench.base)
    assert sorted(
        path.relative_to(place).as_posix() for path in place.rglob("*") if ".git" not in path.parts
    ) == [
        ".gitignore",
        "src",
        "src/a.py",
        "src/new.py",
        "ü ñame.txt",
    ]
    (place / "left.log").write_text("by the last run\n")
    assert not (bench.space.pristine(tree, bench.base) / "left.log").exists()
    assert (bench.space.worktree / "src/a.py").read_text() == FILES["src/a.py"]


def test_a_checkout_for_set_up_leaves_no_index_behind(bench: Bench, tmp_path: Path) -> None:
    bench.space.check_out_base(tmp_path / "source", bench.tree, bench.base)
    assert git(tmp_path / "source", "status", "--porcelain") == ""
    assert [path.name for path in bench.root.iterdir() if not path.name.startswith("stand-in-")] == []


def test_repository_checkouts_and_environments_may_each_be_on_a_file_system_of_their_own(
    bench: Bench, tmp_path: Path
) -> None:
    with other_device(tmp_path) as elsewhere:
        bench.root = elsewhere / "root"
        bench.again()
        bench.reset_to()
        assert git(bench.space.worktree, "fsck", "--strict") == ""
        bench.space.check_out_base(tmp_path / "cache" / "source", bench.tree, bench.base)
    assert git(tmp_path / "cache" / "source", "status", "--porcelain") == ""
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["source"]


# ------------------------------------------------------------------ objects and refs


def test_garbage_collection_takes_no_recorded_tree_salvage_or_commit(bench: Bench) -> None:
    bench.reset_to()
    trees = [bench.snapshot("new.py", f"{number}\n") for number in range(3)]
    commit = bench.space.commit(
        trees[-1], bench.base, "by hand\n", FIXED_DATE, ("A person", "person@example.invalid")
    )
    bench.space.keep(trees[-1], commit)
    bench.write("debris.txt", "x\n")
    bench.again()
    salvage = bench.reset_to(trees[-1]).salvage
    # Even the base is held by nothing else.
    git(bench.repository, "checkout", "-q", "--orphan", "other")
    git(bench.repository, "commit", "-q", "--allow-empty", "-m", "unrelated")
    git(bench.repository, "branch", "-q", "-D", "main")
    bench.collect_garbage()
    for name in (*trees, commit, bench.base, f"{salvage}:debris.txt"):
        git(bench.repository, "cat-file", "-e", name)
    bench.reset_to(trees[0])
    assert (bench.space.worktree / "new.py").read_text() == "0\n"


def test_an_index_that_names_collected_objects_does_not_stop_a_snapshot(bench: Bench) -> None:
    bench.reset_to()
    bench.write("never-recorded.py", "x\n")
    bench.space.git.write_tree(bench.space.worktree, bench.root / "worktree.index")
    bench.collect_garbage()
    bench.write("another.py", "y\n")
    bench.again()
    stood = bench.reset_to(keep=True)
    assert stood.human
    assert git(bench.repository, "show", f"{stood.tree}:never-recorded.py") == "x"


def test_the_same_snapshot_is_kept_once(bench: Bench) -> None:
    bench.reset_to()
    bench.snapshot("new.py", "x\n")
    kept = git(bench.repository, "rev-parse", f"refs/agentforge/{TASK}/steps")
    bench.space.snapshot()
    bench.space.keep(bench.space.snapshot())
    assert git(bench.repository, "rev-parse", f"refs/agentforge/{TASK}/steps") == kept


def test_a_commit_is_the_same_whenever_it_is_repeated(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = bench.space.commit(bench.tree, bench.base, "m\n", "2030-01-01T00:00:00+02:00")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    git(bench.repository, "config", "user.name", "Somebody Else")
    assert bench.again().commit(bench.tree, bench.base, "m\n", "2030-01-01T00:00:00+02:00", AUTHOR) == first


def test_only_the_tasks_own_branch_is_moved(bench: Bench) -> None:
    before = git(bench.repository, "for-each-ref", "refs/heads")
    commit = bench.work(1)
    assert bench.space.point_branch(commit) == Pointed(BRANCH)
    assert bench.space.point_branch(commit) == Pointed(BRANCH)
    assert git(bench.repository, "rev-parse", BRANCH) == commit
    git(bench.repository, "branch", "-q", "-D", BRANCH)
    assert git(bench.repository, "for-each-ref", "refs/heads") == before


def test_the_branch_moves_from_where_the_task_left_it_also_to_a_commit_beside(bench: Bench) -> None:
    first, second = bench.work(1), bench.work(2)
    bench.space.point_branch(first)
    assert bench.space.point_branch(second, BRANCH, first) == Pointed(BRANCH)
    assert bench.branches() == {BRANCH: second}


def test_a_persons_own_branch_of_that_name_is_never_touched(bench: Bench) -> None:
    git(bench.repository, "branch", BRANCH)
    first, second = bench.work(1), bench.work(2)
    kept = f"{BRANCH} at {bench.base[:12]}"
    for _ in range(2):  # the second time as after a kill
        assert bench.again().point_branch(first) == Pointed(f"{BRANCH}-2", (kept,))
    assert bench.again().point_branch(second, f"{BRANCH}-2", first) == Pointed(f"{BRANCH}-2")
    assert bench.branches() == {BRANCH: bench.base, f"{BRANCH}-2": second}


def test_a_persons_commit_on_the_branch_stays_on_it_and_is_named(bench: Bench) -> None:
    first, second = bench.work(1), bench.work(2)
    bench.space.point_branch(first)
    theirs = git(bench.repository, "commit-tree", "-p", first, "-m", "mine", f"{first}^{{tree}}")
    git(bench.repository, "update-ref", f"refs/heads/{BRANCH}", theirs)
    for _ in range(2):
        pointed = bench.again().point_branch(second, BRANCH, first)
        assert pointed == Pointed(f"{BRANCH}-2", (f"{BRANCH} at {theirs[:12]}",))
    assert bench.branches() == {BRANCH: theirs, f"{BRANCH}-2": second}


def test_a_branch_that_a_person_has_checked_out_is_not_moved_under_them(bench: Bench, tmp_path: Path) -> None:
    first, second, third = bench.work(1), bench.work(2), bench.work(3)
    bench.space.point_branch(first)
    git(bench.repository, "checkout", "-q", BRANCH)
    before = git(bench.repository, "status", "--porcelain")
    assert bench.space.point_branch(first, BRANCH, first) == Pointed(BRANCH)
    for _ in range(2):  # the second time as after a kill
        pointed = bench.again().point_branch(second, BRANCH, first)
        assert pointed == Pointed(f"{BRANCH}-2", (f"{BRANCH} at {first[:12]}",))
    assert git(bench.repository, "status", "--porcelain") == before
    git(bench.repository, "worktree", "add", "-q", str(tmp_path / "linked"), f"{BRANCH}-2")
    assert bench.space.point_branch(third, f"{BRANCH}-2", second).branch == f"{BRANCH}-3"
    assert git(tmp_path / "linked", "status", "--porcelain") == ""


def test_work_of_the_task_that_an_older_journal_does_not_know_is_no_obstacle(bench: Bench) -> None:
    bench.space.keep_base(bench.base)
    said = f"Fix\n\n{TRAILER}: {TASK}\nAgentForge-Stage: green\n"
    first, last = (bench.space.commit(bench.tree, bench.base, f"{n}{said}", FIXED_DATE) for n in (1, 2))
    bench.space.point_branch(last)
    assert bench.again().point_branch(first) == Pointed(BRANCH)
    # One that a person amended, or built upon, is theirs.
    git(bench.repository, "checkout", "-q", BRANCH)
    git(bench.repository, "commit", "-q", "--allow-empty", "--amend", "--no-edit", "--date=now")
    amended = git(bench.repository, "rev-parse", "HEAD")
    git(bench.repository, "checkout", "-q", "main")
    assert bench.again().point_branch(last) == Pointed(f"{BRANCH}-2", (f"{BRANCH} at {amended[:12]}",))


def test_a_branch_that_a_person_removed_or_renamed_is_made_again(bench: Bench) -> None:
    first, second = bench.work(1), bench.work(2)
    bench.space.point_branch(first)
    git(bench.repository, "branch", "-m", BRANCH, "mine")
    assert bench.space.point_branch(second, BRANCH, first) == Pointed(BRANCH)
    assert bench.branches() == {BRANCH: second, "mine": first}


def test_a_branch_below_the_name_leads_to_another_name(bench: Bench) -> None:
    git(bench.repository, "branch", f"{BRANCH}/mine")
    commit = bench.work(1)
    pointed = bench.space.point_branch(commit)
    assert pointed == Pointed(f"{BRANCH}-2", (f"{BRANCH}/mine at {bench.base[:12]}",))
    assert bench.branches() == {f"{BRANCH}/mine": bench.base, f"{BRANCH}-2": commit}


def test_a_branch_above_the_name_that_came_during_the_task_is_one_sentence(bench: Bench) -> None:
    bench.space.keep_base(bench.base)
    git(bench.repository, "branch", "agentforge")
    with pytest.raises(UsageError) as refusal:
        bench.space.point_branch(bench.work(1))
    assert "git branch -m agentforge" in refusal.value.next_step


def test_a_branch_in_the_way_is_named_before_the_work_begins(bench: Bench) -> None:
    git(bench.repository, "branch", "agentforge")
    with pytest.raises(UsageError) as refusal:
        bench.space.keep_base(bench.base)
    assert "git branch -m agentforge" in refusal.value.next_step


# ------------------------------------------------------------------ repositories in other shapes


def linked(there: Path) -> Path:
    git(make(there / "main"), "worktree", "add", "-q", "-b", "side", "../side")
    return there / "side"


def submodule(there: Path) -> Path:
    inner, outer = make(there / "inner"), make(there / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    return outer / "lib"


def separate(there: Path) -> Path:
    return make(there / "checkout", f"--separate-git-dir={there / 'elsewhere'}")


def shared(there: Path) -> Path:
    git(there, "clone", "-q", "--shared", str(make(there / "origin")), "clone")
    return there / "clone"


def shallow(there: Path) -> Path:
    origin = make(there / "origin")
    git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    git(there, "clone", "-q", "--depth=1", origin.as_uri(), "clone")
    return there / "clone"


def partial(there: Path) -> Path:
    origin = make(there / "origin")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(there, "clone", "-q", "--no-checkout", "--filter=blob:none", origin.as_uri(), "clone")
    git(there / "clone", "fetch", "-q", "--refetch", "--no-filter")
    return there / "clone"


def packed(there: Path) -> Path:
    repository = make(there / "repository")
    git(repository, "gc", "-q")
    git(repository, "pack-refs", "--all")
    return repository


def sha256(there: Path) -> Path:
    return make(there / "repository", "--object-format=sha256")


def oddly_named(there: Path) -> Path:
    return make(there / 'a:b "c\\d')


def bare_settings(there: Path) -> Path:
    repository = make(there / "repository")
    git(repository, "config", "core.worktree", str(repository))
    git(repository, "config", "extensions.worktreeConfig", "true")
    return repository


@pytest.mark.parametrize(
    "shape",
    [linked, submodule, separate, shared, shallow, partial, packed, sha256, bare_settings, oddly_named],
)
def test_every_shape_of_repository_gives_the_same_worktree(
    tmp_path: Path, shape: Callable[[Path], Path]
) -> None:
    (tmp_path / "there").mkdir()
    bench = Bench(shape(tmp_path / "there"), tmp_path / "root")
    bench.reset_to()
    assert git(bench.space.worktree, "rev-list", "HEAD") == bench.base
    assert git(bench.space.worktree, "status", "--porcelain") == ""
    tree = bench.snapshot("new.py", "x\n")
    bench.space.point_branch(bench.space.commit(tree, bench.base, "m\n", FIXED_DATE))
    changed = git(bench.repository, "diff-tree", "-r", "--name-status", bench.base, f"agentforge/{TASK}")
    assert changed == "A\tnew.py"
    bench.collect_garbage()
    bench.again()
    assert bench.reset_to(tree) == WorktreeReset(tree)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
def test_a_repository_of_another_user_that_is_trusted_has_a_whole_stand_in(
    bench: Bench, tmp_path: Path
) -> None:
    for path in (bench.repository, *bench.repository.rglob("*")):
        os.chown(path, 12345, 12345)
    with pytest.raises(UsageError, match="belongs to another user"):
        Git.open(bench.repository)
    git(tmp_path, "config", "--global", "safe.directory", str(bench.repository))
    bench.again()
    bench.reset_to()
    assert git(bench.space.worktree, "rev-parse", "HEAD") == bench.base
