"""`Check`: the steering checks after an edit, cheapest first. They guide the role; a verdict is the gates'
affair.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from agentforge.activities.base_suite import measured_base
from agentforge.activities.conformance import tree_conformance
from agentforge.activities.judged_place import judged_place
from agentforge.activities.measure import compare_types
from agentforge.activities.world import World
from agentforge.core.inputs import CheckRan
from agentforge.core.pipeline import CHECK_NAMES, CheckName, complete
from agentforge.core.state import RunView, State
from agentforge.core.values import CheckDigest, CheckPart, CheckStatus, PartStatus
from agentforge.gates.ratchets import not_run, worse
from agentforge.gates.red import declared_tests
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.languages.outcomes import GOOD, TestRun, counted, error_line
from agentforge.languages.symbols import syntax_error
from agentforge.languages.table import is_code
from agentforge.languages.tests import is_run, shares_fixtures
from agentforge.languages.values import CheckRun

MAX_FAILURES = 10
MAX_TEST_FILES = 25

_PART: Mapping[CheckName, str] = {"types": "type_check"}
"""How a kind of check is called where roles see it."""
_STATUS: Mapping[CheckStatus, PartStatus] = {"passed": "passing", "failed": "failing", "not_run": "not_run"}

Steering: TypeAlias = Callable[[World, State], CheckDigest | str]
"""A check: what it found, or in words that it is not configured."""


def check(world: World, state: RunView) -> CheckRan:
    """A file that does not parse has no types and no tests, so there it ends. Of the other kinds each one
    runs: a role sees all that is wrong at once. What is not configured is named in the summary.
    """
    world.reset_worktree(state)  # the import graph is read from there
    wanted = [name for name in CHECKS if name == "syntax" or name in state.stage.checks]
    ran: list[CheckDigest] = []
    notes: list[str] = []
    parts: list[CheckPart] = []
    for name in wanted:
        found = CHECKS[name](world, state)
        if isinstance(found, str):
            notes.append(found)
            parts.append(CheckPart(_PART.get(name, name), "not_configured"))
            continue
        ran.append(found)
        parts += found.parts or (CheckPart(_PART.get(name, name), _STATUS[found.status]),)
        if name == "syntax" and found.status != "passed":
            break
    digest = _joined(ran, notes, parts)
    ref = world.pack.put_json(
        {"status": digest.status, "summary": digest.summary, "failures": list(digest.failures)}
    )
    world.pack.sync()
    return CheckRan(digest, ref)


def _joined(ran: Sequence[CheckDigest], notes: Sequence[str], parts: Sequence[CheckPart]) -> CheckDigest:
    """Several kinds as one: what is wrong first, and what passed in the words of the last one."""
    wrong = [each for each in ran if each.status != "passed"]
    tests = next((each for each in reversed(ran) if each.at_risk), ran[-1])
    if not wrong:
        return replace(tests, summary="; ".join((ran[-1].summary, *notes)), parts=tuple(parts))
    return CheckDigest(
        "failed" if any(each.status == "failed" for each in wrong) else "not_run",
        "; ".join(each.summary for each in wrong),
        tuple(line for each in wrong for line in each.failures),
        tests.at_risk,
        tests.tests_passing,
        tests.tests_total,
        tuple(parts),
        tests.tests_not_passing_before,
    )


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
    bad = {identity for identity, result in run.results.items() if result.outcome not in GOOD}
    passing, total = len(run.results) - len(bad), len(run.results)
    skipped = sum(result.outcome == "skipped" for result in run.results.values())
    part = CheckPart("tests", "failing" if failures else "passing", total, passing, skipped=skipped)
    return CheckDigest(
        "failed" if failures else "passed",
        summary,
        tuple(failures[:MAX_FAILURES]),
        tuple(files),
        passing,
        total,
        (part,),
        len(bad & measured_base(world, state).not_passing),
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
        place, changed = judged_place(world, state, state.tree), _changed(world, state)
        after = world.language(state).runs.lint(world.sandbox, world.environment(state), place, changed)
    return _compared("lint", before, after)


def _conformance(world: World, state: State) -> CheckDigest | str:
    """The checks of every edit, on what the role answers for."""
    found = tree_conformance(world, state, state.tree, _changed(world, state), "every_edit")
    if not found.ran:
        return "conformance: not run: no file that a check is about"
    violations, total = found.violations(), len(found.report.ran)
    failing = len({each.check for each in found.weighed.blocking})
    status: PartStatus = "failing" if violations else "passing"
    part = CheckPart("conformance", status, total, total - failing, violations)
    if not violations:
        return CheckDigest("passed", "conformance: nothing new", parts=(part,))
    number = len(found.weighed.blocking)
    summary = f"conformance: {number} new violation{'s' if number > 1 else ''}"
    return CheckDigest("failed", summary, parts=(part,))


def _types(world: World, state: State) -> CheckDigest | str:
    before, after = compare_types(world, state, _changed(world, state), quick=True)
    found = _compared("types", before, after)
    if isinstance(found, str) or found.status == "not_run":
        return found
    new = worse(before, after)
    part = CheckPart("type_check", "failing" if new else "passing", errors=len(new), warnings=after.warnings)
    return replace(found, parts=(part,))


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
        count = f"{len(found)} new finding{'s' if len(found) > 1 else ''}"
        return CheckDigest("failed", f"{name}: {count}", tuple(found[:MAX_FAILURES]))
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
    old = baseline.not_passing
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
        "conformance": _conformance,
        "types": _types,
        "tests": _tests,
    },
    CHECK_NAMES,
)
"""What steers after an edit, by the name that a stage calls it; the cheapest first."""
