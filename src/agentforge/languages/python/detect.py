"""How a Python project is set up and tested, found in its files and correctable in the settings. Reads only;
runs nothing.
"""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentforge.core.errors import UsageError
from agentforge.languages.described import Read, table, words
from agentforge.languages.marked import declared_integration
from agentforge.languages.python import django
from agentforge.languages.python.checkers import (
    Checker,
    left_formatters,
    other_checkers,
    requirements_for,
    unused_hooks,
    used,
)
from agentforge.languages.python.layout import import_roots, test_paths
from agentforge.languages.python.project import PythonProject, lines, open_project, strings
from agentforge.languages.python.requirements import (
    REQUIREMENTS_TXT,
    Needs,
    gather,
    name_of,
    poetry_requirements,
)
from agentforge.languages.python.suite import find_suite, suite_of
from agentforge.languages.python.workspace import members
from agentforge.languages.toolchains import needs_of
from agentforge.languages.values import ADDED, SETTINGS_FILE, MarkedTests, Plan
from agentforge.system.canon import digest

PYTHON = "{env}/bin/python"
PYTEST = (PYTHON, "-m", "pytest")
MAKE_ENVIRONMENT = ("{uv}", "venv", "--python", "{python}", "{env}")
INSTALL = ("{uv}", "pip", "install", "--python", PYTHON)

LOCK_NAMES = words(
    "pyproject.toml setup.py setup.cfg MANIFEST.in tox.ini noxfile.py Pipfile Pipfile.lock uv.lock "
    "uv.toml poetry.lock pdm.lock pylock.toml hatch.toml Cargo.toml Cargo.lock CMakeLists.txt "
    "meson.build"
)
# Compiled into the environment: when one changes, what was built from it is stale.
NATIVE = (".c", ".cc", ".cpp", ".h", ".hpp", ".pxd", ".pyx", ".rs")
_RELEASED = re.compile(r"^Version: (\d[\w.!+-]{0,60})$", re.MULTILINE | re.ASCII)
FROM_TAGS = words(
    "setuptools-scm hatch-vcs flit-scm versioningit poetry-dynamic-versioning uv-dynamic-versioning pbr"
)


def detect(read: Read, paths: Sequence[str], settings: Mapping[str, object] | None = None) -> Plan:
    """The plan for a project, corrected by its settings."""
    project = open_project(read, paths)
    needs = gather(project)
    install = _install(project, needs)
    linters, checkers = used(project, "lint"), used(project, "types")
    needs.reasons += (f"{each.name} is used" for each in (*linters, *checkers))
    suite = find_suite(project, frozenset(needs.names))
    found = Plan(
        setup=(MAKE_ENVIRONMENT, *((INSTALL + install,) if install else ()), *_added(project, needs)),
        tests=(*PYTEST, *suite.options, *suite.paths),
        import_roots=import_roots(project),
        test_paths=test_paths(project),
        linters=tuple(each.name for each in linters),
        reasons=(*needs.reasons, *suite.reasons),
        lock_files=tuple(sorted(filter(_decides, project.paths))),
        type_checkers=tuple(each.name for each in checkers),
        checkers=_checkers(project, (*linters, *checkers)),
        version_from_tags=_version_from_tags(project),
        version_without_tags=_released_version(project),
        toolchains=needs_of(project.paths, read),
        suite_paths=suite.paths,
        not_run=(*suite.not_run.items(), *_unused(project)),
        marked=suite.marked,
    )
    return _corrected(found, settings or {}, project)


def lock_hash(plan: Plan, read: Read) -> str:
    """A digest of everything that decides what the environment holds."""
    return digest("\n".join(f"{path} {digest(read(path) or b'')}" for path in plan.lock_files))


def _install(project: PythonProject, needs: Needs) -> tuple[str, ...]:
    """The arguments that install the project and what its tests need, resolved together."""
    extras = list(dict.fromkeys(needs.extras))
    words: list[str] = []
    if _is_package(project):
        needs.reasons.insert(0, "installed from its own build description")
        words += ("-e", f".[{','.join(extras)}]" if extras else ".")
    elif table(project.pyproject, "project"):
        needs.reasons.insert(0, "requirements of `pyproject.toml`; it is not built as a package")
        words += ("-r", "pyproject.toml", *(word for extra in extras for word in ("--extra", extra)))
    elif "requirements.txt" in project.paths:
        needs.reasons.insert(0, "`requirements.txt`")
        needs.names.update(name_of(line) for line in lines(project.text("requirements.txt")))
        words += ("-r", "requirements.txt")
    else:
        words += _pipfile(project, needs)
    words += _members(project, needs)
    words += (word for group in dict.fromkeys(needs.groups) for word in ("--group", group))
    words += (word for path in dict.fromkeys(needs.files) for word in ("-r", path))
    words += dict.fromkeys(needs.requirements)
    return tuple(words)


def _added(project: PythonProject, needs: Needs) -> tuple[tuple[str, ...], ...]:
    """What we add, in versions and files that are fixed; if the project turns out to bring it, nothing is."""
    if needs.has_pytest:
        return ()
    if django.settings_module(project, needs.names):
        needs.reasons.append(f"{django.PLUGIN} added, pinned by hash: Django's own runner tests the project")
        return ((ADDED, django.PLUGIN),)
    needs.reasons.append("pytest added, pinned by hash: nothing else brings it")
    return ((ADDED, "pytest"),)


