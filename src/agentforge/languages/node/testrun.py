"""Run the tests of a JavaScript project in the sandbox, and say what each of them did: `SandboxRuns`."""

import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path

from agentforge.languages.covering import WatchedRuns
from agentforge.languages.keyed import Records, read_records
from agentforge.languages.merged import merged_runs
from agentforge.languages.node.canaries import laid_canaries
from agentforge.languages.node.checkers import (
    KEPT,
    LINTERS,
    TYPES,
    NodeChecker,
    format_texts,
    program_of,
    run_checkers,
)
from agentforge.languages.node.manifest import NodeSuite, Runner, suite_in, suites_in
from agentforge.languages.node.modules import laid_modules
from agentforge.languages.node.projects import NodeProjects
from agentforge.languages.node.scan import SEPARATOR
from agentforge.languages.node.stubs import laid_texts, stand_ins
from agentforge.languages.node.test_files import CODE, is_test_name
from agentforge.languages.node.testreport import JudgeReader, NodeReport, telling
from agentforge.languages.node.watching import NodeWatch
from agentforge.languages.outcomes import (
    NO_TESTS,
    TestRun,
    Watch,
    absent,
    as_stub_red,
    covering,
)
from agentforge.languages.safe_ids import safe_names, to_run, with_names
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.bounded import files_below, remove_tree
from agentforge.system.canon import digest
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact

JUDGES: dict[Runner, str] = {
    "node": "node_test.mjs",
    "vitest": "vitest.mjs",
    "jest": "jest.cjs",
    "mocha": "mocha.cjs",
}
_FILES = ("report.cjs", "child.cjs", *JUDGES.values())
OUTPUT_LIMIT = 20_000
CHECK_S = 300
MOST_BROKEN = 5
"""Files that cannot be loaded, and that a runner which stops at the first is run without."""
_SKIPPED_FOLDERS = frozenset({"node_modules", ".git", "dist", "coverage"})


class NodeRuns(WatchedRuns):
    """What runs in the environment of a JavaScript project."""

    def run_tests(  # noqa: PLR0913 - the port
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        /,
        *,
        base_command: tuple[str, ...],
        ids: Sequence[str] = (),
        timeout_s: float,
        scratch: Path,
        limit_s: float = 0,
        watch: Watch | None = None,
    ) -> TestRun:
        """What each test did: of the files that `ids` are in, all are run, and those asked for are told. A
        run that is watched and does not come to an end is run once more, unwatched.
        """
        tree = tree.resolve()
        scratch.mkdir(parents=True, exist_ok=True)
        runs: list[tuple[str, TestRun]] = []
        suites = _suites(env, base_command)
        files = _files_of(ids)
        for suite in suites:
            mine = [path for path in files if _suite_for(suites, path) is suite]
            if files and not mine:
                continue
            place = Path(tempfile.mkdtemp(prefix="run-", dir=scratch)).resolve()
            try:
                once = _Once(
                    sandbox, env, tree, place, suite, tuple(mine), timeout_s, limit_s or timeout_s / 3
                )
                run = once.watched(watch) if watch is not None else once.go()
                runs.append((suite.folder or suite.runner, run))
            finally:
                remove_tree(place)
        return _asked(
            merged_runs(runs, ids) if len(runs) != 1 else replace(runs[0][1], ids=tuple(ids)),
            ids,
            base_command,
        )

    def judge_hash(self) -> str:
        """A digest of the judges, and of what reads their report."""
        own = resources.files("agentforge.languages.node").joinpath("testrun.py").read_bytes()
        return digest(b"".join((*map(_source_of, (*_FILES, "lines.js", "ran.js")), own)))

    def lint(self, sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], /) -> CheckRun:
        """What the project's linters and formatters find in those of `paths` that exist."""
        return _checked(LINTERS, sandbox, env, tree, paths)

    def formatted(
        self, sandbox: Sandbox, env: Environment, tree: Path, texts: Mapping[str, str], /
    ) -> dict[str, str]:
        """What the project's formatters would write otherwise."""
        tree = tree.resolve()
        with _checker_runs(sandbox, env, tree) as run:
            return format_texts(env, tree, texts, _listed(tree), run)

    def typecheck(
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        paths: Sequence[str],
        /,
        *,
        cache: Path | None = None,
    ) -> CheckRun:
        """What the project's type checker finds, in what the project selects."""
        if cache is None:
            return _checked(TYPES, sandbox, env, tree, paths)
        found = _checked(TYPES, sandbox, env, tree, paths, _made(cache))
        if found.status != "not_run":
            return found
        remove_tree(cache)  # what was remembered may be the reason
        return _checked(TYPES, sandbox, env, tree, paths)


