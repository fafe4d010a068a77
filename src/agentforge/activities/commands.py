"""Programs that a role runs: in the task's sandbox, in its worktree, with its environment, and with nothing
left behind.

A program can read and change the worktree, but not what would run later outside of the walls. When it has
ended, every path that it changed is held to the limits of the role, as if a writing tool had done it: one
that is outside takes all of the changes back.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.activities.world import World
from agentforge.core.errors import ModelMistake
from agentforge.core.state import State
from agentforge.languages.port import Language
from agentforge.languages.table import DEFAULT, NO_CACHES
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.guarded import Guard
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.worktree import Workspace
from agentforge.system.files import resolve_inside
from agentforge.system.git.repository import Change
from agentforge.system.processes import Completed
from agentforge.system.spill import Spill, write_text
from agentforge.tools.base import RESULT_CHARS, Act, SandboxedProgram, ToolResult, bounded
from agentforge.tools.roots import Root, named_in

OUTPUT_LIMIT = 100_000
"""Bytes of each stream that stay in memory; all of it is on disk."""
_SHOWN_PATHS = 20
_SHOWN_WORDS = 200
_PATH_CHARS = 100
_NOTE_CHARS = 200
"""Room for the note on what was left out."""
_ACTS: dict[str, Act] = {"A": "create", "D": "delete"}
_ENDS = 2 * RESULT_CHARS

# Caches that tools would leave in the tree, where they would count as the role's work.
_NO_LITTER = {**NO_CACHES, "GIT_OPTIONAL_LOCKS": "0"}


class Outputs:
    """Where the whole of a text goes that a role is shown in part: one file each, under the task's
    directory.
    """

    def __init__(self, task: Path, step: int) -> None:
        self.folder = task / "outputs"
        self._step = step
        self._count = 0

    def keep(self, text: str) -> str:
        """Puts a text, redacted already, on disk; its name from the task's directory."""
        return self.write((text,))

    def write(self, pieces: Iterable[str]) -> str:
        """Writes a text that comes in pieces, redacted already; its name from the task's directory."""
        place = self._next()
        write_text(place, pieces)
        return f"{self.folder.name}/{place.name}"

    def _next(self) -> Path:
        # Reviewers of a panel may work on the same step, and a driver that was killed leaves what it wrote.
        while True:
            self._count += 1
            place = self.folder / f"{self._step}-{self._count}.txt"
            if not place.exists():
                return place


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a task's programs run in: worktree, sandbox, environment, and what the user opened beside them."""

    workspace: Workspace
    sandbox: Sandbox
    environment: Environment
    base_commit: str
    roots: tuple[Root, ...] = ()
    """Directories beside the worktree that the user opened."""
    network: tuple[Destination, ...] = ()
    """Where a program that says it uses the network may go: what the user listed."""
    language: Language = DEFAULT


def run_program(world: World, state: State, outputs: Outputs, program: SandboxedProgram) -> ToolResult:
    """Runs a program in the task's own surroundings."""
    surroundings = Surroundings(
        world.workspace,
        world.sandbox,
        world.environment(state),
        state.base_commit,
        world.roots,
        world.network,
        world.language(state),
    )
    return run_in(surroundings, outputs, program)


def run_in(surroundings: Surroundings, outputs: Outputs, program: SandboxedProgram) -> ToolResult:
    """Runs it to its end. A program that fails has run all the same: its words are the answer, and no
    mistake.
    """
    tree, roots = surroundings.workspace.worktree.resolve(), named_in(surroundings.roots, program.words)
    changes = program.writes or surroundings.sandbox.name == "none"  # without walls nothing is read-only
    before = surroundings.workspace.snapshot() if changes else ""
    guards = [Guard.over(top) for top in (tree, *(root.path for root in roots if root.write))]
    with Spill(outputs.folder) as spill:
        # `env` starts it by its name, and says in words if it cannot.
        done = surroundings.sandbox.run(
            ("/usr/bin/env", "--", *program.words), _confinement(surroundings, program, roots, guards, spill)
        )
        undone = [name for guard in guards for name in guard.mend()] if changes else []
        left = _judged(surroundings, program, guards[0], before) if changes else _Left()
        notes = [*_taken(undone), *left.notes]
        text = _result_text(program, done, notes, spill, outputs)
    if left.refused:
        return ToolResult(ok=False, text=text, mistake="path_limit")
    mistake = "timed_out" if done.timed_out else "out_of_bounds" if done.beyond else ""
    return ToolResult(ok=not mistake, text=text, mistake=mistake, wrote=left.wrote, created=left.created)


