"""No word that nothing uses: settings keys that code reads, command options that a test names. And no phrase that
a reader stumbles over.

`make check` runs this file. A new option of a command needs a row in `options.yaml`, a new settings key one in
`READERS`; a phrase that nobody should read again, a row in `phrases.yaml`.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from agentforge.surfaces.cli.main import cli
from agentforge.system import strict_yaml
from tests.project.texts import docstrings, nodes, strings

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "agentforge"
TESTS = ROOT / "tests"
CONTRACTS = PACKAGE / "catalog" / "contracts"
READERS: Mapping[str, tuple[str, ...]] = {
    "model": ("models/known/tiers.py",),
    "tiers": ("models/known/tiers.py", "core/pipeline.py"),
    "delivery": ("models/known/tiers.py", "core/pipeline.py"),
    "mode": ("app/intake/starting.py",),
    "strict": ("activities/suite_gates.py",),
    "sandbox": ("app/setup/settings.py",),
    "language_server": ("app/setup/settings.py",),
    "python": ("app/setup/settings.py", "languages/python/detect.py"),
    "setup": ("languages/python/detect.py",),
    "commands": ("languages/python/detect.py", "languages/marked.py"),
    "generic": ("languages/generic/language.py",),
    "projects": ("languages/repository.py", "languages/node/projects.py", "languages/marked.py"),
    "tests": ("activities/world.py",),
    "docs": ("activities/assemble.py",),
    "import_roots": ("activities/world.py",),
    "limits": ("app/setup/settings.py", "activities/commit.py"),
    "container": ("app/setup/settings.py",),
    "roots": ("app/setup/settings.py", "tools/roots.py"),
    "network": ("app/setup/settings.py",),
    "temporal": ("app/drivers/connection.py", "engines/temporal/config.py"),
    "providers": ("app/setup/settings.py", "models/known/providers.py"),
    "day_cap": ("app/setup/settings.py",),
    "otel": ("app/setup/settings.py", "app/evidence/tracing.py"),
    "notify": ("app/setup/settings.py", "app/drivers/notifying.py"),
    "batch": ("app/setup/settings.py",),
    "keep": ("app/setup/settings.py",),
    "conformance": ("gates/conformance/declared.py",),
    "max_wait": ("app/setup/settings.py",),
    "questions": ("app/setup/settings.py",),
}
"""The modules that read a key of the settings, and the keys below it."""


def keys(schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a settings file, with the keys that it is below."""
    for name, node in schema.items():
        yield (*above, name)
        for part in (node, node.get("items", {}), node.get("additionalProperties"), *node.get("any_of", ())):
            if isinstance(part, dict):
                yield from keys(part.get("properties", {}), (*above, name))


def settings_keys() -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for name in ("settings", "user_settings"):
        contract: Any = strict_yaml.load_file(CONTRACTS / f"{name}.yaml")
        schema = contract["schema"]
        found |= set(keys(schema))
        for above, node in schema.items():  # a mapping by free names: providers
            more = node.get("additionalProperties")
            if isinstance(more, dict):
                found |= set(keys(more.get("properties", {}), (above,)))
    return found


def words_of(module: str) -> frozenset[str]:
    """Its literal texts, and the fields of its classes: a mapping may be read as one of these."""
    found = set()
    for node in nodes(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)


@pytest.mark.slow
def test_every_settings_key_is_read_by_code() -> None:
    known = settings_keys()
    assert {path[0] for path in known} == set(READERS)
    assert ("limits", "cost_usd") in known
    assert ("providers", "base_url") in known
    read = {key: frozenset().union(*map(words_of, readers)) for key, readers in READERS.items()}
    assert sorted(path for path in known if path[-1] not in read[path[0]]) == []


def options(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every long option below a command, with the command's words."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options(below, (*words, name))
        return
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from ((" ".join(words), name) for name in parameter.opts if name.startswith("--"))


def options_table() -> Iterator[tuple[str, str, str]]:
    """Command, option and the test that names it."""
    table: Any = strict_yaml.load_file(Path(__file__).with_name("options.yaml"))
    for command, rows in table.items():
        for test, names in rows.items():
            yield from ((command, name, test) for name in names)


def test_every_option_of_every_command_has_a_test() -> None:
    assert sorted(set(options(cli)) - {(command, name) for command, name, _ in options_table()}) == []
    assert sorted({(command, name) for command, name, _ in options_table()} - set(options(cli))) == []


@pytest.mark.slow
def test_the_test_of_an_option_is_there_and_names_it_with_its_command() -> None:
    wrong = []
    for command, name, test in options_table():
        file, _, function = test.partition("::")
        said = words_around(TESTS / file, function) if (TESTS / file).is_file() else frozenset()
        if not {name, *command.split()} <= said:
            wrong.append(f"{command} {name}: {test}")
    assert wrong == []


@cache
def words_around(file: Path, function: str) -> frozenset[str]:
    """The words and names of a test and of what may help it: its module without the other tests, and the
    modules of tests that it imports. Empty if there is no such test.
    """
    found: set[str] = set()
    there = False
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
        there |= name == function
        if name == function or not name.startswith("test_"):
            found |= words(node)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
            place = ROOT / node.module.replace(".", "/")
            for helper in (place.with_suffix(".py"), *(place / f"{each.name}.py" for each in node.names)):
                if helper.is_file():
                    found |= words_of_file(helper)
    return frozenset(found) if there else frozenset()


@cache
def words_of_file(file: Path) -> frozenset[str]:
    return frozenset(words(ast.parse(file.read_text(encoding="utf-8"))))


def words(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in nodes(tree):
        match node:
            case ast.Constant(value=str(text)):
                found |= {word.partition("=")[0] for word in text.split()}
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found.add(name)
            case _:
                pass
    return found


def phrases() -> Mapping[str, str]:
    """What no sentence may say, and what to say instead."""
    table: Any = strict_yaml.load_file(Path(__file__).with_name("phrases.yaml"))
    return {str(phrase): str(better) for phrase, better in table.items()}


def stumbles(text: str) -> list[str]:
    """The banned phrases of a text, each with what is around it."""
    line = " ".join(text.split())
    found = BANNED.finditer(line)
    return [f"{match[0]} (in: …{line[max(0, match.start() - 40) : match.end() + 40]}…)" for match in found]


BANNED = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases()))})(?!\w)", re.IGNORECASE)


@pytest.mark.slow
def test_no_sentence_that_can_reach_a_person_has_a_banned_phrase() -> None:
    wrong = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(PACKAGE).as_posix()
        read = [
            text for text in strings(tree) if " " in text.strip()
        ]  # one word alone is a key, not a sentence
        if name.startswith("surfaces/cli/commands/"):
            read += docstrings(tree)
        wrong[name] = [found for text in read for found in stumbles(text)]
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.slow
def test_no_page_has_a_banned_phrase() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    wrong = {page.name: stumbles(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_banned_phrase_is_found_across_lines_and_in_any_case() -> None:
    assert len(phrases()) >= 36
    for phrase in phrases():
        assert stumbles(f"It says: {phrase.capitalize()}, twice.")
        assert stumbles(f"It says:\n    {phrase.replace(' ', chr(10))}.")
    assert stumbles("It amends what it recommends.") == []
