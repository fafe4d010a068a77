"""What crosses the port: plans, environments, symbols and findings, the same for every language."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from agentforge.languages.toolchains import Need, Toolchain, readable
from agentforge.sandbox.base import toolchain_roots
from agentforge.system.holds import Hold

Kind = Literal["class", "function", "method", "variable"]
Status = Literal["ran", "not_run", "not_configured"]
Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
SETTINGS_FILE = ".agentforge/config/settings.yaml"
ADDED = "{added}"
"""The first word of a command of a plan that installs what we pin, under the name that follows."""
VERSION = re.compile(r"\d+(?:\.\d+){0,2}")
"""How a version of a language is asked for: `3`, `3.12` or `3.12.4`."""
IMPORTED = "imported"
"""How a name that a file takes from elsewhere is called: nobody knows there."""
Words = tuple[tuple[bool, str], ...]
"""The words of a line of code: whether it is a free name, and what it says."""


@dataclass(frozen=True, slots=True)
class MarkedTests:
    """Tests that a project keeps apart from its own by a mark: they run once, when the change is done."""

    name: str
    """How the project calls them, as a phrase: `tests marked integration`."""
    command: tuple[str, ...]
    """What runs them, in the words of the plan's own test command."""
    ids: tuple[str, ...] = ()
    """Files and folders; empty for whatever the command finds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to make a project's environment and run its tests.

    `{env}`, `{tree}` and further names of the language are filled in when the plan is carried out.
    """

    setup: tuple[tuple[str, ...], ...]
    """Commands, run in order in a checkout of the project."""
    tests: tuple[str, ...]
    """The command that runs tests; paths or ids are added to it."""
    import_roots: tuple[str, ...]
    """Directories, relative to the project, from which its modules are imported."""
    test_paths: tuple[str, ...]
    linters: tuple[str, ...]
    """The linters and formatters that the project uses."""
    reasons: tuple[str, ...]
    """Why the plan is as it is, for a person to read."""
    lock_files: tuple[str, ...]
    """The files whose content decides whether an environment is still right."""
    type_checkers: tuple[str, ...] = ()
    version: str = ""
    """The version of the language that is asked for; empty for the one that is here."""
    version_from_tags: bool = False
    """Whether the build asks git for the version, and so has to be told."""
    version_without_tags: str = ""
    """What it is told where the repository has no tag: a released archive says which version it is."""
    toolchains: tuple[Need, ...] = ()
    """What it takes beside the language itself."""
    suite_paths: tuple[str, ...] = ()
    """Where the suite is, if the project's own command says so; empty for wherever the runner finds tests."""
    not_run: tuple[tuple[str, str], ...] = ()
    """What the project means by its tests and is not run, each with the reason."""
    marked: tuple[MarkedTests, ...] = ()
    """Integration tests, as far as the project marks them and they can be run."""
    checkers: tuple[tuple[str, ...], ...] = ()
    """Commands of set-up that install linters and type checkers; what one of them cannot bring is asked
    about.
    """

    @property
    def own_setup(self) -> tuple[tuple[str, ...], ...]:
        """The commands that a person may write; the environment itself is made before them."""
        return tuple(
            (words[2:] or ("pip", "install", words[1])) if words[0] == ADDED else words
            for words in self.setup
            if words[:2] != ("{uv}", "venv")
        )

    @property
    def test_command(self) -> tuple[str, ...]:
        """The command that runs tests, with the environment's programs by their plain names."""
        return tuple(word.removeprefix("{env}/bin/") for word in self.tests)


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment that is built and can run the project's tools."""

    path: Path
    """What set-up made: a virtual environment, a directory of packages."""
    program: Path
    """What runs the project's code: its interpreter, or the tool that builds and runs it."""
    source: Path
    """The checkout that the project was installed from."""
    import_roots: tuple[str, ...]
    generated: tuple[str, ...]
    """What set-up left in the checkout: paths relative to it."""
    key: str
    log: str
    prefix: Path
    """Where the language itself lives; a run must be able to read it."""
    toolchains: tuple[Toolchain, ...] = ()
    """What the project takes beside it; found anew each time, and part of the key."""
    failed: tuple[str, ...] = ()
    """Why checkers could not be installed, a sentence each."""
    added: tuple[str, ...] = ()
    """What came from us and not from the project, each as `name version`."""
    own_bytecode: bool = True
    """Whether compiled code that lies in it is taken. What the build of a change left there is not: nobody
    can read it.
    """
    hold: Hold | None = field(default=None, compare=False, repr=False)
    """Keeps it from being removed while this process uses it."""
    parts: Mapping[str, tuple[str, "Environment"]] = field(default_factory=dict, compare=False, repr=False)
    """Where it is those of several projects: by the name of each, its folder and its own environment."""
    around: Path | None = field(default=None, compare=False, repr=False)
    """The checkout that the project is a folder of; None where it is all of it."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """What a run in this environment needs to see, and may not change."""
        own = (self.path, self.source, *toolchain_roots(str(self.prefix)), *readable(self.toolchains))
        parts = (path for _, part in self.parts.values() for path in part.readable)
        return tuple(dict.fromkeys((*own, *parts, *([self.around] if self.around else []))))


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a project's files say of it to people who release or use it."""

    paths: frozenset[str]
    import_roots: tuple[str, ...]
    requirements: tuple[tuple[str, tuple[str, ...]], ...]
    """Where requirements are declared, and which."""
    names: frozenset[str]
    """The required packages, as code would import them."""
    version: str
    """Empty when a tool computes it, or there is none."""
    version_place: str
    """Where it stands, as a phrase; empty when nothing declares it."""
    version_places: str
    """Where the version could be written."""
    build: tuple[bool, str]
    """Whether a package can be built, and by what or why not."""
    fragments: tuple[str, str] | None
    """The tool that puts the changelog together, and its directory of fragments."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. Lines count from 1; `start` includes decorators."""

    name: str
    """Dotted below a class or function: `Parser.feed`."""
    kind: Kind
    start: int
    end: int
    signature: str