def _confinement(
    surroundings: Surroundings,
    program: SandboxedProgram,
    roots: Sequence[Root],
    guards: Sequence[Guard],
    spill: Spill,
) -> Confinement:
    tree, environment = surroundings.workspace.worktree.resolve(), surroundings.environment
    open_roots = [root.path for root in roots if root.write and program.writes]
    closed_roots = [root.path for root in roots if root.path not in open_roots]
    closed = [path for guard in guards for path in guard.read_only()]
    return Confinement(
        cwd=tree,
        write=(*([tree] if program.writes else []), *open_roots),
        read=(*([] if program.writes else [tree]), *closed_roots, *closed, *environment.readable),
        env={**surroundings.language.projects.run_env(environment, tree), **_NO_LITTER},
        network=surroundings.network if program.network else (),
        timeout_s=program.seconds,
        output_limit=OUTPUT_LIMIT,
        tee=spill,
    )


def _result_text(
    program: SandboxedProgram, done: Completed, notes: Sequence[str], spill: Spill, outputs: Outputs
) -> str:
    """How it ended, and what it said: whole, or its two ends and where the whole is."""
    line = shlex.join(program.words)
    shown = line if len(line) <= _SHOWN_WORDS else f"{line[:_SHOWN_WORDS]}…"
    how = (
        f"was stopped after {program.seconds} s, with everything it started: it timed out"
        if done.timed_out
        else f"was ended, with all that it started: out of bounds, {done.beyond}"
        if done.beyond
        else _ending(done)
    )
    head = "\n".join([f"`{shown}` {how}.", *notes, ""])
    room = max(RESULT_CHARS - len(head) - _NOTE_CHARS, _NOTE_CHARS)
    ends = _Ends()
    if spill.total <= room:
        said = "".join(spill.text())
        return f"{head}{said or 'It printed nothing.'}"
    place = outputs.write(ends.watched(spill.text()))
    if ends.count <= _ENDS:
        return head + bounded(ends.head, room, place)
    note = (
        f"\n[… {ends.count - room} of {ends.count} characters are left out here; people find the "
        f"whole in {place} …]\n"
    )
    first = room * 2 // 3
    return head + ends.head[:first] + note + ends.tail[-(room - first) :]


def _ending(done: Completed) -> str:
    seconds = round(done.seconds_ms / 1000)
    return (
        f"ended by signal {-done.code} after {seconds} s"
        if done.code < 0
        else f"ended with exit code {done.code} after {seconds} s"
    )


@dataclass(slots=True)
class _Ends:
    """The two ends of a text that goes by in pieces."""

    head: str = ""
    tail: str = ""
    count: int = 0

    def watched(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self.count += len(piece)
            self.head += piece[: max(0, _ENDS - len(self.head))]
            self.tail = (self.tail + piece)[-_ENDS:]
            yield piece


@dataclass(frozen=True, slots=True)
class _Left:
    """What a program left in the worktree, or why nothing of it stayed."""

    wrote: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: bool = False


def _judged(surroundings: Surroundings, program: SandboxedProgram, guard: Guard, before: str) -> _Left:
    """What it changed, if all of it is the role's to change; else nothing is changed any more."""
    after = surroundings.workspace.snapshot()
    if after == before:
        return _Left()
    changed = surroundings.workspace.git.diff_names(before, after)
    reasons = list(_refusals(surroundings, program, guard, changed))
    if reasons:
        surroundings.workspace.reset_to(before, surroundings.base_commit)
        told = [f"- {_short(path)}: {why}" for path, why in reasons[:_SHOWN_PATHS]]
        more = [f"[and {len(reasons) - _SHOWN_PATHS} more]"] if len(reasons) > _SHOWN_PATHS else []
        return _Left(
            notes=("Everything it changed was undone, because it may not change:", *told, *more),
            refused=True,
        )
    created = tuple(change.path for change in changed if change.status == "A")
    names = [f"{_short(change.path)} ({change.status})" for change in changed]
    return _Left(tuple(change.path for change in changed), created, (f"Changed: {_listed(names)}",))


def _refusals(
    surroundings: Surroundings, program: SandboxedProgram, guard: Guard, changed: Sequence[Change]
) -> Iterator[tuple[str, str]]:
    for change in changed:
        try:
            if not program.writes:
                yield change.path, "it may only read"
            elif guard.covers(change.path):
                yield change.path, "no program may change it: what is there runs later, outside"
            else:
                program.permit(_ACTS.get(change.status, "edit"), change.path)
                if (surroundings.workspace.worktree / change.path).is_symlink():
                    resolve_inside(surroundings.workspace.worktree, change.path)
        except ModelMistake as mistake:
            yield change.path, mistake.text


def _taken(names: Sequence[str]) -> list[str]:
    return [f"Removed again, because no program may create or replace it: {_listed(names)}"] if names else []


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN_PATHS
    return ", ".join(names[:_SHOWN_PATHS]) + (f", and {rest} more" if rest > 0 else "")


def _short(path: str) -> str:
    return path if len(path) <= _PATH_CHARS else f"{path[:_PATH_CHARS]}…"