def _checked(
    known: Sequence[NodeChecker],
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    paths: Sequence[str],
    kept: Path | None = None,
) -> CheckRun:
    tree = tree.resolve()
    with _checker_runs(sandbox, env, tree, kept) as run:
        return run_checkers(known, env, tree, paths, _listed(tree), lambda words: run(words, b""))


@contextmanager
def _checker_runs(
    sandbox: Sandbox, env: Environment, tree: Path, kept: Path | None = None
) -> Iterator[Callable[[Sequence[str], bytes], Completed]]:
    """How a checker is started on a tree, with the packages that were installed for it."""
    with tempfile.TemporaryDirectory(prefix="agentforge-") as made:
        out = Path(made).resolve()

        def run(words: Sequence[str], given: bytes) -> Completed:
            room = _confinement(env, tree, tree, out, CHECK_S, given)
            filled = tuple(word.replace(KEPT, str(kept or out)) for word in words)
            return sandbox.run(filled, replace(room, write=(*room.write, *((kept,) if kept else ()))))

        with laid_modules(env, tree, out):
            yield run


def _confinement(
    env: Environment, tree: Path, cwd: Path, out: Path, timeout_s: float, given: bytes = b""
) -> Confinement:
    variables = {
        **NodeProjects("JavaScript").run_env(env, tree),
        "TMPDIR": str(out),
        "HOME": str(out),
        "TZ": "UTC",
    }
    return Confinement(
        cwd=cwd, write=(out,), read=(tree, *env.readable), env=variables, timeout_s=timeout_s, input=given
    )


def _listed(tree: Path) -> list[str]:
    """The project's files by path, without packages and what is built."""
    return [
        path.relative_to(tree).as_posix()
        for path in files_below(tree, lambda folder: folder.name in _SKIPPED_FOLDERS, links=True)
    ]


def _suites(env: Environment, command: tuple[str, ...]) -> tuple[NodeSuite, ...]:
    """How the packages are tested, as the checkout that was set up says; or as a person said."""

    def read(path: str) -> bytes | None:
        place = env.source / path
        return place.read_bytes() if place.is_file() else None

    found = suites_in(read, _listed(env.source))
    if found and found[0].command == command:
        return found
    told = suite_in(" ".join(command))
    return (told,) if told is not None else found


def _suite_for(suites: Sequence[NodeSuite], path: str) -> NodeSuite | None:
    """The innermost package around a file; of a folder around packages, the first."""
    near = [
        suite
        for suite in suites
        if not suite.folder or path == suite.folder or path.startswith(f"{suite.folder}/")
    ]
    return max(near, key=lambda suite: len(suite.folder), default=suites[0] if suites else None)


def _files_of(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(to_run(identity).partition(SEPARATOR)[0] for identity in ids))


def _asked(run: TestRun, ids: Sequence[str], command: tuple[str, ...]) -> TestRun:
    """The run with the results that were asked for, and with those that are not there."""
    asked = set(ids)
    if not asked:
        return replace(run, argv=command)
    results = {
        key: result
        for key, result in run.results.items()
        if key in run.collect_errors or not asked.isdisjoint(covering(key))
    }
    covered = {name for key in results for name in covering(key)}
    results |= {key: absent(key, run.collect_errors) for key in asked - covered}
    return replace(run, argv=(*command, *ids), results=results)


