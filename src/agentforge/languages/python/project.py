"""A Python project as its files describe it: read through a port, never executed."""

import ast
import configparser
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from agentforge.core.errors import UsageError
from agentforge.languages.described import Read, Table, decode, table

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PythonProject:
    """The files of a project, parsed."""

    read: Read
    paths: frozenset[str]
    pyproject: Table
    setup_cfg: configparser.ConfigParser
    tox_ini: configparser.ConfigParser
    setup_py: Table
    """The keywords of `setup(...)` whose values are literals."""
    found: dict[str, object] = field(default_factory=dict, compare=False, repr=False)
    """What was read once: its files do not change."""

    def once(self, name: str, read: Callable[["PythonProject"], T]) -> T:
        """What is read from the whole project, and asked for many times."""
        if name not in self.found:
            self.found[name] = read(self)
        return cast("T", self.found[name])

    def text(self, path: str) -> str:
        """A file as text; empty when there is none."""
        return decode(self.read(path))

    def tool(self, *keys: str) -> Table:
        """A table below `[tool]` of pyproject.toml."""
        return table(self.pyproject, "tool", *keys)


def open_project(read: Read, paths: Sequence[str]) -> PythonProject:
    """Parse what describes the project. A file that is not valid is the project's mistake, and is named."""
    return PythonProject(
        read=read,
        paths=frozenset(paths),
        pyproject=_toml("pyproject.toml", read),
        setup_cfg=_ini("setup.cfg", read),
        tox_ini=_ini("tox.ini", read),
        setup_py=_setup_keywords(decode(read("setup.py"))),
    )


def strings(value: object) -> tuple[str, ...]:
    """The texts of a list; a single text is a list of its words."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()


def lines(value: str) -> tuple[str, ...]:
    """The lines of an ini value that say something."""
    bare = (line.split(" #")[0].strip() for line in value.splitlines())
    return tuple(line for line in bare if line and not line.startswith("#"))


def _toml(path: str, read: Read) -> Table:
    try:
        return tomllib.loads(decode(read(path)))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"`{path}` is not valid TOML: {error}.", "Correct it and commit it.") from error


def _ini(path: str, read: Read) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(decode(read(path)))
    except configparser.Error as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"`{path}` cannot be read: {first}", "Correct it and commit it.") from error
    return parser


def _setup_keywords(source: str) -> Table:
    """What `setup.py` says in literals. It is a program; only what needs no running is believed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    names = {
        target.id: value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and (value := _literal(node.value, {})) is not None
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: Table = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            found |= {
                word.arg: value
                for word in node.keywords
                if word.arg and (value := _literal(word.value, names)) is not None
            }
        if isinstance(node, ast.Call) and _called(node) in {"find_packages", "find_namespace_packages"}:
            where = (
                node.args[0]
                if node.args
                else next((word.value for word in node.keywords if word.arg == "where"), None)
            )
            found["find_packages"] = _literal(where, names) if where is not None else "."
    return found


def _called(node: ast.Call) -> str:
    return (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )


def _literal(node: ast.expr, names: Table) -> object:
    """The value of a literal; of a dictionary, the entries that are literals; of a name, what it was set
    to.
    """
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {
            str(key.value): _literal(value, names) for key, value in pairs if isinstance(key, ast.Constant)
        }
    try:
        return cast("object", ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
