"""The port: all that the rest of the system may ask of a language. `python/language.py` answers all
of it, `plain/` what can be said without knowing a language.

Each part is a `Protocol` that a module of the language fulfils with its functions. What goes in and comes out
is in `values.py` and `outcomes.py`, the same for every language.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agentforge.languages.described import Read
from agentforge.languages.outcomes import RunElsewhere, SeenCall, TestRun, Watch
from agentforge.languages.servers.described import LanguageServer
from agentforge.languages.values import (
    ChangedCode,
    CheckRun,
    CoverageRun,
    Docstring,
    Environment,
    Liveness,
    Manifest,
    Mutant,
    Plan,
    Risk,
    Sections,
    Shadow,
    Stranger,
    Symbol,
    Words,
)
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.network.destinations import Destination


class Projects(Protocol):
    """What a project is, and its environment."""

    BUILD_FILES: frozenset[str]
    """Names of files that decide how a project is built."""
    LOCKS: frozenset[str]
    """Names of files that a tool writes to remember what it installed."""

    def roots(self, read: Read, paths: Sequence[str], /) -> tuple[str, ...]:
        """The folders that are projects of this language, by the files that say so; empty for the top."""

    def missing(self, plan: Plan, /) -> str:
        """What is not installed and without which nothing of the plan can run: a sentence; empty if all is
        there. Starts no program.
        """

    def detect(
        self, read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None, /
    ) -> Plan:
        """How the project is set up and tested, corrected by its settings. Reads only."""

    def lock_hash(self, plan: Plan, read: Read, /) -> str:
        """A digest of everything that decides what the environment holds."""

    def build(  # noqa: PLR0913 - every one of them is the caller's business
        self,
        plan: Plan,
        tree_checkout: Callable[[Path], None],
        cache_root: Path,
        sandbox: Sandbox,
        /,
        *,
        version: str | None = None,
        lock_text_hash: str,
        allow: Sequence[Destination] = (),
        index_passwords: bool = False,
    ) -> Environment:
        """The environment, from the cache or made now; a set-up that fails is `Unusable`."""

    def run_env(self, environment: Environment, tree: Path, /) -> dict[str, str]:
        """The variables of a run against `tree`: its code comes before the code that was installed."""

    def strangers(self, environment: Environment, /) -> tuple[Stranger, ...]:
        """Files of an environment that a build may have left there, or that run whatever is started."""

    def describe(self, read: Read, paths: Sequence[str], /) -> Manifest:
        """What the project declares for a release; `UsageError` for a file that is not valid."""


class SourceReader(Protocol):
    """What a file says, read without running it. Text that does not parse says nothing."""

    def symbols(self, text: str, /, *, nested: bool = False) -> list[Symbol] | None:
        """Every definition of a file and of its classes, in order; with `nested`, those inside functions too.
        None if it does not parse.
        """

    def syntax_error(self, text: str, path: str, /) -> tuple[int, str] | None:
        """Line and message of the first syntax error."""

    def docstrings(self, text: str, /) -> tuple[Docstring, ...]:
        """The docstrings of a file's public definitions."""

    def decode(self, data: bytes, /) -> str:
        """The bytes of a file as text, by its own declaration where it has one; never fails."""

    def reads_otherwise(self, data: bytes, /) -> str:
        """The encoding that a file declares, if it says something else in it than people see; else empty."""

    def definitions(self, names: Sequence[str], /) -> re.Pattern[str]:
        """Finds where a file defines one of these names: the one group that matches is the name."""


class Imports(Protocol):
    """How files of a language import one another."""

    def importers(self, files: Mapping[str, str], roots: Sequence[str], /) -> Mapping[str, frozenset[str]]:
        """File to the files that import it directly. `roots` are the folders on the import path."""

    def outside_imports(self, text: str, own: Sequence[str], /) -> tuple[str, ...]:
        """Top names that a file imports and that are neither the language's own nor the project's."""

    def imported_names(self, text: str, /) -> frozenset[str]:
        """The top names of everything that a file imports."""

    def loads_with(self, package: str, path: str, /) -> bool:
        """Whether the first is loaded with every file like the second, imported by name or not."""

    def is_package(self, path: str, /) -> bool:
        """Whether a file speaks for the package that it is in."""


class Names(Protocol):
    """What others may use of a file, by name; and what it uses."""

    BUILTINS: frozenset[str]
    """Names that every file has without defining or importing them."""

    def public_names(self, text: str, /) -> Mapping[str, str] | None:
        """Every name that others may use, with how it is called; empty for what is not called, or is defined
        elsewhere. None if the text does not parse.
        """

    def renamed(self, text: str, names: Mapping[str, str], modules: Mapping[str, str], /) -> str:
        """The text with identifiers and parts of module paths renamed, each by its exact name."""

    def module_of(self, path: str, /) -> str:
        """How a file is imported, from the top: names with dots between them."""

    def references(self, text: str, /) -> list[tuple[str, int]] | None:
        """Every name that the code of a file uses, with its line. None if it does not parse."""


