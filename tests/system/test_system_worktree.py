"""Worktrees of ours: exactly the tree, whatever happened in them."""

import os
import subprocess
from pathlib import Path

import pytest

from agentforge.core.errors import Unusable
from agentforge.system.git.repository import Git

LOCK = os.open(os.devnull, os.O_RDONLY)
"""As under a driver, each git process inherits one: such a call does not copy this process first."""


def git(where: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make(where: Path, files: dict[str, str], *options: str) -> Git:
    where.mkdir(parents=True)
    git(where, "init", "-q", *options)
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_bytes(text.encode())
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return Git.open(where).holding(LOCK)


class Bench:
    """A repository, one worktree of ours, and its private index."""

    def __init__(self, repo: Git, place: Path, exclude: tuple[str, ...] = ()) -> None:
        repo = repo.holding(LOCK)
        self.repo, self.work, self.index, self.exclude = (
            repo,
            place / "work tree",
            place / "private" / "index",
            exclude,
        )
        self.tree = repo.tree_of(repo.head())
        self.checkout()

    def checkout(self, tree: str | None = None) -> None:
        self.repo.checkout_tree(tree or self.tree, self.work, self.index, self.exclude)

    def write(self) -> str:
        return self.repo.write_tree(self.work, self.index, self.exclude)

    def paths(self, tree: str) -> list[str]:
        return [entry.path for entry in self.repo.ls_tree(tree)]

    def status(self, tree: str) -> list[str]:
        return [f"{change.status} {change.path}" for change in self.repo.diff_names(self.tree, tree)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    files = {
        "src/a.py": "a\n",
        "src/deep/b.py": "b\n",
        "ü ñame.txt": "u\n",
        ".gitignore": "*.log\nbuild/\n",
        "run.sh": "x\n",
    }
    repo = make(tmp_path / "repo", files)
    (repo.top / "kept.log").write_text("k\n")
    (repo.top / "run.sh").chmod(0o755)
    (repo.top / "link").symlink_to("src/a.py")
    git(repo.top, "add", "-f", "kept.log", "link", "run.sh")
    git(repo.top, "commit", "-q", "-m", "second")
    return Bench(repo, tmp_path)


def test_a_checkout_holds_the_tree_and_reads_back_as_it(bench: Bench) -> None:
    assert (bench.work / "link").is_symlink()
    assert os.access(bench.work / "run.sh", os.X_OK)
    assert bench.write() == bench.tree
    assert bench.write() == bench.tree


def test_the_users_checkout_and_index_are_untouched(bench: Bench) -> None:
    before = (bench.repo.git_dir / "index").read_bytes()
    (bench.work / "new.py").write_text("x")
    bench.checkout(bench.write())
    assert (bench.repo.git_dir / "index").read_bytes() == before
    assert not bench.repo.is_dirty()


def test_changes_of_every_kind_are_recorded(bench: Bench) -> None:
    (bench.work / "src/a.py").write_text("changed\n")
    (bench.work / "kept.log").write_text("tracked, though ignored\n")
    (bench.work / "new.py").write_text("n")
    (bench.work / "x.log").write_text("ignored")
    (bench.work / "build").mkdir()
    (bench.work / "build/out").write_text("ignored")
    (bench.work / "ü ñame.txt").unlink()
    (bench.work / "run.sh").chmod(0o644)
    (bench.work / "link").unlink()
    (bench.work / "link").write_text("file")
    assert bench.status(bench.write()) == [
        "M kept.log",
        "T link",
        "A new.py",
        "M run.sh",
        "M src/a.py",
        "D ü ñame.txt",
    ]


def test_files_and_directories_may_change_places(bench: Bench) -> None:
    (bench.work / "src/a.py").unlink()
    (bench.work / "src/a.py").mkdir()
    (bench.work / "src/a.py/inner").write_text("i")
    (bench.work / "src/deep/b.py").unlink()
    (bench.work / "src/deep").rmdir()
    (bench.work / "src/deep").write_text("now a file")
    tree = bench.write()
    assert bench.status(tree) == ["D src/a.py", "A src/a.py/inner", "A src/deep", "D src/deep/b.py"]
    bench.checkout()
    assert bench.write() == bench.tree
    bench.checkout(tree)
    assert bench.write() == tree


def test_ignore_files_of_the_user_have_no_say(bench: Bench, home: Path) -> None:
    (home / "ignore").write_text("*.mine\n")
    git(bench.repo.top, "config", "core.excludesFile", str(home / "ignore"))
    bench.repo.exclude_locally("*.local")
    (bench.work / "a.mine").write_text("x")
    (bench.work / "b.local").write_text("x")
    assert bench.status(bench.write()) == ["A a.mine", "A b.local"]


def test_a_checkout_removes_all_that_is_not_in_the_tree_but_keeps_git_and_what_it_is_told(
    bench: Bench,
) -> None:
    (bench.work / ".git").write_text("gitdir: elsewhere\n")
    bench.exclude = ("cache/keep", ".env")
    for name in ("x.log", "build/out", "src/new", "cache/keep/me", "cache/other", ".env/bin", "a\nb", "[a]*"):
        (bench.work / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.work / name).write_text("x")
    (bench.work / "empty/er").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(bench.work / "nested")], check=True)
    bench.checkout()
    assert bench.write() == bench.tree
    assert sorted(p.name for p in bench.work.iterdir()) == sorted(
        [".env", ".git", ".gitignore", "cache", "kept.log", "link", "run.sh", "src", "ü ñame.txt"]
    )
    assert sorted(p.relative_to(bench.work).as_posix() for p in (bench.work / "cache").rglob("*")) == [
        "cache/keep",
        "cache/keep/me",
    ]
    assert (bench.work / ".git").read_text() == "gitdir: elsewhere\n"


