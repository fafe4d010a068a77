"""The suite on the base: run once for a commit, an environment and a command, and kept for later tasks."""

import shlex
from dataclasses import dataclass, replace

from agentforge.activities.world import BaselineRecord, World
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.gates.change.documents import texts
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.merged import merged_checks, merged_runs
from agentforge.languages.outcomes import GOOD, TestRun, rerun_flaky
from agentforge.languages.repository import Project
from agentforge.languages.table import is_read
from agentforge.languages.values import CheckRun
from agentforge.store.baselines import keep, read_kept


@dataclass(frozen=True, slots=True)
class BaseSuite:
    """What the tests of the base do, before any work."""

    tests: TestRun
    flaky: frozenset[str]
    runs: tuple[Json, ...]
    """Rows of evidence."""
    is_kept: bool = False
    """Whether an earlier task ran it."""

    @property
    def bad(self) -> list[str]:
        """The tests that fail."""
        return [
            identity
            for identity, result in self.tests.results.items()
            if result.outcome in ("failed", "error") and "::" in identity
        ]


def run_base_suite(world: World, state: State) -> BaseSuite:
    """The suites of the projects that the work touches, each run or kept by itself."""
    every = world.projects(state)
    if len(every) == 1:
        return _suite_of(world, state, None)
    scope = world.scope(state)
    suites = [_suite_of(world, state, each) for each in scope]
    return BaseSuite(
        merged_runs([(each.name, suite.tests) for each, suite in zip(scope, suites, strict=True)]),
        frozenset().union(*(suite.flaky for suite in suites)),
        tuple(row for suite in suites for row in suite.runs),
        is_kept=all(suite.is_kept for suite in suites),
    )


def measured_base(world: World, state: State) -> BaselineRecord:
    """What was measured on the base of all projects that the work touches: what is on record, and of those
    that it touched later, what is measured now.
    """
    record = world.baseline_record(state)
    later = [each for each in world.scope(state) if record.projects and each.name not in record.projects]
    if not later:
        return record
    suites = {each.name: _suite_of(world, state, each) for each in later}
    return replace(
        record,
        tests=merged_runs([("", record.tests), *((name, suite.tests) for name, suite in suites.items())]),
        flaky=record.flaky.union(*(suite.flaky for suite in suites.values())),
        lint=merged_checks(
            [("", record.lint), *((each.name, _lint_of(world, state, each)) for each in later)]
        ),
    )


def _lint_of(world: World, state: State, project: Project) -> CheckRun:
    """What the linter of a project finds on the base; once a task."""
    runner = world.pristine_runner(state, project)
    paths = [entry.path for entry in world.workspace.git.ls_tree(state.base_tree) if is_read(entry.path)]

    def lint() -> CheckRun:
        place = world.workspace.pristine(state.base_tree, state.base_commit)
        return runner.language.runs.lint(world.sandbox, runner.env, place, paths)

    return world.once("lint", state.base_tree, project.name, make=lint)


def _suite_of(world: World, state: State, project: Project | None) -> BaseSuite:
    """How the tests did on the base: as kept from an earlier task, else by running the whole suite now."""
    runner = world.pristine_runner(state, project)
    own = runner.env.parts[project.name][1] if project is not None else runner.env
    folder = world.cache / own.key / "baselines"
    about = _about(replace(runner, env=own), state.base_tree)
    kept = _read(read_kept(folder, about))
    if kept is not None and _still_fails(runner, state.base_tree, kept):
        world.progress("the tests of the base were run for an earlier task; their outcomes are used")
        return kept
    world.progress(f"running the tests on the base: {shlex.join(runner.command)}")
    run = runner.run(state.base_tree)
    suite = BaseSuite(run, _flaky(runner, state.base_tree, run), tuple(runner.runs))
    if run.status == "ran":
        body: dict[str, Json] = {
            "tests": run.to_json(),
            "flaky": [*sorted(suite.flaky)],
            "runs": [*suite.runs],
        }
        keep(folder, about, body)
    return suite


def _about(runner: PristineRunner, tree: str) -> Json:
    """All that decides what a run says."""
    return {
        "commit": runner.base_commit,
        "tree": tree,
        "environment": runner.env.key,
        "command": [*runner.command],
        "sandbox": runner.sandbox.name,
        "time": round(runner.timeout_s),
        "judge": runner.language.runs.judge_hash(),
    }


def _still_fails(runner: PristineRunner, tree: str, kept: BaseSuite) -> bool:
    """Whether what failed then fails now: a machine may have got what it lacked, and a test that passes again
    is one that can be broken.
    """
    wanted = [identity for identity in kept.bad if identity not in kept.flaky]
    return not wanted or not any(
        result.outcome in GOOD for result in runner.run(tree, wanted).results.values()
    )


def _read(kept: dict[str, Json] | None) -> BaseSuite | None:
    if kept is None:
        return None
    tests, runs = kept.get("tests"), kept.get("runs")
    if not isinstance(tests, dict) or not isinstance(runs, list):
        return None
    try:
        run = TestRun.from_json(tests)
    except (KeyError, TypeError):  # of another shape
        return None
    return BaseSuite(run, frozenset(texts(kept, "flaky")), tuple(runs), is_kept=True)


def _flaky(runner: PristineRunner, tree: str, run: TestRun) -> frozenset[str]:
    """Of the tests that fail, those that do not always."""
    bad = BaseSuite(run, frozenset(), ()).bad if run.status == "ran" else []
    if not bad:
        return frozenset()
    found = rerun_flaky(lambda ids: runner.run(tree, ids), bad)
    again = runner.runs[-1]["outcomes"]
    assert isinstance(again, dict)
    return found | frozenset(identity for identity in bad if again.get(identity, "failed") in GOOD)
