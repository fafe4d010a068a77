"""A task's two checkouts, outside the user's: the worktree where a role works and the pristine one where
verdicts run.

Neither is a linked worktree of the user's repository. Our git calls name the user's object store, a private
index and the directory; what stands as `.git` inside is a stand-in with one commit and no remotes, so code
that runs there finds a repository and none of the user's.
"""

import contextlib
import itertools
import os
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agentforge.core.errors import Unusable, UsageError
from agentforge.system import processes
from agentforge.system.bounded import remove_tree
from agentforge.system.files import disk_errors
from agentforge.system.git.call import failure
from agentforge.system.git.mirror import remove
from agentforge.system.git.repository import Git
from agentforge.system.programs import search_path

AUTHOR = ("AgentForge", "agentforge@localhost")
FIXED_DATE = "2000-01-01T00:00:00+00:00"
"""Commits that only keep objects alive are the same whenever they are made."""


TRAILER = "AgentForge-Task"
"""What the message of a task's commit names it by."""

_BRANCHES = "refs/heads/"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
_CONFIG_SHA256 = _CONFIG.replace("= 0", "= 1") + "[extensions]\n\tobjectformat = sha256\n"


@dataclass(frozen=True, slots=True)
class WorktreeReset:
    """What came of making the worktree equal to a tree."""

    tree: str
    salvage: str = ""
    """Where what differed was saved, if anything did."""
    human: bool = False
    """The difference was a person's, and was kept."""


class Pointed(NamedTuple):
    """The branch that was made for a commit."""

    branch: str
    kept: tuple[str, ...] = ()
    """Branches of other people that had its name, with their commits."""