class _Once:
    """One run of one package: the files it needs, the command, and what became of it."""

    def __init__(  # noqa: PLR0913, PLR0917 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        place: Path,
        suite: NodeSuite,
        files: tuple[str, ...],
        timeout_s: float,
        limit_s: float,
    ) -> None:
        self._sandbox, self._env, self._tree, self._place = sandbox, env, tree, place
        self._suite, self._files, self._timeout_s, self._limit_s = suite, files, timeout_s, limit_s
        self._key, self._token = secrets.token_bytes(32), secrets.token_hex(8)
        self._out = place / "out"
        self._cwd = tree / suite.folder if suite.folder else tree
        self._watch: NodeWatch | None = None

    def watched(self, watch: Watch) -> TestRun:
        """What each test did, and which lines of these files it ran, where that can be seen."""
        child = self._place / "judge" / "child.cjs"
        self._watch = NodeWatch(watch, self._tree, self._out / "lines", child)
        with laid_texts(self._tree, self._watch.texts):
            run = self._round()
        seen, self._watch = self._watch, None
        if run.status != "ran" or run.collect_errors:
            return self._round()
        return replace(
            run, reached=seen.reached(run.results, sorted({each.file for each in run.results.values()}))
        )

    def go(self) -> TestRun:
        """What each test did. Where files of tests lack something of the project's own modules, stubs stand
        in for that, and their tests fail by an outcome.
        """
        first = self._round()
        lacking: dict[str, str] = {}
        texts: dict[str, str] = {}
        for path, error in sorted(first.collect_errors.items()):
            if stubs := stand_ins(self._tree, path, error, texts):
                texts |= stubs
                lacking[path] = error
        if not texts:
            return first
        with laid_texts(self._tree, texts):
            again = self._round()
        if again.status != "ran" or not again.collect_errors.keys().isdisjoint(lacking):
            return first
        results = {
            key: as_stub_red(found, telling(lacking[found.file])) if found.file in lacking else found
            for key, found in again.results.items()
        }
        return replace(again, results=results)

    def _round(self) -> TestRun:
        (self._place / "judge").mkdir(exist_ok=True)
        self._out.mkdir(exist_ok=True)
        for name in _FILES:
            (self._place / "judge" / name).write_bytes(_source_of(name))
        listed = _listed(self._cwd)
        wanted = self._wanted(listed)
        if self._suite.runner == "node" and not wanted:
            return TestRun(self._suite.command, "not_run", NO_TESTS)
        with (
            laid_modules(self._env, self._tree, self._out),
            laid_canaries(self._cwd, listed, self._suite.runner, self._token, self._hooked) as laid,
        ):
            if isinstance(command := self._command(wanted), str):
                return TestRun(self._suite.command, "not_run", command)
            done = self._run(command, wanted)
            broken: dict[str, str] = {}
            while (found := self._unloaded(done, laid - broken.keys())) and len(broken) < MOST_BROKEN:
                broken[found[0]] = found[1]
                rest = [path for path in wanted if path not in broken]
                if wanted and not rest:
                    break
                ignored = (word for path in broken for word in ("--ignore", path))
                done = self._run((*command[: len(command) - len(wanted)], *ignored, *rest), rest)
        return self._told(done, frozenset(map(self._whole, laid)), broken)

    def _hooked(self, text: str, path: str) -> str:
        return self._watch.hooked(text, self._whole(path), self._suite.runner) if self._watch else text

    def _run(self, command: tuple[str, ...], wanted: Sequence[str]) -> Completed:
        (self._out / "report").unlink(missing_ok=True)
        given = {
            "key": self._key.hex(),
            "report": str(self._out / "report"),
            "files": [str(self._cwd / path) for path in wanted],
            "jobs": max(1, (os.cpu_count() or 2) - 1),
            "limit_ms": int(1000 * self._limit_s),
        }
        room = _confinement(
            self._env, self._tree, self._cwd, self._out, self._timeout_s, json.dumps(given).encode()
        )
        return self._sandbox.run(command, replace(room, read=(*room.read, self._place / "judge")))

    def _unloaded(self, done: Completed, files: Collection[str]) -> tuple[str, str] | None:
        """The file that keeps mocha from running any, and what it says; the other runners go on without."""
        report = self._out / "report"
        told = report.is_file() and report.stat().st_size > 0
        if self._suite.runner != "mocha" or done.timed_out or told:
            return None
        said = (done.err + done.out).decode("utf-8", "replace")
        places = {path: said.find(str(self._cwd / path)) for path in files}
        named = [path for path in places if places[path] >= 0]
        return (min(named, key=lambda path: places[path]), said) if named else None

    def _wanted(self, listed: Sequence[str]) -> list[str]:
        """The files to run, from the package's folder; none: those that the runner finds."""
        start = f"{self._suite.folder}/" if self._suite.folder else ""
        asked = [path.removeprefix(start) for path in self._files if path not in (".", self._suite.folder)]
        tests = [path for path in listed if _is_node_test(path, self._suite.places)]
        if asked:
            inside = {
                path
                for path in listed
                for each in asked
                if path == each or path.startswith(f"{each.rstrip('/')}/")
            }
            # A file that is asked for by its name is run, whatever it is called; of a folder, its tests.
            return sorted(
                path
                for path in inside
                if path in asked or path in tests or is_test_name(path.rpartition("/")[2])
            )
        return tests if self._suite.runner == "node" else []

    def _command(self, wanted: Sequence[str]) -> tuple[str, ...] | str:
        node, judge = str(self._env.program), str(self._place / "judge" / JUDGES[self._suite.runner])
        if self._suite.runner == "node":
            return (node, *self._suite.options, judge)
        program = program_of(self._env.source, self._suite.runner, self._suite.runner) or program_of(
            self._env.source / self._suite.folder, self._suite.runner, self._suite.runner
        )
        if program is None:
            return f"{self._suite.runner} is not among the installed packages"
        cache = str(self._out / "cache")
        match self._suite.runner:
            case "vitest":
                return (
                    node,
                    str(program),
                    "run",
                    f"--reporter={judge}",
                    "--passWithNoTests",
                    "--coverage.enabled=false",
                    *wanted,
                )
            case "jest":
                paths = ("--runTestsByPath", *wanted) if wanted else ()
                more = (
                    "--ci",
                    "--forceExit",
                    "--testLocationInResults",
                    "--watchman=false",
                    "--coverage=false",
                    "--passWithNoTests",
                )
                return (
                    node,
                    str(program),
                    f"--reporters={judge}",
                    f"--cacheDirectory={cache}",
                    *more,
                    *paths,
                )
            case _:
                return (
                    node,
                    str(program),
                    "--reporter",
                    judge,
                    "--exit",
                    "--no-parallel",
                    *self._suite.options,
                    *(wanted or self._suite.places),
                )

    def _whole(self, path: str) -> str:
        return f"{self._suite.folder}/{path}" if self._suite.folder else path

    def _told(self, done: Completed, laid: frozenset[str], broken: Mapping[str, str]) -> TestRun:
        found = read_records(
            self._out / "report", lambda body: hmac.new(self._key, body, hashlib.sha256).hexdigest()
        )
        reader = JudgeReader(self._tree, self._suite.runner, self._token)
        report = reader.read(found)
        doubt = reader.vouch(report, laid)
        for path, error in broken.items():
            reader.take_file(report, self._whole(path), error)
        printed = done.out + (b"\n" if done.out and done.err else b"") + done.err
        said = redact(printed.decode("utf-8", "replace")[-4 * OUTPUT_LIMIT :])[0]
        names = safe_names(report.results)
        nothing_else = broken and not found.rows
        reason = "" if nothing_else else self._reason(done, found, report, said) or doubt
        return TestRun(
            argv=self._suite.command,
            status="not_run" if reason else "ran",
            reason=reason,
            results=with_names(report.results, names) if names else report.results,
            collect_errors=report.collect_errors,
            told=self._settings(),
            unvouched=reader.unvouched(report, laid),
            slowest_ms=report.slowest_ms,
            output=said[-OUTPUT_LIMIT:],
            output_hash=digest(printed),
            duration_ms=done.seconds_ms,
            sandbox=self._sandbox.name,
        )

    def _settings(self) -> dict[str, str]:
        starts = {
            "vitest": ("vitest.", "vite.config."),
            "jest": ("jest.config.",),
            "mocha": (".mocharc",),
            "node": (),
        }
        names = (
            sorted(
                path.name for path in self._cwd.iterdir() if path.name.startswith(starts[self._suite.runner])
            )
            if starts[self._suite.runner]
            else []
        )
        return {"runner": self._suite.runner, "settings file": ", ".join(names)}

    def _reason(self, done: Completed, found: Records, report: NodeReport, said: str) -> str:
        """Why the run counts as not run; empty when it ran."""
        if done.timed_out:
            return f"the tests did not end within {int(self._timeout_s)} s"
        if done.beyond:
            return f"the run was out of bounds: {done.beyond}"
        if found.unread or found.tampered:
            return found.unread or "the report was changed while the tests ran"
        if not report.ended:
            what = (
                "the run ended early" if found.rows else f"{self._suite.runner} stopped before it ran a test"
            )
            line = telling(said)
            return f"{what} (exit code {done.code}){': ' + line if line else ''}"
        if not report.results and not report.collect_errors:
            return NO_TESTS
        return ""