def _members(project: PythonProject, needs: Needs) -> list[str]:
    """The members of a workspace, each installed with what its own tests need."""
    words: list[str] = []
    for folder, member in members(project):
        own = gather(member)
        extras = ",".join(dict.fromkeys(own.extras))
        if _is_package(member):
            words += ("-e", f"./{folder}[{extras}]" if extras else f"./{folder}")
        else:
            words += ("-r", f"{folder}/pyproject.toml")
        words += (word for group in own.groups for word in ("--group", f"{folder}/pyproject.toml:{group}"))
        words += (word for path in own.files for word in ("-r", f"{folder}/{path}"))
        needs.requirements += own.requirements
        needs.note(own.names, f"member `{folder}` of the workspace")
    return words


def _pipfile(project: PythonProject, needs: Needs) -> tuple[str, ...]:
    if "Pipfile" not in project.paths:
        if next(members(project), None) is None:
            needs.reasons.insert(0, "nothing says what the project needs")
        return ()
    data = open_project(
        lambda path: project.read("Pipfile") if path == "pyproject.toml" else None, ()
    ).pyproject
    wanted = tuple(
        requirement
        for part in ("packages", "dev-packages")
        for requirement in poetry_requirements(table(data, part))
    )
    needs.note(wanted, "`Pipfile`")
    return wanted


def _is_package(project: PythonProject) -> bool:
    """Whether a build backend can make a package of it. A `[project]` table without one is a list of
    requirements.
    """
    if project.tool("uv").get("package") is False or project.tool("poetry").get("package-mode") is False:
        return False
    described = project.setup_cfg.has_section("metadata") or project.setup_cfg.has_section("options")
    return "setup.py" in project.paths or described or bool(table(project.pyproject, "build-system"))


def _checkers(project: PythonProject, wanted: Sequence[Checker]) -> tuple[tuple[str, ...], ...]:
    """Commands for each program that finds faults: as the project names it, else as we pin it; one that is
    there already is not installed again.
    """
    commands: list[tuple[str, ...]] = []
    for each in sorted(wanted, key=lambda each: each.name):
        if " " in each.name and any(other.name == each.program for other in wanted):
            continue
        found = requirements_for(project, each)
        if not found.own:
            commands.append((ADDED, each.program))
        if words := (*((found.own,) if found.own else ()), *found.beside):
            commands.append(INSTALL + words)
        if each.needs:
            commands.append((ADDED, each.needs))
    return tuple(dict.fromkeys(commands))


def _unused(project: PythonProject) -> list[tuple[str, str]]:
    """Checks of the project that nobody runs."""
    names = {"pre-commit hooks": unused_hooks(project), "other checkers": other_checkers(project)}
    names |= {"formatters": [f"{name} has only settings" for name in left_formatters(project)]}
    return [(name, f"not run: {', '.join(found)}") for name, found in names.items() if found]


def _released_version(project: PythonProject) -> str:
    """The version in the metadata of a released archive; empty where there is none, or none that can be
    one.
    """
    metadata = "\n".join(project.text("PKG-INFO").splitlines())
    found = _RELEASED.search(metadata.partition("\n\n")[0])
    return found[1] if found else ""


def _version_from_tags(project: PythonProject) -> bool:
    build = (
        *strings(table(project.pyproject, "build-system").get("requires")),
        *strings(project.setup_py.get("setup_requires")),
    )
    in_setup = any(key in project.setup_py for key in ("use_scm_version", "pbr"))
    pdm = project.tool("pdm", "version").get("source") == "scm"
    return in_setup or pdm or any(name_of(requirement) in FROM_TAGS for requirement in build)


def _decides(path: str) -> bool:
    name = posixpath.basename(path)
    return (
        (path in LOCK_NAMES)
        or name == "pyproject.toml"
        or bool(REQUIREMENTS_TXT.fullmatch(path))
        or (name.endswith(NATIVE) and "test" not in path)
    )


def _corrected(plan: Plan, settings: Mapping[str, object], project: PythonProject) -> Plan:
    """The plan with what a person wrote down instead of what was found."""
    if "setup" in settings:
        commands = settings["setup"]
        if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
            raise UsageError(
                f"`setup` in `{SETTINGS_FILE}` must be a list of commands.",
                'Write, say, `setup: ["pip install -e ."]`.',
            )
        # A person's commands may call pip, so the environment gets one.
        plan = replace(
            plan,
            setup=(
                MAKE_ENVIRONMENT,
                (ADDED, "pip"),
                *(_words(command, "setup") for command in commands),
            ),
            reasons=(f"`setup` in `{SETTINGS_FILE}`",),
        )
    commands_by_name = settings.get("commands", {})
    if not isinstance(commands_by_name, Mapping):
        raise UsageError(
            f"`commands` in `{SETTINGS_FILE}` must map names to commands.",
            'Write, say, `commands: {test: "pytest -q"}`.',
        )
    if "test" in commands_by_name:
        told = _words(commands_by_name["test"], "commands.test")
        suite = suite_of(told, project)
        own = tuple(told) if suite is None else (*PYTEST, *suite.options, *suite.paths)
        plan = replace(plan, tests=own, suite_paths=suite.paths if suite else (), not_run=())
    if (line := declared_integration(settings)) is not None:
        found = (MarkedTests(f"tests of `{line}`", _words(line, "commands.integration")),) if line else ()
        plan = replace(plan, marked=found)
    python = settings.get("python", "")
    return replace(plan, version=str(python) if python is not None else "")


def _words(command: object, key: str) -> tuple[str, ...]:
    """A command line as words. No shell ever reads it."""
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else ()
    except ValueError:
        words = ()
    if not words:
        raise UsageError(
            f"`{key}` in `{SETTINGS_FILE}` is not a command: {command!r}.",
            "Write one command line; no shell reads it.",
        )
    return words
