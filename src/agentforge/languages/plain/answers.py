"""What a project is and what its tests do, as far as that can be said without knowing its language."""

import posixpath
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from agentforge.languages.described import Read
from agentforge.languages.generated import is_in_made_folder
from agentforge.languages.outcomes import RunElsewhere, TestRun
from agentforge.languages.values import (
    CheckRun,
    CoverageRun,
    Environment,
    Liveness,
    Manifest,
    Plan,
    Sections,
    Shadow,
    Stranger,
)
from agentforge.system.canon import digest

NOT_PROJECTS = frozenset({"examples", "fixtures", "test", "testdata", "tests", "third_party", "vendor"})
"""Folders below which a file that makes a project is material of another one."""

_OF_OTHERS = frozenset(
    {"_vendor", "_vendored", "bower_components", "node_modules", "third_party", "vendor", "vendored"}
)


def is_of_others(path: str) -> bool:
    """Whether a file is a copy of what somebody else wrote, by the folder that it is in."""
    return not _OF_OTHERS.isdisjoint(path.split("/")[:-1])


def outermost(paths: Iterable[str], markers: Collection[str]) -> tuple[str, ...]:
    """The folders that hold a file of one of these names, without those inside of another."""
    folders = sorted(
        {
            posixpath.dirname(path)
            for path in paths
            if posixpath.basename(path) in markers
            and not is_in_made_folder(path)
            and NOT_PROJECTS.isdisjoint(path.split("/")[:-1])
        },
        key=len,
    )
    found: list[str] = []
    for folder in folders:
        if not any(not root or folder.startswith(f"{root}/") for root in found):
            found.append(folder)
    return tuple(found)


class PlainProjects:
    """`Projects` of a language that only says what its files are called; `detect` and `build` are its own."""

    BUILD_FILES: frozenset[str] = frozenset()
    LOCKS: frozenset[str] = frozenset()
    MARKERS: frozenset[str] = frozenset()
    """Names of files that make a folder a project."""

    def __init__(self, language: str) -> None:
        self._language = language

    def roots(self, read: Read, paths: Sequence[str], /) -> tuple[str, ...]:
        """The outermost folders with a file that makes one."""
        return outermost(paths, self.MARKERS)

    def missing(self, plan: Plan, /) -> str:
        """Nothing that is known."""
        return ""

    def lock_hash(self, plan: Plan, read: Read, /) -> str:
        """Of the files that decide what the environment holds."""
        return digest("\n".join(f"{path} {digest(read(path) or b'')}" for path in plan.lock_files))

    def run_env(self, environment: Environment, tree: Path, /) -> dict[str, str]:
        """The programs of the environment, and of the machine."""
        return {"PATH": f"{environment.path}/bin:/usr/local/bin:/usr/bin:/bin"}

    def strangers(self, environment: Environment, /) -> tuple[Stranger, ...]:
        """None that is known."""
        return ()

    def describe(self, read: Read, paths: Sequence[str], /) -> Manifest:
        """Nothing is declared that could be read."""
        why = f"nothing is known of how {self._language} is released"
        return Manifest(frozenset(paths), (), (), frozenset(), "", "", "", (False, why), None)


class PlainTests:
    """`Tests` of a language that only says what its files are called."""

    RUNNER: str = "its test runner"
    SETTINGS: frozenset[str] = frozenset()
    SECTIONS: Sections = {}  # noqa: RUF012 - nobody changes it
    FIXTURES: frozenset[str] = frozenset()
    MISCALLED: frozenset[str] = frozenset()
    HELD_OUT: str = ""
    CALLABLE: bool = False

    def __init__(self, language: str) -> None:
        self._language = language

    def test_globs(self, test_paths: Sequence[str], /) -> tuple[str, ...]:
        """All of these places."""
        return tuple(path if "*" in path else f"{path.rstrip('/')}/**" for path in test_paths)

    def is_test_name(self, name: str, /) -> bool:
        """No name says so."""
        return False

    def is_run(self, path: str, /) -> bool:
        """By its name."""
        return self.is_test_name(path.rpartition("/")[2])

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:
        """Not read."""
        return []

    def source_of_test(self, text: str, identity: str, /) -> str | None:
        """Not read: old tests are run as the base has them in any case."""
        return None

    def asserts(self, text: str, identity: str, /) -> bool:
        """Not read, and so not refused."""
        return True

    def liveness(self, text: str, identity: str, /) -> Liveness:
        """Not read, which is said."""
        return Liveness(doubt=f"whether it can fail is not read from its text for {self._language}")

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """No test can be changed."""
        return text, frozenset()

    def without_tests(self, text: str, ids: Collection[str], /) -> str:
        """No test can be taken out."""
        return text

    def test_doubts(self, text: str, identity: str, /) -> list[str]:
        """Not looked for."""
        return []

    def replaced_names(self, text: str, /) -> list[str]:
        """Not looked for."""
        return []

    def code_doubts(self, text: str, lines: Collection[int], tests: Sequence[str], /) -> list[str]:
        """Not looked for."""
        return []

    def shadows(self, *_asked: Any) -> list[Shadow]:
        """Files are loaded by their paths."""
        return []

    def examples_of(self, text: str, identity: str, /) -> tuple[str, ...] | None:
        """No example of documentation is a test."""
        return None

    def weakened(self, before: str, after: str, path: str, /) -> list[str]:
        """Not read: old tests are run as the base has them in any case."""
        return []

    def inputs(self, text: str, /) -> tuple[str, ...]:
        """Not read."""
        return ()

    def missing_import(self, error: str, promised: Sequence[str], /) -> str | None:
        """No error is understood."""
        return None


class PlainRuns:
    """`SandboxRuns` of a language that has nothing but tests to run; `run_tests` and `judge_hash` are its
    own.
    """

    def __init__(self, language: str) -> None:
        self._language = language

    def call_tests(self, *_asked: Any, **_facts: Any) -> TestRun | None:
        """Tests are not functions that one could call."""
        return None

    def call_functions(self, *_asked: Any, **_facts: Any) -> RunElsewhere | None:
        """No calls were seen."""
        return None

    def foreign(self, *_asked: Any) -> list[str]:
        """A run sees its tree alone."""
        return []

    def lint(self, *_asked: Any) -> CheckRun:
        """There is no linter."""
        return CheckRun("not_configured", f"no linter of {self._language} is known")

    def formatted(self, *_asked: Any) -> dict[str, str]:
        """There is no formatter."""
        return {}

    def typecheck(self, *_asked: Any, **_facts: Any) -> CheckRun:
        """There is no type checker."""
        return CheckRun("not_configured", f"no type checker of {self._language} is known")

    def measure(self, *_asked: Any, **_facts: Any) -> CoverageRun:
        """Lines are not counted."""
        return CoverageRun("not_configured", f"which lines tests run is not measured for {self._language}")
