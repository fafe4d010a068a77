"""What the engine runs when a role asks for it: lint, types and coverage, on a pristine checkout of the
worktree as it is now.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.activities.base_suite import measured_base
from agentforge.activities.judged_place import judged_place
from agentforge.activities.world import World
from agentforge.core.pipeline import CheckName
from agentforge.core.state import State
from agentforge.gates.coverage import covered, uncovered
from agentforge.gates.ratchets import incomplete, with_leave, worse
from agentforge.languages.generated import lay_generated
from agentforge.languages.measures import statements
from agentforge.languages.symbols import decode
from agentforge.languages.table import is_code
from agentforge.languages.values import CheckRun
from agentforge.tools.base import ToolResult

_BESIDE = 3
"""Old tests that say how tests are written in a folder."""


def conformance(world: World, state: State, paths: Sequence[str]) -> ToolResult:
    """The project's own linter: what is new since the base."""
    before = measured_base(world, state).lint
    if before.status != "ran":
        return _absent(f"no linter: {before.reason}")
    place = judged_place(world, state, world.workspace.snapshot())
    now = world.language(state).runs.lint(world.sandbox, world.environment(state), place, paths)
    return _result(now.status, now.reason, worse(before, now), "nothing new")


def type_check(world: World, state: State, paths: Sequence[str]) -> ToolResult:
    """The project's own type checker: what is new since the base."""
    before, now = compare_types(world, state, paths, world.workspace.snapshot(), quick=True)
    if before.status == "not_configured":
        return _absent(before.reason)
    return _result(now.status, now.reason, worse(before, now), "nothing new")


def compare_types(
    world: World, state: State, paths: Sequence[str], tree: str = "", *, quick: bool = False
) -> tuple[CheckRun, CheckRun]:
    """What the project's type checker says of the base and of a tree, the recorded one if none is given. The
    base is checked once a task, and the tree only where there is a checker that can run. A new test may have
    the findings that the tests beside it have: the project writes its tests so. What is `quick` is advice:
    the checker keeps what it found out from edit to edit, beside the checkouts of the task.
    """
    cache = world.workspace.root / "types" if quick else None

    def check(tree: str, paths: Sequence[str]) -> CheckRun:
        place = judged_place(world, state, tree)
        environment = world.environment_of(state, tree)
        return world.language(state).runs.typecheck(world.sandbox, environment, place, paths, cache=cache)

    beside = _tests_beside(world, state, paths)
    every = [*paths, *dict.fromkeys(near for each in beside.values() for near in each)]
    kind = "types, quick" if quick else "types"
    before = world.once(kind, state.base_tree, *every, make=lambda: check(state.base_tree, every))
    if incomplete(before) and left_out(state, "types"):
        before = with_leave(before)
    if before.status != "ran":
        return before, before
    after = check(tree or state.tree, paths)
    if reached := _only_reached(world, state, after, every):
        there = world.once(kind, state.base_tree, *reached, make=lambda: check(state.base_tree, reached))
        before = replace(before, findings={**there.findings, **before.findings})
    usual = {
        (path, code): count
        for (path, code), count in after.findings.items()
        if any((near, code) in before.findings for near in beside.get(path, ()))
    }
    return replace(before, findings={**before.findings, **usual}), after


def _only_reached(world: World, state: State, after: CheckRun, asked: Sequence[str]) -> list[str]:
    """Files of the base with findings that nobody asked about: a checker follows imports. A new file reaches
    them for the first time, and what they had before is not its fault.
    """
    found = {path for path, _ in after.findings} - set(asked)
    if not found:
        return []
    return sorted(found & {entry.path for entry in world.workspace.git.ls_tree(state.base_tree)})


def _tests_beside(world: World, state: State, paths: Sequence[str]) -> dict[str, list[str]]:
    """The new tests among these paths, each with a few old ones of its folder."""
    is_test = world.is_test(state)
    base = [entry.path for entry in world.workspace.git.ls_tree(state.base_tree) if is_code(entry.path)]
    new = [path for path in paths if is_test(path) and is_code(path) and path not in set(base)]
    folder = {path: path.rpartition("/")[0] for path in (*base, *new)}
    return {
        path: [old for old in base if folder[old] == folder[path] and is_test(old)][:_BESIDE] for path in new
    }


def left_out(state: State, check: CheckName) -> bool:
    """Whether a person answered that a check which cannot run is left out."""
    wanted = leave_out(check)
    return any(
        item.answer is not None and item.answer.strip().lower() == wanted for item in state.escalations
    )


def leave_out(check: CheckName) -> str:
    """The answer that leaves a check out, on record."""
    return f"leave out {check}"


def coverage(world: World, state: State, paths: Sequence[str]) -> ToolResult:
    """Which lines of the changed files the suite reaches."""
    runner, place = world.pristine_runner(state), _place(world, state)
    files = [path for path in paths if is_code(path) and not runner.is_test(path)]
    if not files:
        return ToolResult(ok=True, text="no code has changed yet")
    lay_generated(runner.env, place)
    run = runner.language.runs.measure(
        world.sandbox,
        runner.env,
        place,
        files,
        command=runner.command,
        scratch=runner.scratch,
        timeout_s=world.timeout_s,
    )
    if run.status == "not_configured":
        return _absent(run.reason)
    there = [path for path in files if (place / path).is_file()]
    part = covered(run, {path: statements(decode((place / path).read_bytes(), path), path) for path in there})
    return _result(
        run.status,
        run.reason,
        uncovered(part, of="these files"),
        f"{part.percent} % of the lines of these files are reached",
    )


def _place(world: World, state: State) -> Path:
    return world.workspace.pristine(world.workspace.snapshot(), state.base_commit)


def _absent(reason: str) -> ToolResult:
    return ToolResult(ok=False, text=f"not configured: {reason}", mistake="not_configured")


def _result(status: str, reason: str, found: Sequence[str], fine: str) -> ToolResult:
    if status != "ran":
        return ToolResult(ok=False, text=f"not run: {reason}", mistake="not_run")
    return ToolResult(ok=True, text="\n".join(found) or fine, failures=tuple(found))
