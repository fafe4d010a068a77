"""Every hint works as it is: those to install a part are derived from how this copy was installed, and every
command that a sentence tells a person to type exists, with its options.
"""

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from agentforge.surfaces.cli.command_list import COMMANDS
from agentforge.surfaces.cli.main import cli
from agentforge.surfaces.cli.safe_text import safe
from agentforge.system import strict_yaml
from tests.project.texts import nodes, strings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/agentforge"
MAKER = "system/installation.py"
NO_ADVICE = ("catalog/demo/", "tools/risk")
"""A sample project; commands that are judged."""
INSTALLS = re.compile(
    r"\b(pip3?|pipx|uvx?|conda|poetry)\b.{0,20}\b(install|add|inject|sync)\b|\bagentforge(-pipeline)?\[",
    re.IGNORECASE,
)
NAMES_ONE = re.compile(r"\b(pip3?|pipx|uvx?|conda|poetry)\b|\bagentforge(-pipeline)?\[", re.IGNORECASE)
"""What a module has that has such a sentence: most are not read any further."""
OF_THE_PROJECT = {
    ("languages/python/detect.py", 'Write, say, `setup: ["pip install -e ."]`.'),
}
"""What a person writes into the settings of their own project."""


def hints(name: str, text: str) -> list[str]:
    """The sentences of a module that tell somebody to install something with a package manager of Python."""
    if not NAMES_ONE.search(text):
        return []
    found = [line.strip() for value in strings(ast.parse(text)) for line in value.splitlines()]
    return [line for line in found if INSTALLS.search(line) and (name, line) not in OF_THE_PROJECT]


def test_no_module_spells_out_how_to_install_a_part_of_agentforge() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name != MAKER and not name.startswith(NO_ADVICE):
            found[name] = hints(name, path.read_text(encoding="utf-8"))
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        '''"Run: pip install 'agentforge[openai]'"''',
        '''f"Install it with `uv tool install 'agentforge[{extra}]'`."''',
        '''"`uv` is missing; `pip install uv` brings it."''',
        '''f"the extra agentforge-pipeline[{extra}]"''',
    ],
)
def test_a_spelled_out_hint_would_be_found(line: str) -> None:
    assert hints("x.py", f"def f(extra):\n    return {line}\n")


def test_no_document_names_the_other_project_of_the_package_index() -> None:
    documents = [ROOT / "README.md", ROOT / "AGENTS.md", *(ROOT / "docs").rglob("*.md")]
    wrong = re.compile(
        r"(?<![\w/.-])agentforge\[|\binstall (-\S+ )*['\"]?agentforge['\"]?(\s|$)", re.MULTILINE
    )
    assert [path.name for path in documents if wrong.search(path.read_text(encoding="utf-8"))] == []


# ------------------------------------------------------------------ commands that a person is told to type

QUOTED = re.compile(r"`(agentforge [^`\n]*)`")
LINES = re.compile(r"^\s+(agentforge [^\n]*)", re.MULTILINE)
SPEAKS_OF_COMMANDS = re.compile(r"""agentforge |["']agentforge""")
PASTED = "tests/whole/hints.yaml"
MADE_OF = ("command", "join")
"""Functions that make a command line of words."""


def commands_in(module: str, *, without: re.Pattern[str] | None = None) -> Iterator[str]:
    """Every command line of ours that the sentences of a module can tell a person to type; `{}` for a value."""
    if not SPEAKS_OF_COMMANDS.search(module):
        return
    tree = ast.parse(module)
    for text in strings(tree):
        value = text if without is None else without.sub("", text)
        yield from QUOTED.findall(value)
        yield from LINES.findall(value)
    for node in nodes(tree):
        if isinstance(node, ast.Call) and _name(node.func) in MADE_OF and node.args:
            words = [
                str(arg.value) if isinstance(arg, ast.Constant) else "{}"
                for arg in node.args
                if not isinstance(arg, ast.Starred)
            ]
            if words[0] == "agentforge" and words[1:]:
                yield shlex.join(words)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def wrong_with(line: str) -> str:
    """What the command line would be refused for; empty if it can be typed as it is."""
    try:
        whole = shlex.split(re.split(r"   +", line)[0])[1:]
    except ValueError as error:
        return str(error)
    words = [*takewhile(lambda word: word not in ("|", "<", ">", "#"), whole)]
    if words[:1] == ["{}"]:  # one of those that take a request
        words[0] = "start"
    if words[-1:] == ["…"] and not words[-2].startswith("-"):
        words = [word for word in words[:-1] if word != "{}"]
    command: click.Command = cli
    context = click.Context(cli, info_name="agentforge")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        if found is None:
            return "no such command"
        command, context = found, click.Context(found, parent=context, info_name=found.name)
    if "--help" in words:
        return ""
    try:
        command.make_context(command.name, _filled(command, words))
    except click.exceptions.Exit:
        return ""
    except click.UsageError as error:
        return error.format_message()
    return ""


