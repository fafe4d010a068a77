"""A real git on repositories that are nothing like ours."""

import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentforge.core.errors import PolicyError, Unusable, UsageError
from agentforge.system.git.call import failure
from agentforge.system.git.history import recent_commits
from agentforge.system.git.repository import Change, Git, Lines, TreeEntry
from agentforge.system.processes import Completed

LOCK = os.open(os.devnull, os.O_RDONLY)
"""As under a driver, each git process inherits one: such a call does not copy this process first."""
AUTHOR = ("Ada", "ada@example.invalid")
DATE = "2024-05-06T07:08:09.123456+00:00"


def git(where: Path, *args: str, data: str | None = None) -> str:
    done = subprocess.run(["git", *args], cwd=where, input=data, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make(where: Path, files: dict[str, str], *options: str) -> Git:
    where.mkdir(parents=True, exist_ok=True)
    git(where, "init", "-q", *options)
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return Git.open(where).holding(LOCK)


def files_of(where: Path) -> dict[str, str]:
    return {
        p.relative_to(where).as_posix(): p.read_text()
        for p in sorted(where.rglob("*"))
        if p.is_file() and ".git" not in p.parts
    }


@pytest.fixture
def repo(tmp_path: Path) -> Git:
    return make(tmp_path / "a répo", {"src/a.py": "a = 1\n", "ü name.txt": "hi\n", ".gitignore": "*.log\n"})


# Opening


def test_a_repository_is_found_from_below(repo: Git) -> None:
    below = Git.open(repo.top / "src")
    assert (below.top, below.git_dir) == (repo.top, repo.top / ".git")


def test_a_plain_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository"):
        Git.open(tmp_path)


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "x.git")
    with pytest.raises(UsageError, match="is a bare repository"):
        Git.open(tmp_path / "x.git")


def test_the_inside_of_a_git_directory_is_refused(repo: Git) -> None:
    with pytest.raises(UsageError, match=r"inside of a `\.git` directory"):
        Git.open(repo.git_dir / "objects")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("where", ["..", "../elsewhere", "sub"])
def test_a_checkout_that_only_the_settings_name_is_refused(repo: Git, where: str) -> None:
    (repo.top.parent / "elsewhere").mkdir()
    (repo.top / "sub").mkdir()
    repo.run("config", "core.worktree", str((repo.top / where).resolve()))
    with pytest.raises(UsageError, match=r"says that its checkout is .*, where another or no repository is"):
        Git.open(repo.top)
    repo.run("config", "core.worktree", str(repo.top))
    assert Git.open(repo.top).top == repo.top


def test_refs_that_are_kept_in_another_repository_are_refused(repo: Git, tmp_path: Path) -> None:
    private = tmp_path / "private"
    subprocess.run(("git", "init", "-q", private), check=True)
    (repo.git_dir / "commondir").write_text(f"{private}/.git\n")
    with pytest.raises(UsageError, match=r"keeps its refs in .*private/\.git, which is another one's"):
        Git.open(repo.top)


def test_a_submodule_and_a_git_directory_kept_elsewhere_are_checkouts(repo: Git, tmp_path: Path) -> None:
    outer, kept = tmp_path / "outer", tmp_path / "kept"
    subprocess.run(("git", "init", "-q", f"--separate-git-dir={kept}", outer), check=True)
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.top), "inner")
    subprocess.run(("git", *add), cwd=outer, check=True)
    assert Git.open(outer).git_dir == kept.resolve()
    assert Git.open(outer / "inner").top == (outer / "inner").resolve()


@pytest.mark.parametrize("name", [".gitattributes", ".git/info/exclude", ".git/packed-refs", ".git/config"])
def test_a_pipe_that_git_would_wait_for_is_refused(repo: Git, name: str) -> None:
    (repo.top / name).unlink(missing_ok=True)
    os.mkfifo(repo.top / name)
    with pytest.raises(UsageError, match=re.escape(f"{name} is no file, so git would never end.")):
        Git.open(repo.top)


def test_a_repository_of_somebody_else_is_refused_with_the_exact_command(repo: Git) -> None:
    for place in (repo.top, repo.git_dir):
        os.chown(place, 54321, 54321)
    with pytest.raises(UsageError) as caught:
        Git.open(repo.top)
    command = caught.value.next_step.split("`")[1]
    assert command.startswith("git config --global --add safe.directory ")
    subprocess.run(["sh", "-c", command], check=True)
    assert Git.open(repo.top).head() == repo.head()


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="`git` is not installed"):
        Git.open(tmp_path)