def test_a_link_in_the_place_of_a_directory_does_not_lead_writes_outside(
    bench: Bench, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "a.py").write_text("precious")
    subprocess.run(["rm", "-r", str(bench.work / "src")], check=True)
    (bench.work / "src").symlink_to(outside)
    tree = bench.write()
    assert bench.status(tree) == ["A src", "D src/a.py", "D src/deep/b.py"]
    bench.checkout()
    assert (outside / "a.py").read_text() == "precious"
    assert list((outside / "deep").iterdir()) == []
    assert bench.write() == bench.tree


def test_pipes_and_nested_repositories_are_no_content(bench: Bench) -> None:
    os.mkfifo(bench.work / "pipe")
    (bench.work / "src/a.py").unlink()
    os.mkfifo(bench.work / "src/a.py")
    for name in ("empty", "full"):
        subprocess.run(["git", "init", "-q", str(bench.work / name)], check=True)
    git(bench.work / "full", "commit", "-q", "--allow-empty", "-m", "m")
    assert bench.status(bench.write()) == ["D src/a.py"]
    bench.checkout()
    assert bench.write() == bench.tree


def test_what_a_killed_git_left_does_not_stop_us(bench: Bench) -> None:
    bench.index.with_name("index.lock").touch()
    bench.checkout()
    bench.index.with_name("index.lock").touch()
    assert bench.write() == bench.tree
    bench.index.write_bytes(b"torn")
    bench.checkout()
    assert bench.write() == bench.tree


def test_a_lost_index_or_worktree_is_built_again(bench: Bench) -> None:
    bench.index.unlink()
    bench.checkout()
    assert bench.write() == bench.tree
    subprocess.run(["rm", "-rf", str(bench.work)], check=True)
    bench.checkout()
    assert bench.write() == bench.tree


def test_directories_without_permissions_are_removed_and_mended(bench: Bench) -> None:
    (bench.work / "locked/in").mkdir(parents=True)
    (bench.work / "locked/in/f").write_text("x")
    (bench.work / "locked/in").chmod(0)
    (bench.work / "src/a.py").unlink()
    (bench.work / "src").chmod(0o500)
    bench.checkout()
    (bench.work / "src").chmod(0o755)
    assert bench.write() == bench.tree


