"""Integration tests: run once when the change is done, and held against the base's run of the same.

What fails on the base blocks nobody: it may need a network, a service or a secret that no run has. What
passed there and does not any more blocks like any other test. What cannot run is named, with its reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.runs.stability import settle
from agentforge.gates.suite.newcomers import BAD, failing_newcomers
from agentforge.gates.suite.old_tests import tree_with_old_tests
from agentforge.languages.outcomes import GOOD, TestRun, compare, error_line

MOST = 5
"""Tests that are named one by one."""


@dataclass(frozen=True, slots=True)
class MarkedVerdict:
    """What became of one kind of integration tests."""

    name: str
    reasons: tuple[str, ...] = ()
    """Why the change cannot pass."""
    not_run: str = ""
    """Why none of them says anything; empty if they ran."""
    passed: int = 0
    not_checked: tuple[tuple[str, str], ...] = ()
    """What of them says nothing, each with the reason."""
    flaky: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    """What of them was rewritten or removed. The reviewer rules on it: none can be given up by its id."""
    runs: tuple[dict[str, Json], ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The row of the evidence."""
        return {
            "name": self.name,
            "status": "not_run" if self.not_run else "failed" if self.reasons else "ran",
            "reason": self.not_run,
            "passed": self.passed,
            "not_checked": dict(self.not_checked),
            "flaky": list(self.flaky),
            "runs": list(self.runs),
        }


def judge_marked(
    name: str,
    runner: PristineRunner,
    trees: tuple[str, str],
    files: tuple[str, ...] = (),
    base_run: Callable[[Callable[[], TestRun]], TestRun] = lambda make: make(),
) -> MarkedVerdict:
    """These tests on the base and on the change, and again where they differ. `base_run` may know the base's
    run already.
    """
    base, tree = trees
    before = base_run(lambda: runner.run(base, files))
    now = runner.run(tree, files)
    verdict = _compared(name, runner, before, now, trees)
    return replace(verdict, runs=tuple(runner.runs))


def _compared(
    name: str, runner: PristineRunner, before: TestRun, now: TestRun, trees: tuple[str, str]
) -> MarkedVerdict:
    ran_before = before.status == "ran" and any(each.outcome in GOOD for each in before.results.values())
    if now.status != "ran":
        lost = (f"{name} ran on the base and do not now: {now.reason}",) if ran_before else ()
        return MarkedVerdict(name, lost, now.reason)
    if new := sorted(set(now.patched) - set(before.patched)):
        said = f"{name}: the code under test replaces parts of the test runner ({', '.join(new[:3])})"
        return MarkedVerdict(name, (said,))
    passed = sum(each.outcome == "passed" for each in now.results.values())
    if before.status != "ran":
        left = _failing(name, now, f"fail, and there is nothing to compare with: {before.reason}")
        return MarkedVerdict(name, passed=passed, not_checked=left)
    settled = settle(runner.run, *trees, compare(before, now))
    touched = _touched(runner, *trees)
    removed = [item for item in settled.real if item.after == "missing" and _is_gone(item.id, now, touched)]
    reasons = [
        f"{item.id} passed before and is {item.after} now ({name}): {item.message}"
        for item in settled.real
        if item not in removed
    ]
    flags = [
        Flag(item.id, f"one of the {name} that passed before; it was removed", ruling=True)
        for item in removed
    ]
    if touched and not reasons:
        flags += _rewritten(name, runner, before, trees, frozenset(item.id for item in removed))
    new_failures = frozenset(item.id for item in failing_newcomers(before, now, ()))
    old = replace(
        now,
        results={
            key: each
            for key, each in now.results.items()
            if key in before.results and before.results[key].outcome not in GOOD
        },
    )
    left = (
        *_failing(name, old, "fail on the base, too"),
        *_failing(
            name,
            replace(now, results={key: now.results[key] for key in new_failures}),
            "are new and fail; no failing test of this kind was owed",
        ),
        *_unloaded(name, now),
        *_skipped(name, now),
    )
    verdict = MarkedVerdict(
        name, tuple(reasons), "", passed, left, tuple(sorted(settled.flaky)), tuple(flags)
    )
    if not passed and not reasons:
        return replace(verdict, not_run="; ".join(f"{what}: {why}" for what, why in left) or "no tests ran")
    return verdict


def _touched(runner: PristineRunner, base: str, tree: str) -> frozenset[str]:
    """Old files of tests that the change rewrote or removed."""
    changes = runner.workspace.git.diff_names(base, tree)
    return frozenset(each.path for each in changes if each.status != "A" and runner.is_test(each.path))


def _is_gone(identity: str, now: TestRun, touched: frozenset[str]) -> bool:
    file = identity.partition("::")[0]
    return file in touched and file not in now.collect_errors


def _rewritten(
    name: str, runner: PristineRunner, before: TestRun, trees: tuple[str, str], removed: frozenset[str]
) -> list[Flag]:
    """Tests that pass as the change has them, and not as the base does."""
    old = tree_with_old_tests(runner, *trees)
    again = runner.run(old, before.ids) if old != trees[1] else None
    if again is None or again.status != "ran":
        return []
    worse = settle(runner.run, trees[0], old, compare(before, again, excused=removed)).real
    said = f"one of the {name} that passed before; it was rewritten, and as the base has it it is "
    return [Flag(item.id, f"{said}{item.after} now: {item.message}", ruling=True) for item in worse]


def _failing(name: str, run: TestRun, why: str) -> tuple[tuple[str, str], ...]:
    bad = [each for _, each in sorted(run.results.items()) if each.outcome in (*BAD, "missing")]
    if not bad:
        return ()
    said = bad[0].message or bad[0].exception
    return ((f"{len(bad)} of the {name}", f"{why}: {bad[0].id}: {said[:200]}".removesuffix(": ")),)


def _unloaded(name: str, run: TestRun) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{path} of the {name}", f"not run: it cannot be loaded: {error_line(text)}")
        for path, text in sorted(run.collect_errors.items())[:MOST]
    )


def _skipped(name: str, run: TestRun) -> tuple[tuple[str, str], ...]:
    skipped = [each for _, each in sorted(run.results.items()) if each.outcome == "skipped"]
    why = "; ".join(list(dict.fromkeys(each.message or "no reason given" for each in skipped))[:MOST])
    return ((f"{len(skipped)} of the {name}", f"skipped: {why}"),) if skipped else ()


def marked_lines(record: dict[str, Json]) -> list[str]:
    """What is said of integration tests beside a verdict, a line each; nothing where a project has none."""
    return [
        f"integration: {row.get('name')}: "
        + (
            f"{row.get('passed')} passed, none worse than on the base"
            if row.get("status") == "ran"
            else "not run"
        )
        for row in objects(record, "integration")
    ]
