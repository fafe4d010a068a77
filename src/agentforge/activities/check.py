"""`Check`: the steering checks after an edit, cheapest first. They guide the role; a verdict is the gates'
affair.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from agentforge.activities.base_suite import measured_base
from agentforge.activities.measure import compare_types
from agentforge.activities.world import World
from agentforge.core.inputs import CheckRan
from agentforge.core.pipeline import CHECK_NAMES, CheckName, complete
from agentforge.core.state import RunView, State
from agentforge.core.values import CheckDigest
from agentforge.gates.ratchets import not_run, worse
from agentforge.gates.red import declared_tests
from agentforge.gates.superseded import superseded_ids
from agentforge.languages.outcomes import GOOD, TestRun, counted, error_line
from agentforge.languages.symbols import syntax_error
from agentforge.languages.table import is_code
from agentforge.languages.tests import is_run, shares_fixtures
from agentforge.languages.values import CheckRun

MAX_FAILURES = 10
MAX_TEST_FILES = 25

Steering: TypeAlias = Callable[[World, State], CheckDigest | str]
"""A check: what it found, or in words that it is not configured."""


def check(world: World, state: RunView) -> CheckRan:
    """Stops at the first kind that fails: a file that does not parse has no types and no tests. What is not
    configured is named in the summary of what ran.
    """
    world.reset_worktree(state)  # the import graph is read from there
    wanted = [CHECKS[name] for name in CHECKS if name == "syntax" or name in state.stage.checks]
    notes: list[str] = []
    digest = CheckDigest("passed", "")
    for run in dict.fromkeys(wanted):
        found = run(world, state)
        if isinstance(found, str):
            notes.append(found)
            continue
        digest = found
        if digest.status != "passed":
            break
    if digest.status == "passed":
        digest = replace(digest, summary="; ".join((digest.summary, *notes)))
    ref = world.pack.put_json(
        {"status": digest.status, "summary": digest.summary, "failures": list(digest.failures)}
    )
    world.pack.sync()
    return CheckRan(digest, ref)


def _tests(world: World, state: State) -> CheckDigest:
    return run_affected(world, state, state.tree)


def run_affected(world: World, state: State, tree: str) -> CheckDigest:
    """The suite of this task and the tests that the change puts at risk."""
    git = world.workspace.git
    changed = [change.path for change in git.diff_names(state.base_tree, tree)]
    suite = _suite_files(world, state, changed)
    there = {entry.path for entry in git.ls_tree(tree)}
    files = [path for path in dict.fromkeys((*suite, *_at_risk(world, state, changed))) if path in there][
        :MAX_TEST_FILES
    ]
    if not files:
        return CheckDigest("passed", "no tests are affected yet")
    run = world.pristine_runner(state).run(tree, files)
    if run.status != "ran":
        return CheckDigest(
            "failed", f"The affected tests could not be run: {run.reason}", (run.reason,), tuple(files)
        )
    failures = _new_failures(world, state, run, superseded_ids(world.parts(state).get("tests", {})))
    summary = counted(run, "affected tests pass")
    return CheckDigest(
        "failed" if failures else "passed",
        summary,
        tuple(failures[:MAX_FAILURES]),
        tuple(files),
        sum(result.outcome in GOOD for result in run.results.values()),
        len(run.results),
    )


def _syntax(world: World, state: State) -> CheckDigest:
    git = world.workspace.git
    broken = []
    for path in _changed(world, state):
        if is_code(path):
            text = (git.read_blob(state.tree, path) or b"").decode("utf-8", "replace")
            if (error := syntax_error(text, path)) is not None:
                broken.append(f"{path}:{error[0]}: {error[1]}")
    if broken:
        return CheckDigest("failed", f"{len(broken)} files do not parse", tuple(broken[:MAX_FAILURES]))
    return CheckDigest("passed", "every changed file parses")


def _lint(world: World, state: State) -> CheckDigest | str:
    before = after = measured_base(world, state).lint
    if before.status == "ran":
        place, changed = world.workspace.pristine(state.tree, state.base_commit), _changed(world, state)
        after = world.language(state).runs.lint(world.sandbox, world.environment(state), place, changed)
    return _compared("lint", before, after)


def _types(world: World, state: State) -> CheckDigest | str:
    return _compared("types", *compare_types(world, state, _changed(world, state)))


def _changed(world: World, state: State) -> list[str]:
    """What the role answers for: where it only writes tests, code that is there already is not its affair."""
    changes = world.workspace.git.diff_names(state.base_tree, state.tree)
    paths = [change.path for change in changes if change.status != "D"]
    stage = state.stage if isinstance(state, RunView) else None
    if stage is None or not stage.proves_red or stage.makes("change"):
        return paths
    return [path for path in paths if world.is_test(state)(path)]


def _compared(name: CheckName, before: CheckRun, after: CheckRun) -> CheckDigest | str:
    if before.status == "not_configured":
        return f"{name}: {not_run(before)}"
    if after.status != "ran" or after.missing.keys() - before.missing.keys():
        why = after.reason or "; ".join(after.missing.values())
        return CheckDigest("not_run", f"{name}: not run: {why}", (why,))
    if found := worse(before, after):
        return CheckDigest("failed", f"{name}: {len(found)} new findings", tuple(found[:MAX_FAILURES]))
    return CheckDigest("passed", f"{name}: nothing new")


def _suite_files(world: World, state: State, changed: list[str]) -> list[str]:
    is_test = world.is_test(state)
    suite = world.parts(state).get("tests", {})
    fresh = [path for path in changed if is_test(path) and is_code(path) and not shares_fixtures(path)]
    return list(dict.fromkeys([*(test.path for test in declared_tests(suite)), *fresh]))


def _at_risk(world: World, state: State, changed: list[str]) -> tuple[str, ...]:
    is_test, paths = world.is_test(state), world.code(state)
    # What gave tests on the base may be no test file: examples in documentation are tests of its code.
    base = measured_base(world, state).tests
    known = {identity.partition("::")[0] for identity in base.results} | set(base.collect_errors)
    # A file that is called like a test and gave none is not part of the suite.
    tests = [path for path in paths if path in known or (not known and is_test(path) and is_run(path))]
    return world.import_graph(state).reaches(tests, [path for path in changed if not is_test(path)])


def _new_failures(world: World, state: State, run: TestRun, superseded: frozenset[str]) -> list[str]:
    """Failures that the base did not have; an old one is not this change's sin. Of a test that was given up,
    what is to be done with it.
    """
    baseline = measured_base(world, state)
    old = {
        identity for identity, result in baseline.tests.results.items() if result.outcome not in GOOD
    } | baseline.flaky
    lines = [
        f"{file}: cannot be collected: {error_line(text)}"
        for file, text in run.collect_errors.items()
        if file not in baseline.tests.collect_errors
    ]
    failed: dict[str, str] = {}
    for identity, result in run.results.items():
        if result.outcome in ("failed", "error", "missing") and identity not in old and "::" in identity:
            place = f"{result.file}:{result.line}: " if result.line else ""
            given_up = "is superseded, so rewrite it or remove it: " if identity in superseded else ""
            failed[identity] = f"{identity}: {given_up}{place}{result.exception} {result.message}".strip()[
                :500
            ]
    return [*lines, *by_function(failed)]


def by_function(failed: Mapping[str, str]) -> list[str]:
    """A line for each test function: why it fails first, and for which of its other parameters it does."""
    first: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    for identity, line in failed.items():
        function, bracket, parameters = identity.partition("[")
        if function in first and bracket:
            others.setdefault(function, []).append(f"[{parameters}")
        else:
            first[function] = line
    return [
        f"{line}; also {', '.join(others[name])}" if name in others else line for name, line in first.items()
    ]


CHECKS: Mapping[CheckName, Steering] = complete(
    {
        "syntax": _syntax,
        "lint": _lint,
        "conformance": _lint,  # the project's own rules are those of its linter, as for the tool of this name
        "types": _types,
        "tests": _tests,
    },
    CHECK_NAMES,
)
"""What steers after an edit, by the name that a stage calls it; the cheapest first."""
