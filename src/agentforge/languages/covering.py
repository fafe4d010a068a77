"""How much of some files the tests run, for a language whose test runs can be watched."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agentforge.languages.grammars.measured import statements
from agentforge.languages.outcomes import Lines, Reached, TestRun, Watch
from agentforge.languages.plain.answers import PlainRuns
from agentforge.languages.values import CoverageRun, Environment
from agentforge.sandbox.base import Sandbox


class WatchedRuns(PlainRuns):
    """`SandboxRuns` of a language whose tests can be watched."""

    run_tests: Callable[..., TestRun]
    """The language's own."""

    def measure(
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        paths: Sequence[str],
        /,
        *,
        tests: Sequence[str] = (),
        command: tuple[str, ...],
        **limits: Any,  # noqa: ANN401 - where it runs, and how long
    ) -> CoverageRun:
        """Which lines of `paths` the tests of these files run; without any, the whole suite."""

        def run(watch: Watch) -> TestRun:
            return self.run_tests(sandbox, env, tree, ids=tests, base_command=command, watch=watch, **limits)

        return coverage_of(run, tree, paths)


def coverage_of(run_watched: Callable[[Watch], TestRun], tree: Path, paths: Sequence[str]) -> CoverageRun:
    """Which lines of `paths` are run, given what runs the tests while they are watched."""
    there = {path: _text(tree, path) for path in paths if (tree / path).is_file()}
    can_run = {path: lines for path, text in there.items() if (lines := statements(text, path))}
    if not can_run:
        return CoverageRun("not_configured", "no line of these files can be watched")
    run = run_watched(Watch(tuple(can_run), children=True, together=True))
    if run.status != "ran":
        return CoverageRun("not_run", run.reason)
    if run.reached is None:
        return CoverageRun("not_configured", "which lines these tests run cannot be seen")
    executed = {path: _ran(run.reached, path) & lines for path, lines in can_run.items()}
    missing = {path: lines - executed[path] for path, lines in can_run.items()}
    if any(missing.values()) and run.reached.started and not any(run.reached.children.values()):
        return CoverageRun("not_configured", "tests may start programs whose lines cannot be seen")
    return CoverageRun("ran", "", executed, missing)


def _ran(reached: Reached, path: str) -> frozenset[int]:
    seen: list[Lines] = [*reached.tests.values(), *reached.children.values()]
    return frozenset().union(*(lines.get(path, frozenset()) for lines in seen))


def _text(tree: Path, path: str) -> str:
    return (tree / path).read_text(encoding="utf-8", errors="replace")
