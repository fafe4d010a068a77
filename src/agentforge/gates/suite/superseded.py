"""Old tests that a task gives up: each by the exact id that the baseline has, with its reason and
requirement.

They are rewritten or removed with the new tests, in RED, and nothing else of the old tests may lose anything.
"""

import difflib
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.gates.suite.renamed_tests import renamed_tests
from agentforge.languages.outcomes import TestRun, covering
from agentforge.languages.table import is_code
from agentforge.languages.tests import asserts, source_of_test, test_ids, weakened, without_tests

SETTLED = frozenset({"passed", "missing"})
"""What a test that was given up may be in the branch: rewritten and true, or gone."""


def superseded_ids(suite: Mapping[str, Json]) -> frozenset[str]:
    """The ids that a suite gives up."""
    return frozenset(str(item.get("id", "")) for item in objects(suite, "supersedes"))


def given_up_whole(suite: Mapping[str, Json], known: Iterable[str]) -> frozenset[str]:
    """The functions of which a suite gives up every case."""
    kept = {_function(identity) for identity in set(known) - superseded_ids(suite)}
    return frozenset(_function(identity) for identity in superseded_ids(suite)) - kept


def unknown_ids(suite: Mapping[str, Json], known: Collection[str]) -> list[str]:
    """Ids that are no test of the baseline, each with the nearest that is one."""
    tests = sorted(identity for identity in known if "::" in identity)
    found = []
    for identity in sorted(superseded_ids(suite) - set(tests)):
        within = [test for test in tests if identity in covering(test)]
        close = difflib.get_close_matches(identity, tests, 1, 0.3)
        why = "is not a test of the baseline" + (f"; the nearest is `{close[0]}`" if close else "")
        if within:
            why = f"matches {len(within)} tests of the baseline; name each by its own id, as `{within[0]}`"
        found.append(f"supersedes: `{identity}` {why}")
    return found


def untouched(runner: PristineRunner, base: str, tree: str, suite: Mapping[str, Json]) -> list[str]:
    """Tests that are given up and stand as they were, or that say nothing any more: each is to be rewritten
    or removed. What a test compares with may stand in a file beside it, or around the tests of a file.
    """
    found = []
    beside = _compared_with_changed(runner, base, tree)
    for identity in sorted(superseded_ids(suite)):
        path = identity.partition("::")[0]
        before, after = _text(runner, base, path), _text(runner, tree, path)
        if runner.language.tests.examples_of(before, identity) is not None:
            continue  # it stands in the documentation of code, which changes with the code
        old, new = source_of_test(before, identity), source_of_test(after, identity)
        if (old, before if old is None else "") == (new, after if old is None else ""):
            if not beside:
                found.append(
                    f"`{identity}` is superseded and has not changed; rewrite it or remove it, with the new "
                    "tests"
                )
        elif new is not None and asserts(before, identity) and not asserts(after, identity):
            found.append(
                f"`{identity}` is superseded and no longer asserts anything; let it assert what is true "
                "now, or "
                "remove it"
            )
    return found


def _compared_with_changed(runner: PristineRunner, base: str, tree: str) -> bool:
    """Whether what tests compare with is another one: kept outputs, tables of cases, helpers."""
    for change in runner.workspace.git.diff_names(base, tree):
        if not runner.is_test(change.path) or change.status == "A":
            continue
        texts = [_text(runner, each, change.path) for each in (base, tree)]
        around = [without_tests(text, change.path, test_ids(text, change.path)) for text in texts]
        if not is_code(change.path) or (all(texts) and around[0] != around[1]):
            return True
    return False


def weakened_tests(
    runner: PristineRunner, base: str, tree: str, suite: Mapping[str, Json], known: Collection[str]
) -> list[str]:
    """What old tests lost between two trees, but for those that are given up or only have another name."""
    git = runner.workspace.git
    cases: dict[str, set[str]] = {}
    for identity in known:
        cases.setdefault(_function(identity), set()).add(identity)
    renamed = renamed_tests(runner, base, tree, known)
    given_up = superseded_ids(suite) | renamed.keys()
    moved = {old.partition("::")[0] for old in renamed} - {new.partition("::")[0] for new in renamed.values()}
    reasons = []
    for change in git.diff_names(base, tree):
        if change.status == "A" or change.path in moved:
            continue
        before = _text(runner, base, change.path)
        if not is_code(change.path):
            reasons += _lost_from_list(runner, tree, change.path, before, given_up)
            continue
        # Tests may share a file with the code.
        held = [name for name in cases if name.startswith(f"{change.path}::")]
        if not runner.is_test(change.path) and not any(source_of_test(before, name) for name in held):
            continue
        lines = weakened(before, _text(runner, tree, change.path), change.path)
        for line in lines:
            name = line.partition(" ")[0]
            all_cases = cases.get(name) or _inheriting(runner, base, name, known) or {name}
            lost_cases = f"{name} lost {len(all_cases & given_up)} of its parametrised cases"
            if not (all_cases <= given_up or (all_cases & given_up and line == lost_cases)):
                reasons.append(f"weakened: {line}")
    return reasons


