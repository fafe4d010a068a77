"""Run a project's tests in the sandbox, and say what each of them did."""

import json
import re
import secrets
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

from agentforge.core.reply import Json
from agentforge.languages.outcomes import (
    NO_TESTS,
    Regression,
    TestResult,
    TestRun,
    Watch,
    absent,
    compare,
    covering,
    rerun_flaky,
)
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.testreport import Report, last_line, read_report_file
from agentforge.languages.safe_ids import reached_with_names, safe_names, to_run, with_names
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.bounded import remove_tree
from agentforge.system.canon import digest
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact

__all__ = ["PYTEST", "Regression", "TestResult", "TestRun", "compare", "foreign", "rerun_flaky", "run_tests"]

PYTEST = ("python", "-m", "pytest")
SCRIPT = "agentforge_judge.py"
PARTS = {
    "pytest_plugin.py": SCRIPT,
    "judge_canaries.py": "agentforge_judge_canaries.py",
    "judge_clock.py": "agentforge_judge_clock.py",
    "judge_frame.py": "agentforge_judge_frame.py",
}
"""What is copied beside a run, with the names that it has there."""
WATCH = "agentforge_line_watch.py"
CALLS = ("call_watch.py", "plain_values.py")
OUTPUT_LIMIT = 20_000
LOOKED_AT = 4 * OUTPUT_LIMIT
"""Redaction comes before the cut: half of a key has no shape."""
GRACE_S = 5
"""How long a test may take to notice that its time is over, before the process is ended."""
MOST_HUNG = 3
"""How often a run is begun again because a test hangs that cannot be interrupted."""
_USAGE = 4
"""The exit code of pytest for options that it does not know, or paths that are not there."""
_SIGNALLED = 128
"""Added to the number of a signal by what starts programs behind walls, as shells do."""
_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGHUP})
RUNNERS = frozenset({"coverage", "hatch", "pdm", "pipenv", "poetry", "rye", "uv"})
"""Programs that start pytest in an environment, or measure it. A run has its environment without them."""


@dataclass(frozen=True, slots=True)
class PytestCommand:
    """What of a test command is kept when the judge starts pytest."""

    options: tuple[str, ...]
    """Options of the interpreter."""
    tail: tuple[str, ...]
    """Options and paths for pytest."""
    from_folder: bool
    """Whether modules of the folder it starts in can be imported, as `python -m` has it."""