class Workspace:
    """The checkouts of one task and the refs that keep its objects alive."""

    def __init__(self, git: Git, root: Path, task_id: str) -> None:
        self.git = git
        self.root = root
        self.task_id = task_id
        self.worktree = root / "worktree"
        self.verdict = root / "verdict"
        self.ref = f"refs/agentforge/{task_id}"
        self.branch = f"agentforge/{task_id}"
        """The name that its branch gets, if nobody else has it."""
        self._current_tree: str | None = None
        # What nobody but the driver of a task changes, so that it is looked up once.
        self._indexes: dict[str, str] = {}
        self._kept: tuple[str, str] | None = None
        self._base = ""
        self._versions: dict[str, str | None] = {}
        self._stand_ins = threading.Lock()

    # -------------------------------------------------------------- the worktree

    def reset_to(self, tree: str, base_commit: str, *, keep_difference: bool = False) -> WorktreeReset:
        """Makes the worktree equal to `tree`. What differs is saved first, or kept where it is a person's."""
        if self._current_tree == tree and self.worktree.is_dir():
            return WorktreeReset(tree)
        salvage, left = "", self._left_at()
        if left is not None and self.worktree.is_dir():
            found = self._write(left or tree)
            recorded = found == left and (
                keep_difference or found == self._current_tree
            )  # the work of an attempt that failed
            if found != tree and not recorded:
                if keep_difference and left:
                    # Not marked as ours: until it is on record, a driver that starts again must find it as a
                    # person's.
                    self._current_tree = found
                    return WorktreeReset(found, human=True)
                salvage = self._salvage(found)
            self._mark("")
        self._check_out(self.worktree, tree, base_commit)
        self._mark(tree)
        return WorktreeReset(tree, salvage)

    def look_at(self, tree: str) -> None:
        """Fills the worktree with a tree for who only reads it: no stand-in, and not a ref in the user's
        repository.
        """
        self.worktree.mkdir(parents=True, exist_ok=True)
        self.git.checkout_tree(tree, self.worktree, self._index("worktree"))
        self._mark(tree)

    def snapshot(self) -> str:
        """Records the worktree as a tree that garbage collection cannot take."""
        tree = self._write(self._current_tree)
        if tree != self._current_tree:
            self.keep(tree)
            self._mark(tree)
        return tree

    def ignored(self, tree: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Those of `paths` that exist in the worktree and yet are not in `tree`: ignored, so not part of the
        work.
        """
        there = [path for path in paths if (self.worktree / path).exists()]
        if not there:
            return ()
        known = {entry.path for entry in self.git.ls_tree(tree)}
        return tuple(path for path in there if path not in known)

    def edited(self) -> str | None:
        """The worktree as a tree, if it is not as we left it; None if it is, or if there is none."""
        left = self._left_at()
        if not left or not self.worktree.is_dir():
            return None
        found = self._write(left)
        return None if found == left else found

    # -------------------------------------------------------------- the pristine checkout

    def pristine(self, tree: str, base_commit: str) -> Path:
        """A checkout of `tree`, and nothing else in it."""
        self._check_out(self.verdict, tree, base_commit)
        return self.verdict

    def asked(self, tree: str, base_commit: str) -> Path:
        """A checkout of `tree` for who only reads it, beside whatever happens in the others."""
        place = self.root / "asked"
        self._check_out(place, tree, base_commit)
        return place

    def check_out_base(self, place: Path, tree: str, base_commit: str) -> None:
        """Fills an empty directory with the base, for set-up; its index is of no further use."""
        index = self.root / "setup.index"
        self.root.mkdir(parents=True, exist_ok=True)
        self.git.checkout_tree(tree, place, index)
        self._stand_in(place, base_commit)
        index.unlink(missing_ok=True)

    # -------------------------------------------------------------- objects and refs

    def keep(self, tree: str, *commits: str) -> None:
        """A commit chain under the task's ref, so that `gc --prune=now` finds every recorded tree, and these
        commits, in use.
        """
        ref = f"{self.ref}/steps"
        if self._kept is None and (found := self.git.read_ref(ref)) is not None:
            self._kept = (found, self.git.tree_of(found))
        before, kept = self._kept or ("", "")
        if kept == tree and not commits:
            return
        above = [*([before] if before else []), *commits]
        commit = self.git.commit_tree(tree, above, f"recorded tree of {self.task_id}\n", FIXED_DATE, AUTHOR)
        self.git.update_ref(ref, commit)
        self._kept = (commit, tree)

    def keep_base(self, commit: str) -> None:
        """Holds the base, wherever the user's branches go; refuses where the task's own branch could never be
        made.
        """
        if self._base == commit:
            return
        self._refuse_branch_above()
        self.git.update_ref(f"{self.ref}/base", commit)
        self._base = commit

    def _refuse_branch_above(self) -> None:
        name = self.branch.rpartition("/")[0]
        if self.git.read_ref(f"{_BRANCHES}{name}") is not None:
            sentence = f"There is a branch called `{name}`, so git can make no branch `{name}/…` beside it."
            raise UsageError(sentence, f"Rename it: `git branch -m {name} ANOTHER-NAME`.")

    def commit(
        self, tree: str, parent: str, message: str, date: str, author: tuple[str, str] = AUTHOR
    ) -> str:
        """A commit that is the same whenever it is repeated."""
        return self.git.commit_tree(tree, [parent], message, date, author)

    def point_branch(
        self, commit: str, branch: str = "", left_at: str = "", sealed: tuple[str, ...] = ()
    ) -> Pointed:
        """Makes a branch for `commit`, or moves `branch` there from the commit where the task left it. A
        `sealed` one was handed over: it stays where it is.

        A branch that holds anything else is somebody else's, and one that is checked out is in use: it is
        left alone, and the next free name taken. Repeated, it finds the branch that it made.
        """
        numbered = (f"{self.branch}-{number}" for number in itertools.count(2))
        kept: list[str] = []
        for name in itertools.chain(dict.fromkeys((branch or self.branch, self.branch)), numbered):
            if name in sealed:
                continue
            found = self._claim(name, commit, left_at if name == branch else "")
            if not found:
                return Pointed(name, tuple(kept))
            kept.append(found)
        raise AssertionError

    def made_by_this_task(self, tip: str) -> bool:
        """Whether all that a commit has beyond the base was committed by this task, and by nobody else: work
        of ours that a journal of an earlier day does not know. An amended commit has another committer.
        """
        shown = f"--format=%ae%x00%ce%x00%(trailers:key={TRAILER},valueonly,separator=%x2C)"
        span = f"{self.ref}/base..{tip}"
        listed = self.git.run("log", "--no-show-signature", "--no-notes", shown, span, check=False)
        mine = "\0".join((AUTHOR[1], AUTHOR[1], self.task_id))
        lines = listed.out.decode("utf-8", "replace").splitlines()
        return listed.code == 0 and bool(lines) and all(line == mine for line in lines)

    def _is_others(self, tip: str, left_at: str) -> bool:
        return tip != left_at and not self.made_by_this_task(tip)

    def _claim(self, name: str, commit: str, left_at: str) -> str:
        """Empty if the branch is at `commit` now; else what stands in the way, which is not touched."""
        ref = f"{_BRANCHES}{name}"
        there = self.git.refs(ref)
        tip = there.get(ref, "")
        if tip == commit:
            return ""
        alone = there.keys() <= {ref}
        if not alone or (tip and (self._is_others(tip, left_at) or self.git.is_checked_out(ref))):
            taken, at = next(iter(there.items()))
            return f"{taken.removeprefix(_BRANCHES)} at {at[:12]}"
        try:
            self.git.update_ref(ref, commit, tip)
        except Unusable:
            self._refuse_branch_above()
            if self.git.refs(ref) == there:
                raise
            return self._claim(name, commit, left_at)  # somebody moved it this very moment
        return ""

    def describe_version(self, base_commit: str) -> str | None:
        """A version derived from the nearest tag, for projects that ask git for theirs; the same for the
        whole task.
        """
        if base_commit not in self._versions:
            self._versions[base_commit] = self._describe(base_commit)
        return self._versions[base_commit]

    def _describe(self, base_commit: str) -> str | None:
        found = self.git.run(
            "describe", "--tags", "--long", "--match", "*[0-9].*[0-9]*", base_commit, check=False
        )
        words = found.out.decode("utf-8", "replace").strip()
        if found.code != 0 or words.count("-") < 2:
            return None
        tag, distance, commit = words.rsplit("-", 2)
        number = tag[next((place for place, letter in enumerate(tag) if letter.isdigit()), 0) :]
        return number if distance == "0" else f"{number}+{distance}.{commit}"

    def remove(self) -> None:
        """Takes the checkouts away; refs and journal stay."""
        self._current_tree = None
        self._indexes.clear()
        remove_tree(self.root)

    # -------------------------------------------------------------- inside

    def _index(self, name: str) -> Path:
        return self.root / f"{name}.index"

    def _left_at(self) -> str | None:
        """The tree we left the worktree at: None if it never stood, empty if a reset was cut off, which is
        nobody's work.
        """
        place = self.root / "stands-at"
        return place.read_text() if place.exists() else None

    def _mark(self, tree: str) -> None:
        self._current_tree = tree or None
        with disk_errors():
            self.root.mkdir(parents=True, exist_ok=True)
            (self.root / "stands-at").write_text(tree)

    def _write(self, expected: str | None) -> str:
        """The worktree as a tree. An index that is lost, or names objects which garbage collection took, is
        made anew from `expected`.
        """
        index = self._index("worktree")
        self._indexes.pop("worktree", None)
        try:
            if index.exists():
                return self.git.write_tree(self.worktree, index)
        except Unusable:
            if expected is None:
                raise
            index.unlink(missing_ok=True)
        if expected is not None:
            self.git.run("read-tree", expected, index=index, work_tree=self.worktree)
        return self.git.write_tree(self.worktree, index)

    def _check_out(self, directory: Path, tree: str, base_commit: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        index = self._index(directory.name)
        again = self._indexes.pop(directory.name, None) == tree and index.exists()
        try:
            self.git.checkout_tree(tree, directory, index, again=again)
        except Unusable:
            if not again:
                raise
            self.git.checkout_tree(tree, directory, index)
        if not (directory / ".git").is_dir():
            self._stand_in(directory, base_commit)
        self._indexes[directory.name] = tree

    def _salvage(self, tree: str) -> str:
        number = len(self.git.refs(f"{self.ref}/salvage")) + 1
        ref = f"{self.ref}/salvage/{number}"
        self.git.update_ref(
            ref,
            self.git.commit_tree(tree, [], f"found in the worktree of {self.task_id}\n", FIXED_DATE, AUTHOR),
        )
        return ref

    def _stand_in(self, directory: Path, base_commit: str) -> None:
        """Puts a repository of one commit without remotes in place, when it is whole."""
        self.keep_base(base_commit)
        with self._stand_ins:  # the baseline may need one at the same time
            pattern = self.root / f"stand-in-{base_commit}"
            if not pattern.is_dir():
                self._make_stand_in(pattern, base_commit)
            # Beside its place: the cache of environments may be on another file system than the checkouts.
            scratch = directory.with_name(f"{directory.name}.stand-in")
            with disk_errors():
                remove_tree(scratch)
                # What set-up may write is its own to the last byte; runs find both checkouts of a task
                # read-only.
                shutil.copytree(
                    pattern, scratch, copy_function=_link if directory.parent == self.root else shutil.copy2
                )
                remove(directory, ".git", ())
                scratch.rename(directory / ".git")

    def _make_stand_in(self, pattern: Path, base_commit: str) -> None:
        scratch = pattern.with_suffix(".new")
        with disk_errors():
            remove_tree(scratch)
            for name in ("objects/pack", "refs/heads", "refs/tags"):
                (scratch / name).mkdir(parents=True)
            (scratch / "HEAD").write_text("ref: refs/heads/main\n")
            (scratch / "config").write_text(_CONFIG if len(base_commit) == 40 else _CONFIG_SHA256)
            (scratch / "shallow").write_text(f"{base_commit}\n")
            (scratch / "refs/heads/main").write_text(f"{base_commit}\n")
        # The objects are copied by name: a fetch would ask the user's settings, and leave the way to the
        # repository behind.
        wanted = f"--shallow {base_commit}\n{base_commit}\n".encode()
        self.git.run(
            "pack-objects",
            "-q",
            "--revs",
            "--window=0",
            str(scratch / "objects/pack/pack"),
            input=wanted,
            env=self.git.writing_objects_to(scratch / "objects"),
        )
        self.git.run("read-tree", base_commit, index=scratch / "index", work_tree=scratch)
        if version := self.describe_version(base_commit):
            self._tag(scratch, version.partition("+")[0])
        scratch.rename(pattern)

    def _tag(self, repository: Path, name: str) -> None:
        environment = {
            "PATH": search_path(self.git.top),
            "LC_ALL": "C",
            "HOME": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(repository),
        }
        words = ("tag", name, "HEAD")
        done = processes.run(
            ["git", "-c", "core.logAllRefUpdates=false", *words],
            cwd=self.root,
            env=environment,
            timeout_s=600,
        )
        if done.code != 0:
            raise failure(done, words)


def _link(origin: str, place: str) -> None:
    """Packs are large and never written again: the checkouts of a task share theirs."""
    if origin.endswith((".pack", ".idx")):
        with contextlib.suppress(OSError):
            os.link(origin, place)
            return
    shutil.copy2(origin, place)
