"""What a Python project tells its own tools about limits and layers: checks of ours have the same."""

from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from typing import Any

from agentforge.languages.described import Read, read_ini, read_toml, table
from agentforge.languages.readings import Layer

_INI = (".flake8", "setup.cfg", "tox.ini")
_LINTER = ".importlinter"


def tool_limits(read: Read) -> dict[str, int]:
    """The limits by the name of the check that has one: of ruff and black before flake8."""
    pyproject = _toml(read, "pyproject.toml")
    ruff = table(pyproject, "tool", "ruff") or _toml(read, "ruff.toml") or _toml(read, ".ruff.toml")
    flake8 = next((found for name in _INI if (found := _section(read, name, "flake8")) is not None), {})
    lines = (
        table(ruff, "lint", "pycodestyle").get("max-line-length"),
        ruff.get("line-length"),
        table(pyproject, "tool", "black").get("line-length"),
        flake8.get("max-line-length", flake8.get("max_line_length")),
    )
    ways = (
        table(ruff, "lint", "mccabe").get("max-complexity"),
        table(ruff, "mccabe").get("max-complexity"),
        flake8.get("max-complexity", flake8.get("max_complexity")),
    )
    limits = {"line-length": _first(lines), "max-complexity": _first(ways)}
    return {name: limit for name, limit in limits.items() if limit}


def import_layers(read: Read) -> list[Layer]:
    """The layers of import-linter, each module by its whole name; none where it has no such contract."""
    layers: list[Layer] = []
    for contract in _contracts(read):
        if contract.get("type") != "layers":
            continue
        containers = _lines(contract.get("containers")) or ("",)
        for container in containers:
            for level, line in enumerate(_lines(contract.get("layers"))):
                for name in line.replace(":", "|").split("|"):
                    bare = name.strip().strip("()").strip()
                    if bare:
                        place = ".".join(filter(None, (container, bare))).replace(".", "/")
                        patterns = (f"**/{place}/**", f"**/{place}.py")
                        layers.append(Layer(bare.rpartition(".")[2], level, patterns))
    return layers


def _contracts(read: Read) -> list[Mapping[str, Any]]:
    found = table(_toml(read, "pyproject.toml"), "tool", "importlinter").get("contracts")
    rows: list[Mapping[str, Any]] = (
        [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    )
    for name in (_LINTER, "setup.cfg"):
        parser = _parser(read, name)
        if parser is not None:
            rows += [parser[each] for each in parser.sections() if each.startswith("importlinter:contract:")]
    return rows


def _lines(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(map(str, value))
    kept = (line.partition("#")[0].strip() for line in str(value or "").splitlines())
    return tuple(line for line in kept if line)


def _first(values: Sequence[object]) -> int:
    for value in values:
        if isinstance(value, int) or (isinstance(value, str) and value.strip().isdigit()):
            return int(value)
    return 0


def _toml(read: Read, name: str) -> Mapping[str, Any]:
    return read_toml(_text(read, name)) or {}


def _section(read: Read, name: str, section: str) -> Mapping[str, str] | None:
    parser = _parser(read, name)
    return parser[section] if parser is not None and parser.has_section(section) else None


def _parser(read: Read, name: str) -> ConfigParser | None:
    return read_ini(_text(read, name))


def _text(read: Read, name: str) -> str:
    return (read(name) or b"").decode("utf-8", "replace")
