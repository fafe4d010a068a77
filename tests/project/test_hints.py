"""Every hint to install a part of AgentForge is derived from how this copy was installed."""

import ast
import re
from pathlib import Path

import pytest

from tests.project.texts import strings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/agentforge"
MAKER = "system/installation.py"
NO_ADVICE = ("catalog/demo/", "tools/risk")
"""A sample project; commands that are judged."""
INSTALLS = re.compile(
    r"\b(pip3?|pipx|uvx?|conda|poetry)\b.{0,20}\b(install|add|inject|sync)\b|\bagentforge(-pipeline)?\[",
    re.IGNORECASE,
)
OF_THE_PROJECT = {
    ("languages/python/detect.py", 'Write, say, `setup: ["pip install -e ."]`.'),
}
"""What a person writes into the settings of their own project."""


def hints(name: str, text: str) -> list[str]:
    """The sentences of a module that tell somebody to install something with a package manager of Python."""
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
