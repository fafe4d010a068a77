"""A task thrown away: its directories, its branch, its refs and its record. What a person committed or edited
there and has nowhere else is kept on a branch.
"""

from dataclasses import dataclass

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import PolicyError, Unusable
from agentforge.core.machine import TERMINAL
from agentforge.sandbox.worktree import AUTHOR, Workspace
from agentforge.store.task.engine import read_engine
from agentforge.store.task.lock import DriverLock
from agentforge.store.task.times import stamp
from agentforge.store.user.start_permissions import permissions_file
from agentforge.system.bounded import remove_tree

_BRANCHES = "refs/heads/"
_ANYBODYS = ("refs/heads", "refs/remotes", "refs/tags")


@dataclass(frozen=True, slots=True)
class RemovedTask:
    """What was removed and what was not."""

    task_id: str
    removed_branch: str = ""
    """Empty where there was none, or where it was kept."""
    kept: tuple[str, ...] = ()
    """Branches that are left, each with the reason."""


def discard(task: OpenTask) -> RemovedTask:
    """Removes everything of a task. Cut off, it can be repeated: the record goes last."""
    _refuse_while_driven(task)
    with DriverLock(task.files.lock, task.site.clock):
        task.refresh()
        workspace = _workspace(task)
        kept = [*_keep_edits(task, workspace), *_keep_commits(task)]
        branch, reason = _remove_branch(task, workspace)
        workspace.remove()
        _remove_refs(task, workspace)
        _remove_record(task)
    return RemovedTask(task.task_id, branch, (*kept, *([reason] if reason else [])))


def _refuse_while_driven(task: OpenTask) -> None:
    if task.state.status not in TERMINAL and read_engine(task.files).engine != "local":
        raise PolicyError(
            f"{task.task_id} is run by the workers of a Temporal server.",
            f"`agentforge abort {task.task_id}` ends it first.",
        )


def _workspace(task: OpenTask) -> Workspace:
    site = task.site
    return Workspace(site.git, site.home.trees(site.git.top, task.task_id).root, task.task_id)


def _keep_edits(task: OpenTask, workspace: Workspace) -> list[str]:
    """What somebody edited in the worktree and did not commit goes on a branch of its own."""
    edited = workspace.edited()
    if edited is None:
        return []
    state, git = task.state, task.site.git
    message = f"Edits in the worktree of {task.task_id}\n"
    now = stamp(task.site.clock())
    commit = git.commit_tree(edited, [state.commit or state.base_commit], message, now, AUTHOR)
    name = _free_branch(task, commit)
    return [f"{name} has the edits of the worktree that were not committed"]


def _keep_commits(task: OpenTask) -> list[str]:
    """What a person changed while the task was halted was recorded as their commit."""
    git = task.site.git
    return [
        f"{_free_branch(task, commit)} has a commit of a person that no branch had"
        for commit in task.state.human_commits
        if git.find(commit) is not None and not _reachable(task, commit)
    ]


def _free_branch(task: OpenTask, commit: str) -> str:
    """A new branch at a commit, under a name that nobody has."""
    git, number = task.site.git, 1
    while True:
        name = f"agentforge/{task.task_id}-edits" + (f"-{number}" if number > 1 else "")
        taken = git.read_ref(f"{_BRANCHES}{name}")
        if taken == commit:
            return name
        if taken is None:
            git.update_ref(f"{_BRANCHES}{name}", commit, "")
            return name
        number += 1


def _reachable(task: OpenTask, commit: str, beside: str = "") -> bool:
    """Whether a branch or tag has a commit, beside the one that is about to go."""
    named = task.site.git.text("for-each-ref", f"--contains={commit}", "--format=%(refname)", *_ANYBODYS)
    return bool({*named.splitlines()} - {f"{_BRANCHES}{beside}"})


def _remove_branch(task: OpenTask, workspace: Workspace) -> tuple[str, str]:
    """The branch that was removed, or why it was kept."""
    git, branch = task.site.git, task.state.branch
    ref = f"{_BRANCHES}{branch}"
    tip = git.read_ref(ref) if branch else None
    if tip is None:
        return "", ""
    if git.is_checked_out(ref):
        return "", f"{branch} is checked out"
    if not workspace.made_by_this_task(tip) and not _reachable(task, tip, beside=branch):
        return "", f"{branch} has commits of a person that no other branch has"
    try:
        git.delete_ref(ref, tip)
    except Unusable:
        return "", f"{branch} was moved by another process this moment"
    return branch, ""


def _remove_refs(task: OpenTask, workspace: Workspace) -> None:
    git = task.site.git
    for ref, oid in git.refs(workspace.ref).items():
        git.delete_ref(ref, oid)


def _remove_record(task: OpenTask) -> None:
    files, site = task.files, task.site
    permissions_file(site.home, site.git.top, task.task_id).unlink(missing_ok=True)
    for escalation in task.state.escalations:
        files.escalation(escalation.id).unlink(missing_ok=True)
    remove_tree(files.root)
