"""The green verdict: the same tests pass, nothing that passed before fails, the lock held, nothing
weakened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.shadows import is_named, shadowing
from agentforge.gates.change.words import not_words
from agentforge.gates.flags import Flag, flags_of
from agentforge.gates.new_tests.about import SAME_CODE, TaskChange, change_between, weigh_change
from agentforge.gates.new_tests.counterproof import counterproof, in_doubt, run_by_others
from agentforge.gates.new_tests.emptied import empty_change, roughly_tested, with_values
from agentforge.gates.ratchets import gaps, not_run, worse
from agentforge.gates.runs.frames import asked_for, set_up_otherwise
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.gates.runs.stability import excuses, settle, wobbling
from agentforge.gates.suite.examples import lost_examples
from agentforge.gates.suite.newcomers import failing_newcomers
from agentforge.gates.suite.old_tests import has_passing_tests, tree_with_old_tests
from agentforge.gates.suite.renamed_tests import lost_on_the_way, renamed_rows, renamed_tests
from agentforge.gates.suite.superseded import (
    edited_tests,
    given_up_whole,
    record_of,
    superseded_ids,
    unsettled,
    weakened_tests,
)
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import GOOD, NO_TESTS, TestRun, compare
from agentforge.languages.values import CheckRun, Stranger

MAX_REASONS = 10
NO_SUITE = "not run: the project has none"
"""What is said of tests where there are none and words alone changed."""


@dataclass(frozen=True, slots=True)
class GreenCase:
    """What the GREEN gate compares: trees, the proof of RED, and measurements before and after the work."""

    base_tree: str
    tree: str
    red: Mapping[str, Json]
    """The record of the red proof."""
    suite: Mapping[str, Json]
    baseline: TestRun
    flaky: frozenset[str]
    lint_before: CheckRun
    lint_after: CheckRun
    types_before: CheckRun = CheckRun("not_configured")
    types_after: CheckRun = CheckRun("not_configured")
    request: str = ""
    base_tests: str = ""
    """The tree that old tests are taken from: the base with the renames that the request asks for."""
    may_change: Literal["nothing", "fixtures", "settings"] = "nothing"
    """Of how tests run, after RED: fixtures where RED proved nothing, settings where the request is about
    them. Old tests run as the base has them all the same.
    """
    mutants: int = 0
    """How many mistakes are put into the change, to see whether the new tests notice."""
    strict: bool = False
    """Findings count wherever they were before, and what is not configured has not passed."""


def judge_green(runner: PristineRunner, case: GreenCase) -> Verdict:
    """One full run on the pristine tree, one with the base's own tests on the new code, and more runs only of
    the new tests and of what looks worse.
    """
    red_tree = str(case.red["red_tree"])
    reasons = [
        *_broken_lock(runner, case),
        *shadowing(runner, case.base_tree, case.tree, case.request),
        *weakened_tests(
            runner, case.base_tests or case.base_tree, case.tree, case.suite, case.baseline.results
        ),
        *edited_tests(runner, case.base_tree, case.tree, case.suite, _beside_code(runner, case.baseline)),
        *lost_examples(runner, case.base_tree, case.tree, case.suite, case.baseline),
        *_changed_settings(runner, case, red_tree),
    ]
    tests = case.red["tests"]
    assert isinstance(tests, dict)
    change = change_between(runner, case.base_tree, case.tree)
    if change.same and _new_tests(tests) and not reasons:
        reasons = [SAME_CODE]
    if reasons:
        return Verdict("failed", tuple(reasons[:MAX_REASONS]), {"runs": []})
    run = runner.run(case.tree)
    if run.status != "ran":
        return _words_alone(runner, case, run) or Verdict(
            "not_run", (run.reason,), {"runs": list(runner.runs)}
        )
    planted = _planted(runner, case.tree)
    if (unfit := _unfit(runner, case, run, planted)) is not None:
        return unfit
    name = runner.language.tests.RUNNER
    if joined := _joined(runner, case, run) or set_up_otherwise(case.baseline, run, case.request, name):
        return Verdict("failed", tuple(joined[:MAX_REASONS]), {"runs": list(runner.runs)})
    failing = [identity for identity, entry in tests.items() if not _holds(run, identity, entry)]
    reasons = [f"{identity}: {_words(run, identity)}" for identity in failing]
    known_flaky = case.flaky | frozenset(texts(case.red, "flaky"))
    renamed = renamed_tests(runner, case.base_tests or case.base_tree, case.tree, case.baseline.results)
    given_up = superseded_ids(case.suite)
    regressions = [
        item
        for item in compare(case.baseline, run, known_flaky, given_up | renamed.keys())
        if item.id not in failing
    ]
    reasons += lost_on_the_way(run, case.baseline, renamed)
    regressions += failing_newcomers(case.baseline, run, tests)
    settled = settle(runner.run, case.base_tree, case.tree, regressions)
    reasons += [
        f"{item.id} {'is new' if item.before == 'missing' else 'passed before'} and is {item.after} now: "
        f"{item.message}"
        for item in settled.real
    ]
    reasons += unsettled(run, case.suite)
    old_tests = tree_with_old_tests(runner, case.base_tests or case.base_tree, case.tree)
    if not reasons and old_tests != case.tree and has_passing_tests(case.baseline, given_up):
        old_tests, again = _with_old_tests(runner, case, old_tests)
        if again.status != "ran":
            reason = f"the tests of the base did not run on the new code: {again.reason}"
            return Verdict("not_run", (reason,), {"runs": list(runner.runs)})
        reasons += set_up_otherwise(case.baseline, again, "", name)
        worse_there = compare(case.baseline, again, known_flaky | settled.flaky, given_up)
        broken = settle(runner.run, case.base_tree, old_tests, worse_there)
        reasons += [
            f"{item.id} passed before and is {item.after} now, as the base has it: {item.message}"
            for item in broken.real
        ]
        settled += broken
    no_proof, about = _weighed(runner, case, change, run, measured=not reasons)
    reasons += no_proof
    if (gap := _unchecked(case)) is not None:
        return Verdict(gap.status, gap.reasons, {"runs": list(runner.runs)})
    conformance = worse(CheckRun("ran") if case.strict else case.lint_before, case.lint_after)
    types = worse(CheckRun("ran") if case.strict else case.types_before, case.types_after)
    missing = _not_run(case)
    reasons += [f"lint: {line}" for line in conformance] + [f"types: {line}" for line in types]
    record: dict[str, Json] = {
        "tree": case.tree,
        "all_tests_pass": not failing,
        "no_regressions": not settled.real,
        "conformance_passing": None if _lint_left_out(case) else not conformance,
        "test_lock_held": True,
        "old_tests_tree": old_tests,
        **({"type_check_pass": not types} if case.types_after.status == "ran" else {}),
        "flaky": [*sorted(known_flaky | settled.flaky)],
        "became_unstable": [*sorted(settled.became_unstable)],
        "superseded": [
            *record_of(run, case.baseline, case.suite),
            *renamed_rows(run, case.baseline, renamed),
        ],
        **about,
        "flags": [
            *objects(about, "flags"),
            *(flag.to_json() for flag in asked_for(case.baseline, run, case.request)),
            *(flag.to_json() for flag in excuses(known_flaky | settled.flaky)),
            *(
                Flag(each.name, f"in the environment that the change asks for, it {each.why}").to_json()
                for each in planted
            ),
        ],
        "not_configured": [*missing],
        "not_run": {**missing},
        "passed": sum(1 for result in run.results.values() if result.outcome in GOOD),
        "baseline_failing": sum(
            1 for result in case.baseline.results.values() if result.outcome not in (*GOOD, "skipped")
        ),
        "runs": list(runner.runs),
    }
    return Verdict("failed" if reasons else "passed", tuple(reasons[:MAX_REASONS]), record)


def _with_old_tests(runner: PristineRunner, case: GreenCase, old_tests: str) -> tuple[str, TestRun]:
    """The tests of the base on the new code. Where a file of them cannot be loaded any more, once more
    without those of it that are given up: what only they need may be gone.
    """
    again = runner.run(old_tests)
    gone = given_up_whole(case.suite, case.baseline.results)
    if not {identity.partition("::")[0] for identity in gone} & again.collect_errors.keys():
        return old_tests, again
    left = tree_with_old_tests(runner, case.base_tests or case.base_tree, case.tree, gone)
    return (left, runner.run(left)) if left != old_tests else (old_tests, again)


def _weighed(
    runner: PristineRunner, case: GreenCase, change: TaskChange, run: TestRun, *, measured: bool
) -> tuple[list[str], dict[str, Json]]:
    """Why the new tests prove nothing, and what goes on record of them; nothing is run of what failed."""
    tests = case.red["tests"]
    assert isinstance(tests, dict)
    new = _new_tests(tests)
    reasons, about = weigh_change(
        runner,
        change,
        (case.base_tree, case.tree),
        new,
        mutants=case.mutants,
        measured=measured,
        request=case.request,
    )
    reasons += wobbling(runner, case.tree, run, tests if measured and not reasons else ())
    if reasons or not measured:
        return reasons, about
    countered = counterproof(runner, case.tree, in_doubt(case.tree, new, run, flags_of([about])))
    reasons = countered.reasons or run_by_others(runner, case.base_tree, case.tree, new, run)
    if reasons:
        return reasons, {**about, **countered.to_json()}
    left = empty_change(runner, change.code, (case.base_tree, case.tree), tests, new)
    proved = about["about"]
    by_value = [each for each in new if isinstance(proved, dict) and proved.get(each) == "a value"]
    left = with_values(runner, change.code, case.tree, left, by_value)
    rough, runs = roughly_tested(runner, change.code, case.tree, tests, () if left.reasons else new)
    flags: list[Json] = [
        *objects(about, "flags"),
        *(flag.to_json() for flag in (*left.flags, *rough)),
    ]
    told: dict[str, Json] = {"other_numbers": {"runs": runs}} if runs else {}
    return left.reasons, {**about, **countered.to_json(), **left.to_json(), **told, "flags": flags}


def _beside_code(runner: PristineRunner, baseline: TestRun) -> list[str]:
    """Old tests that share a file with the code, so that no lock holds the file."""
    return [identity for identity in baseline.results if not runner.is_test(identity.partition("::")[0])]


def _lint_left_out(case: GreenCase) -> bool:
    """Whether a part of the project's own rules was not looked at, so that nobody can say they are kept."""
    return case.lint_after.status != "ran" or bool(case.lint_before.missing)


