"""Any other language, as far as a project's settings declare it."""

import shlex
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from agentforge.core.errors import UsageError
from agentforge.languages.compiled.braces import TestDialect
from agentforge.languages.compiled.kit import SYSTEM_PATH, Kit, KitProjects, KitTests
from agentforge.languages.compiled.languages import language_of_kit
from agentforge.languages.compiled.servers import CLANGD
from agentforge.languages.described import Read, words
from agentforge.languages.generic.endings import made_to_fail_at_once
from agentforge.languages.generic.judging import MISSING_NAMES, PROGRAM, DeclaredTests, judge
from agentforge.languages.generic.listed import (
    BUILD_FILES,
    lost_statements,
    settings_of_list,
    settings_of_makefile,
)
from agentforge.languages.marked import declared_integration
from agentforge.languages.plain.reading import NEVER
from agentforge.languages.port import Language
from agentforge.languages.values import SETTINGS_FILE, Liveness, MarkedTests, Plan

SUFFIXES = tuple(
    f".{suffix}"
    for suffix in words(
        "bats c cc clj cljs cpp cr cs cu cxx dart erl ex exs f f90 fs groovy h hh hpp hrl hs jl kt kts lua m"
        " ml mm nim php pl pm ps1 pxd pyx R r rb scala sh swift t tcl zig"
    )
)

KIT = Kit(
    name="generic",
    servers=(CLANGD,),
    suffixes=SUFFIXES,
    runner="its own commands",
    markers=frozenset(),
    locks=frozenset(),
    build_files=BUILD_FILES,
    settings=frozenset(),
    sections={
        "Makefile": settings_of_makefile,
        "GNUmakefile": settings_of_makefile,
        "CMakeLists.txt": settings_of_list,
        "meson.build": settings_of_list,
    },
    test_globs=("tests/**", "test/**", "t/**"),
    is_test=lambda path: (
        bool({"tests", "test", "t"} & set(path.split("/")[:-1])) or "test" in path.rpartition("/")[2]
    ),
    dialect=TestDialect(NEVER, None, outermost=True, asserts=NEVER, helps=None, skips=NEVER, opens=""),
    missing_names=MISSING_NAMES,
    command=lambda *_: (),
    setup=lambda *_: (),
    variables=lambda _env, out: {"HOME": str(out)},
    places=(),
    linked=("node_modules",),
    judge=judge,
    held_out="",
)


class GenericProjects(KitProjects):
    """A project that declares how it is tested."""

    def missing(self, plan: Plan, /) -> str:
        """The first word of each declared command must be a program of the machine, or of the tree."""
        declared = DeclaredTests.of(plan.tests)
        if declared is None:
            return ""
        lines = [*map(shlex.join, plan.setup), *declared.build, declared.test, declared.each]
        for line in filter(None, (*lines, *(line for _, line in declared.named))):
            program = shlex.split(line)[0]
            if "/" not in program and shutil.which(program, path=SYSTEM_PATH) is None:
                return f"`{line}` cannot run here: there is no program `{program}`"
        return ""

    def detect(
        self, read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None, /
    ) -> Plan:
        """What the settings declare; nothing is guessed."""
        said = settings or {}
        own = said.get("generic")
        if not isinstance(own, Mapping):
            raise UsageError(
                "Nothing says how the tests of this project are run.",
                f"Declare `generic:` in `{SETTINGS_FILE}`.",
            )
        commands, tests = said.get("commands"), said.get("tests")
        test = str(commands.get("test", "")) if isinstance(commands, Mapping) else ""
        named = own.get("named")
        globs = tuple(map(str, tests)) if isinstance(tests, list) and tests else KIT.test_globs
        declared = DeclaredTests(
            str(own.get("report", "")),
            test,
            tuple(map(str, own.get("build") or ())),
            str(own.get("results", "")),
            str(own.get("each", "")),
            tuple((str(name), str(line)) for name, line in named.items())
            if isinstance(named, Mapping)
            else (),
            globs,
        )
        _check(declared)
        plan = super().detect(
            read, paths, {**said, "commands": {"test": shlex.join(declared.words()), "integration": ""}}
        )
        return Plan(
            plan.setup,
            declared.words(),
            (),
            globs,
            (),
            ("`generic:` is declared",),
            plan.lock_files,
            toolchains=plan.toolchains,
            not_run=_gaps(declared),
            marked=_marked(declared, said),
        )


def _marked(declared: DeclaredTests, settings: Mapping[str, object]) -> tuple[MarkedTests, ...]:
    """A further command that the settings name, whose report is of the same form."""
    if not (line := declared_integration(settings)):
        return ()
    if declared.report == "exit":
        own = replace(declared, each="", named=(("integration", line),))
    else:
        own = replace(declared, test=line)
    return (MarkedTests(f"tests of `{line}`", own.words()),)


def _check(declared: DeclaredTests) -> None:
    wants = {
        "junit": declared.test and declared.results,
        "tap": declared.test,
        "exit": declared.each or declared.named,
    }
    if not wants.get(declared.report):
        needs = {"junit": "`commands.test` and `generic.results`", "tap": "`commands.test`"}
        raise UsageError(
            f"A report of the form {declared.report or 'that is asked for'} needs "
            f"{needs.get(declared.report, '`generic.each` or `generic.named`')}.",
            f"Complete `generic:` in `{SETTINGS_FILE}` and start again.",
        )


def _gaps(declared: DeclaredTests) -> tuple[tuple[str, str], ...]:
    found = [("our own tests among theirs", "not available: nothing vouches for the report but the report")]
    if declared.report == "exit":
        found.append(("outcomes", f"one exit code for each named command, as `{PROGRAM}` declares"))
        found.append(
            ("that a test came to its end", "shown where its file can be made to fail there, by its ending")
        )
    return tuple(found)


class GenericTests(KitTests):
    """Tests that nobody can read: a file is one, or it is none."""

    def is_test_name(self, name: str, /) -> bool:
        """By the name alone."""
        return "test" in name

    def test_ids_in_source(self, text: str, path: str, /) -> list[str]:  # noqa: ARG002 - the port
        """One that is run by itself has the name of its file; others are told by their report."""
        return [f"{path}::{path.rpartition('/')[2].partition('.')[0]}"]

    def source_of_test(self, text: str, identity: str, /) -> str | None:  # noqa: ARG002 - the port
        """The whole of its file: nobody can tell it apart from the rest."""
        return "\n".join(line.strip() for line in text.splitlines()) if text else None

    def liveness(self, text: str, identity: str, /) -> Liveness:  # noqa: ARG002 - the port
        """Not read."""
        return Liveness(doubt="cannot be read, so nobody knows from its text whether it can fail")

    def made_to_fail(self, text: str, ids: Collection[str], /) -> tuple[str, frozenset[str]]:
        """A file that fails wherever it is run: what is still reported as passed was not decided by it."""
        path = next(iter(ids), "").partition("::")[0]
        names = (identity.partition("::")[2] for identity in ids)
        return made_to_fail_at_once(path, text, names), frozenset(ids)

    def weakened(self, before: str, after: str, path: str, /) -> list[str]:
        """Files of tests are not read: old ones run as the base has them. Lists that say how they run are."""
        return lost_statements(before, after, path)


GENERIC: Language = replace(
    language_of_kit(KIT, ""), projects=GenericProjects(KIT), tests=GenericTests(KIT), declared=True
)