def _inheriting(runner: PristineRunner, base: str, name: str, known: Collection[str]) -> set[str]:
    """The tests of other classes that run a test which theirs inherit, as from a mixin: under that name it is
    none itself.
    """
    method = name.rpartition("::")[2]
    alike = (each for each in known if _function(each).rpartition("::")[2] == method)
    return {
        each
        for each in alike
        if each.count("::") > 1 and source_of_test(_text(runner, base, each.partition("::")[0]), each) is None
    }


def _lost_from_list(
    runner: PristineRunner, tree: str, path: str, before: str, given_up: Collection[str]
) -> list[str]:
    """What a list of what is built said of how tests are run, and says no more."""
    if not runner.language.declared or path.rpartition("/")[2] not in runner.language.projects.BUILD_FILES:
        return []
    names = tuple(f"::{identity.partition('::')[2]}" for identity in given_up)
    lost = runner.language.tests.weakened(before, _text(runner, tree, path), path)
    return [f"weakened: {line}" for line in lost if not line.partition(" ")[0].endswith(names)]


def edited_tests(
    runner: PristineRunner, base: str, tree: str, suite: Mapping[str, Json], known: Collection[str]
) -> list[str]:
    """Old tests whose text is another one, but for those that are given up or only have another name. Around
    them there may be more tests, imports and fixtures, and before them more marks and cases.
    """
    changed = {change.path for change in runner.workspace.git.diff_names(base, tree) if change.status != "A"}
    gone = superseded_ids(suite) | renamed_tests(runner, base, tree, known).keys()
    given_up = {_function(identity) for identity in gone}
    found = []
    for name in sorted({_function(identity) for identity in known if "::" in identity} - given_up):
        path = name.partition("::")[0]
        if path not in changed:
            continue
        texts = [_text(runner, each, path) for each in (base, tree)]
        old, new = (source_of_test(text, name) for text in texts)
        if old is None and _is_file(runner, name):
            old, new = texts
        if old is not None and _body(old) != _body(new or ""):
            found.append(
                f"`{name}` is an old test, and its text changed; put it back as it was and write a new one "
                "beside it, or name it in supersedes"
            )
    return found


def _is_file(runner: PristineRunner, name: str) -> bool:
    """Whether a test that nobody finds in the text of its file is all of it: a declared command runs it,
    whatever language it is in.
    """
    path, _, own = name.partition("::")
    return runner.language.declared or (own == PurePosixPath(path).stem and runner.is_test(path))


def _body(source: str) -> list[str]:
    return [line for line in source.splitlines() if not line.startswith("@")]


def unsettled(run: TestRun, suite: Mapping[str, Json]) -> list[str]:
    """Tests that were given up and are neither gone nor passing."""
    found = []
    for identity in sorted(superseded_ids(suite)):
        result = result_of(run, identity)
        if result.outcome not in SETTLED or identity.partition("::")[0] in run.collect_errors:
            why = f"{result.exception} {result.message}".strip()
            found.append(
                f"{identity} was superseded and rewritten, and is {result.outcome} now: {why}".rstrip(": ")
            )
    return found


def record_of(run: TestRun, baseline: TestRun, suite: Mapping[str, Json]) -> list[Json]:
    """What became of each, for the evidence and for whoever reads the change."""
    rows: list[Json] = []
    for item in objects(suite, "supersedes"):
        identity = str(item.get("id", ""))
        after = result_of(run, identity).outcome
        rows.append(
            {
                "id": identity,
                "requirement": item.get("requirement_ref"),
                "reason": item.get("reason"),
                "before": result_of(baseline, identity).outcome,
                "after": "removed" if after == "missing" else f"rewritten, {after}",
            }
        )
    return rows


def superseded_lines(rows: object) -> list[str]:
    """The record in words, a line for each test."""
    return [
        f"{row['id']} ({row['after']}), for {row['requirement']}: {row['reason']}"
        for row in objects({"rows": rows}, "rows")
    ]


def _function(identity: str) -> str:
    path, separator, name = identity.partition("::")
    return path + separator + name.partition("[")[0]


def _text(runner: PristineRunner, tree: str, path: str) -> str:
    return (runner.workspace.git.read_blob(tree, path) or b"").decode("utf-8", "replace")