def _new_tests(tests: Mapping[str, Json]) -> list[str]:
    """The tests that failed on the base; guards passed, and prove nothing new."""
    return [identity for identity, entry in tests.items() if isinstance(entry, dict) and not entry["guard"]]


def _holds(run: TestRun, identity: str, entry: Json) -> bool:
    """Only a test that passed proves something; a guard may be expected to fail, if it was in RED."""
    outcome = result_of(run, identity).outcome
    in_red = entry if isinstance(entry, dict) and entry["guard"] else {}
    return outcome == "passed" or (outcome in GOOD and outcome == in_red.get("outcome"))


def _joined(runner: PristineRunner, case: GreenCase, run: TestRun) -> list[str]:
    """What changed since RED, is no plugin on the base, and is one now: it can change any outcome."""
    changes = runner.workspace.git.diff_names(str(case.red["red_tree"]), case.tree)
    changed = {change.path for change in changes}
    return [
        f"{runner.language.tests.RUNNER} loads `{path}` as a plugin of its own, which can change "
        "outcomes; take back "
        "what makes it one"
        for path in run.plugins
        if path in changed and path not in case.baseline.plugins
    ]


def _unfit(
    runner: PristineRunner, case: GreenCase, run: TestRun, planted: Sequence[Stranger]
) -> Verdict | None:
    """The verdict where outcomes prove nothing: the judge was changed, or another tree was run; or what the
    change's own environment holds could have done either.
    """
    runs: dict[str, Json] = {"runs": list(runner.runs)}
    if patched := sorted(set(run.patched) - set(case.baseline.patched)):
        reason = (
            f"the code under test replaces parts of {runner.language.tests.RUNNER} "
            f"({', '.join(patched[:3])}), so its outcomes prove nothing"
        )
        return Verdict("not_run", (reason,), runs)
    changes = runner.workspace.git.diff_names(case.base_tree, case.tree)
    changed = [change.path for change in changes if change.status != "D"]
    env = runner.env_of(case.tree)
    if elsewhere := runner.language.runs.foreign(run, runner.workspace.verdict, env, changed):
        reason = f"foreign tree: {', '.join(elsewhere[:3])} was loaded from elsewhere than the judged tree"
        return Verdict("not_run", (reason,), runs)
    left = tuple(_left_there(found) for found in planted if not found.packed)
    return Verdict("failed", left[:MAX_REASONS], runs) if left else None


