"""What shows that new tests of old code are worth having: each notices a mistake that is put into the lines
it runs, or runs lines that no test ran; and what was repaired is stable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentforge.core.reply import Json
from agentforge.gates.new_tests.mutation import MutationRun, try_mutants
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.gates.suite.superseded import superseded_ids
from agentforge.languages.outcomes import ALL, GOOD, Lines, TestRun, Watch
from agentforge.languages.symbols import decode
from agentforge.languages.table import is_code
from agentforge.languages.tests import asserts, is_run

STABLE_RUNS = 5
"""How often a test that was repaired must end alike."""


@dataclass(frozen=True, slots=True)
class NewTests:
    """What was found of tests that pass already."""

    reasons: tuple[str, ...] = ()
    not_run: str = ""
    """Why nothing can be said."""
    proved_by: Mapping[str, str] = field(default_factory=dict)
    mistakes: MutationRun | None = None

    def to_json(self) -> dict[str, Json]:
        """As the record of the gate keeps it."""
        found: dict[str, Json] = {"proved_by": {**self.proved_by}}
        return {**found, "mutants": self.mistakes.to_json()} if self.mistakes else found


def prove_new_tests(
    runner: PristineRunner, base: str, tree: str, old: frozenset[str], suite: Mapping[str, Json]
) -> NewTests:
    """Every new or repaired test of a tree in which nothing but tests changed."""
    git = runner.workspace.git
    changed = [change.path for change in git.diff_names(base, tree) if change.status != "D"]
    files = [path for path in changed if runner.is_test(path) and is_code(path) and is_run(path)]
    if not files:
        return NewTests()
    source = [
        entry.path for entry in git.ls_tree(tree) if is_code(entry.path) and not runner.is_test(entry.path)
    ]
    run = runner.run(tree, files, Watch(tuple(source)))
    if run.status != "ran":
        return NewTests(not_run=run.reason)
    new = [identity for identity in run.results if "::" in identity and identity not in old]
    reasons = _must_pass(runner, tree, run, new) or _must_be_stable(runner, tree, run, suite)
    if reasons or not new:
        return NewTests(tuple(reasons))
    return _worth(runner, base, tree, run, new, source)


def _must_pass(runner: PristineRunner, tree: str, run: TestRun, new: Sequence[str]) -> list[str]:
    failing = [
        f"{identity} is a test of code that is there, and ends in {run.results[identity].outcome}: "
        f"{run.results[identity].message}"
        for identity in new
        if run.results[identity].outcome != "passed"
    ]
    return failing or [
        f"{identity} asserts nothing that could fail; let it assert what the code does"
        for identity in new
        if not asserts(_text(runner, tree, identity.partition("::")[0]), identity.partition("[")[0])
    ]


def _must_be_stable(runner: PristineRunner, tree: str, run: TestRun, suite: Mapping[str, Json]) -> list[str]:
    repaired = sorted(identity for identity in superseded_ids(suite) if identity in run.results)
    if not repaired:
        return []
    runs = [run, *(runner.run(tree, repaired) for _ in range(STABLE_RUNS - 1))]
    found = {identity: [result_of(each, identity).outcome for each in runs] for identity in repaired}
    return [
        f"{identity} was repaired and ends in {', '.join(dict.fromkeys(outcomes))} over {STABLE_RUNS} "
        "runs; it must pass in each"
        for identity, outcomes in found.items()
        if set(outcomes) != {"passed"}
    ]


def _worth(
    runner: PristineRunner, base: str, tree: str, run: TestRun, new: Sequence[str], source: Sequence[str]
) -> NewTests:
    reached = run.reached.tests if run.reached is not None else {}
    proved = {
        identity: "not measured" for identity in new if run.reached is None or identity in run.reached.lost
    }
    open_ids = [identity for identity in new if identity not in proved]
    tried = try_mutants(runner, tree, _joined(reached, open_ids), open_ids)
    proved |= {identity: "a mistake that it notices" for identity in open_ids if identity in tried.killers()}
    for identity in (each for each in open_ids if each not in proved):
        own = try_mutants(runner, tree, _joined(reached, [identity]), [identity])
        if own.killers():
            proved[identity] = "a mistake that it notices"
    if undecided := [each for each in open_ids if each not in proved and any(reached.get(each, {}).values())]:
        before = _ran_before(runner, base, source)
        proved |= {
            identity: "lines that no test ran before"
            for identity in undecided
            if any(not lines <= before.get(path, frozenset()) for path, lines in reached[identity].items())
        }
    reasons = [
        f"{identity} {_why_not(reached.get(identity, {}))}" for identity in new if identity not in proved
    ]
    return NewTests(tuple(reasons), proved_by=proved, mistakes=tried)


def _why_not(lines: Lines) -> str:
    if not any(lines.values()):
        return "runs no line of the project; let it call what it is to test"
    return (
        "notices no mistake in the lines that it runs, and runs none that were not tested; let it assert "
        "what they do"
    )


def _ran_before(runner: PristineRunner, base: str, source: Sequence[str]) -> Lines:
    """The lines that the base's tests run, in their bodies or while they are set up."""
    run = runner.run(base, (), Watch(tuple(source), together=True))
    if run.reached is None:
        return {}
    return _joined({**run.reached.tests, "": run.reached.setup}, [*run.reached.tests, ""])


def _joined(by_test: Mapping[str, Lines], ids: Sequence[str]) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for identity in ids:
        for path, lines in by_test.get(identity, {}).items():
            found[path] = found.get(path, frozenset()) | lines
    return found


def _text(runner: PristineRunner, tree: str, path: str) -> str:
    return decode(runner.workspace.git.read_blob(tree, path) or b"", path)


def watched_suite(runner: PristineRunner, tree: str, changed: Lines) -> TestRun:
    """A run of all tests of a tree that sees which lines of the changed files they run, and their calls."""
    return runner.run(tree, (), Watch(tuple(sorted(changed)), together=True))


def reached_lines(run: TestRun, changed: Lines) -> Lines | None:
    """Which of the changed lines the tests of a run reach, in their bodies or while they are set up; None
    where that could not be measured. Some may be missing where the watch was replaced for a while.
    """
    if run.status != "ran" or run.reached is None:
        return None
    passing = [ALL, *(identity for identity, result in run.results.items() if result.outcome in GOOD)]
    own, started = (_joined(lines, passing) for lines in (run.reached.tests, run.reached.children))
    seen = (own, started, run.reached.setup)
    return {
        path: lines & frozenset().union(*(each.get(path, ()) for each in seen))
        for path, lines in changed.items()
    }