_PLAIN_CODE = (".js", ".mjs", ".cjs")


def _is_node_test(path: str, places: Sequence[str]) -> bool:
    """Whether node's runner takes a file: by the places that the project names, else as it does itself."""
    if not path.endswith(CODE):
        return False
    if places:
        return any(_is_at(path, place.removeprefix("./")) for place in places)
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0]
    named = stem == "test" or stem.startswith("test-") or stem.endswith((".test", "-test", "_test"))
    return path.endswith(_PLAIN_CODE) and (named or "test" in folders)


def _is_at(path: str, place: str) -> bool:
    if any(char in place for char in "*?{["):
        return _glob(place).fullmatch(path) is not None
    return path == place or path.startswith(f"{place.rstrip('/')}/")


def _glob(place: str) -> re.Pattern[str]:
    """A pattern of a command line: `**`, `*`, `?` and braces."""
    words = re.split(r"(\*\*/|\*\*|\*|\?|\{[^{}]*\})", place)
    spelled = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(
        "".join(
            spelled.get(word)
            or (
                f"(?:{'|'.join(map(re.escape, word[1:-1].split(',')))})"
                if word.startswith("{")
                else re.escape(word)
            )
            for word in words
        )
    )


def _source_of(name: str) -> bytes:
    return resources.files("agentforge.languages.node").joinpath("judge", name).read_bytes()


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()