class Measures(Protocol):
    """What can be counted in a file."""

    LEFTOVER: re.Pattern[str]
    """A line that only debugging needs."""
    RULES: Mapping[str, tuple[str, str]]
    """Rule of a risk to what it means and what to do."""
    SILENCERS: re.Pattern[str]
    """A comment that keeps a checker from saying something."""
    CHECKERS: Mapping[str, Callable[[str], Mapping[str, object]]]
    """Names of files that hold settings of linters and type checkers, and what takes these out, by tool."""

    def complexity(self, text: str, /) -> dict[str, int] | None:
        """How many ways lead through each function, by its dotted name. None: by the grammar of the file."""

    def code_lines(self, text: str, /) -> list[tuple[int, Words]] | None:
        """The lines that do something, with their words: copies are found by them. None if it has none."""

    def statements(self, text: str, /) -> frozenset[int] | None:
        """The lines that can be executed. None: by the grammar of the file."""

    def same_code(self, before: str, after: str, /) -> bool | None:
        """Whether two texts are one program up to comments, documentation and formatting. None: by the
        grammar of the file.
        """

    def changed_code(self, before: str, after: str, /) -> ChangedCode | None:
        """What is new, different or gone; None where one of the texts does not parse, or for what the grammar
        of the file says.
        """

    def mutants(self, text: str, lines: Collection[int], /, *, limit: int, seed: str) -> list[Mutant] | None:
        """At most `limit` small wrong versions of a file, each wrong in one of `lines`; the same seed draws
        the same. None: by the grammar of the file.
        """

    def emptied(
        self, text: str, functions: Collection[str], /, *, answer: bool, always: bool = False
    ) -> str | None:
        """The file with these functions emptied: what they give back goes along with all that is done to it,
        and gives this answer to every question. They do their work while code is loaded, unless `always`.
        None: by the grammar of the file.
        """

    def other_numbers(self, text: str, functions: Collection[str], /, *, raising: bool) -> str | None:
        """The file whose functions give back numbers that are a little other, or raise where they would give
        one. None: not known here.
        """

    def public_names(self, text: str, /) -> Mapping[str, str]:
        """What others may use of a file, by its dotted name, each with how it is called."""

    def risks(self, text: str, /, *, is_test: bool) -> Iterator[Risk]:
        """The calls and literals in a file that may be a security problem."""


class Tests(Protocol):
    """Which files are tests, and what makes one weaker."""

    RUNNER: str
    """The program that runs them, as people call it."""
    SETTINGS: frozenset[str]
    """Names of files that decide how tests run, wherever they lie."""
    SECTIONS: Sections
    FIXTURES: frozenset[str]
    """Names of files that tests around them share."""
    MISCALLED: frozenset[str]
    """Names of exceptions that a test meets which calls something wrongly."""
    HELD_OUT: str
    """The name of a file of tests that is laid beside those of a project for one run."""
    CALLABLE: bool
    """Whether a test is a function that can be called without the test runner."""

    def test_globs(self, test_paths: Sequence[str], /) -> tuple[str, ...]:
        """What `{tests}` stands for in the path limits of a role, given the places of the tests."""

    def is_test_name(self, name: str, /) -> bool:
        """Whether a file of that name is there for tests."""

    def is_run(self, path: str, /) -> bool:
        """Whether the runner looks for tests in a file of the tests, by its name."""

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """The ids that the runner would give the tests of a file, without parameters. Runs nothing."""

    def source_of_test(self, text: str, identity: str, /) -> str | None:
        """A test of a file as normalised text; None where the file does not define it."""

    def asserts(self, text: str, identity: str, /) -> bool:
        """Whether a test of a file has an assertion of its own that can fail."""

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """Whether a test of a file can fail, by an assertion of its own or of what it calls."""

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """The file in which these tests fail wherever they would have ended well, and which of them it
        defines.
        """

    def without_tests(self, text: str, ids: Collection[str], /) -> str:
        """The file without these tests and what it needs for them alone; as it is where nobody can tell."""

    def test_doubts(self, text: str, identity: str, /) -> list[str]:
        """What makes a reader look twice at a test: how it reads code instead of running it."""

    def replaced_names(self, text: str, /) -> list[str]:
        """The names in whose place a file of tests puts something else for a while."""

    def code_doubts(self, text: str, lines: Collection[int], tests: Sequence[str], /) -> list[str]:
        """What makes a reader look twice at these lines of a file: that it knows it is tested, or knows the
        answers of these tests.
        """

    def shadows(
        self, written: Sequence[str], before: frozenset[str], after: frozenset[str], env: Environment, /
    ) -> list[Shadow]:
        """Which files that a change adds or rewrites would be loaded in the place of something else, given
        the paths of the tree before and after it.
        """

    def examples_of(self, text: str, identity: str, /) -> tuple[str, ...] | None:
        """The checked examples of documentation behind an id, as text; None if it is the id of none, or the
        file has it no more.
        """

    def weakened(self, before: str, after: str, path: str, /) -> list[str]:
        """How an edit weakened old tests, one sentence each."""

    def inputs(self, text: str, /) -> tuple[str, ...]:
        """The files that the tests of a file compare with, and that stay as they are with them."""

    def missing_import(self, error: str, promised: Sequence[str], /) -> str | None:
        """Why a test file could not be loaded, if what it lacks is one of the promised files; else None."""