class Docstring(NamedTuple):
    """What a definition says of itself; the name is empty for the file as a whole."""

    name: str
    line: int
    text: str


class Risk(NamedTuple):
    """A place in code that may be dangerous."""

    line: int
    rule: str
    severity: Severity


class ChangedValue(NamedTuple):
    """Something that a change gives another value, and that is read rather than run."""

    what: str
    """What it is, as a phrase."""
    names: frozenset[str]
    """The names it is read by; none where it has none."""
    read: bool
    """Whether something in its own file, beside the changed lines, may read it."""
    other: bool = False
    """Whether it had another value before: it is neither new nor gone."""


@dataclass(frozen=True, slots=True)
class ChangedCode:
    """What a change of one file did, comments, documentation and formatting aside."""

    functions: tuple[str, ...]
    """The functions that are new, different or shorter."""
    lines: frozenset[int]
    """Lines of the new text: who runs one of them runs what changed."""
    values: tuple[ChangedValue, ...]
    altered: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Of functions that were there before: the lines that show what became of each."""
    bodies: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The same of those whose body differs, and not only how they are called."""


class Mutant(NamedTuple):
    """A file with one small mistake put in."""

    line: int
    what: str
    """What the mistake is: it goes on after "the code"."""
    text: str


class Liveness(NamedTuple):
    """Whether a test can fail: with both empty, it can."""

    refused: str = ""
    """Why it cannot; it goes on after a colon."""
    doubt: str = ""
    """Why that is not sure; it goes on after the name of the test."""
    rough: bool = False
    """Whether nothing in it says plainly what one thing must be, so that more than one result may do."""


class Stranger(NamedTuple):
    """A file of an environment that is more than a package unpacked."""

    name: str
    why: str
    """It goes on after the name of the file."""
    packed: bool
    """Whether a package brought it as it is."""


class Shadow(NamedTuple):
    """A file that would be loaded in the place of something that can be loaded already."""

    path: str
    names: tuple[str, ...]
    """How a request would name the file."""
    instead_of: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What a linter or type checker found, counted by file and code: line numbers move, counts do not."""

    status: Status
    reason: str = ""
    findings: Mapping[tuple[str, str], int] = field(default_factory=dict)
    samples: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The first finding of each kind, as `line: message`."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Programs that the project uses and that did not run, with the reason; others did."""
    limits: tuple[str, ...] = ()
    """What the run had to do without; its findings count all the same."""
    warnings: int = 0
    """What it also said, and does not count as wrong."""

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str]]) -> "CheckRun":
        """A run that found these: file, code and sample of each."""
        findings: dict[tuple[str, str], int] = {}
        samples: dict[tuple[str, str], str] = {}
        for path, code, sample in rows:
            findings[path, code] = findings.get((path, code), 0) + 1
            samples.setdefault((path, code), sample)
        return cls("ran", findings=findings, samples=samples)


@dataclass(frozen=True, slots=True)
class CoverageRun:
    """What one run of the suite executed, by file; a file that was never loaded is in neither."""

    status: Status
    reason: str = ""
    executed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    missing: Mapping[str, frozenset[int]] = field(default_factory=dict)


Sections = Mapping[str, Callable[[str], object]]
"""Files that hold settings of tests beside others, and how to take these out."""
