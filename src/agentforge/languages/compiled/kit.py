"""A compiled language as data: what differs between Go, Rust and Java, and what answers the port from it."""

import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.languages.compiled import braces
from agentforge.languages.compiled.running import Bench, Stub, TestJudge, in_a_copy, run_tests
from agentforge.languages.compiled.watching import LineCalls
from agentforge.languages.covering import WatchedRuns
from agentforge.languages.described import Read
from agentforge.languages.environments import build_environment
from agentforge.languages.marked import MOST, declared_integration
from agentforge.languages.outcomes import TestRun, Watch
from agentforge.languages.plain.answers import PlainProjects, PlainTests
from agentforge.languages.servers.described import LanguageServer
from agentforge.languages.set_up import Makings
from agentforge.languages.toolchains import find_toolchains, needs_of, with_toolchains
from agentforge.languages.values import (
    SETTINGS_FILE,
    CheckRun,
    Environment,
    Liveness,
    MarkedTests,
    Plan,
    Sections,
)
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination, destinations
from agentforge.system.canon import digest

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
ELSEWHERE = Path("/elsewhere")
"""Stands for the folder that a run may write to where nobody knows it yet."""
Commands = tuple[tuple[str, ...], ...]
Row = tuple[str, str, str]
"""A finding: file, code and sample."""


@dataclass(frozen=True, slots=True)
class OwnChecker:
    """A linter or formatter that comes with the language."""

    name: str
    argv: tuple[str, ...]
    """Files are added where `{files}` stands."""
    read: Callable[[Bench, str], Iterable[Row]]
    """What it printed, as findings."""
    used: Callable[[Path], bool] = lambda _: True
    """Whether the project in this folder uses it."""
    writes: tuple[str, ...] = ()
    """How it is asked to write files as it would have them; empty: it is not a formatter."""


