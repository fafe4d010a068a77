"""The commands by which a project runs its own tests, as its files have them: tox, nox, scripts of project
tools, Makefile, CI. Read, never executed; a word that only a run could fill in is left out.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from typing import NamedTuple

from agentforge.languages.described import Table, read_ini, read_toml, table
from agentforge.languages.marked import is_integration
from agentforge.languages.python.project import PythonProject, strings

UNKNOWN = "\0"
"""Stands for text that only a run could fill in; a word that has it is dropped."""
SITE = "site-packages"
"""Stands for the folder of installed packages, where the project's own are too."""
OURS = re.compile(r"py[\d.]*|python|tests?|unit|unittests?|pytest|default", re.IGNORECASE)
"""Names of environments, sessions and targets that mean the plain tests."""
TARGETS = ("test", "tests", "check", "unittest", "pytest")
WORKFLOWS = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.travis\.ya?ml|\.circleci/config\.ya?ml"
)
ASIDE = re.compile(r"bench|codspeed|nightly|release|publish|deploy|docs|lint|wheel", re.IGNORECASE)
"""Names of CI files that are about something else than the tests."""
RULE = re.compile(r"(?P<names>[\w./ -]+?)\s*::?(?!=)\s*(?P<needs>[^=\n]*)")
VARIABLE = re.compile(r"(?P<name>\w+)\s*[:?]?=\s*(?P<value>.*)")
PREFIXES = frozenset({"time", "exec", "env", "xvfb-run", "sudo", "nice"})


class OwnCommand(NamedTuple):
    """One command of the project, and where it stands."""

    words: tuple[str, ...]
    where: str
    """As a phrase: `tox`, `the session tests of nox`."""


class OwnSource(NamedTuple):
    """What one place of a project says about its tests."""

    commands: tuple[OwnCommand, ...]
    others: tuple[OwnCommand, ...] = ()
    """Commands of further environments, which are not the plain tests."""


def own_sources(project: PythonProject) -> tuple[OwnSource, ...]:
    """Every place that says how tests are run; the one that says it most plainly first."""
    places = (_tox, _nox, _scripts, _make, _workflows)
    return project.once("own sources", lambda it: tuple(read(it) for read in places))


def command_lines(text: str) -> Iterator[tuple[str, ...]]:
    """The commands of a shell line as words; what is not plain words is none."""
    for part in re.split(r"&&|\|\||[;|]", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            continue
        while words and (re.fullmatch(r"\w+=.*", words[0]) or words[0] in PREFIXES):
            words.pop(0)
        words = [word for word in words if word and UNKNOWN not in word]
        if words:
            yield tuple(words)


# ------------------------------------------------------------------ tox


def _tox(project: PythonProject) -> OwnSource:
    environments: dict[str, list[str]] = {}
    for parser in (project.tox_ini, project.setup_cfg, _legacy(project)):
        environments = environments or _of_ini(parser)
    environments = environments or _of_toml(project.tool("tox"))
    environments = environments or _of_toml(read_toml(project.text("tox.toml")) or {})
    plain = environments.pop("", [])
    named = {name: _commands(lines, f"the tox environment {name}") for name, lines in environments.items()}
    mine = [*_commands(plain, "tox")]
    mine += (each for name, found in named.items() if _is_ours(name) for each in found)
    others = (each for name, found in named.items() if not _is_ours(name) for each in found)
    return OwnSource(tuple(mine), tuple(others))


def _is_ours(name: str) -> bool:
    """`py312`, `tests`, `py3{9,10}-tests`."""
    return all(OURS.fullmatch(part) for part in re.sub(r"\{[^{}]*\}", "", name).split("-"))


def _legacy(project: PythonProject) -> ConfigParser:
    text = project.tool("tox").get("legacy_tox_ini")
    return (read_ini(text) if isinstance(text, str) else None) or ConfigParser()


def _of_ini(parser: ConfigParser) -> dict[str, list[str]]:
    """Environment to its commands; the name is empty for what all of them share."""
    found: dict[str, list[str]] = {}
    for section in parser.sections():
        if section == "testenv" or section.startswith("testenv:"):
            text = re.sub(r"\\\n\s*", " ", parser.get(section, "commands", fallback=""))
            found[section.partition(":")[2]] = [without_factor(line.strip()) for line in text.splitlines()]
    return {name: lines for name, lines in found.items() if lines}


def without_factor(line: str) -> str:
    """`py38: pytest` and `- pytest` are `pytest`."""
    return re.sub(r"^(?:[\w!,.{}-]+\s*:\s+)?(?:[-!]\s+)?", "", line)


def _of_toml(tox: Table) -> dict[str, list[str]]:
    environments = {"": table(tox, "env_run_base"), **{k: table(v) for k, v in table(tox, "env").items()}}
    found: dict[str, list[str]] = {}
    for name, environment in environments.items():
        rows = environment.get("commands")
        if isinstance(rows, list):
            # An entry that is no text is a replacement such as posargs, with a default that may be one.
            found[name] = [shlex.join(_toml_words(row)) for row in rows if isinstance(row, list)]
    return {name: lines for name, lines in found.items() if lines}


def _toml_words(row: list[object]) -> Iterator[str]:
    for word in row:
        if isinstance(word, str):
            yield word
        else:
            yield from strings(table(word).get("default"))


def _commands(lines: Iterable[str], where: str) -> list[OwnCommand]:
    return [OwnCommand(words, where) for line in lines for words in command_lines(_filled(line))]


def _filled(text: str) -> str:
    """A line of tox without its substitutions: defaults are taken, the rest is unknown."""
    before = ""
    while before != text:
        before = text
        text = re.sub(r"\{([^{}]*)\}", lambda found: _substituted(found.group(1)), text)
    return text


def _substituted(inner: str) -> str:
    name, _, default = inner.partition(":")
    if name in {"toxinidir", "tox_root"}:
        return "."
    if name in {"envpython", "env_python"}:
        return "python"
    if name in {"envsitepackagesdir", "env_site_packages_dir"}:
        return SITE
    if name == "posargs":
        return default
    if name == "env" and ":" in default:
        return default.partition(":")[2]
    return UNKNOWN


# ------------------------------------------------------------------ nox


def _nox(project: PythonProject) -> OwnSource:
    """The literal arguments of `session.run(...)`; a word that is computed is left out."""
    try:
        tree = ast.parse(project.text("noxfile.py"))
    except (SyntaxError, ValueError):
        return OwnSource(())
    mine: list[OwnCommand] = []
    others: list[OwnCommand] = []
    for session in tree.body:
        if not isinstance(session, ast.FunctionDef) or not session.decorator_list:
            continue
        place = mine if "test" in session.name and _plain_session(session.name) else others
        for call in ast.walk(session):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "run"
            ):
                words = tuple(_literals(call.args))
                if words:
                    place.append(OwnCommand(words, f"the nox session {session.name}"))
    return OwnSource(tuple(mine), tuple(others))


