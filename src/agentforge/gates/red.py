"""The red proof: each new test fails on the base, in its own body, three times alike; guards pass. The first
time it is the whole suite that runs, so that what the new files do to the old tests is seen.

The tree it judges is the stage's entry with the changes to test paths only, so that the proof is the same
whether one role wrote the tests alone or tests and code came in one reply.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.change.shadows import shadowing
from agentforge.gates.new_tests.live import lifeless, support_flags, twins
from agentforge.gates.new_tests.unproved import KEY, only_guarded, unproved, unproved_flags
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.runs.stability import unlike
from agentforge.gates.suite.beside import disturbance
from agentforge.gates.suite.superseded import edited_tests, unknown_ids, untouched, weakened_tests
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import GOOD, TestResult, TestRun, error_line
from agentforge.languages.table import is_code
from agentforge.languages.tests import inputs, missing_import, shares_fixtures, test_ids
from agentforge.system.git.repository import TreeEntry

NO_TEST = "There is no test: at least one must be there, and fail now"
NOTHING_FAILS = "Every test is a guard: at least one test must fail now"
RUNS = 3
LINK = "120000"
"""How git marks a symbolic link."""
MAX_REASONS = 10
_TITLE_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class RedCase:
    """What the RED gate judges: the tests that were written, and the tree they were written on."""

    entry_tree: str
    tree: str
    suite: Mapping[str, Json]
    specification: Mapping[str, Json]
    same_author: bool
    """One reply held tests and code: the rest of the tree is set aside first."""
    request: str = ""
    began_with: str = ""
    """The tree that the stage began with, where it is not `entry_tree`: code may be there already, and this
    stage changes none of it.
    """
    old: frozenset[str] = frozenset()
    """Tests that the base has: what they do is the baseline's affair."""
    baseline: TestRun | None = None
    """The suite of the base: with nothing but tests added, old ones do what they did."""
    flaky: frozenset[str] = frozenset()
    owes_failing: bool = True
    """Whether at least one test must fail now. Else one that passes is a guard, and none need be there."""
    imported: bool = False
    """Nobody here wrote them: one that passes is a guard, though at least one must fail."""
    base_tests: str = ""
    """The tree that old tests are compared with: the base with the renames that the request asks for."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A test that the role says it has written."""

    path: str
    name: str
    guard: bool
    requirement: str


def prove_red(runner: PristineRunner, case: RedCase) -> Verdict:
    """Runs the suite on the base with nothing but its tests added."""
    git = runner.workspace.git
    changed = git.diff_names(case.began_with or case.entry_tree, case.tree)
    outside = [change.path for change in changed if not runner.is_test(change.path)]
    if outside and not case.same_author:
        return _fail(
            [f"`{path}` changed, and only tests may change in RED" for path in outside[:MAX_REASONS]], runner
        )
    red_tree = _tests_only(runner, case) if outside or case.began_with else case.tree
    if taken := shadowing(runner, case.entry_tree, red_tree if case.began_with else case.tree, case.request):
        return _fail(taken, runner)
    if wrong := _given_up(runner, case, red_tree):
        return _fail(wrong, runner)
    declared = declared_tests(case.suite)
    entries = {entry.path: entry for entry in git.ls_tree(red_tree)}
    if misplaced := _misplaced(runner, {test.path for test in declared}, entries):
        return _fail(misplaced, runner)

    files = sorted({test.path for test in declared})
    if not files:
        return _fail([NO_TEST], runner) if case.owes_failing else _passed(case, red_tree, {}, {}, runner)
    runs = [runner.run(red_tree)]
    if runs[0].status != "ran":
        return Verdict("not_run", (runs[0].reason,), {"runs": list(runner.runs)})
    sources = {path: (git.read_blob(red_tree, path) or b"").decode("utf-8", "replace") for path in files}
    promised = texts(case.specification, "files_to_create") + texts(case.specification, "files_to_modify")
    proof, reasons = _judge(runs[0], declared, sources, promised, case)
    shown = {_function(identity) for identity in proof}
    stay = {identity for identity in case.old if _function(identity) not in shown}
    failing = [identity for identity in proof if not _is_guard(proof[identity])]
    dead, flags = lifeless(failing, sources, stay)
    without = unproved(case.specification, proof, owes_failing=case.owes_failing)
    if reasons := [*reasons, *dead, *_guards_alone(case, without)]:
        return _fail(reasons, runner)
    disturbed = disturbance(runner, case, runs[0], red_tree)
    if disturbed.reasons:
        return _fail(list(disturbed.reasons), runner)
    runs += [runner.run(red_tree, _alone(proof)) for _ in range(RUNS - 1)]
    if reasons := unlike(runs, proof):
        return _fail(["A test that differs between runs proves nothing:", *reasons], runner)
    flags += [
        *unproved_flags(case.specification, without),
        *twins(proof, sources),
        *support_flags(runner, case.entry_tree, red_tree, files),
    ]
    kept = {change.path for change in git.diff_names(case.entry_tree, red_tree)} | set(files)
    kept |= {path for path in entries if shares_fixtures(path)}
    kept |= {path for file in files for path in inputs(sources[file], file)}
    locked: dict[str, Json] = {
        path: [entries[path].mode, entries[path].oid] for path in sorted(kept & set(entries))
    }
    passed = _passed(case, red_tree, proof, locked, runner)
    told: dict[str, Json] = {
        "flags": [flag.to_json() for flag in flags],
        KEY: {**without},
        "flaky": [*sorted(disturbed.flaky)],
    }
    return replace(passed, record={**passed.record, **told})


