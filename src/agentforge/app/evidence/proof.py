"""The proof of a task, checked: by its whole record, or on a clone with nothing but its seal or envelope."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from agentforge.activities.findings import Finding
from agentforge.activities.task_permissions import WEAK_ADVICE, WEAK_QUESTION, walls_of, weak_allowed
from agentforge.activities.verifying import seal as verify_seal
from agentforge.activities.verifying import task as record
from agentforge.activities.world import World
from agentforge.app.drivers.world import make_world, settings_of
from agentforge.app.models.answering import NobodyAnswers
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import PolicyError, UsageError
from agentforge.models.router import Router
from agentforge.sandbox.base import is_weak
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.user.signing import trusted_keys
from agentforge.system.git.audit import ObjectAudit
from agentforge.system.git.repository import Git
from agentforge.system.holds import Hold

__all__ = ["ClonedProof", "Finding", "judging_world", "verify", "verify_branch", "verify_file"]

_LARGEST = 2_000_000


@dataclass(frozen=True, slots=True)
class ClonedProof:
    """What a clone alone can tell of a delivery."""

    task: str
    findings: list[Finding]


def verify(
    task: OpenTask,
    *,
    rerun: bool = False,
    require_signature: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Finding]:
    """Checks a task's record against everything it names; with `rerun` its verdicts are given again."""
    world = judging_world(task, progress, runs=rerun)
    trusted = trusted_keys(task.site.home, task.site.git)
    # `clean` may run at the same time, and a task that only is verified is not locked.
    with Hold(world.workspace.root) if rerun else nullcontext(), world.pack:
        return record.verify(world, rerun=rerun, trusted=trusted, signed=require_signature)


def judging_world(task: OpenTask, progress: Callable[[str], None], *, runs: bool) -> World:
    """What verdicts about a task touch; no model answers there. With `runs`, code runs behind its walls."""
    settings = settings_of(task.site, task.state)
    # Nothing runs unless it is asked for, so only then it matters who said that there are no walls.
    own = settings.own.sandbox if runs else "none"
    walls = walls_of(task.site, task.state, own, settings.own.container)
    if runs and is_weak(walls) and not weak_allowed(task.site, task.state, own=settings.own.weak):
        raise PolicyError(WEAK_QUESTION, WEAK_ADVICE)
    return make_world(task.site, task.journal, settings, Router.single(NobodyAnswers()), walls, progress)


def verify_file(where: Path, file: Path, *, at: str = "HEAD", require_signature: bool = False) -> ClonedProof:
    """Checks an envelope that is kept as a file against the tree of a commit."""
    git = Git.open(where)
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    trusted = trusted_keys(Home(home_path()), git)
    found = verify_seal.file_findings(git, data, at, trusted, signed=require_signature)
    return ClonedProof(str(file), found)


def verify_branch(where: Path, name: str, *, require_signature: bool = False) -> ClonedProof | None:
    """Checks the seal at the tip of a branch, on a clone that has nothing else; None if there is no such
    branch, or no seal on it.
    """
    git = Git.open(where)
    try:
        tip = git.resolve(name)
    except UsageError:
        return None
    oid = verify_seal.find_seal(git, tip)
    if oid is None:
        return None
    trusted = trusted_keys(Home(home_path()), git)
    found = verify_seal.seal_findings(git, oid, trusted, signed=require_signature)
    seal = verify_seal.read_seal(ObjectAudit(git), oid)
    task = seal.stated.task if isinstance(seal, verify_seal.Sealed) else name
    return ClonedProof(task, [_above_seal(git, name, tip, oid), *found])


def _other_meaning(git: Git, name: str, tip: str) -> str | None:
    """A ref of this name that has another commit: commands of git do not agree which of them they take."""
    refs = [f"{kind}{name}" for kind in ("refs/heads/", "refs/tags/", "refs/remotes/")]
    found = {ref: git.find(f"{ref}^{{commit}}") for ref in refs}
    return next((ref for ref, commit in found.items() if commit is not None and commit.oid != tip), None)


def _above_seal(git: Git, name: str, tip: str, seal: str) -> Finding:
    """What a branch has that its seal does not speak of. A merge that added nothing has the judged tree."""
    if (other := _other_meaning(git, name, tip)) is not None:
        text = (
            f"{name} has two meanings, {tip[:12]} and {other} of another commit: verify the one that you take"
        )
        return Finding("branch", ok=False, text=text)
    if seal == tip:
        return Finding("branch", ok=True, text=f"{name} is at its seal")
    if git.tree_of(tip) == git.tree_of(seal):
        return Finding("branch", ok=True, text=f"{name} has the same tree as the seal {seal[:12]} below it")
    return Finding(
        "branch",
        ok=False,
        text=f"{name} has commits above its seal {seal[:12]}: it says nothing about them; "
        f"to check what was judged: `agentforge verify {seal[:12]}`",
    )