def run_tests(  # noqa: PLR0913 - the facts of one run
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    *,
    ids: Sequence[str] = (),
    base_command: tuple[str, ...] = PYTEST,
    scratch: Path,
    timeout_s: float = 600,
    limit_s: float = 0,
    grace_s: float = GRACE_S,
    writable: bool = False,
    watch: Watch | None = None,
) -> TestRun:
    """Run the tests named by `ids` (node ids, files or folders relative to `tree`; none: all that the plain
    command runs).

    `scratch` is a folder of ours outside the tree; what the run needs is made below it and removed. A test
    that takes longer than `limit_s` (0: a third of the whole time) has failed. Where it takes the process
    with it, the run is begun again without calling that test.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    limit_s = limit_s or timeout_s / 3
    hung: dict[str, str] = {}
    while True:
        place = Path(tempfile.mkdtemp(prefix="run-", dir=scratch)).resolve()
        try:
            once = _PytestRun(
                sandbox, env, tree.resolve(), tuple(ids), place, (limit_s, grace_s), hung, watch
            )
            run = once.go(base_command, timeout_s, writable=writable)
        finally:
            remove_tree(place)
        if once.stuck is None or once.stuck[0] in hung or len(hung) == MOST_HUNG:
            return run
        hung |= [once.stuck]


class _PytestRun:
    """One run: the files it needs, the command, and what became of it."""

    stuck: tuple[str, str] | None = None
    """The test that could not be interrupted when its time was over, and where it was."""

    def __init__(  # noqa: PLR0913, PLR0917 - as above
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        ids: tuple[str, ...],
        place: Path,
        limits: tuple[float, float],
        hung: dict[str, str],
        watch: Watch | None = None,
    ) -> None:
        self._sandbox, self._env, self._tree, self._ids = sandbox, env, tree, ids
        (self._limit_s, self._grace_s), self._hung, self._place = limits, hung, place
        self._plugin, self._out = place / "plugin", place / "out"
        self._key, self._token = secrets.token_bytes(32), secrets.token_hex(16)
        self._report = self._out / "report"
        self._watch = watch

    def go(self, base_command: tuple[str, ...], timeout_s: float, *, writable: bool) -> TestRun:
        argv = (*base_command, *self._ids)
        start = start_of(base_command)
        if start is None:
            return TestRun(argv, "not_run", unknown_command(base_command), self._ids)
        self._prepare()
        words = (*start.tail, "-q", "-o", f"cache_dir={self._out / 'cache'}")
        done = self._sandbox.run(
            (str(self._env.program), *start.options, str(self._plugin / SCRIPT), *words),
            self._confinement(start, timeout_s, writable=writable),
        )
        report = read_report_file(self._report, self._key, self._token, str(self._tree))
        self.stuck = report.stuck(done.seconds_ms / 1000, self._limit_s)
        names = safe_names(report.results)
        if names:
            report.results = with_names(report.results, names)
            report.groups = {
                names.get(identity, identity): group for identity, group in report.groups.items()
            }
        self._add_missing(report)
        reason = self._reason(done, report, timeout_s)
        printed = done.out + (b"\n" if done.out and done.err else b"") + done.err
        return TestRun(
            # The folder of the run changes every time: it is no part of what was asked.
            argv=argv,
            status="not_run" if reason else "ran",
            reason=reason,
            ids=self._ids,
            results=report.results,
            collect_errors=report.collect_errors,
            modules=report.modules,
            patched=report.patched,
            plugins=report.plugins,
            told=report.told,
            deselected=report.deselected,
            unvouched=report.unvouched(),
            rewired=report.rewired,
            slowest_ms=report.slowest_ms,
            output=redact(printed.decode("utf-8", "replace")[-LOOKED_AT:])[0][-OUTPUT_LIMIT:],
            output_hash=digest(printed),
            duration_ms=done.seconds_ms,
            sandbox=self._sandbox.name,
            reached=reached_with_names(report.reached, names),
            killed=bool(_killer(done, report)),
        )

    def _prepare(self) -> None:
        self._plugin.mkdir()
        (self._out / "tmp").mkdir(parents=True)
        lay_judge(self._plugin)
        if self._watch is not None:
            (self._out / "lines").mkdir()
            lay_watch(self._plugin)

    def _confinement(self, start: PytestCommand, timeout_s: float, *, writable: bool) -> Confinement:
        variables = dict(run_env(self._env, self._tree))
        settings = {
            "report": str(self._report),
            "key": self._key.hex(),
            "token": self._token,
            "root": str(self._tree),
            "roots": sorted({str(self._tree), str(self._env.source.resolve())}),
            "names": top_level_names(self._tree, self._env.import_roots),
            "ids": list(dict.fromkeys(map(to_run, self._ids))),
            "limit_s": self._limit_s,
            "grace_s": self._grace_s,
            "hung": dict(self._hung),
            "hidden": [str(self._place)],
            "watch": self._watch_settings(),
            **joining(start, variables),
        }
        variables["TMPDIR"] = str(self._out / "tmp")
        # What tools would write into the tree, or remember from run to run.
        variables["COVERAGE_FILE"] = str(self._out / "coverage")
        variables["HYPOTHESIS_STORAGE_DIRECTORY"] = str(self._out / "hypothesis")
        tree_write, tree_read = ((self._tree,), ()) if writable else ((), (self._tree,))
        return Confinement(
            cwd=self._tree,
            write=(self._out, *tree_write),
            read=(self._plugin, *self._env.readable, *tree_read),
            env=variables,
            timeout_s=timeout_s,
            input=json.dumps(settings).encode(),
        )

    def _watch_settings(self) -> dict[str, Json] | None:
        if self._watch is None:
            return None
        return {
            "root": str(self._tree),
            "files": [*self._watch.files],
            "data": [*self._watch.data],
            "folder": str(self._out / "lines"),
            "children": self._watch.children,
        }

    def _add_missing(self, report: Report) -> None:
        """An id that was asked for and covers no result is a result too."""
        covered = {name for identity in report.results for name in covering(identity)}
        for identity in self._ids:
            if identity not in covered:
                report.results[identity] = absent(identity, report.collect_errors)

    def _reason(self, done: Completed, report: Report, timeout_s: float) -> str:
        """Why the run counts as not run; empty when it ran."""
        where = f", in {report.last_started}" if report.last_started else ""
        if done.timed_out:
            return f"the tests did not end within {int(timeout_s)} s{where}"
        if done.beyond:
            return f"the run was out of bounds{where}: {done.beyond}"
        if killer := _killer(done, report):
            return f"the test process was killed by {killer}{where}"
        if not report.collected and not report.ended and not report.tampered:
            printed = (done.err + b"\n" + done.out).decode("utf-8", "replace")
            if "No module named '_pytest'" in printed:
                return "pytest is not in the environment"
            said = telling_line(redact(printed[:LOOKED_AT])[0])
            stopped = (
                "pytest refuses the options that it is given, by the command or by the project's settings"
                if done.code == _USAGE
                else f"pytest stopped before it collected (exit code {done.code})"
            )
            return f"{stopped}: {said}" if said else stopped
        doubt = report.doubt()
        if doubt:
            return doubt if report.ended or report.tampered else f"{doubt} (exit code {done.code})"
        if not report.groups and not report.collect_errors:
            return NO_TESTS
        return ""


def _killer(done: Completed, report: Report) -> str:
    """The signal that ended a run before its report did, if it came from outside."""
    number = -done.code if done.code < 0 else done.code - _SIGNALLED
    if number not in _FROM_OUTSIDE or done.timed_out or done.beyond or report.ended or report.tampered:
        return ""
    return signal.Signals(number).name


def start_of(command: Sequence[str]) -> PytestCommand | None:
    """How a command starts pytest: directly, or by a runner whose one effect is the environment that a run
    has anyway; None where it does not say.
    """
    words = list(command)
    for place, word in enumerate(words):
        if word not in ("pytest", "py.test"):
            continue
        before, tail = words[:place], tuple(words[place + 1 :])
        if not before:
            return PytestCommand((), tail, from_folder=False)
        if PurePosixPath(before[0]).name in RUNNERS:
            return PytestCommand((), tail, from_folder="-m" in before)
        if before[-1] == "-m" and PurePosixPath(before[0]).name.startswith("python"):
            runs_another = "-m" in before[:-1]
            return PytestCommand(() if runs_another else tuple(before[1:-1]), tail, from_folder=True)
        return None
    return None


def unknown_command(command: Sequence[str]) -> str:
    """Why a command is not run."""
    return (
        f"`{' '.join(command)}` does not start pytest, and the verdicts are pytest's; correct "
        "`commands.test` in `.agentforge/config/settings.yaml`, for example to `python -m pytest`"
    )


def lay_judge(folder: Path) -> None:
    """Copy the judge to where the tree cannot name it."""
    for source, name in PARTS.items():
        (folder / name).write_bytes(_source_of(source))


def judge_hash() -> str:
    """A digest of the judge, and of what reads its report."""
    return digest(b"".join(map(_source_of, (*PARTS, "testreport.py"))))


def _source_of(name: str) -> bytes:
    return resources.files("agentforge.languages.python").joinpath(name).read_bytes()


def lay_watch(folder: Path) -> None:
    """Copy what sees lines run beside the judge, and to where only a process that a test starts finds it."""
    source = _source_of("line_watch.py")
    (folder / WATCH).write_bytes(source)
    for name in CALLS:
        (folder / f"agentforge_{name}").write_bytes(_source_of(name))
    (folder / "child").mkdir()
    (folder / "child" / "sitecustomize.py").write_bytes(source)


def joining(start: PytestCommand, variables: dict[str, str], coverage: Sequence[str] = ()) -> dict[str, Json]:
    """How the tree joins the path when the judge is loaded. Until then no variable leads to it."""
    return {
        "path": variables.pop("PYTHONPATH", ""),
        "from_folder": start.from_folder,
        "coverage": list(coverage),
    }


def telling_line(printed: str) -> str:
    """The line of pytest's complaint; of a traceback, its last line; how it may be called says nothing."""
    errors = [
        line
        for line in printed.splitlines()
        if (line.startswith(("ERROR", "E  ")) or "rror:" in line) and not line.startswith("ERROR: usage:")
    ]
    line = (errors[0] if errors else last_line(printed)).strip()[:300]
    return re.sub(r"^\S+: error: ", "", line)  # argparse begins with the name of the program, here the judge


