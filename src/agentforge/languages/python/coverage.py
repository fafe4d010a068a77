"""Which lines of a change the tests run: measured by the project's own `coverage`, in the sandbox, on a
pristine checkout.
"""

import ast
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.languages.python.environment import run_env
from agentforge.languages.python.symbols import parse
from agentforge.languages.python.testrun import (
    PYTEST,
    SCRIPT,
    PytestCommand,
    joining,
    lay_judge,
    start_of,
    telling_line,
)
from agentforge.languages.values import CoverageRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.bounded import LARGEST, read_bounded, remove_tree

_USAGE = 4
"""Of pytest: a word of its command line is wrong."""
_PROBE = (
    "import importlib.util as u; print([n for n in ('coverage', 'pytest_cov', 'xdist') if u.find_spec(n)])"
)
_REPORT = (
    "import coverage, sys; c = coverage.Coverage(config_file=sys.argv[1]); c.combine(); "
    "c.json_report(outfile=sys.argv[2])"
)


def measure(  # noqa: PLR0913 - the facts of one run
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    *,
    tests: Sequence[str] = (),
    command: tuple[str, ...] = PYTEST,
    scratch: Path,
    timeout_s: float,
) -> CoverageRun:
    """Run these test files, or the whole suite, and see which lines of `paths` they reach, child processes
    included.
    """
    start = start_of(command)
    if start is None:
        return CoverageRun("not_configured", "the test command is not pytest")
    tree = tree.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="coverage-", dir=scratch)).resolve()
    try:
        return _Measure(sandbox, env, tree, place, timeout_s).go(paths, start, tests)
    finally:
        remove_tree(place)


class _Measure:
    """One run: the files it needs, and what became of it."""

    def __init__(self, sandbox: Sandbox, env: Environment, tree: Path, place: Path, timeout_s: float) -> None:
        self._sandbox, self._env, self._tree, self._place = sandbox, env, tree, place
        variables = {
            **run_env(env, tree),
            "TMPDIR": str(place),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(place / "hypothesis"),
        }
        self._walls = Confinement(
            cwd=tree, write=(place,), read=(tree, *env.readable), env=variables, timeout_s=timeout_s
        )

    def go(self, paths: Sequence[str], start: PytestCommand, tests: Sequence[str]) -> CoverageRun:
        # Isolated: a file of the project that is called `coverage` is not the tool.
        there = self._sandbox.run((str(self._env.program), "-I", "-c", _PROBE), self._walls).out
        if b"'coverage'" not in there:
            return CoverageRun("not_configured", "the project's environment has no coverage")
        rules = self._rules(paths)
        quiet = [
            *(["--no-cov"] if b"pytest_cov" in there else []),
            *(["-n", "0"] if b"xdist" in there else []),
        ]
        # Loaded as the judge is: a file of the tree that is called `coverage` is not the tool here, either.
        lay_judge(self._place)
        variables = dict(self._walls.env)
        settings = joining(start, variables, ("run", f"--rcfile={rules}", "-m", "pytest"))
        walls = replace(self._walls, env=variables, input=json.dumps(settings).encode())
        script = (str(self._env.program), *start.options, str(self._place / SCRIPT))
        words = (*script, *start.tail, "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors")
        done = self._sandbox.run((*words, *quiet, *tests), walls)
        if (
            done.code == _USAGE and quiet
        ):  # the project turns those plugins off, and pytest does not know their words
            done = self._sandbox.run((*words, *tests), walls)
        if done.timed_out:
            return CoverageRun(
                "not_run", f"the tests did not end under coverage within {int(self._walls.timeout_s)} s"
            )
        if done.beyond:
            return CoverageRun("not_run", f"the tests were out of bounds under coverage: {done.beyond}")
        if done.code not in (0, 1):
            said = telling_line((done.err + b"\n" + done.out).decode("utf-8", "replace"))
            return CoverageRun(
                "not_run",
                f"coverage could not run the tests (exit code {done.code}): {said}".removesuffix(": "),
            )
        return self._read(rules)

    def _rules(self, paths: Sequence[str]) -> Path:
        """Our own settings: where the project writes its data, and what it leaves out of its report, is not
        asked here.
        """
        rules = self._place / "rules"
        include = "".join(f"\n    {self._tree / path}" for path in paths)
        rules.write_text(
            f"[run]\ndata_file = {self._place / 'data'}\nparallel = True\npatch = subprocess\ninclude = "
            f"{include}\n",
            "utf-8",
        )
        return rules

    def _read(self, rules: Path) -> CoverageRun:
        if not any(self._place.glob("data*")):
            return CoverageRun("ran", "no test loaded a changed file")
        report = self._place / "report.json"
        done = self._sandbox.run(
            (str(self._env.program), "-I", "-c", _REPORT, str(rules), str(report)), self._walls
        )
        if b"No data to" in done.err:  # what the tests loaded is none of these files
            return CoverageRun("ran", "no test loaded a changed file")
        try:
            files = (
                json.loads(read_bounded(report, LARGEST, follow=False))["files"]
                if report.is_file() and not report.is_symlink()
                else None
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            files = None
        if not isinstance(files, dict):
            return CoverageRun(
                "not_run", f"coverage wrote no report: {telling_line(done.err.decode('utf-8', 'replace'))}"
            )
        executed = {path: frozenset(entry["executed_lines"]) for path, entry in files.items()}
        missing = {path: frozenset(entry["missing_lines"]) for path, entry in files.items()}
        return CoverageRun("ran", "", executed, missing)


def statements(text: str) -> frozenset[int]:
    """The lines of a file that can be executed: where its statements start, documentation aside."""
    tree = parse(text)
    nodes = ast.walk(tree) if tree is not None else ()
    return frozenset(node.lineno for node in nodes if isinstance(node, ast.stmt) and not _says_only(node))


def _says_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
