"""The shape of the code base: one meaning for each class name, and imports where a reader looks for them."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "agentforge"
LATE_IMPORTS = {
    "__init__.py": "the Python API, each name of which is loaded when it is first used",
    "surfaces/cli/": "a command loads its work when it runs",
    "app/connection.py": "the extra `temporal`",
    "app/hosting.py": "the extra `temporal`",
    "app/remote.py": "the extra `temporal`",
    "app/model_trial.py": "the extras of providers",
    "models/batch.py": "the extras of providers",
    "models/known/prices.py": "the extras of providers bring the list of prices",
    "models/known/windows.py": "as prices",
    "models/open.py": "the scripted model reads YAML, which no other model needs",
    "models/provider_model.py": "the extras of providers",
    "models/wire/": "the extras of providers, one at a time",
    "models/wrap/stack.py": "recording needs the library of a wire",
    "store/user/keychain.py": "the extra `keyring`",
    "system/installation.py": "only a hint needs the metadata of packages",
}
"""Modules that import inside functions, and what for."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("catalog/demo/"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_no_class_name_has_two_meanings() -> None:
    places = defaultdict(list)
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_imports_are_at_the_top_but_where_a_command_or_an_extra_is_loaded() -> None:
    late = set()
    for name, tree in modules():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(function))
                late |= {name} if inside else set()
    excused = {row: [name for name in late if name.startswith(row)] for row in LATE_IMPORTS}
    assert late - {name for names in excused.values() for name in names} == set()
    assert [row for row, names in excused.items() if not names] == []