def doubts_of(tested: str, process: str, time: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """What makes a reader look twice at code, and what is said of it: it knows that it is tested, reaches for
    its process, or asks for the time.
    """
    return (
        (re.compile(tested), "knows that it is tested, or looks into the process that it runs in"),
        (re.compile(process), "looks into the process that it runs in, or ends it"),
        (re.compile(time), "asks what time it is: no run sees another day"),
    )


@dataclass(frozen=True, slots=True)
class Kit:
    """What a compiled language is, and what judges its tests."""

    name: str
    suffixes: tuple[str, ...]
    runner: str
    markers: frozenset[str]
    locks: frozenset[str]
    settings: frozenset[str]
    sections: Sections
    test_globs: tuple[str, ...]
    is_test: Callable[[str], bool]
    dialect: braces.TestDialect
    missing_names: re.Pattern[str]
    """What the compiler says of a name that is not there."""
    command: Callable[[Read, Sequence[str]], tuple[str, ...]]
    setup: Callable[[Read, Sequence[str]], Commands]
    variables: Callable[[Path, Path], Mapping[str, str]]
    """Given the environment, and the folder that a run may write to."""
    places: tuple[str, ...]
    """Where packages come from."""
    judge: TestJudge
    held_out: str
    doubts: tuple[tuple[re.Pattern[str], str], ...] = ()
    """What makes a reader look twice at code, and what is said of it."""
    checkers: tuple[OwnChecker, ...] = ()
    build_files: frozenset[str] = frozenset()
    read: Callable[[], Mapping[str, Path]] = dict
    """What set-up may read beside the toolchain, by the names that its commands have for it."""
    not_run: tuple[tuple[str, str], ...] = ()
    marked: Callable[[Read, Sequence[str]], tuple[MarkedTests, ...]] = lambda *_: ()
    """What a project marks as integration tests."""
    left_out: Callable[[Read, Sequence[str]], tuple[tuple[str, str], ...]] = lambda *_: ()
    """What of a project's tests nothing here runs, beside `not_run`; each with the reason."""
    stub: Stub | None = None
    """What stands in for the names that new tests lack."""
    warm: str = ""
    """The folder of what set-up compiled. A run has a copy of its own: what a test writes there reaches no
    other run.
    """
    linked: tuple[str, ...] = ()
    """Folders that set-up fills and nobody copies: a run has links to them."""
    lines: LineCalls | None = None
    """How its code tells which lines run."""
    servers: tuple[LanguageServer, ...] = ()
    """The language servers that people install for it."""
    starts: tuple[str, ...] = ()
    """Names of the programs that a test command may begin with; what else it is, nobody can judge."""


class KitProjects(PlainProjects):
    """`Projects` of a kit."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit.name)
        self._kit = kit
        self.MARKERS, self.LOCKS = kit.markers, kit.locks
        self.BUILD_FILES = kit.markers | kit.build_files

    def missing(self, plan: Plan, /) -> str:
        """The program of the language, wherever a person may keep it."""
        chains = find_toolchains(plan.toolchains, os.environ, Path.home())
        programs = ":".join((*(str(path) for chain in chains for path in chain.programs), SYSTEM_PATH))
        name = plan.test_command[0]
        if name.startswith(("./", "/")) or shutil.which(name, path=programs):
            return ""
        return f"{self._kit.name} is not installed here: there is no program `{name}`"

    def detect(
        self, read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None, /
    ) -> Plan:
        """By its build files, corrected by its settings."""
        kit, said = self._kit, settings or {}
        commands = said.get("commands")
        told = commands.get("test") if isinstance(commands, Mapping) else None
        setup = said.get("setup")
        tests = self._judged(str(told), "test") if told else kit.command(read, paths)
        locks = [path for path in paths if path.rpartition("/")[2] in self.BUILD_FILES | kit.locks]
        return Plan(
            tuple(tuple(shlex.split(str(line))) for line in setup)
            if isinstance(setup, list)
            else kit.setup(read, paths),
            tests,
            (".",),
            kit.test_globs,
            tuple(checker.name for checker in kit.checkers),
            (f"{next((path for path in paths if path in kit.markers), kit.name)} is there",),
            tuple(locks),
            toolchains=needs_of(paths, read),
            not_run=(*kit.not_run, *kit.left_out(read, paths)),
            marked=self._marked(read, paths, said),
        )

    def _marked(
        self, read: Read, paths: Sequence[str], settings: Mapping[str, object]
    ) -> tuple[MarkedTests, ...]:
        line = declared_integration(settings)
        if line is None:
            return self._kit.marked(read, paths)[:MOST]
        return (MarkedTests(f"tests of `{line}`", self._judged(line, "integration")),) if line else ()

    def _judged(self, line: str, key: str) -> tuple[str, ...]:
        """A command that a person wrote down, as words, if its outcomes can be judged."""
        kit, words = self._kit, tuple(shlex.split(line))
        if kit.starts and words[0].rpartition("/")[2] not in kit.starts:
            raise UsageError(
                f"`{line}` does not start {kit.runner}, and the verdicts are {kit.runner}'s.",
                f"Correct `commands.{key}` in `{SETTINGS_FILE}`, or declare `generic:` there.",
            )
        return words

    def build(  # noqa: PLR0913 - the port
        self,
        plan: Plan,
        tree_checkout: Callable[[Path], None],
        cache_root: Path,
        sandbox: Sandbox,
        /,
        *,
        version: str | None = None,  # noqa: ARG002 - the port
        lock_text_hash: str,
        allow: Sequence[Destination] = (),
        index_passwords: bool = False,  # noqa: ARG002 - the port
    ) -> Environment:
        """What set-up downloads and compiles; the program is that of the toolchain."""
        kit, env = self._kit, Path("{env}")
        chains = find_toolchains(plan.toolchains, os.environ, Path.home())
        variables = {"PATH": SYSTEM_PATH, **kit.variables(env, env)}
        makings = Makings(
            prefix=Path("/usr"),
            program=".",
            identity=(kit.name,),
            values={name: str(path) for name, path in kit.read().items()},
            variables=variables,
            read=tuple(kit.read().values()),
            network=destinations(kit.places),
            chains=chains,
        )
        return build_environment(
            plan, makings, tree_checkout, cache_root, sandbox, lock_text_hash=lock_text_hash, allow=allow
        )

    def run_env(self, environment: Environment, tree: Path, /) -> dict[str, str]:  # noqa: ARG002 - the port
        """The variables of a command of a role: what it compiles goes where its tools put it."""
        own = {
            name: said
            for name, said in self._kit.variables(environment.path, ELSEWHERE).items()
            if str(ELSEWHERE) not in said
        }
        return with_toolchains({"PATH": SYSTEM_PATH, **own}, environment.toolchains)


class KitTests(PlainTests):
    """`Tests` of a kit."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit.name)
        self._kit = kit
        self.RUNNER, self.SETTINGS, self.SECTIONS = kit.runner, kit.settings, kit.sections
        self.HELD_OUT = kit.held_out

    def is_test_name(self, name: str, /) -> bool:
        """By the name of the file alone."""
        return self._kit.is_test(name)

    def is_run(self, path: str, /) -> bool:
        """Whether it may hold tests."""
        return self._kit.is_test(path)

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """As far as its text tells."""
        return [f"{path}::{test.name}" for test in braces.tests_in(text, self._kit.dialect)]

    def source_of_test(self, text: str, identity: str, /) -> str | None:
        """A test as text."""
        return braces.source_of(text, self._kit.dialect, identity)

    def asserts(self, text: str, identity: str, /) -> bool:
        """Whether it has an assertion, of its own or of a helper's."""
        return not self.liveness(text, identity).refused

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """Whether it can fail."""
        return braces.liveness_of(text, self._kit.dialect, identity)

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """The file in which these tests fail."""
        return braces.made_to_fail(text, self._kit.dialect, ids)

    def code_doubts(self, text: str, lines: Collection[int], tests: Sequence[str], /) -> list[str]:  # noqa: ARG002 - the port
        """What in these lines knows that it is tested, or could make up a report."""
        code = braces.code_of(text).splitlines()
        changed = "\n".join(code[line - 1] for line in sorted(lines) if 0 < line <= len(code))
        return [said for pattern, said in self._kit.doubts if pattern.search(changed)]

    def weakened(self, before: str, after: str, path: str, /) -> list[str]:
        """How an edit weakened old tests."""
        return braces.weakened(before, after, self._kit.dialect, path)

    def missing_import(self, error: str, promised: Sequence[str], /) -> str | None:
        """The first error, if each of them is about a name that is not there yet, and code is promised."""
        lines = [line for line in error.splitlines() if line.strip()]
        if not lines or not promised or not all(map(self._kit.missing_names.search, lines)):
            return None
        return f"compile-red, which is weaker than a failing test: {lines[0]}"


class KitRuns(WatchedRuns):
    """`SandboxRuns` of a kit."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit.name)
        self._kit = kit

    def _bench(self, sandbox: Sandbox, env: Environment, timeout_s: float) -> Callable[[Path, Path], Bench]:
        def bench(tree: Path, out: Path) -> Bench:
            own = {"PATH": SYSTEM_PATH, **self._kit.variables(env.path, out)}
            if (made := env.path / self._kit.warm).is_dir() and self._kit.warm:
                shutil.copytree(made, out / self._kit.warm, symlinks=True)
            for name in self._kit.linked:
                if (env.source / name).is_dir() and not (tree / name).exists():
                    (tree / name).symlink_to(env.source / name)
            variables, read = with_toolchains(own, env.toolchains), tuple(self._kit.read().values())
            return Bench(sandbox, env, tree, out, variables, time.monotonic() + timeout_s, read)

        return bench

    def run_tests(  # noqa: PLR0913 - the port
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        /,
        *,
        base_command: tuple[str, ...],
        ids: Sequence[str] = (),
        watch: Watch | None = None,
        scratch: Path,
        timeout_s: float,
        limit_s: float = 0,  # noqa: ARG002 - the port
    ) -> TestRun:
        """What each test did, and with `watch` what it ran."""
        kit = self._kit
        return run_tests(
            kit.judge,
            kit.is_test,
            self._bench(sandbox, env, timeout_s),
            tree,
            stub=kit.stub,
            ids=ids,
            command=base_command,
            scratch=scratch,
            watched=(watch, kit.lines) if watch is not None and kit.lines is not None else None,
        )

    def judge_hash(self) -> str:
        """A digest of what of ours has a part in the outcomes."""
        here = Path(__file__).parent
        files = sorted((*here.glob("*.py"), *(here.parent / "reports").glob("*.py")))
        return digest(b"".join(path.read_bytes() for path in files))

    def lint(self, sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], /) -> CheckRun:
        """What its own checkers find in those of `paths` that exist."""
        checkers = [checker for checker in self._kit.checkers if checker.used(tree)]
        if not checkers:
            return CheckRun("not_configured", f"no linter of {self._kit.name} is configured")
        wanted = {path for path in paths if (tree / path).is_file() and path.endswith(self._kit.suffixes)}
        if not wanted:
            return CheckRun("ran")
        with (
            tempfile.TemporaryDirectory(prefix="agentforge-lint-") as scratch,
            in_a_copy(tree, Path(scratch), self._bench(sandbox, env, 300)) as bench,
        ):
            rows, missing = [], {}
            for checker in checkers:
                files = [word for word in checker.argv if word != "{files}"]
                more = sorted(wanted) if "{files}" in checker.argv else []
                done = bench.call(*files, *more)
                if done.timed_out:
                    missing[checker.name] = f"{checker.name} did not end in time"
                said = (done.out + b"\n" + done.err).decode("utf-8", "replace")
                # What is compiled twice, for itself and for its tests, is found twice.
                rows += [row for row in dict.fromkeys(checker.read(bench, said)) if row[0] in wanted]
        found = CheckRun.of(rows)
        return CheckRun("ran", "", found.findings, found.samples, missing)

    def formatted(
        self, sandbox: Sandbox, env: Environment, tree: Path, texts: Mapping[str, str], /
    ) -> dict[str, str]:
        """What its own formatter would write otherwise."""
        wanted = {path: text for path, text in texts.items() if path.endswith(self._kit.suffixes)}
        formatters = [each for each in self._kit.checkers if each.writes and each.used(tree)]
        if not wanted or not formatters:
            return {}
        with (
            tempfile.TemporaryDirectory(prefix="agentforge-format-") as scratch,
            in_a_copy(tree, Path(scratch), self._bench(sandbox, env, 60)) as bench,
        ):
            for path, text in wanted.items():
                bench.write(path, text)
            for each in formatters:
                bench.call(*each.writes, *sorted(wanted))
            after = {path: bench.text(path) for path in wanted if bench.has(path)}
        return {path: text for path, text in after.items() if text != wanted[path]}

    def typecheck(
        self,
        sandbox: Sandbox,  # noqa: ARG002 - the port
        env: Environment,  # noqa: ARG002 - the port
        tree: Path,  # noqa: ARG002 - the port
        paths: Sequence[str],  # noqa: ARG002 - the port
        /,
        *,
        cache: Path | None = None,  # noqa: ARG002 - the port
    ) -> CheckRun:
        """The compiler checks types in every run."""
        return CheckRun(
            "not_configured", f"the compiler of {self._kit.name} checks types in every run of the tests"
        )