def _guards_alone(case: RedCase, without: Mapping[str, str]) -> list[str]:
    return only_guarded(case.specification, case.suite, without) if case.owes_failing else []


def _passed(
    case: RedCase, red_tree: str, proof: dict[str, Json], locked: dict[str, Json], runner: PristineRunner
) -> Verdict:
    record: dict[str, Json] = {
        "red_tree": red_tree,
        "same_author": case.same_author,
        "tests": proof,
        "locked": locked,
        "runs": list(runner.runs),
    }
    return Verdict("passed", (), record)


def _misplaced(
    runner: PristineRunner, declared: Collection[str], there: Mapping[str, TreeEntry]
) -> list[str]:
    """Files that a suite names and that are not there, no tests of this repository, or no files."""
    if stray := sorted(path for path in declared if not runner.is_test(path)):
        folders = Counter(path.rpartition("/")[0] for path in there if runner.is_test(path)).most_common(1)
        move = f"; they are in `{folders[0][0]}/`: write it there" if folders and folders[0][0] else ""
        return [f"`{path}` is not among the tests of this repository{move}" for path in stray]
    if missing := sorted(set(declared) - set(there)):
        return [
            f"`{path}` is not there; create it, or name the file that has these tests" for path in missing
        ]
    links = sorted(path for path in declared if there[path].mode == LINK)
    return [f"`{path}` is a link, so its text cannot be locked; write it as a file" for path in links]


def _alone(proof: Mapping[str, Json]) -> list[str]:
    """What to run to see these tests again: each by its id, or by its file where that could not be loaded."""
    return sorted(
        {
            identity.partition("::")[0]
            if isinstance(entry, dict) and entry["phase"] == "collect"
            else identity
            for identity, entry in proof.items()
        }
    )


def _given_up(runner: PristineRunner, case: RedCase, red_tree: str) -> list[str]:
    """Old tests are given up by their exact ids, and changed with the new ones; the others lose nothing."""
    base = case.base_tests or runner.workspace.git.tree_of(runner.base_commit)
    return (
        unknown_ids(case.suite, case.old)
        or weakened_tests(runner, base, red_tree, case.suite, case.old)
        or edited_tests(runner, base, red_tree, case.suite, case.old)
        or untouched(runner, base, red_tree, case.suite)
    )


def declared_tests(suite: Mapping[str, Json]) -> list[Declared]:
    """The tests that a suite names."""
    return [
        Declared(
            str(file.get("path", "")),
            _bare(str(test.get("name", ""))),
            bool(test.get("guard", False)),
            str(test.get("requirement_ref", "")),
        )
        for file in objects(suite, "test_files")
        for test in objects(file, "tests")
    ]


def _bare(name: str) -> str:
    """The name without a path before it or parameters after it."""
    return (
        name.partition("::")[2].partition("[")[0]
        if is_code(name.partition("::")[0])
        else name.partition("[")[0]
    )


