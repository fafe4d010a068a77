"""`Prepare` and `TakeBaseline`: the worktree stands, and what was true on the base is measured beside the
first model calls.
"""

from collections.abc import Sequence

from agentforge.activities.base_suite import BaseSuite, run_base_suite
from agentforge.activities.language_servers import servers_on_record
from agentforge.activities.measure import leave_out, left_out
from agentforge.activities.task_permissions import WEAK_ADVICE, WEAK_QUESTION
from agentforge.activities.world import World
from agentforge.core.effects import Prepare
from agentforge.core.errors import Exhausted, Unusable, UsageError
from agentforge.core.inputs import BaselineFailed, BaselineReady, Prepared
from agentforge.core.pipeline import CheckName
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Baseline
from agentforge.gates.ratchets import incomplete, with_leave
from agentforge.languages.outcomes import GOOD, NO_TESTS, TestRun
from agentforge.languages.table import is_read
from agentforge.languages.values import CheckRun
from agentforge.sandbox.base import is_weak

NO_FILE = "."
NAMED = 10
"""How many failing tests of the base are told by name; the record has all."""
GO_ON = "go on"
"""The answer that works with a suite of which nothing passes, on record."""


def prepare(world: World, effect: Prepare, state: State) -> Prepared:
    """Makes the worktree stand; after a halt, what differs is a person's work and is taken in as their
    commit.
    """
    space = world.workspace
    if state.preparations == 0 and state.tree == state.base_tree:
        space.remove()  # nothing of this task is recorded yet: whatever stands there is another's
    space.keep_base(state.base_commit)
    stood = space.reset_to(
        state.tree, state.base_commit, keep_difference=effect.halted and state.preparations > 0
    )
    notices = list(_notices(world, state)) if state.preparations == 0 else []
    if stood.salvage:
        notices.append(f"What differed in the worktree was saved as {stood.salvage}.")
    if not stood.human:
        return Prepared(stood.tree, tuple(notices))
    author = (
        _configured(world, "user.name") or "A person",
        _configured(world, "user.email") or "person@localhost",
    )
    message = f"Edited by hand during {state.task_id}\n"
    commit = space.commit(stood.tree, state.commit, message, world.created_at, author)
    space.keep(stood.tree, commit)
    edited = tuple(change.path for change in space.git.diff_names(state.tree, stood.tree))
    locked = world.locked(state)
    return Prepared(
        stood.tree, tuple(notices), commit, edited, tuple(path for path in edited if path in locked)
    )


def _configured(world: World, name: str) -> str:
    return world.workspace.git.run("config", name, check=False).out.decode("utf-8", "replace").strip()


def _notices(world: World, state: State) -> list[str]:
    """What a person should know about this repository before waiting."""
    git = world.workspace.git
    entries = git.ls_tree(state.base_tree)
    found = []
    if modules := [entry.path for entry in entries if entry.kind == "commit"]:
        found.append(f"Submodules are left empty in the worktree: {', '.join(modules[:5])}.")
    attributes = (git.read_blob(state.base_tree, ".gitattributes") or b"").decode("utf-8", "replace")
    if "filter=lfs" in attributes:
        found.append("Files in Git LFS stay pointers in the worktree.")
    return found