def _filled(command: click.Command, words: list[str]) -> list[str]:
    """The words with something in every place that is left open: of a choice, one of them."""
    kinds = {
        name: each.type for each in command.params if isinstance(each, click.Option) for name in each.opts
    }
    filled: list[str] = []
    for word in words:
        kind = kinds.get(filled[-1]) if filled else None
        value = kind.choices[0] if isinstance(kind, click.Choice) else "1"
        open_word = "{" in word or word in ("…", "N") or (word.isupper() and isinstance(kind, click.Choice))
        filled.append(str(value) if open_word else word)
    return filled


@pytest.mark.slow
def test_every_command_that_a_sentence_names_can_be_typed() -> None:
    found, wrong = 0, []
    for path in sorted(SOURCE.rglob("*.py")):
        for line in commands_in(path.read_text(encoding="utf-8")):
            found += 1
            if (problem := wrong_with(line)) != "":
                wrong.append(f"{path.relative_to(SOURCE)}: {line}: {problem}")
    assert wrong == []
    assert found > 200  # the sentences, the examples of the help, and the lines under "Next:"


ALONE = re.compile(rf"agentforge ({'|'.join(COMMANDS)})( [^\n]*)?$")
EXAMPLES = re.compile(r"(?s)\nExamples:\n.*?(\n\n|$)")
"""The examples of a help text, which the documents show: no hint for somebody who is in the middle."""


def hinted(text: str) -> set[str]:
    """The commands of ours that a module tells a person to type, each value as `{}`."""
    alone = {line for line in strings(ast.parse(text)) if ALONE.match(line)}
    lines = alone.union(commands_in(text, without=EXAMPLES))
    return {re.sub(r"'?\{\w*\}'?", "{}", " ".join(line.split())) for line in lines}


@pytest.mark.slow
def test_every_hint_of_the_program_is_pasted_by_a_test() -> None:
    rows = strict_yaml.load_settings((ROOT / PASTED).read_text(encoding="utf-8"), PASTED)
    assert isinstance(rows, list)
    shown = {str(row["hint"]): row for row in rows if isinstance(row, dict)}
    found = set().union(
        *(
            hinted(text)
            for path in SOURCE.rglob("*.py")
            if SPEAKS_OF_COMMANDS.search(text := path.read_text(encoding="utf-8"))
        )
    )
    assert sorted(found - {*shown}) == [], f"add how it is pasted to {PASTED}"
    assert sorted({*shown} - found) == [], f"nothing says it any more: {PASTED}"
    for row in shown.values():
        name, _, test = str(row.get("shown_by", "")).partition("::")
        assert not name or f"def {test}(" in (ROOT / name).read_text(encoding="utf-8"), row


@pytest.mark.parametrize(
    "line",
    [
        '"`agentforge kontinue` goes on."',
        'f"`agentforge continue {task} --takeover` goes on."',
        '"Examples:\\n  agentforge verify --rerunn\\n"',
        'command("agentforge", "resolve", task, "--anser", x)',
        'f"`agentforge resolve` answers."',
    ],
)
def test_a_command_that_cannot_be_typed_would_be_found(line: str) -> None:
    (found,) = commands_in(f"x = {line}\n")
    assert wrong_with(found)


# ------------------------------------------------------------------ the user's own settings

NAMED = re.compile(r"your config\.yaml|~/\.agentforge/config\.yaml")
OTHER_FILES = re.compile(r"\.pre-commit-config\.yaml|stage_config\.yaml|pnpm\S*")
OWN_NAME = "config.yaml"
"""The name of the file alone, from which its path is made."""


def unnamed_settings(text: str) -> list[str]:
    """The sentences of a module that speak of the user's settings and not in the words whose path is shown."""
    if OWN_NAME not in text:
        return []
    found = [OTHER_FILES.sub("", NAMED.sub("", value)) for value in strings(ast.parse(text))]
    return [value for value in found if OWN_NAME in value and value != OWN_NAME]


def test_every_sentence_about_the_users_settings_is_shown_with_their_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {path.name: unnamed_settings(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in found.items() if lines} == {}
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path))
    assert safe("Write it into your config.yaml.") == f"Write it into {tmp_path}/config.yaml."
    assert unnamed_settings('x = "Write it into config.yaml."\n'), "it would be found"