def _tests_only(runner: PristineRunner, case: RedCase) -> str:
    git = runner.workspace.git
    wanted = {
        change.path for change in git.diff_names(case.entry_tree, case.tree) if runner.is_test(change.path)
    }
    there = {entry.path: (entry.mode, entry.oid) for entry in git.ls_tree(case.tree) if entry.path in wanted}
    return git.overlay_tree(case.entry_tree, {path: there.get(path) for path in wanted})


def _judge(
    run: TestRun,
    declared: list[Declared],
    sources: Mapping[str, str],
    promised: list[str],
    case: RedCase,
) -> tuple[dict[str, Json], list[str]]:
    proof: dict[str, Json] = {}
    reasons: list[str] = []
    for test in declared:
        if test.path in run.collect_errors:
            reason = missing_import(run.collect_errors[test.path], test.path, promised)
            ids = [
                identity for identity in test_ids(sources[test.path], test.path) if names_test(identity, test)
            ]
            if reason is None or test.guard or not ids:
                reasons.append(
                    f"{test.path} cannot be collected: {error_line(run.collect_errors[test.path])}"
                )
            for identity in ids if reason else ():
                proof[identity] = _entry(test, "error", "collect", reason or "")
            continue
        ids = [
            identity
            for identity in run.results
            if identity.startswith(f"{test.path}::") and names_test(identity, test)
        ]
        if not ids:
            reasons.append(f"{test.path} has no test {test.name}")
        failing = {_function(each) for each in ids if run.results[each].outcome not in GOOD}
        for identity in ids:
            result = run.results[identity]
            why = f"{result.exception}: {result.message}".strip(": ")
            found = test
            # One case of a test fails: those beside it that pass say what stays as it is.
            if result.outcome in GOOD and (
                case.imported or not case.owes_failing or _function(identity) in failing
            ):
                found = replace(test, guard=True)
            reasons += _not_red(found, result, why)
            inside = result.raised_in if result.raised_in != test.path else ""
            proof[identity] = {
                **_entry(found, result.outcome, result.phase, why),
                **({"raised_in": inside} if inside else {}),
            }
    reasons += _undeclared(run, declared, proof, case.old)
    if case.owes_failing and all(_is_guard(entry) for entry in proof.values()) and not reasons:
        reasons.append(NOTHING_FAILS)
    return proof, reasons[:MAX_REASONS]


def _is_guard(entry: Json) -> bool:
    return isinstance(entry, dict) and entry["guard"] is True


def _not_red(test: Declared, result: TestResult, why: str) -> list[str]:
    if test.guard:
        return (
            []
            if result.outcome in GOOD
            else [f"{result.id} is a guard and must pass now; it ended in {result.outcome}: {why}"]
        )
    if result.outcome in GOOD:
        return [f"{result.id} passes already; a test of new behaviour must fail now (or mark it as a guard)"]
    if result.outcome != "failed" or result.phase != "call":
        return [
            (
                f"{result.id} ends in {result.outcome} during {result.phase} ({why}); it must fail in its "
                "own body"
            )
        ]
    return []


def _undeclared(
    run: TestRun, declared: list[Declared], proof: Mapping[str, Json], old: frozenset[str]
) -> list[str]:
    """New failing tests in the suite's files that the suite does not name."""
    known = {test.path for test in declared}
    return [
        f"{identity} fails and is not in test_suite; name it with its requirement"
        for identity, result in run.results.items()
        if "::" in identity
        and identity.partition("::")[0] in known
        and identity not in old | set(proof)
        and result.outcome not in GOOD
    ]


def _entry(test: Declared, outcome: str, phase: str, why: str) -> dict[str, Json]:
    return {
        "requirement": test.requirement,
        "guard": test.guard,
        "outcome": outcome,
        "phase": phase,
        "reason": why[:500],
    }


def _function(identity: str) -> str:
    return identity.partition("[")[0]


def names_test(identity: str, test: Declared) -> bool:
    """Whether a collected id is a case of a declared test. Titles are sentences, and which sign stands
    between a suite's and its test's is the runner's own: there the words decide.
    """
    inside = identity.partition("::")[2].partition("[")[0]
    if inside == test.name or inside.rpartition("::")[2] == test.name:
        return True
    words = _TITLE_WORDS.findall(test.name.partition("[")[0])
    return " " in test.name and words == _TITLE_WORDS.findall(inside)


def _fail(reasons: list[str], runner: PristineRunner) -> Verdict:
    return Verdict("failed", tuple(reasons[:MAX_REASONS]), {"runs": list(runner.runs)})
