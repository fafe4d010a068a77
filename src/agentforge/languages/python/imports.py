"""Which Python files import which: `Imports` for Python."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentforge.languages.python.symbols import parse

_IMPORT_LINE = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>[^#\n(]*)|import[ "
    r"\t]+(?P<modules>[^#\n]+))",
    re.MULTILINE,
)
_DYNAMIC = frozenset({"import_module", "__import__", "importorskip"})


PACKAGE, FIXTURES = "__init__.py", "conftest.py"


def importers(files: Mapping[str, str], roots: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """File to the files that import it directly. `roots`: the folders on the import path, such as `src`."""
    modules: dict[str, str] = {}
    for root in (*(root.strip("./") for root in roots), ""):
        for path in files:
            if not root or path.startswith(root + "/"):
                modules.setdefault(module_name(path.removeprefix(f"{root}/" if root else "")), path)
    found: dict[str, set[str]] = {}
    for path, text in files.items():
        for target in _targets(path, text, modules, files):
            if target != path:
                found.setdefault(target, set()).add(path)
    return {target: frozenset(paths) for target, paths in found.items()}


def module_name(path: str) -> str:
    """The dotted name that a file is imported by, from the top of the tree."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def outside_imports(text: str, own: Sequence[str]) -> tuple[str, ...]:
    """Top names that a file imports and that are neither the standard library's nor the project's. `own` are
    the project's paths.
    """
    tree = parse(text)
    if tree is None:
        return ()
    mine = {part.removesuffix(".py") for path in own for part in path.split("/")}
    return tuple(
        sorted(
            {name for name in _top_names(tree) if name not in sys.stdlib_module_names and name not in mine}
        )
    )


def imported_names(text: str) -> frozenset[str]:
    """The top names of everything that a file imports."""
    tree = parse(text)
    return frozenset() if tree is None else frozenset(_top_names(tree))


def _top_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.split(".")[0]


def loads_with(package: str, path: str) -> bool:
    """Whether the first is a package file or conftest above the second: then it is loaded with it, imported
    by name or not.
    """
    folder, _, name = package.rpartition("/")
    return name in (PACKAGE, FIXTURES) and (not folder or path.startswith(folder + "/"))


def is_package(path: str) -> bool:
    """Whether a file speaks for the package that it is in."""
    return path.endswith(PACKAGE)


def _targets(path: str, text: str, modules: Mapping[str, str], files: Mapping[str, str]) -> Iterator[str]:
    """The files that running this one runs: what it imports, the packages around it, the conftest files above
    it.
    """
    folders = path.split("/")[:-1]
    for depth in range(len(folders) + 1):
        above = "/".join(folders[:depth])
        for name in (PACKAGE, FIXTURES) if above else (FIXTURES,):
            candidate = f"{above}/{name}" if above else name
            if candidate in files:
                yield candidate
    for level, name in _imported(text):
        yield from _resolve(level, name, folders, modules, files)


def _resolve(
    level: int, name: str, folders: Sequence[str], modules: Mapping[str, str], files: Mapping[str, str]
) -> Iterator[str]:
    parts = name.split(".") if name else []
    if level:
        base = folders[: len(folders) - level + 1]
        yield from _under("/".join(base), parts, files)
        return
    found = False
    for count in range(1, len(parts) + 1):
        target = modules.get(".".join(parts[:count]))
        if target is not None:
            found = True
            yield target
    if not found:
        # The folder of a test file that is in no package is on the import path.
        yield from _under("/".join(folders), parts, files)


def _under(folder: str, parts: Sequence[str], files: Mapping[str, str]) -> Iterator[str]:
    """The files of a dotted name below a folder, packages included."""
    for count in range(len(parts) + 1):
        stem = "/".join(filter(None, (folder, *parts[:count])))
        yield from (candidate for candidate in (f"{stem}.py", f"{stem}/{PACKAGE}") if candidate in files)


def _imported(text: str) -> Iterator[tuple[int, str]]:
    """Every import of a file as (leading dots, dotted name); for `from a import b` both `a` and `a.b`."""
    tree = parse(text)
    if tree is None:
        yield from _imported_by_lines(text)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from(node.level, node.module or "", (alias.name for alias in node.names))
        elif isinstance(node, ast.Call) and _called(node.func) in _DYNAMIC and node.args:
            first = node.args[0]
            if (
                isinstance(first, ast.Constant)
                and isinstance(first.value, str)
                and not first.value.startswith(".")
            ):
                yield 0, first.value


def _from(level: int, base: str, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    yield level, base
    for name in names:
        if name != "*":
            yield level, f"{base}.{name}" if base else name


def _called(function: ast.expr) -> str:
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )


def _imported_by_lines(text: str) -> Iterator[tuple[int, str]]:
    for match in _IMPORT_LINE.finditer(text):
        if match["modules"] is not None:
            yield from ((0, part.split()[0]) for part in match["modules"].split(",") if part.split())
        else:
            base = match["base"].lstrip(".")
            names = [part.split()[0] for part in match["names"].split(",") if part.split()]
            yield from _from(len(match["base"]) - len(base), base, names)