def take_baseline(world: World, state: State) -> BaselineReady | BaselineFailed:
    """Builds the environment and runs the whole suite, and what failed again, on a pristine checkout of the
    base.
    """
    if is_weak(world.sandbox) and not world.weak_allowed():
        return BaselineFailed(WEAK_QUESTION, WEAK_ADVICE, ("allow", "retry", "abort"))
    try:
        world.progress("building the project's environment")
        environment = world.environment(state)
    except Exhausted:
        raise
    except (Unusable, UsageError) as error:
        return BaselineFailed(error.sentence, error.next_step)
    suite = run_base_suite(world, state)
    run, bad, flaky = suite.tests, suite.bad, suite.flaky
    if run.status != "ran" and NO_TESTS not in run.reason:
        step = (
            "Correct `setup:` or `commands:` in `.agentforge/config/settings.yaml`, or the settings of the "
            "test runner, commit, and start again."
        )
        return BaselineFailed(f"The tests could not be run on the base: {run.reason}.", step)
    passing = sum(1 for result in run.results.values() if result.outcome in GOOD)
    if run.results and not passing and not _goes_on(state):
        return _nothing_passes(run, bad)
    paths = [entry.path for entry in world.workspace.git.ls_tree(state.base_tree) if is_read(entry.path)]
    runs, place = world.language(state).runs, world.workspace.pristine(state.base_tree, state.base_commit)
    style = runs.lint(world.sandbox, environment, place, paths)
    if incomplete(style):
        if not left_out(state, "lint"):
            return _cannot_run("a linter", style, "lint")
        style = with_leave(style)
    # Of no file: whether it can run; findings are compared at the gate.
    types = runs.typecheck(world.sandbox, environment, place, [NO_FILE])
    if incomplete(types) and not left_out(state, "types"):
        return _cannot_run("a type checker", types, "types")
    record: dict[str, Json] = {
        "tests": run.to_json(),
        "flaky": [*sorted(flaky)],
        "lint": _lint_to_json(style),
        "runs": [*suite.runs],
        "kept": suite.is_kept,
        "environment": environment.key,
        "added": [*environment.added],
    }
    record |= servers_on_record(world, state, environment)
    if len(world.projects(state)) > 1:
        record["projects"] = [each.name for each in world.scope(state)]
    ref = world.pack.put_json(record)
    world.pack.sync()
    summary = _summary(suite, passing)
    return BaselineReady(
        Baseline(
            ref,
            environment.key,
            world.sandbox.name,
            len(run.results),
            passing,
            len(bad),
            len(flaky),
            summary,
            tuple(sorted(bad)[:NAMED]),
            suite.is_kept,
        )
    )


def _summary(suite: BaseSuite, passing: int) -> str:
    """How the suite stands on the base, in one line."""
    results = suite.tests.results
    summary = f"{passing} of {len(results)} tests pass on the base" if results else "the base has no tests"
    if suite.bad:
        summary += f", {len(suite.bad)} fail"
    if lost := sum(result.outcome == "error" and "::" not in name for name, result in results.items()):
        summary += f", {lost} file{'s' if lost > 1 else ''} cannot be loaded"
    if skipped := sum(result.outcome == "skipped" for result in results.values()):
        summary += f", {skipped} skipped"
    if suite.flaky:
        summary += f", {len(suite.flaky)} flaky"
    return summary


def _nothing_passes(run: TestRun, bad: Sequence[str]) -> BaselineFailed:
    """A suite of which nothing passes is mostly an environment that lacks something: work on it would prove
    little.
    """
    count = len(run.results)
    some = f": {', '.join(bad[:3])}{', …' if len(bad) > 3 else ''}" if bad else ""
    what = f"failed{some}" if bad else "skipped"
    tests = f"all {count} tests" if count > 1 else "its one test"
    sentence = f"Nothing passes on the base: {tests} {what}."
    step = (
        "Correct `setup:` or `commands:` in `.agentforge/config/settings.yaml`, or fix the tests, commit, "
        f"and start again; `{GO_ON}` works with the suite as it is, which then guards nothing."
    )
    return BaselineFailed(sentence, step, (GO_ON, "retry", "abort"))


def _goes_on(state: State) -> bool:
    """Whether a person answered that a suite of which nothing passes is worked with."""
    return any(
        GO_ON in item.question.options and (item.answer or "").strip().lower() == GO_ON
        for item in state.escalations
    )


def _cannot_run(what: str, run: CheckRun, check: CheckName) -> BaselineFailed:
    why = run.reason or "; ".join(run.missing.values())
    sentence = f"The project uses {what} that cannot run: {why.rstrip('.')}."
    choices = (leave_out(check), "retry", "abort")
    step = f"Answer `{leave_out(check)}` to continue without it, on record; or fix it and retry."
    return BaselineFailed(sentence, step, choices)


def _lint_to_json(run: CheckRun) -> dict[str, Json]:
    rows: list[Json] = [
        [path, code, count, run.samples[path, code]] for (path, code), count in sorted(run.findings.items())
    ]
    return {"status": run.status, "reason": run.reason, "findings": rows, "missing": {**run.missing}}
