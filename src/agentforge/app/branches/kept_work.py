"""What a finished or unfinished task still needs of what could be removed."""

from collections.abc import Mapping
from pathlib import Path

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UserError
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State
from agentforge.sandbox.worktree import Workspace
from agentforge.store.site import Site
from agentforge.store.user.index import TaskRow

_BRANCHES = "refs/heads/"
_ANYBODYS = ("refs/heads", "refs/remotes", "refs/tags")


def checkout_is_needed(repo: Path, task_id: str) -> str:
    """Why the checkout of a task stays: in one word, or empty if git has all of it."""
    try:
        site = Site.open(repo)
        files = site.project.task(task_id)
        if not files.journal.exists():
            return "record_gone"
        task = OpenTask.open(site, files)
    except UserError:
        return "unreadable"
    state = task.state
    if state.status not in TERMINAL:
        return "unfinished"
    workspace = Workspace(site.git, site.home.trees(site.git.top, task_id).root, task_id)
    try:
        if workspace.edited() is not None:
            return "edited"
        return "" if _is_kept(site, workspace, state) else "not_archived"
    except UserError:
        return "unreadable"


def _is_kept(site: Site, workspace: Workspace, state: State) -> bool:
    """Whether a ref of the task holds the tree that the checkout would be made from again."""
    if state.tree == state.base_tree:
        return site.git.read_ref(f"{workspace.ref}/base") is not None
    held = site.git.run("log", "--format=%T", f"{workspace.ref}/steps", "--", check=False)
    return state.tree in held.out.decode("ascii", "replace").split()


class NeededKeys:
    """The environments that unfinished tasks and unmerged branches need, read when they are first asked
    for.
    """

    def __init__(self, rows: Mapping[tuple[str, str], TaskRow]) -> None:
        self._rows = rows
        self._known: dict[str, dict[str, str]] = {}

    def why(self, repo: str, key: str) -> str:
        """Why an environment stays: in one word, or empty if nobody needs it."""
        if repo not in self._known:
            self._known[repo] = self._read(repo)
        return self._known[repo].get(key, "")

    def _read(self, repo: str) -> dict[str, str]:
        needed: dict[str, str] = {}
        for (name, task_id), row in self._rows.items():
            if name != repo:
                continue
            try:
                site = Site.open(Path(row.repo))
                state = site.read(site.project.task(task_id)).state
            except UserError:
                continue  # what cannot be read cannot be driven
            why = _why(site, state)
            if state.baseline is not None and why:
                needed.setdefault(state.baseline.env_key, why)
        return needed


def _why(site: Site, state: State) -> str:
    if state.status not in TERMINAL:
        return "unfinished"
    ref = f"{_BRANCHES}{state.branch}"
    tip = site.git.read_ref(ref) if state.branch else None
    if tip is None:
        return ""
    having = site.git.text("for-each-ref", f"--contains={tip}", "--format=%(refname)", *_ANYBODYS)
    return "" if {*having.splitlines()} - {ref} else "unmerged"