def top_level_names(tree: Path, import_roots: Sequence[str]) -> list[str]:
    """What can be imported from the tree, by first name."""
    found: set[str] = set()
    for root in import_roots:
        folder = tree / root
        if folder.is_dir():
            found.update(
                entry.stem
                for entry in folder.iterdir()
                if entry.suffix == ".py" or (entry.is_dir() and entry.name.isidentifier())
            )
    return sorted(name for name in found if name.isidentifier())


def foreign(run: TestRun, tree: Path, env: Environment, changed_paths: Sequence[str]) -> list[str]:
    """The changed modules that the run loaded from somewhere else than the judged tree: its outcomes are
    about other code.
    """
    tree, env_source = tree.resolve(), env.source.resolve()
    elsewhere = {
        name: Path(path) for name, path in run.modules.items() if not Path(path).is_relative_to(tree)
    }
    return [
        changed
        for changed in changed_paths
        if changed.endswith(".py")
        and any(
            path == env_source / changed or _is_module(tree, changed, name, path)
            for name, path in elsewhere.items()
        )
    ]


def _is_module(tree: Path, changed: str, name: str, path: Path) -> bool:
    """Whether `name` is how the changed file is imported: its path from a folder that is no package
    itself.
    """
    parts = name.split(".")
    for tail in (PurePosixPath(*parts[:-1], f"{parts[-1]}.py"), PurePosixPath(*parts, "__init__.py")):
        above = changed.removesuffix(str(tail))
        if above != changed and above[-1:] in ("", "/") and path.name == tail.name:
            return not (tree / above / "__init__.py").exists()
    return False
