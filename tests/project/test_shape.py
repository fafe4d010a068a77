"""The shape of the code base: one meaning for each class name, imports where a reader looks for them, no copies."""

import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.project.texts import nodes

PACKAGE = Path(__file__).parents[2] / "src" / "agentforge"
LATE_IMPORTS = {
    "__init__.py": "the Python API, each name of which is loaded when it is first used",
    "surfaces/cli/": "a command loads its work when it runs",
    "surfaces/dashboard/": "a route loads its work when it is first asked: an idle server stays small",
    "app/drivers/connection.py": "the extra `temporal`",
    "languages/pattern_child.py": "the extra `patterns`",
    "app/drivers/hosting.py": "the extra `temporal`",
    "app/drivers/remote.py": "the extra `temporal`",
    "app/evidence/printed.py": "the extra `pdf`",
    "app/evidence/tracing.py": "the extra `otel`",
    "models/batch.py": "the extras of providers",
    "models/known/prices.py": "the extras of providers bring the list of prices",
    "models/known/published.py": "as prices",
    "models/known/windows.py": "as prices",
    "store/user/repositories.py": "the file as we write it needs no reader of YAML, which takes longer to load",
    "store/user/keys.py": "as repositories",
    "store/site.py": "the journal brings all of the rules, and a list of tasks needs none",
    "store/task/archive.py": "as site",
    "store/layout.py": "only a name that is long or strange needs a hash",
    "store/user/own_files.py": "who only reads such a file needs nothing that writes one",
    "system/beneath.py": "the kernel's call needs `ctypes`, and most commands open nothing beneath a root",
    "app/record/rows.py": "only a task that has a lock file needs what looks at locks",
    "app/record/of_repository.py": "as site; most tasks have no server",
    "store/user/index.py": "what replays a journal, where one has moved on",
    "models/open.py": "the scripted model reads YAML, which no other model needs",
    "models/provider_model.py": "the extras of providers",
    "models/wire/": "the extras of providers, one at a time",
    "models/wrap/stack.py": "recording needs the library of a wire",
    "store/user/keychain.py": "the extra `keyring`",
    "system/signatures.py": "most commands sign and check nothing",
    "system/installation.py": "only a hint needs the metadata of packages",
}
"""Modules that import inside functions, and what for."""
MOST_COPIED = 10
"""Lines of code that may be the same in two places."""


def sources() -> dict[str, str]:
    found = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in found.items()
        if not name.startswith("catalog/demo/")
    }


@dataclass(frozen=True, slots=True)
class Shape:
    """What the checks below want to know of a module."""

    classes: tuple[str, ...]
    imports_late: bool
    """Whether a function imports something."""
    passed_over: frozenset[int]
    """Lines of imports and docstrings."""


@cache
def shape(text: str) -> Shape:
    """Each module is parsed once for all checks."""
    every = list(nodes(ast.parse(text)))
    functions = [node for node in every if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imports = [node for node in every if isinstance(node, ast.Import | ast.ImportFrom)]
    documentation = [
        node
        for node in every
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return Shape(
        tuple(node.name for node in every if isinstance(node, ast.ClassDef)),
        any(
            function.lineno <= node.lineno <= (function.end_lineno or function.lineno)
            for function in functions
            for node in imports
        ),
        frozenset(
            line
            for node in (*imports, *documentation)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        ),
    )


def code_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a module with their numbers, without indentation, comments, imports and docstrings."""
    passed_over = shape(text).passed_over
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [
        (number, line)
        for number, line in lines
        if line and not line.startswith("#") and number not in passed_over
    ]


def copies(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of places where the same run of more than `MOST_COPIED` lines begins."""
    first: dict[tuple[str, ...], str] = {}
    found = []
    for name, text in texts.items():
        lines = code_lines(text)
        for start in range(len(lines) - MOST_COPIED):
            run = lines[start : start + MOST_COPIED + 1]
            place = f"{name}:{run[0][0]}"
            before = first.setdefault(tuple(line for _, line in run), place)
            if before != place:
                found.append((before, place))
    return found


@pytest.mark.slow
def test_no_class_name_has_two_meanings() -> None:
    places = defaultdict(list)
    for name, text in sources().items():
        for found in shape(text).classes:
            places[found].append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_imports_are_at_the_top_but_where_a_command_or_an_extra_is_loaded() -> None:
    late = {name for name, text in sources().items() if shape(text).imports_late}
    excused = {row: [name for name in late if name.startswith(row)] for row in LATE_IMPORTS}
    assert late - {name for names in excused.values() for name in names} == set()
    assert [row for row, names in excused.items() if not names] == []


@pytest.mark.slow
def test_no_more_than_ten_lines_of_code_are_the_same_in_two_places() -> None:
    assert copies(sources()) == []


def test_copies_are_found_under_other_indentation_comments_and_docstrings() -> None:
    lines = [f"x{number} = {number}" for number in range(MOST_COPIED + 1)]
    plain = "\n".join(lines)
    nested = "def f():\n    'Other words.'\n" + "\n".join(f"    {line}\n    # a remark" for line in lines)
    imports = "\n".join(f"import a{number}" for number in range(MOST_COPIED + 1))
    assert copies({"a.py": plain, "b.py": nested}) == [("a.py:1", "b.py:3")]
    assert copies({"a.py": plain, "b.py": "\n".join(lines[:-1])}) == []
    assert copies({"a.py": imports, "b.py": imports}) == []
