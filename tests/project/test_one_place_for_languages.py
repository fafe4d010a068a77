"""No package but `languages` knows a file suffix, the name of a tool or a test runner."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.project.texts import nodes

PACKAGE = Path(__file__).parents[2] / "src" / "agentforge"
EXEMPT = (
    "languages/",
    "commands/",  # policy on command lines: which programs are dangerous, whatever a project is written in
    "system/installation.py",  # how this copy of AgentForge itself was installed
    "catalog/demo/",  # a sample project, which is written in some language
)
KNOWN_WORDS = re.compile(
    r"\.(?:pyi?|ts|tsx|go|rs|java)\b"
    r"|\b(?:pytest|py\.test|ruff|mypy|pyright|conftest|coverage\.py|unittest|tox|nox|uv|pip3?|poetry|setuptools)\b"
    r"|\b(?:virtualenv|venv|__init__|__pycache__|site-packages|python3?|pyproject|Pipfile|node_modules)\b"
    r"|\b(?:setup\.(?:cfg|py)|requirements\.txt|vitest|jest|mocha|tsc|eslint|npm|cargo|clippy|maven|gradle)\b"
    r"|\b(?:package\.json|Cargo\.toml|go\.mod|pom\.xml)\b",
    re.IGNORECASE,
)
ALLOWED = {
    r"\b_(?:confine|filter|listen)\.py\b": "files of AgentForge that start inside the walls",
    r"\(python\|pypy\|perl\|": "interpreters that would run a text as a program: policy on command lines",
    r"write it like src/module\.py|tests/test_a\.py::test_b|\*\*/\*\.py`, or `\*\.py`|such as \*\.py,": (
        "examples that a model is shown"
    ),
    r"regex=true \(Python syntax": "the patterns of a tool of ours, which Python's `re` reads",
    r"run (?:--write \. )?-- python -m pytest -q": "examples in the help of a command",
    r"Install Python 3\.11": "the interpreter that AgentForge itself runs on",
    r"^python$|(?:^# |`|^: )python: (?:\"3\.12\"|is a version|$)": (
        "a key of the settings, as the contract `settings` has it"
    ),
    r"pytest, the gates\.|^__pycache__$|^\.pytest_cache$": "the demo, whose sample is a Python project",
}
"""What may be said all the same, and why."""


@cache
def literals() -> tuple[tuple[str, str], ...]:
    """Every text in the code, documentation aside, with its place: all of it is read once."""
    return tuple(_literals())


def _literals() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(EXEMPT):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
        for node in nodes(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str | bytes)
                and id(node) not in said
            ):
                value = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                yield f"{name}:{node.lineno}", value


def test_no_other_package_knows_a_suffix_a_tool_or_a_runner() -> None:
    excused = re.compile("|".join(ALLOWED), re.MULTILINE)
    found = [
        (place, text) for place, value in literals() if KNOWN_WORDS.search(text := excused.sub("", value))
    ]
    assert [f"{place}: {text[:200]!r}" for place, text in found] == []


def test_every_exception_is_still_needed() -> None:
    texts = [value for _, value in literals()]
    unused = [row for row in ALLOWED if not any(re.search(row, text, re.MULTILINE) for text in texts)]
    assert unused == []


def test_only_the_table_names_a_language_to_others() -> None:
    """What lies behind the port is imported from nowhere else."""
    named = re.compile(r"^\s*(?:from|import) agentforge\.languages\.python\b", re.MULTILINE)
    found = [
        name
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith("languages/python/")
        and name != "languages/table.py"
        and named.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
