"""`Commit` and `Deliver`: a stage's commit on the task's branch, the task saved under its ref, the evidence
written.
"""

from collections.abc import Sequence
from functools import partial

from agentforge.activities.debating import is_minor
from agentforge.activities.dependencies import declared
from agentforge.activities.evidence import build_evidence
from agentforge.activities.kinds import kind_facts
from agentforge.activities.seal import seal_commit
from agentforge.activities.world import World
from agentforge.catalog.kinds import what_kind_of_file
from agentforge.core.conditions import Fact
from agentforge.core.digests import Handover, StageResult
from agentforge.core.errors import UsageError
from agentforge.core.inputs import CommitMade, DeliveryMade
from agentforge.core.pipeline import Part
from agentforge.core.state import RunView, State
from agentforge.gates.change.delicate import delicate_paths
from agentforge.gates.change.documents import objects
from agentforge.gates.quality import nothing_worse
from agentforge.sandbox.worktree import TRAILER, Pointed
from agentforge.store.task import archive
from agentforge.system.canon import canonical, digest
from agentforge.system.files import write_atomic
from agentforge.system.git.repository import Lines
from agentforge.tools.change.releasing import worded_files

SUBJECT_CHARS = 72

TRIVIAL_LINES = 10
"""So many changed lines, tests aside, can be trivial; `limits.trivial_lines` says otherwise."""

COMPLEXITY: tuple[tuple[Part, str], ...] = (
    ("request", "initial_complexity"),
    ("requirements", "estimated_complexity"),
)


def commit_stage(world: World, state: RunView) -> CommitMade:
    """A commit that depends on nothing but base, tree, stage and the task's own start, so that repeating it
    gives the same id.
    """
    space = world.workspace
    commit = state.commit
    if space.git.tree_of(commit) != state.tree:
        commit = space.commit(state.tree, state.commit, _message(world, state), world.created_at)
    held = _hold(world, state, commit)
    save(world, state)
    touched = _touched(world, state)
    lines = sum(count.added + count.removed for count in touched)
    facts = _facts(world, state, [count.path for count in touched], lines)
    waits_for = declared(world.parts(state).get("requirements", {}))
    result = StageResult(state.tree, commit, facts, held.branch, held.kept)
    return CommitMade(result, len(touched), lines, waits_for)


def _hold(world: World, state: State, commit: str) -> Pointed:
    """The task's branch, at `commit`; what changed nothing has none."""
    if commit == state.base_commit:
        return Pointed("")
    return world.workspace.point_branch(commit, state.branch, state.branch_at, state.sealed_branches)


def _touched(world: World, state: State) -> list[Lines]:
    """How far the change reaches: its files with their lines, tests and documents aside."""
    is_test = world.is_test(state)
    return [
        count
        for count in world.workspace.git.numstat(state.base_tree, state.tree)
        if not is_test(count.path) and what_kind_of_file(count.path) != "document"
    ]


def _facts(world: World, state: State, paths: Sequence[str], lines: int) -> tuple[Fact, ...]:
    """What conditions of the pipeline may ask about, as it stands now."""
    documents, records = world.parts(state), world.records(state)
    found: list[Fact] = [*state.provided, *kind_facts(state, records.get("red", {}))]
    if (intake := documents.get("request")) is not None and not objects(intake, "identified_ambiguities"):
        found.append("no_ambiguities")
    said = {str(documents.get(name, {}).get(key, "")) for name, key in COMPLEXITY}
    limit = int(world.settings.get("limits", {}).get("trivial_lines", TRIVIAL_LINES))
    if paths and lines <= limit and "trivial" in said and said <= {"trivial", ""}:
        found.append("trivial_change")
    if nothing_worse(records.get("quality", {}), state.tree, paths):
        found.append("nothing_worse")
    if delicate_paths(world.workspace.git, state.base_tree, state.tree, world.is_test(state)):
        found.append("delicate_change")
    if not _keeps_changelog(world, state):
        found.append("no_changelog")
    if any(stage.debaters for stage in state.pipeline.stages) and is_minor(world, state):
        found.append("minor_decision")
    return tuple(found)


def _keeps_changelog(world: World, state: State) -> bool:
    """Whether the project has a file that somebody words a change in. One whose settings cannot be read may
    have.
    """
    git = world.workspace.git
    paths = tuple(entry.path for entry in git.ls_tree(state.tree) if entry.kind == "blob")
    try:
        manifest = world.language(state).projects.describe(partial(git.read_blob, state.tree), paths)
    except UsageError:
        return True
    return manifest.fragments is not None or bool(worded_files(paths))


def save(world: World, state: State, seal: str = "") -> None:
    """Journal, artifacts, trees and the seal under the task's ref: `git clean` and `git gc` cannot take
    them.
    """
    world.pack.sync()
    keep = {"tree": state.tree, "base": state.base_tree}
    if seal := seal or (state.delivered.seal if state.delivered else ""):
        keep["seal"] = seal
    archive.save(world.workspace.git, state.task_id, world.files, keep)


def deliver(world: World, state: State) -> DeliveryMade:
    """Puts the evidence in place, and the seal on the branch, which is there since the last stage was
    accepted.

    Repeated, it seals again: the same statement makes the same commit, and one that a crash left unrecorded
    is this task's own and replaced.
    """
    held = _hold(world, state, state.commit)
    evidence = canonical(build_evidence(world, state, held))
    write_atomic(world.files.evidence, evidence + b"\n")
    seal = ""
    if held.branch:
        seal = seal_commit(world, state, held.branch, digest(evidence))
        held = _sealed(world, held, state, seal)
    save(world, state, seal)
    return DeliveryMade(Handover(held.branch, state.commit, digest(evidence), held.kept, seal))


def _sealed(world: World, held: Pointed, state: State, seal: str) -> Pointed:
    """The branch at its seal. It is moved only from where this task has just found or put it."""
    sealed = world.workspace.point_branch(seal, held.branch, state.commit, state.sealed_branches)
    return Pointed(sealed.branch, tuple(dict.fromkeys((*held.kept, *sealed.kept))))


def _message(world: World, state: RunView) -> str:
    specification = world.parts(state).get("requirements", {})
    title = str(specification.get("title") or state.request.splitlines()[0])
    subject = f"{state.stage.commit_verb}: {title}"
    subject = subject if len(subject) <= SUBJECT_CHARS else f"{subject[: SUBJECT_CHARS - 1]}…"
    request = " ".join(state.request.split())[:500]
    return (
        f"{subject}\n\nRequest: {request}\n\n{TRAILER}: {state.task_id}\nAgentForge-Stage: "
        f"{state.stage.name}\n"
    )
