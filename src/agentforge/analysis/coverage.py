"""Which lines of a change the tests run: measured by the project's own `coverage`, in the sandbox, on a
pristine checkout.
"""

import ast
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

from agentforge.analysis.symbols import parse
from agentforge.analysis.testrun import (
    PYTEST,
    SCRIPT,
    Start,
    joining,
    lay_judge,
    start_of,
    telling_line,
)
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.environment import Environment, run_env

LIMIT = 80
"""Percent of the changed lines that tests must run."""

MAX_RANGES = 6
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,\d+)? @@")
_USAGE = 4
"""Of pytest: a word of its command line is wrong."""
_PROBE = (
    "import importlib.util as u; print([n for n in ('coverage', 'pytest_cov', 'xdist') if u.find_spec(n)])"
)
_REPORT = (
    "import coverage, sys; c = coverage.Coverage(config_file=sys.argv[1]); c.combine(); "
    "c.json_report(outfile=sys.argv[2])"
)


@dataclass(frozen=True, slots=True)
class CoverageRun:
    """What one run of the suite executed, by file; a file that was never loaded is in neither."""

    status: Literal["ran", "not_run", "not_configured"]
    reason: str = ""
    executed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    missing: Mapping[str, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Covered:
    """How much of some lines was run."""

    lines: int
    """Those that can be executed at all."""
    run: int
    missing: Mapping[str, tuple[int, ...]]

    @property
    def percent(self) -> int:
        """Whole, rounded down; nothing to run is all of it."""
        return 100 * self.run // self.lines if self.lines else 100


def measure(  # noqa: PLR0913 - the facts of one run
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    *,
    command: tuple[str, ...] = PYTEST,
    scratch: Path,
    timeout_s: float,
) -> CoverageRun:
    """Run the whole suite once more and see which lines of `paths` it reaches, child processes included."""
    start = start_of(command)
    if start is None:
        return CoverageRun("not_configured", "the test command is not pytest")
    tree = tree.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="coverage-", dir=scratch)).resolve()
    try:
        return _Measure(sandbox, env, tree, place, timeout_s).go(paths, start)
    finally:
        shutil.rmtree(place, ignore_errors=True)


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

    def go(self, paths: Sequence[str], start: Start) -> CoverageRun:
        # Isolated: a file of the project that is called `coverage` is not the tool.
        there = self._sandbox.run((str(self._env.python), "-I", "-c", _PROBE), self._walls).out
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
        script = (str(self._env.python), *start.options, str(self._place / SCRIPT))
        words = (*script, *start.tail, "-q", "-p", "no:cacheprovider")
        done = self._sandbox.run((*words, *quiet), walls)
        if (
            done.code == _USAGE and quiet
        ):  # the project turns those plugins off, and pytest does not know their words
            done = self._sandbox.run(words, walls)
        if done.timed_out:
            return CoverageRun(
                "not_run", f"the tests did not end under coverage within {int(self._walls.timeout_s)} s"
            )
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
            (str(self._env.python), "-I", "-c", _REPORT, str(rules), str(report)), self._walls
        )
        if b"No data to" in done.err:  # what the tests loaded is none of these files
            return CoverageRun("ran", "no test loaded a changed file")
        try:
            files = (
                json.loads(report.read_bytes())["files"]
                if report.is_file() and not report.is_symlink()
                else None
            )
        except (ValueError, KeyError, TypeError):
            files = None
        if not isinstance(files, dict):
            return CoverageRun(
                "not_run", f"coverage wrote no report: {telling_line(done.err.decode('utf-8', 'replace'))}"
            )
        executed = {path: frozenset(entry["executed_lines"]) for path, entry in files.items()}
        missing = {path: frozenset(entry["missing_lines"]) for path, entry in files.items()}
        return CoverageRun("ran", "", executed, missing)


def covered(
    run: CoverageRun, texts: Mapping[str, str], changed: Mapping[str, Collection[int]] | None = None
) -> Covered:
    """The part of the changed lines that was run; without `changed`, of all lines of these files."""
    lines, reached = 0, 0
    missing: dict[str, tuple[int, ...]] = {}
    for path, text in texts.items():
        done = run.executed.get(path, frozenset())
        left = run.missing.get(path, frozenset()) if path in run.executed else statements(text)
        if changed is not None:
            wanted = frozenset(changed.get(path, ()))
            done, left = done & wanted, left & wanted
        lines, reached = lines + len(done) + len(left), reached + len(done)
        if left:
            missing[path] = tuple(sorted(left))
    return Covered(lines, reached, missing)


def uncovered(found: Covered, limit: int = LIMIT, of: str = "the changed lines") -> list[str]:
    """What is too little: which lines of which file no test runs."""
    if found.percent >= limit:
        return []
    why = f"tests run {found.percent}% of {of}, {limit}% are needed: take out what no test needs"
    return [f"{path}: no test runs {_ranges(lines)}; {why}" for path, lines in sorted(found.missing.items())]


def added_lines(patch: bytes) -> frozenset[int]:
    """The numbers that the new lines of one file have after a patch."""
    found: set[int] = set()
    number = 0
    for line in patch.split(b"\n"):
        if (hunk := _HUNK.match(line)) is not None:
            number = int(hunk[1])
        elif number and line[:1] == b"+":
            found.add(number)
            number += 1
        elif number and line[:1] == b" ":
            number += 1
    return frozenset(found)


def statements(text: str) -> frozenset[int]:
    """The lines of a file that can be executed: where its statements start, documentation aside."""
    tree = parse(text)
    nodes = ast.walk(tree) if tree is not None else ()
    return frozenset(node.lineno for node in nodes if isinstance(node, ast.stmt) and not _says_only(node))


def _says_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _ranges(lines: Sequence[int]) -> str:
    starts = [lines[0], *(after for before, after in pairwise(lines) if after > before + 1)]
    ends = [*(before for before, after in pairwise(lines) if after > before + 1), lines[-1]]
    named = [
        str(start) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)
    ]
    more = f" and {len(named) - MAX_RANGES} more places" if len(named) > MAX_RANGES else ""
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(named[:MAX_RANGES])}{more}"
