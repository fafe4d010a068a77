"""What a reader is shown of a change, and whether it was seen: from the recorded trees and contexts alone."""

from collections.abc import Sequence

from agentforge.activities.world import World
from agentforge.context.change import BLOCK, ChangePart, Kind, ShownHunk, divide, hunks_of, unseen
from agentforge.context.tokens import measured
from agentforge.core.pipeline import ARBITER, Stage, part_number, reader_of
from agentforge.core.runs import Run
from agentforge.core.state import RunView, State
from agentforge.gates.change.named import is_lock
from agentforge.languages.documents.outline import is_document
from agentforge.languages.table import LANGUAGES, is_source
from agentforge.system.canon import digest
from agentforge.system.git.repository import Change, Git

READERS_SHARE = 2
"""A reader's context is for this part (one of so many) the change; the rest is the task, its papers and what
the reader opens.
"""
AUTHORS_SHARE = 4


def fence_of(state: State) -> str:
    """The marker of text from outside. Tasks of older releases have none; there it is what nobody knew when
    the repository was written.
    """
    return state.marker or digest(f"{state.task_id}/{state.catalogue}/{state.base_commit}")[:16]


def reads_change(stage: Stage, run: Run) -> bool:
    """Whether the one whose step it is judges the work of another."""
    return stage.returns_to is not None or run.owner == "reviewer"


def change_shown(world: World, state: RunView) -> ChangePart | None:
    """What the step of this run shows of the change: a reader's own part, or for those who work on it or
    write about it as much of it as fits.
    """
    stage, run = state.stage, state.run
    if state.tree == state.base_tree:
        return None
    if reads_change(stage, run):
        parts = parts_of(world, state, stage)
        if reader_of(run.name) == ARBITER:
            return _about(parts, run.feedback, stage)
        number = part_number(run.name)
        return parts[number - 1] if number <= len(parts) else None
    if ("quality" in stage.gates and "review" in stage.gates) or stage.makes("report"):
        return next(iter(_divided(world, state, stage.context_tokens // AUTHORS_SHARE)), None)
    return None


def parts_of(world: World, state: State, stage: Stage) -> tuple[ChangePart, ...]:
    """The change as the readers of a stage are shown it; `stage` as one of them has it."""
    return _divided(world, state, stage.context_tokens // READERS_SHARE)


def not_seen(world: World, state: State, stage: Stage, readers: Sequence[Run]) -> list[ShownHunk]:
    """The hunks of the change that stand whole in none of the contexts in which these readers decided."""
    hunks = [hunk for part in parts_of(world, state, stage) for hunk in part.hunks]
    contexts = [world.pack.get_blocks(reader.context) for reader in readers if reader.context]
    blocks = [text for context in contexts for name, text in context if name == BLOCK]
    return unseen(hunks, blocks, fence_of(state))


def _divided(world: World, state: State, room: int) -> tuple[ChangePart, ...]:
    return world.once(
        "parts",
        state.base_tree,
        state.tree,
        str(room),
        make=lambda: divide(_hunks(world, state), room, measured),
    )


def _hunks(world: World, state: State) -> list[ShownHunk]:
    git, before, after = world.workspace.git, state.base_tree, state.tree
    changes = git.diff_names(before, after)
    kinds = {change.path: _kind(world, state, change) for change in changes}
    return hunks_of(readable_patch(git, before, after, changes), changes, kinds, git.numstat(before, after))


def readable_patch(git: Git, before: str, after: str, changes: Sequence[Change]) -> bytes:
    """The patch; code is shown as text, whatever bytes it has to look like something else."""
    patch = git.diff_patch(before, after)
    if not any(is_source(each.path) and _looks_binary(git, (before, after), each.path) for each in changes):
        return patch
    return b"".join(
        git.diff_patch(before, after, [change.path], as_text=is_source(change.path)) for change in changes
    )


def _looks_binary(git: Git, trees: tuple[str, str], path: str) -> bool:
    return any(b"\0" in (git.read_blob(tree, path) or b"") for tree in trees)


def _kind(world: World, state: State, change: Change) -> Kind:
    path = change.path
    if is_lock(path) and locks_a_project(world.workspace.git, state.base_tree, state.tree, path):
        return "generated"
    if world.is_test(state)(path):
        return "new test" if change.status == "A" else "edited test"
    if is_source(path):
        return "source"
    return "document" if is_document(path) else "settings"


def locks_a_project(git: Git, before: str, after: str, path: str) -> bool:
    """Whether a lock was there, or lies beside what it locks; elsewhere it is a file like any other."""
    folder = path.rpartition("/")[0]
    if not folder or git.read_blob(before, path) is not None:
        return True
    names = frozenset().union(*(each.projects.BUILD_FILES - each.projects.LOCKS for each in LANGUAGES))
    return any(git.read_blob(after, f"{folder}/{name}") is not None for name in sorted(names))


def _about(parts: Sequence[ChangePart], findings: Sequence[str], stage: Stage) -> ChangePart | None:
    """For the one who decides between readers: first what their findings name, then the rest as it fits."""
    hunks = [hunk for part in parts for hunk in part.hunks]
    said = "\n".join(findings)
    ordered = sorted(hunks, key=lambda hunk: hunk.path not in said)
    return next(iter(divide(ordered, stage.context_tokens // READERS_SHARE, measured)), None)
