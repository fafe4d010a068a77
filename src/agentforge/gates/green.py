"""The green verdict (decisions 17 to 20): the same tests pass, nothing that passed before fails, the lock held, nothing weakened."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from agentforge.analysis.lint import LintRun, worse
from agentforge.analysis.outcomes import GOOD, Regression, TestRun, compare, rerun_flaky
from agentforge.analysis.testguard import weakened
from agentforge.analysis.testrun import foreign
from agentforge.core.reply import Json
from agentforge.gates.court import Court, Verdict, objects, result_of

MAX_REASONS = 10
TEST_SETTINGS = frozenset({"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini"})
"""Files that decide how tests run: a verdict takes them from the red tree."""


@dataclass(frozen=True, slots=True)
class GreenCase:
    """What is to be judged."""

    base_tree: str
    tree: str
    red: Mapping[str, Json]
    """The record of the red proof."""
    suite: Mapping[str, Json]
    baseline: TestRun
    flaky: frozenset[str]
    lint_before: LintRun
    lint_after: LintRun


def judge_green(court: Court, case: GreenCase) -> Verdict:
    """One full run on the pristine tree, and more runs only of what looks worse."""
    git = court.workspace.git
    red_tree = str(case.red["red_tree"])
    reasons = _broken_lock(court, case) + _weakened_tests(court, case) + _changed_settings(court, case, red_tree)
    if reasons:
        return Verdict("failed", tuple(reasons[:MAX_REASONS]), {"runs": []})
    replace: dict[str, tuple[str, str] | None] = {}
    for change in git.diff_names(red_tree, case.tree):
        if change.path.rpartition("/")[2] in TEST_SETTINGS:
            entry = next((item for item in git.ls_tree(red_tree) if item.path == change.path), None)
            replace[change.path] = (entry.mode, entry.oid) if entry else None
    run = court.run(case.tree, (), replace)
    if run.status != "ran":
        return Verdict("not_run", (run.reason,), {"runs": list(court.runs)})
    changed = [change.path for change in git.diff_names(case.base_tree, case.tree) if change.status != "D"]
    if elsewhere := foreign(run, court.workspace.verdict, court.env.source, changed):
        reason = f"foreign tree: {', '.join(elsewhere[:3])} was loaded from elsewhere than the judged tree"
        return Verdict("not_run", (reason,), {"runs": list(court.runs)})

    tests = case.red["tests"]
    assert isinstance(tests, dict)
    failing = [identity for identity in tests if result_of(run, identity).outcome not in GOOD]
    reasons = [f"{identity}: {_words(run, identity)}" for identity in failing]
    superseded = frozenset(str(item.get("id", "")) for item in objects(case.suite, "supersedes"))
    regressions = [item for item in compare(case.baseline, run, case.flaky, superseded) if item.id not in failing]
    real, flaky = _settle(court, case, regressions, replace)
    reasons += [f"{item.id} passed before and is {item.after} now: {item.message}" for item in real]
    conformance = worse(case.lint_before, case.lint_after)
    reasons += [f"lint: {line}" for line in conformance]
    if case.lint_before.status == "ran" and case.lint_after.status != "ran":
        return Verdict("not_run", (f"lint did not run: {case.lint_after.reason}",), {"runs": list(court.runs)})
    record: dict[str, Json] = {
        "tree": case.tree,
        "all_tests_pass": not failing,
        "no_regressions": not real,
        "conformance_passing": not conformance,
        "test_lock_held": True,
        "flaky": [*sorted(case.flaky | flaky)],
        "not_configured": _not_configured(case),
        "passed": sum(1 for result in run.results.values() if result.outcome in GOOD),
        "baseline_failing": sum(1 for result in case.baseline.results.values() if result.outcome not in (*GOOD, "skipped")),
        "runs": list(court.runs),
    }
    return Verdict("failed" if reasons else "passed", tuple(reasons[:MAX_REASONS]), record)


def _settle(
    court: Court, case: GreenCase, regressions: list[Regression], replace: Mapping[str, tuple[str, str] | None]
) -> tuple[list[Regression], frozenset[str]]:
    """A failure that is not in the baseline is run three times on both trees; what differs counts for nobody."""
    if not regressions:
        return [], frozenset()
    ids = [item.id for item in regressions]
    now = rerun_flaky(lambda wanted: court.run(case.tree, wanted, replace), ids, times=3)
    before = rerun_flaky(lambda wanted: court.run(case.base_tree, wanted), ids, times=3)
    flaky = now | before
    return [item for item in regressions if item.id not in flaky], flaky


def _broken_lock(court: Court, case: GreenCase) -> list[str]:
    locked = case.red["locked"]
    assert isinstance(locked, dict)
    there = {entry.path: [entry.mode, entry.oid] for entry in court.workspace.git.ls_tree(case.tree)}
    return [
        f"`{path}` is locked since RED and was {'changed' if path in there else 'deleted'}"
        for path, entry in locked.items()
        if there.get(path) != entry and path.rpartition("/")[2] not in TEST_SETTINGS
    ]


def _weakened_tests(court: Court, case: GreenCase) -> list[str]:
    git = court.workspace.git
    superseded = {str(item.get("id", "")) for item in objects(case.suite, "supersedes")}
    reasons = []
    for change in git.diff_names(case.base_tree, case.tree):
        if change.status == "A" or not change.path.endswith(".py") or not court.is_test(change.path):
            continue
        before = (git.read_blob(case.base_tree, change.path) or b"").decode("utf-8", "replace")
        after = (git.read_blob(case.tree, change.path) or b"").decode("utf-8", "replace")
        reasons += [
            f"weakened: {line}" for line in weakened(before, after, change.path) if not any(name and name in line for name in superseded)
        ]
    return reasons


def _changed_settings(court: Court, case: GreenCase, red_tree: str) -> list[str]:
    """The table of pytest in `pyproject.toml`: the rest of that file may change, this may not."""
    git = court.workspace.git

    def table(tree: str) -> object:
        try:
            read = tomllib.loads((git.read_blob(tree, "pyproject.toml") or b"").decode("utf-8", "replace"))
        except tomllib.TOMLDecodeError:
            return "unreadable"
        tool = read.get("tool")
        return tool.get("pytest") if isinstance(tool, dict) else None

    return ["the pytest settings in pyproject.toml changed after RED"] if table(red_tree) != table(case.tree) else []


def _not_configured(case: GreenCase) -> list[Json]:
    names: list[Json] = ["types"]
    if case.lint_before.status != "ran":
        names.append("lint")
    if not case.baseline.results:
        names.append("existing tests")
    return names


def _words(run: TestRun, identity: str) -> str:
    result = result_of(run, identity)
    place = f"{result.file}:{result.line}: " if result.line else ""
    return f"{place}{result.outcome} {result.exception} {result.message}".strip()[:500]