def test_an_old_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.25.1\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(UsageError, match=r"git 2\.25 is too old"):
        Git.open(tmp_path)


def test_a_repository_without_commits_is_told_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(UsageError, match="has no commits yet"):
        Git.open(tmp_path).head()


def test_a_linked_worktree_has_its_own_head_and_the_shared_directory(repo: Git, tmp_path: Path) -> None:
    git(repo.top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    git(tmp_path / "linked", "commit", "-q", "--allow-empty", "-m", "second")
    linked = Git.open(tmp_path / "linked")
    assert (linked.git_dir, linked.top) == (repo.git_dir, tmp_path / "linked")
    assert linked.head() != repo.head()
    assert linked.tree_of(linked.head()) == repo.tree_of(repo.head())


def test_variables_of_the_caller_do_not_lead_elsewhere(
    repo: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert Git.open(repo.top).head() == repo.head()


# The user's checkout


def test_dirt_is_seen_and_what_is_ignored_is_none(repo: Git) -> None:
    assert not repo.is_dirty()
    (repo.top / "x.log").write_text("ignored")
    assert not repo.is_dirty()
    (repo.top / "new").write_text("x")
    assert repo.is_dirty()


def test_a_name_is_resolved_or_refused(repo: Git) -> None:
    assert repo.resolve("main") == repo.resolve(repo.head()[:8]) == repo.head()
    for bad in ("nothing", "--all", "HEAD:src", ""):
        with pytest.raises(UsageError, match="is not a commit"):
            repo.resolve(bad)


def test_a_pattern_is_excluded_once(repo: Git) -> None:
    repo.exclude_locally(".agentforge/tasks/")
    repo.exclude_locally(".agentforge/tasks/")
    assert (repo.git_dir / "info/exclude").read_text().count(".agentforge/tasks/\n") == 1


def test_no_pattern_is_written_through_a_link_and_a_file_that_has_it_is_left_alone(
    repo: Git, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("export PATH\n")
    exclude = repo.git_dir / "info/exclude"
    exclude.unlink()
    exclude.symlink_to(victim)
    with pytest.raises(PolicyError, match="is a symbolic link") as refused:
        repo.exclude_locally(".agentforge/tasks/", ".agentforge/audit/")
    assert victim.read_text() == "export PATH\n"
    assert (
        "Write `.agentforge/tasks/` and `.agentforge/audit/` into the file that it leads to"
        in refused.value.next_step
    )
    victim.write_text(".agentforge/tasks/\n.agentforge/audit/\n")
    repo.exclude_locally(".agentforge/tasks/", ".agentforge/audit/")
    exclude.unlink()
    exclude.symlink_to("/dev/zero")
    with pytest.raises(PolicyError, match="is a symbolic link"):
        repo.exclude_locally("x")
    exclude.unlink()
    exclude.parent.rename(tmp_path / "info")
    exclude.parent.symlink_to(tmp_path / "info")
    with pytest.raises(PolicyError, match="is a symbolic link"):
        repo.exclude_locally("x")
    assert not (tmp_path / "info/exclude").exists()
    exclude.parent.unlink()
    exclude.mkdir(parents=True)
    with pytest.raises(PolicyError, match="no regular file"):
        repo.exclude_locally("x")


# Objects


def test_blobs_and_trees_are_read(repo: Git) -> None:
    head = repo.head()
    assert repo.read_blob(head, "ü name.txt") == b"hi\n"
    assert repo.read_blob(repo.tree_of(head), "src/a.py") == b"a = 1\n"
    for missing in ("src", "nothing", "src/a.py/b", "a\nb", ""):
        assert repo.read_blob(head, missing) is None
    assert TreeEntry("100644", "blob", repo.hash_blob(b"hi\n"), "ü name.txt") in repo.ls_tree(head)


def test_an_overlay_adds_changes_and_removes(repo: Git) -> None:
    base = repo.tree_of(repo.head())
    blob = repo.hash_blob(b"\0binary\r\n")
    tree = repo.overlay_tree(
        base, {"src": ("100755", blob), "src/a.py": None, "ü name.txt/in\nside": ("100644", blob)}
    )
    assert {entry.path: entry.mode for entry in repo.ls_tree(tree)} == {
        "src": "100755",
        "ü name.txt/in\nside": "100644",
        ".gitignore": "100644",
    }
    assert repo.read_blob(tree, "ü name.txt/in\nside") == b"\0binary\r\n"
    assert repo.overlay_tree(base, {}) == base
    with pytest.raises(Unusable, match="is not in the repository"):
        repo.overlay_tree(base, {"x": ("100644", "1" * 40)})


def test_differences_are_told_by_name_count_and_patch(repo: Git, tmp_path: Path) -> None:
    base = repo.tree_of(repo.head())
    tree = repo.overlay_tree(
        base,
        {
            "ü name.txt": None,
            "moved.txt": ("100644", repo.hash_blob(b"hi\n")),
            "b": ("100644", repo.hash_blob(b"\0\1")),
            "src/a.py": ("100644", repo.hash_blob(b"a = 2\n")),
        },
    )
    assert repo.diff_names(base, tree) == [
        Change("A", "b"),
        Change("A", "moved.txt"),
        Change("M", "src/a.py"),
        Change("D", "ü name.txt"),
    ]
    assert repo.numstat(base, tree) == [
        Lines(0, 0, "b"),
        Lines(1, 0, "moved.txt"),
        Lines(1, 1, "src/a.py"),
        Lines(0, 1, "ü name.txt"),
    ]
    assert "4 files changed" in repo.diff_stat(base, tree)
    assert repo.diff_patch(base, tree, ["src/a.py"]).count(b"diff --git") == 1
    git(repo.top, "config", "diff.noprefix", "true")
    (tmp_path / "p").write_bytes(repo.diff_patch(base, tree))
    git(repo.top, "apply", "--index", str(tmp_path / "p"))
    assert git(repo.top, "write-tree") == tree


def test_the_same_commit_has_the_same_id(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, parent = repo.tree_of(repo.head()), repo.head()
    first = repo.commit_tree(tree, [parent], "stage: grün\n\nTask: x\n", DATE, AUTHOR)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    git(repo.top, "config", "i18n.commitEncoding", "latin1")
    assert repo.commit_tree(tree, [parent], "stage: grün\n\nTask: x\n", DATE, AUTHOR) == first
    assert (
        git(repo.top, "log", "-1", "--encoding=UTF-8", "--format=%an|%ae|%cn|%aI|%s", first)
        == "Ada|ada@example.invalid|Ada|2024-05-06T07:08:09+00:00|stage: grün"
    )
    assert repo.commit_tree(tree, [parent], "m", "2024-05-06T07:08:09Z", AUTHOR) == repo.commit_tree(
        tree, [parent], "m", DATE, AUTHOR
    )


# Refs


def test_refs_are_moved_compared_listed_and_removed(repo: Git) -> None:
    head = repo.head()
    other = repo.commit_tree(repo.tree_of(head), [head], "m", DATE, AUTHOR)
    ref = "refs/agentforge/task-1/salvage/1"
    assert repo.read_ref(ref) is None
    repo.update_ref(ref, head, "")
    with pytest.raises(Unusable):
        repo.update_ref(ref, other, "")
    with pytest.raises(Unusable):
        repo.update_ref(ref, other, other)
    repo.update_ref(ref, other, head)
    assert repo.refs("refs/agentforge/task-1") == repo.refs("refs/agentforge/") == {ref: other}
    assert repo.refs("refs/agentforge/task") == {}


def test_a_lock_that_a_killed_git_left_on_our_ref_is_broken(repo: Git) -> None:
    lock = repo.git_dir / "refs/agentforge/task-1.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    repo.update_ref("refs/agentforge/task-1", repo.head())
    assert repo.read_ref("refs/agentforge/task-1") == repo.head()


def test_a_lock_on_somebody_elses_ref_stays(repo: Git) -> None:
    lock = repo.git_dir / "refs/heads/theirs.lock"
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    with pytest.raises(Unusable, match="lock"):
        repo.update_ref("refs/heads/theirs", repo.head())
    assert lock.exists()


# What others configured


def test_hooks_signing_and_filters_of_the_user_never_run(tmp_path: Path) -> None:
    repo = make(tmp_path / "r", {"big.bin": "pointer\n", ".gitattributes": "*.bin filter=lfs\n"})
    trap = tmp_path / "trap"
    trap.mkdir()
    for hook in ("reference-transaction", "post-index-change", "post-checkout"):
        (repo.git_dir / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {trap}/{hook}\n")
        (repo.git_dir / "hooks" / hook).chmod(0o755)
    for setting, value in {
        "filter.lfs.clean": f"touch {trap}/clean; cat",
        "filter.lfs.smudge": f"touch {trap}/smudge; cat",
        "filter.lfs.process": f"touch {trap}/process",
        "filter.lfs.required": "true",
        "commit.gpgSign": "true",
        "gpg.program": f"touch {trap}/gpg",
        "core.fsmonitor": f"touch {trap}/fsmonitor",
        "core.safecrlf": "true",
        "core.autocrlf": "true",
    }.items():
        git(repo.top, "config", setting, value)
    repo = Git.open(repo.top)
    tree = repo.tree_of(repo.head())
    work, index = tmp_path / "w", tmp_path / "i"
    repo.checkout_tree(tree, work, index)
    assert (work / "big.bin").read_text() == "pointer\n"
    (work / "more.bin").write_bytes(b"x\r\n")
    changed = repo.write_tree(work, index)
    repo.update_ref("refs/agentforge/x", repo.commit_tree(changed, [repo.head()], "m", DATE, AUTHOR))
    assert repo.read_blob(changed, "more.bin") == b"x\r\n"
    repo.is_dirty()
    assert list(trap.iterdir()) == []


@pytest.mark.parametrize("bad", ["No space left on device", "Permission denied", "Read-only file system"])
def test_a_disk_that_fails_git_is_told_as_such(
    bad: str, tmp_path: Path, repo: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\necho 'error: unable to write file x: {bad}' >&2\nexit 128\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(Unusable, match="and try again"):
        repo.hash_blob(b"x")


_CALLER = """\
import sys
from pathlib import Path

from agentforge.system.git.call import invoke

invoke(("hash-object", "-w", sys.argv[1]), cwd=Path(sys.argv[2]))
"""


def test_a_call_that_has_begun_ends_whoever_kills_the_one_who_made_it(tmp_path: Path) -> None:
    """Killed in the middle, git would leave its lock files behind."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    pipe = tmp_path / "content"
    os.mkfifo(pipe)
    caller = subprocess.Popen([sys.executable, "-c", _CALLER, str(pipe), str(tmp_path / "repo")])
    with pipe.open("wb") as content:  # git has it open now, and waits
        caller.kill()
        caller.wait()
        content.write(b"whole\n")
    stored = tmp_path / "repo/.git/objects" / hashlib.sha1(b"blob 6\0whole\n").hexdigest()[:2]
    deadline = time.monotonic() + 120
    while not (stored.is_dir() and any(not entry.name.startswith("tmp") for entry in stored.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


# The past


def test_the_last_commits_are_told_with_what_each_changed(repo: Git) -> None:
    (repo.top / "src/a.py").write_text("a = 2\n")
    (repo.top / "ü name.txt").write_text("ho\n")
    git(repo.top, "commit", "-q", "-a", "-m", "second\tone")
    tip = git(repo.top, "rev-parse", "HEAD")
    newest, first = recent_commits(repo, tip, 9)
    assert (newest.commit, newest.subject, newest.paths) == (
        tip[:10],
        "second\tone",
        ("src/a.py", "ü name.txt"),
    )
    assert (first.subject, len(first.paths)) == ("first", 3)
    assert recent_commits(repo, tip, 1) == [newest]
    assert recent_commits(repo, "0" * 40, 9) == []


def test_the_paths_that_git_lists_below_its_reason_are_named() -> None:
    said = (
        b"error: The following untracked working tree files would be overwritten by merge:\n"
        b"\ttests/test_net.py\n\tx.py\nPlease move or remove them before you merge.\nAborting\n"
    )
    found = failure(
        Completed(("git", "merge"), 1, b"", said, timed_out=False, seconds_ms=1, truncated=False), ("merge",)
    ).sentence
    assert found.endswith("would be overwritten by merge: tests/test_net.py, x.py.")