def test_an_unpopulated_submodule_keeps_its_commit(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner", {"f": "x"})
    outer = make(tmp_path / "outer", {"g": "x"})
    git(
        outer.top,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(inner.top),
        "lib/sub",
    )
    git(outer.top, "commit", "-q", "-m", "sub")
    bench = Bench(Git.open(outer.top), tmp_path)
    assert bench.write() == bench.tree
    (bench.work / "lib/sub").rmdir()
    assert bench.write() == bench.tree
    bench.checkout()
    (bench.work / "lib/sub/stray").write_text("x")
    (bench.work / "g").unlink()
    assert bench.status(bench.write()) == ["D g"]
    assert ("160000", "lib/sub") in [(entry.mode, entry.path) for entry in outer.ls_tree(bench.write())]


def test_a_sparse_checkout_of_the_user_is_whole_for_us(bench: Bench, tmp_path: Path) -> None:
    git(bench.repo.top, "sparse-checkout", "set", "--cone", "nothing")
    fresh = Bench(Git.open(bench.repo.top), tmp_path / "fresh")
    assert (fresh.work / "src/deep/b.py").read_text() == "b\n"
    assert fresh.write() == bench.tree
    assert not fresh.repo.is_dirty()


def test_a_partial_clone_names_what_to_fetch_and_runs_no_program_of_its_settings(
    bench: Bench, tmp_path: Path
) -> None:
    git(bench.repo.top, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{bench.repo.top}", "partial")
    top, marker = tmp_path / "partial", tmp_path / "marker"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran > '{marker}'\nexit 1\n")
    program.chmod(0o755)
    repo = Git.open(top)
    # An overlay needs no content of the rest.
    overlay = repo.overlay_tree(bench.tree, {"new": ("100644", repo.hash_blob(b"new"))})
    for setting, value in (
        ("core.sshCommand", str(program)),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("remote.origin.uploadpack", str(program)),
        ("remote.origin.url", f"file://{bench.repo.top}"),
        ("remote.origin.vcs", "program"),
        ("remote.origin.url", f"ext::{program}"),
    ):
        git(top, "config", setting, value)
        with pytest.raises(Unusable, match="partial clone, and AgentForge fetches nothing"):
            Git.open(top).read_blob("HEAD", "src/deep/b.py")
        with pytest.raises(Unusable, match="git fetch --refetch --no-filter"):
            Bench(Git.open(top), tmp_path / "unfetched")
    assert not marker.exists()
    for setting in ("core.sshCommand", "remote.origin.uploadpack", "remote.origin.vcs"):
        git(top, "config", "--unset", setting)
    git(top, "config", "remote.origin.url", f"file://{bench.repo.top}")
    git(top, "fetch", "-q", "--refetch", "--no-filter")
    repo = Git.open(top)
    fresh = Bench(repo, tmp_path / "fresh")
    assert fresh.write() == bench.tree
    assert fresh.status(overlay) == ["A new"]


def test_no_filter_of_a_submodule_runs_when_we_look_for_changes(tmp_path: Path) -> None:
    make(tmp_path / "inner", {"a": "1", ".gitattributes": "a filter=evil\n"})
    repo = make(tmp_path / "repo", {"b": "2"})
    git(
        repo.top,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(tmp_path / "inner"),
        "inner",
    )
    git(repo.top, "commit", "-q", "-m", "a submodule")
    marker = tmp_path / "marker"
    git(repo.top / "inner", "config", "filter.evil.clean", f"touch '{marker}'; cat")
    (repo.top / "inner/a").write_text("2")
    assert not Git.open(repo.top).is_dirty()
    assert not marker.exists()
    git(repo.top, "status")
    assert marker.exists(), "git by itself runs it"


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", {"a": "1"}, "--object-format=sha256")
    bench = Bench(repo, tmp_path)
    (bench.work / "b").write_text("2")
    tree = bench.write()
    assert len(tree) == 64
    assert repo.overlay_tree(tree, {"b": None}) == bench.tree
    repo.update_ref("refs/agentforge/x", repo.head(), "")


def test_line_endings_survive_whatever_attributes_say(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", {"win.txt": "a\r\nb\r\n", "unix.txt": "a\n", "run.bat": "x\r\n"})
    (repo.top / ".gitattributes").write_text("* text=auto\n*.bat eol=crlf\n")
    git(repo.top, "add", ".gitattributes")
    git(repo.top, "commit", "-q", "-m", "attributes")
    bench = Bench(repo, tmp_path)
    assert (bench.work / "win.txt").read_bytes() == b"a\r\nb\r\n"
    assert bench.write() == bench.tree


def test_line_ends_that_attributes_would_rewrite_stay_until_somebody_edits_the_file(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", {"a.txt": "a\r\n", "b.txt": "b\r\n", "c.sh": "c\r\n"})
    (repo.top / ".gitattributes").write_text("* text\n")
    git(repo.top, "add", ".gitattributes")
    git(repo.top, "commit", "-q", "-m", "attributes")
    bench = Bench(repo, tmp_path)
    assert bench.write() == bench.tree
    (bench.work / "b.txt").write_bytes(b"edited\r\n")
    (bench.work / "c.sh").chmod(0o755)
    assert bench.status(bench.write()) == ["M b.txt", "M c.sh"]


def test_names_that_are_not_utf8_come_through(bench: Bench) -> None:
    Path(os.fsdecode(os.fsencode(bench.work) + b"/latin-\xe9")).write_text("x")
    tree = bench.write()
    assert bench.status(tree) == [f"A latin-{os.fsdecode(bytes([0xE9]))}"]
    bench.checkout()
    bench.checkout(tree)
    assert bench.write() == tree


def test_every_git_process_inherits_the_lock(bench: Bench) -> None:
    read, write = os.pipe()
    git_with_lock = bench.repo.holding(write)
    script = f"alias.probe=!test -e /proc/self/fd/{write}"
    assert git_with_lock.run("-c", script, "probe", check=False).code == 0
    assert bench.repo.run("-c", script, "probe", check=False).code != 0
    os.close(read)
    os.close(write)
