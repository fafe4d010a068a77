"""Runs of tests for verdicts: on a pristine checkout of a recorded tree, in the sandbox and the task's
environment.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.core.errors import Exhausted, Unusable, UsageError
from agentforge.core.reply import Json
from agentforge.languages.generated import lay_generated
from agentforge.languages.outcomes import TestResult, TestRun, Watch, absent
from agentforge.languages.port import Language
from agentforge.languages.table import DEFAULT
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.worktree import Workspace
from agentforge.system.files import full_disk

SHORTEST_S = 30.0
TIMES_SLOWEST = 10


@dataclass(frozen=True, slots=True)
class PristineRunner:
    """Runs tests so that nothing but the recorded tree can decide them."""

    workspace: Workspace
    sandbox: Sandbox
    env: Environment
    base_commit: str
    command: tuple[str, ...]
    scratch: Path
    timeout_s: float
    is_test: Callable[[str], bool]
    """Whether a path belongs to the tests of this repository."""
    language: Language = DEFAULT
    """The language whose tests are run."""
    limit_s: float = 0
    """How long one test may take; 0: as long as fits the whole run."""
    runs: list[dict[str, Json]] = field(default_factory=list)
    """Every run so far, for the record."""
    env_for: Callable[[str, Sequence[str]], Environment] | None = None
    """The environment that a tree and these tests ask for, where that may be another than the base's."""

    def env_of(self, tree: str, ids: Sequence[str] = ()) -> Environment:
        """The environment in which a tree is run; `Unusable` or `UsageError` where it cannot be made."""
        return self.env_for(tree, ids) if self.env_for is not None else self.env

    def run(self, tree: str, ids: Sequence[str] = (), watch: Watch | None = None) -> TestRun:
        """One run on a fresh checkout; whatever an earlier run left there is gone. One that was killed from
        outside says nothing, and is run once more.
        """
        try:
            env = self.env_of(tree, ids)
        except Exhausted:
            raise
        except (Unusable, UsageError) as error:
            run = TestRun(self.command, "not_run", f"its environment cannot be built: {error.sentence}")
            self.runs.append(row(run, tree))
            return run
        run = self._run_once(tree, env, ids, watch)
        if run.killed:
            run = self._run_once(tree, env, ids, watch)
        self.runs.append(row(run, tree))
        return run

    def _run_once(self, tree: str, env: Environment, ids: Sequence[str], watch: Watch | None) -> TestRun:
        place = self.workspace.pristine(tree, self.base_commit)
        lay_generated(env, place)
        run = self.language.runs.run_tests(
            self.sandbox,
            env,
            place,
            ids=ids,
            base_command=self.command,
            scratch=self.scratch,
            timeout_s=self.timeout_s,
            limit_s=self.limit_s,
            watch=watch,
        )
        if (trouble := full_disk(self.scratch)) is not None:
            raise trouble  # a test that fails there fails for that, or for nothing that can be told apart
        return run


def time_of_one(baseline: TestRun, timeout_s: float) -> float:
    """How long one test may take, in seconds: far longer than the slowest one of the base took."""
    return min(max(SHORTEST_S, TIMES_SLOWEST * baseline.slowest_ms / 1000), timeout_s / 3)


def row(run: TestRun, tree: str) -> dict[str, Json]:
    """An evidence row: the command, outcomes by test id, tree and output hash."""
    return {
        "command": shlex.join(run.argv),
        "ids": list(run.ids),
        "tree": tree,
        "status": run.status,
        "reason": run.reason,
        "outcomes": {identity: result.outcome for identity, result in sorted(run.results.items())},
        "collect_errors": [*sorted(run.collect_errors)],
        "output_hash": run.output_hash,
        "sandbox": run.sandbox,
        "duration_ms": run.duration_ms,
    }


def result_of(run: TestRun, identity: str) -> TestResult:
    """What a run says about a test, also when it was not there."""
    return run.results.get(identity) or absent(identity, run.collect_errors)