def _planted(runner: PristineRunner, tree: str) -> list[Stranger]:
    """What the environment that a change asks for holds beside plain packages, and the base's does not: its
    build could have left anything there, the judge's own parts among it.
    """
    env = runner.env_of(tree)
    if env.path == runner.env.path and env.parts == runner.env.parts:
        return []
    before = frozenset(runner.language.projects.strangers(runner.env))
    return [found for found in runner.language.projects.strangers(env) if found not in before]


def _left_there(found: Stranger) -> str:
    return (
        f"the environment that the change asks for holds `{found.name}`, which {found.why}; a build must not "
        "leave such a file there"
    )


def _words_alone(runner: PristineRunner, case: GreenCase, run: TestRun) -> Verdict | None:
    """The verdict where a project has no tests and nothing but words for people changed: what that rests on
    is the difference itself, and nothing is said of tests. None in every other case.
    """
    git = runner.workspace.git
    no_suite = all(NO_TESTS in each.reason and each.status != "ran" for each in (case.baseline, run))
    same = case.base_tree == case.tree
    if case.strict or same or not no_suite or case.red["tests"] or not_words(git, case.base_tree, case.tree):
        return None
    if (gap := _unchecked(case)) is not None:
        return Verdict(gap.status, gap.reasons, {"runs": list(runner.runs)})
    missing = _not_run(case)
    reasons = [f"lint: {line}" for line in worse(case.lint_before, case.lint_after)]
    reasons += [f"types: {line}" for line in worse(case.types_before, case.types_after)]
    record: dict[str, Json] = {
        "tree": case.tree,
        "no_suite": True,
        "all_tests_pass": None,
        "no_regressions": None,
        "conformance_passing": None if _lint_left_out(case) else not reasons,
        "test_lock_held": True,
        "old_tests_tree": case.tree,
        "flaky": [],
        "became_unstable": [],
        "superseded": [],
        "flags": [],
        "not_configured": [*missing, "tests"],
        "not_run": {**missing, "tests": NO_SUITE},
        "passed": 0,
        "baseline_failing": 0,
        "runs": list(runner.runs),
    }
    return Verdict("failed" if reasons else "passed", tuple(reasons[:MAX_REASONS]), record)


