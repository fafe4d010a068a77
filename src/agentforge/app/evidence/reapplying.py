"""The recorded changes of a task, applied somewhere else without asking any model: three-way, step by step,
up to the first conflict. The result is judged like a merge before a branch has it.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from agentforge.activities.merged import judge_merged_tree
from agentforge.app.evidence import proof
from agentforge.app.evidence.audits import audit_task
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.digests import ActionResults
from agentforge.core.errors import UsageError
from agentforge.core.events import ActionsPerformed, Reverted, WorkspacePrepared
from agentforge.sandbox.worktree import AUTHOR, TRAILER
from agentforge.store.task.times import stamp
from agentforge.system.git.repository import Git
from agentforge.system.visible import brief

StepOutcome = Literal["applied", "already_there", "conflict"]


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """Whether the change of one step could be applied on another commit."""

    step: int
    outcome: StepOutcome
    paths: tuple[str, ...]
    """What it changes; for a conflict, where it is."""


@dataclass(frozen=True, slots=True)
class Reapplied:
    """What a task's changes come to on another commit."""

    task_id: str
    onto: str
    """The commit that they were applied to."""
    steps: tuple[AppliedStep, ...]
    tree: str
    """What they make; of the steps before the conflict, where there is one."""
    branch: str = ""
    """The branch that was made; empty in a dry run, or where something was in the way."""
    commit: str = ""
    reasons: tuple[str, ...] = ()
    """Why there is no branch although one was asked for."""

    @property
    def conflict(self) -> AppliedStep | None:
        """The first step that does not fit."""
        return next((item for item in self.steps if item.outcome == "conflict"), None)


def reapply(
    task: OpenTask,
    onto: str | None = None,
    *,
    write: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Reapplied:
    """Applies the changes of every step to `onto`, which is the commit that is checked out unless it is
    named. Only with `write`, and only where the tests of both trees say so, a branch is made.
    """
    git = task.site.git
    commit = git.resolve(onto) if onto else git.head()
    tree = git.tree_of(commit)
    steps: list[AppliedStep] = []
    for step, before, after in _changes(task):
        found = _three_way(git, before, after, tree)
        paths = tuple(change.path for change in git.diff_names(before, after))
        if isinstance(found, tuple):
            steps.append(AppliedStep(step, "conflict", found))
            break
        steps.append(AppliedStep(step, "already_there" if found == tree else "applied", paths))
        tree = found
    result = Reapplied(task.task_id, commit, tuple(steps), tree)
    if not write or result.conflict is not None:
        return result
    return _written(task, result, progress)


def _changes(task: OpenTask) -> Iterator[tuple[int, str, str]]:
    """Step, tree before, tree after: of every step that changed something, and of edits by hand."""
    tree = ""
    for decision in audit_task(task).decisions:
        for event, state in decision.happened:
            if not tree:
                tree = state.tree
            match event:
                case ActionsPerformed(_, ActionResults(tree=after)):
                    pass
                case Reverted(tree=after) | WorkspacePrepared(tree=after):
                    pass
                case _:
                    continue
            if after != tree:
                yield state.step, tree, after
                tree = after


def _three_way(git: Git, before: str, after: str, onto: str) -> str | tuple[str, ...]:
    """The tree with the change in it, or the paths that conflict."""
    if before == onto:
        return after
    date = "1970-01-01T00:00:00Z"
    root = git.commit_tree(before, [], "before\n", date, AUTHOR)
    theirs = git.commit_tree(after, [root], "after\n", date, AUTHOR)
    ours = git.commit_tree(onto, [root], "onto\n", date, AUTHOR)
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    done = git.run(*words, check=False)
    tree, *paths = os.fsdecode(done.out).split("\0")
    if done.code == 0 and tree:
        return tree
    return tuple(dict.fromkeys(path for path in paths if path)) or ("?",)


def _written(task: OpenTask, found: Reapplied, progress: Callable[[str], None]) -> Reapplied:
    git, state = task.site.git, task.state
    target = git.tree_of(found.onto)
    if found.tree == target:
        return _refused(found, "it has every change of the task")
    if state.delivered is None:
        return _refused(
            found, "the task has delivered nothing, so there is no proof that could hold elsewhere"
        )
    progress("running the tests of both trees")
    world = proof.judging_world(task, progress, runs=True)
    with world.pack:
        verdict = judge_merged_tree(world, state, target, found.tree)
    if verdict.status != "passed":
        return _refused(found, *verdict.reasons)
    words = brief(state.request, 200)
    message = f"{words}\n\nReplayed without a model.\n\n{TRAILER}: {task.task_id}\n"
    commit = git.commit_tree(found.tree, [found.onto], message, stamp(task.site.clock()), AUTHOR)
    branch = _new_branch(git, f"agentforge/{task.task_id}-onto-{found.onto[:8]}", commit)
    return Reapplied(found.task_id, found.onto, found.steps, found.tree, branch, commit)


def _refused(found: Reapplied, *reasons: str) -> Reapplied:
    return Reapplied(found.task_id, found.onto, found.steps, found.tree, reasons=reasons)


def _new_branch(git: Git, name: str, commit: str) -> str:
    ref = f"refs/heads/{name}"
    known = git.read_ref(ref)
    if known is not None and git.tree_of(known) != git.tree_of(commit):
        raise UsageError(
            f"The branch {name} already exists, with other content.",
            f"`git branch -m {name} NEW-NAME` keeps it.",
        )
    if known is None:
        git.update_ref(ref, commit, "0" * 40)
    return name
