"""Git as the person at the checkout has configured it: their name, filters, hooks and signing.

Only a command that a person gives in order to change their own checkout comes here. Whatever AgentForge does
by itself goes through `GitCall`, which knows none of that.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.system import processes
from agentforge.system.git.call import failure
from agentforge.system.processes import Completed

_UNDER_WAY = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
"""What git leaves in the checkout's own directory while an operation waits for the person."""
_TREE_MERGES = (2, 38)
"""The first git that merges trees beside a checkout."""


@dataclass(frozen=True, slots=True)
class MergedTree:
    """What two commits make together."""

    tree: str
    conflicts: tuple[str, ...] = ()
    """Paths that need a person; then the tree is of no use."""


@dataclass(frozen=True, slots=True)
class PersonalGit:
    """Runs git in a checkout of the person's, as they would."""

    top: Path
    own_dir: Path
    pass_fds: tuple[int, ...] = ()
    """Files that every call inherits: a lock stays taken until git has ended, whatever becomes of us."""

    def run(self, *args: str, stdin: bytes = b"", check: bool = True) -> Completed:
        """One call; with `check` a failed one raises `Unusable`. It outlives us: a checkout is not left half
        way.
        """
        kept = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
        completed = processes.run(
            ["git", *args],
            cwd=self.top,
            env={**kept, **_PLAIN},
            timeout_s=None,
            input=stdin,
            pass_fds=self.pass_fds,
            die_with_parent=False,
        )
        if check and completed.code != 0:
            raise failure(completed, args)
        return completed

    def text(self, *args: str) -> str:
        """The output of a call that succeeds, stripped."""
        return os.fsdecode(self.run(*args).out).strip()

    def branch(self) -> str:
        """The branch that is checked out; empty if none is."""
        return os.fsdecode(self.run("symbolic-ref", "--quiet", "--short", "HEAD", check=False).out).strip()

    def under_way(self) -> str:
        """The operation that waits for the person here, such as `rebase`; empty if none does."""
        return next((word for name, word in _UNDER_WAY.items() if (self.own_dir / name).exists()), "")

    def changed(self) -> list[str]:
        """Tracked paths that differ from the commit that is checked out, by the person's own filters."""
        words = ("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames")
        return [record[3:] for record in os.fsdecode(self.run(*words).out).split("\0") if record]

    def is_above(self, below: str, above: str) -> bool:
        """Whether `above` has all that `below` has."""
        return self.run("merge-base", "--is-ancestor", below, above, check=False).code == 0

    def merge_trees(self, ours: str, theirs: str) -> MergedTree:
        """The tree that a merge of two commits makes, with nothing checked out."""
        self._refuse_old()
        words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        completed = self.run(*words, check=False)
        tree, *paths = os.fsdecode(completed.out).split("\0")
        if completed.code > 1 or completed.code < 0 or not tree:
            raise failure(completed, words)
        conflicts = tuple(dict.fromkeys(path for path in paths if path))
        return MergedTree(tree, conflicts or (("?",) if completed.code else ()))

    def _refuse_old(self) -> None:
        words = self.text("version").split()
        numbers = words[2].split(".") if len(words) > 2 else []
        if len(numbers) > 1 and tuple(map(int, numbers[:2])) < _TREE_MERGES:
            oldest = ".".join(map(str, _TREE_MERGES))
            raise UsageError(
                f"git {words[2]} cannot merge beside a checkout; that takes git {oldest}.",
                "Rebase or merge with git itself, and run your tests.",
            )

    def commit_merge(self, tree: str, parents: Sequence[str], message: str) -> str:
        """A merge commit of the person's, signed if that is how they commit."""
        signed = self.run("config", "--type=bool", "commit.gpgSign", check=False).out.strip() == b"true"
        above = [word for parent in parents for word in ("-p", parent)]
        words = ("commit-tree", tree, *above, *(["-S"] if signed else []), "-F", "-")
        return os.fsdecode(self.run(*words, stdin=message.encode()).out).strip()

    def move_to(self, commit: str) -> Completed:
        """Moves the branch that is checked out, and its files, to a commit above it. Git refuses where that
        would lose anything.
        """
        return self.run("merge", "--ff-only", "--quiet", commit, check=False)


_MISLEADING = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX"}
)
_PLAIN: Mapping[str, str] = {"LC_ALL": "C", "GIT_MERGE_AUTOEDIT": "no", "GIT_EDITOR": "true"}