def _unchecked(case: GreenCase) -> Verdict | None:
    """A check that is configured and does not run has not passed; one that nobody configured only counts when
    strict.
    """
    checks = (("lint", case.lint_before, case.lint_after), ("types", case.types_before, case.types_after))
    for name, before, after in checks:
        gone = {**after.missing}.keys() - before.missing.keys()
        if gone and after.status == "ran":
            return Verdict("not_run", (f"{name} did not run: {after.missing[min(gone)]}",), {})
        if before.status != "not_configured" and after.status != "ran":
            return Verdict("not_run", (f"{name} did not run: {after.reason}",), {})
    missing = tuple(
        f"{name}: demanded by `strict`, and {not_run(before)}: {before.reason}"
        for name, before, _ in checks
        if before.status != "ran"
    )
    missing += tuple(
        f"{gap}: demanded by `strict`, and {why}"
        for name, before, _ in checks
        if before.status == "ran"
        for gap, why in gaps(name, before).items()
    )
    return Verdict("failed", missing, {}) if case.strict and missing else None


def _broken_lock(runner: PristineRunner, case: GreenCase) -> list[str]:
    locked = case.red["locked"]
    assert isinstance(locked, dict)
    there = {entry.path: [entry.mode, entry.oid] for entry in runner.workspace.git.ls_tree(case.tree)}
    return [
        f"`{path}` is locked since RED and was {'changed' if path in there else 'deleted'}"
        for path, entry in locked.items()
        if there.get(path) != entry and path.rpartition("/")[2] not in runner.language.tests.SETTINGS
    ]


def _changed_settings(runner: PristineRunner, case: GreenCase, red_tree: str) -> list[str]:
    """Whole files where they are about tests alone; of files that say more, only the part that the runner
    reads.
    """
    if case.may_change == "settings":
        return []
    git, tests = runner.workspace.git, runner.language.tests
    closed = tests.SETTINGS - tests.FIXTURES if case.may_change == "fixtures" else tests.SETTINGS

    def is_asked_for(path: str) -> bool:  # fixtures are code, and come with the tests
        return path.rpartition("/")[2] not in tests.FIXTURES and is_named([path], case.request)

    reasons = [
        f"`{change.path}` decides how tests run and changed after RED; take that back"
        for change in git.diff_names(red_tree, case.tree)
        if change.path.rpartition("/")[2] in closed and not is_asked_for(change.path)
    ]

    def part(tree: str, path: str) -> object:
        return tests.SECTIONS[path]((git.read_blob(tree, path) or b"").decode("utf-8", "replace"))

    changed = [
        path
        for path in tests.SECTIONS
        if part(red_tree, path) != part(case.tree, path) and not is_asked_for(path)
    ]
    return reasons + [
        f"the {tests.RUNNER} settings in {path} changed after RED; take that back" for path in changed
    ]


def _not_run(case: GreenCase) -> dict[str, str]:
    """What did not run, and why: passed by nobody, and on record."""
    checks = {"types": case.types_before, "lint": case.lint_before}
    found = {gap: why for name, run in checks.items() for gap, why in gaps(name, run).items()}
    return found if case.baseline.results else {**found, "existing tests": "not run: there are none"}


def _words(run: TestRun, identity: str) -> str:
    result = result_of(run, identity)
    place = f"{result.file}:{result.line}: " if result.line else ""
    return f"{place}{result.outcome} {result.exception} {result.message}".strip()[:500]