class SandboxRuns(Protocol):
    """What runs in the sandbox, in the project's environment, on a checkout of a tree."""

    def run_tests(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        /,
        *,
        ids: Sequence[str] = (),
        base_command: tuple[str, ...],
        scratch: Path,
        timeout_s: float,
        watch: Watch | None = None,
        limit_s: float = 0,
    ) -> TestRun:
        """What each test did: of those named by `ids` (ids, files or folders), else of all; with `watch`,
        also which lines it ran. One that takes longer than `limit_s` has failed; 0: as long as fits
        `timeout_s`.
        """

    def call_tests(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        path: str,
        names: Sequence[str],
        /,
        *,
        like: TestRun,
        scratch: Path,
        timeout_s: float,
    ) -> TestRun | None:
        """What each of these functions of a file does when it is called without the test runner. Modules are
        found where they were found in the run `like`. None: tests cannot be called so.
        """

    def call_functions(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        calls: Sequence[SeenCall],
        old: Mapping[str, str | None],
        /,
        *,
        like: TestRun,
        scratch: Path,
    ) -> RunElsewhere | None:
        """What each of these calls, which tests made, gives where no test is: of a checkout, and of the same
        with `old` texts by path (None: no such file), and what loading these files changes. None where it
        is not known how they are imported; nothing where the process ended before the calls did.
        """

    def judge_hash(self) -> str:
        """A digest of what of ours has a part in the outcomes of a run."""

    def foreign(
        self, run: TestRun, tree: Path, env: Environment, changed_paths: Sequence[str], /
    ) -> list[str]:
        """The changed files that the run loaded from somewhere else than the judged tree."""

    def lint(self, sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], /) -> CheckRun:
        """What the project's own linter finds in those of `paths` that exist."""

    def formatted(
        self, sandbox: Sandbox, env: Environment, tree: Path, texts: Mapping[str, str], /
    ) -> dict[str, str]:
        """Of these texts, by path, those that the project's own formatter would write otherwise, as it would.
        Changes no file of the tree.
        """

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
        """What the project's own type checker finds, in what the project selects, else in `paths`. With
        `cache`, a folder outside of the tree, it may remember there what it found out: quicker, and no more
        than advice, because code of the project can write there, too.
        """

    def measure(  # noqa: PLR0913 - the facts of one run
        self,
        sandbox: Sandbox,
        env: Environment,
        tree: Path,
        paths: Sequence[str],
        /,
        *,
        tests: Sequence[str] = (),
        command: tuple[str, ...],
        scratch: Path,
        timeout_s: float,
    ) -> CoverageRun:
        """Which lines of `paths` the tests of these files reach; without any, the whole suite."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its name, its suffixes, and the objects that answer for it."""

    name: str
    """The name as people write it."""
    suffixes: tuple[str, ...]
    """Suffixes of files with code that runs."""
    declarations: tuple[str, ...]
    """Suffixes of files that only declare."""
    caches: frozenset[str]
    """Directories that its tools leave in a tree."""
    no_caches: Mapping[str, str]
    """Variables that keep its tools from leaving them."""
    projects: Projects
    source: SourceReader
    imports: Imports
    names: Names
    measures: Measures
    tests: Tests
    runs: SandboxRuns
    servers: tuple[LanguageServer, ...] = ()
    """The language servers that people install for it, the best first."""
    gaps: tuple[tuple[str, str], ...] = ()
    """What cannot be proved or measured for it, each with what is said of that beside every verdict."""
    runs_code: bool = True
    """Whether its tests run code, so that a change of code can be proved by them."""
    declared: bool = False
    """Whether a repository is one of its projects only if the settings say so."""
