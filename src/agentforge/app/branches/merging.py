"""A delivered branch merged into what the person has checked out.

The merged tree is made and judged beside the checkout, so that a red one, a conflict or a death leaves the
checkout where it was. Only then git moves it, and only forward: what another process did meanwhile makes git
refuse, and nothing is ever forced or pushed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agentforge.activities.merged import judge_merged_tree
from agentforge.app.branches.half_merged import begin_move, end_move, undo_half_move
from agentforge.app.evidence import proof
from agentforge.app.record.deliverable import changes_files
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import StateInvalid, UsageError
from agentforge.core.statuses import spell_status
from agentforge.sandbox.worktree import TRAILER
from agentforge.store.task.lock import DriverLock
from agentforge.system.git.call import failure
from agentforge.system.git.personal import PersonalGit
from agentforge.system.visible import brief

MergeOutcome = Literal["merged", "already_merged", "conflict", "red", "not_run", "unproved", "refused"]
_MOST_PATHS = 5


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What became of a merge. Unless it is `merged`, the checkout is as it was."""

    outcome: MergeOutcome
    branch: str
    """The task's branch."""
    target: str
    """The branch that is checked out."""
    before: str
    """Its commit when the command began."""
    commit: str
    """Its commit now."""
    how: Literal["", "fast-forward", "merge commit"] = ""
    proved: str = ""
    """On what the verdict about the merged tree rests."""
    reasons: tuple[str, ...] = ()
    """Why it was not merged: conflicting paths, failing tests, or what git said."""


def merge(task: OpenTask, progress: Callable[[str], None] = lambda _: None) -> MergeResult:
    """Merges the branch of a delivered task into the branch that is checked out."""
    branch, tip = _delivered_branch(task)
    with DriverLock(task.files.lock, task.site.clock) as lock:
        git = PersonalGit(task.site.git.top, task.site.git.own_dir, (lock.fd,))
        for path in undo_half_move(git, task.files):
            progress(f"put back as it was before a merge that was cut off: {path}")
        target = _clean_target(git, branch)
        before = git.text("rev-parse", "HEAD")
        unmoved = MergeResult("already_merged", branch, target, before, before)
        if git.is_above(tip, before):
            return unmoved
        return _Merge(task, git, unmoved, tip, progress).run()


@dataclass(frozen=True, slots=True)
class _Merge:
    task: OpenTask
    git: PersonalGit
    unmoved: MergeResult
    tip: str
    progress: Callable[[str], None]

    def run(self) -> MergeResult:
        """From two commits to a moved checkout, or to the reason why it is where it was."""
        before = self.unmoved.before
        forward = self.git.is_above(before, self.tip)
        if forward:
            tree = self.task.site.git.tree_of(self.tip)
        else:
            merged = self.git.merge_trees(before, self.tip)
            if merged.conflicts:
                return self._failed("conflict", merged.conflicts)
            tree = merged.tree
        if not self._is_delivered(tree) and (found := self._judge(tree)) is not None:
            return found
        if self._is_delivered(tree):
            wrong = [item.row for item in proof.verify(self.task, progress=self.progress) if not item.ok]
            if wrong:
                return self._failed("unproved", tuple(dict.fromkeys(wrong)))
        commit = self.tip if forward else self.git.commit_merge(tree, (before, self.tip), self._message())
        return self._move(commit, "fast-forward" if forward else "merge commit", tree)

    def _is_delivered(self, tree: str) -> bool:
        """Whether it is the very tree that the task's proof is about."""
        return tree == self.task.state.tree

    def _judge(self, tree: str) -> MergeResult | None:
        self.progress(f"running the tests of {self.unmoved.target} and of the merged tree")
        world = proof.judging_world(self.task, self.progress, runs=True)
        with world.pack:
            target = self.task.site.git.tree_of(self.unmoved.before)
            verdict = judge_merged_tree(world, self.task.state, target, tree)
        if verdict.status == "passed":
            self.progress(f"on the merged tree {verdict.record['tests']}")
            return None
        return self._failed("red" if verdict.status == "failed" else "not_run", verdict.reasons)

    def _move(self, commit: str, how: Literal["fast-forward", "merge commit"], tree: str) -> MergeResult:
        unmoved = self.unmoved
        begin_move(self.task.files, unmoved.before, commit)
        moved = self.git.move_to(commit)
        now = self.git.text("rev-parse", "HEAD")
        if moved.code != 0 and now != commit:
            undo_half_move(self.git, self.task.files)
            return self._failed("refused", (failure(moved, ("merge",)).sentence,))
        end_move(self.task.files)
        proved = (
            "its tree is the one that the task proved"
            if self._is_delivered(tree)
            else f"its tests ran on the merged tree and on {unmoved.target}"
        )
        return MergeResult("merged", unmoved.branch, unmoved.target, unmoved.before, commit, how, proved)

    def _failed(self, outcome: MergeOutcome, reasons: tuple[str, ...]) -> MergeResult:
        unmoved = self.unmoved
        where = (unmoved.branch, unmoved.target, unmoved.before, unmoved.commit)
        return MergeResult(outcome, *where, reasons=reasons)

    def _message(self) -> str:
        into, request = self.unmoved.target, brief(self.task.state.request, 200)
        head = f"Merge branch '{self.unmoved.branch}' into {into}"
        return f"{head}\n\n{request}\n\n{TRAILER}: {self.task.task_id}\n"


def _delivered_branch(task: OpenTask) -> tuple[str, str]:
    """The branch of a task and its commit; refuses where nothing was delivered."""
    state, name = task.state, task.task_id
    if not changes_files(state.pipeline):
        raise UsageError(
            f"{name} changes no file, so there is nothing to merge.",
            f"`agentforge artifacts list {name}` shows what it made.",
        )
    if state.status != "completed" or state.delivered is None:
        raise StateInvalid(
            f"{name} {spell_status(state.status)} and has delivered nothing that could be merged.",
            f"`agentforge status {name}` shows where it is, and what can be done.",
        )
    branch = state.delivered.branch
    if not branch:
        raise UsageError(
            f"{name} was delivered without a change, so there is nothing to merge.",
            f"`agentforge report {name}` shows what was proved.",
        )
    tip = task.site.git.read_ref(f"refs/heads/{branch}")
    if tip is None:
        commit = state.delivered.seal or state.delivered.commit
        raise UsageError(
            f"The branch {branch} is gone.", f"`git branch {branch} {commit[:12]}` brings it back."
        )
    return branch, tip


def _clean_target(git: PersonalGit, branch: str) -> str:
    """The branch that is checked out, if something may be merged into it now."""
    target = git.branch()
    if not target:
        raise UsageError("No branch is checked out here.", "`git switch BRANCH`, then merge again.")
    if target == branch:
        raise UsageError(
            f"{branch} itself is checked out here.",
            "`git switch BRANCH` to the one that it should be merged into, then merge again.",
        )
    if word := git.under_way():
        raise UsageError(f"A {word} is under way in this checkout.", "Finish it or abort it, then try again.")
    if changed := git.changed():
        shown = ", ".join(changed[:_MOST_PATHS]) + (", …" if len(changed) > _MOST_PATHS else "")
        raise UsageError(
            f"{target} has uncommitted changes: {brief(shown, 300)}.",
            "Commit them or `git stash` them, then merge again.",
        )
    return target