def _plain_session(name: str) -> bool:
    return OURS.fullmatch(name) is not None or not re.search(r"integration|e2e|doc|lint|type|mypy", name)


def _literals(arguments: Iterable[ast.expr]) -> Iterator[str]:
    for each in arguments:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


# ------------------------------------------------------------------ scripts of project tools


def _scripts(project: PythonProject) -> OwnSource:
    """`hatch run test`, `pdm test`, `poe test` and their like."""
    tables: list[tuple[str, Mapping[str, object]]] = [
        ("pdm", project.tool("pdm", "scripts")),
        ("poe", project.tool("poe", "tasks")),
        ("taskipy", project.tool("taskipy", "tasks")),
        ("rye", project.tool("rye", "scripts")),
    ]
    tables += (
        (f"the hatch environment {name}", table(value, "scripts"))
        for name, value in project.tool("hatch", "envs").items()
    )
    found: list[OwnCommand] = []
    others: list[OwnCommand] = []
    for where, scripts in tables:
        marked = [name for name in scripts if is_integration(name)]
        for name in (*TARGETS, *marked):
            value = scripts.get(name)
            if isinstance(value, dict):
                value = next((value[key] for key in ("cmd", "shell") if key in value), None)
            lines = [value] if isinstance(value, str) else strings(value)
            bare = [re.sub(r"\{args(?::([^{}]*))?\}", r"\1", line) for line in lines]
            place, said = (others, f"`{name}` of {where}") if name in marked else (found, where)
            place += _commands(bare, said)
    return OwnSource(tuple(found), tuple(others))


# ------------------------------------------------------------------ make


def _make(project: PythonProject) -> OwnSource:
    name = next((name for name in ("Makefile", "makefile", "GNUmakefile") if name in project.paths), "")
    rules, needs, variables = _read_makefile(project.text(name) if name else "")
    target = next((target for target in TARGETS if target in rules or target in needs), "")

    def commands(of: str) -> Iterator[OwnCommand]:
        for each in dict.fromkeys((of, *needs.get(of, ()))):
            for line in rules.get(each, ()):
                text = _without_variables(line.lstrip("@-+ "), variables)
                yield from (OwnCommand(words, f"`make {of}`") for words in command_lines(text))

    marked = [name for name in rules if is_integration(name) and name != target]
    return OwnSource(tuple(commands(target)), tuple(each for name in marked for each in commands(name)))


def _read_makefile(text: str) -> tuple[dict[str, list[str]], dict[str, tuple[str, ...]], dict[str, str]]:
    """The recipes by target, what each target needs first, and plain variables."""
    rules: dict[str, list[str]] = {}
    needs: dict[str, tuple[str, ...]] = {}
    variables: dict[str, str] = {}
    current: list[str] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.startswith("\t"):
            for name in current:
                rules.setdefault(name, []).append(line.strip())
        elif (found := VARIABLE.fullmatch(line.strip())) is not None:
            variables[found["name"]] = found["value"].strip()
        elif (rule := RULE.fullmatch(line.split("#")[0].strip())) is not None:
            current = rule["names"].split()
            needs |= {name: (*needs.get(name, ()), *rule["needs"].split()) for name in current}
    return rules, needs, variables


def _without_variables(text: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        known = variables.get(found.group(1), "")
        return UNKNOWN if not known or "$" in known else known

    return re.sub(r"\$\S+", UNKNOWN, re.sub(r"\$[({](\w+)[)}]", value, text))


# ------------------------------------------------------------------ CI


def _workflows(project: PythonProject) -> OwnSource:
    """Lines of CI files that are a command; whatever else a line says begins with no program we know."""
    found: list[OwnCommand] = []
    for path in sorted(filter(WORKFLOWS.fullmatch, project.paths)):
        if ASIDE.search(path):
            continue
        text = re.sub(r"\\\n\s*", " ", project.text(path))
        for line in text.splitlines():
            bare = re.sub(r"^\s*(?:-\s+)?(?:(?:run|script|command):\s*)?(?:-\s+)?[\"']?", "", line)
            plain = re.sub(r"\$\{\{.*?\}\}|\$\S+", UNKNOWN, bare.rstrip("\"'"))
            found += (OwnCommand(words, f"`{path}`") for words in command_lines(plain))
    return OwnSource(tuple(found))
