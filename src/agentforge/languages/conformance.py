"""What any file says that rules are about, by its language; of a file in none that we read, its text.

Also the table of who reads what: a check is *checked by* something in a language, or it is *not available*.
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentforge.languages.compiled.kit import KitProjects
from agentforge.languages.described import Read
from agentforge.languages.node.boundaries import closed_ways
from agentforge.languages.port import Language
from agentforge.languages.readings import (
    CheckedPlace,
    ClosedWay,
    FileReading,
    ImportedName,
    Layer,
    Mender,
    long_lines,
    mark_of,
)
from agentforge.languages.script_imports import SCRIPTS, read_script, resolve_script
from agentforge.languages.security import secret_lines
from agentforge.languages.table import CHECK_READERS, is_other_code, is_source
from agentforge.languages.toolchains import find_toolchains
from agentforge.languages.values import Environment, Plan
from agentforge.system.secrets.redact import redact

FORMAT = 6
"""Raised whenever a reader reads anything differently: what was kept before is then read again."""
READ_LIMIT = 400_000
"""Characters beyond which a file is data, or made by a tool."""

_TABLE: Sequence[tuple[str, tuple[str, ...]]] = (
    ("Python", (".py",)),
    ("JavaScript", (".js", ".jsx", ".mjs", ".cjs")),
    ("TypeScript", (".ts", ".tsx", ".mts", ".cts")),
    ("Go", (".go",)),
    ("Rust", (".rs",)),
    ("Java", (".java",)),
)
_KINDS = re.compile(r"\[REDACTED:(\w+)\]")
_OFTEN_EXAMPLES = frozenset({"url_password", "secret", "random", "authorization", "cookie", "password"})
LANGUAGE_NAMES = tuple(name for name, _ in _TABLE)


_NAMES = {suffix: name for name, suffixes in _TABLE for suffix in suffixes}


def language_name(path: str) -> str:
    """What a file is written in, of the languages that checks are named for; empty for another."""
    return _NAMES.get(path[path.rfind(".") :], "")


def is_checked(path: str) -> bool:
    """Whether checks look at a file at all: it is code."""
    return bool(language_name(path)) or is_source(path) or is_other_code(path)


def read_file(text: str, path: str) -> FileReading:
    """All that is known of one content."""
    if len(text) > READ_LIMIT:
        return FileReading(parsed=False)
    reader = CHECK_READERS.get(language_name(path))
    read = reader.read if reader else read_script if path.endswith(SCRIPTS) else None
    lines = text.splitlines()
    found = FileReading(len(lines), long_lines=long_lines(lines)) if read is None else read(text)
    secrets = tuple(_secret(lines, line) for line in secret_lines(text) if line <= len(lines))
    return replace(found, places=(*found.places, *secrets)) if secrets else found


def _secret(lines: Sequence[str], line: int) -> CheckedPlace:
    """A line with a key. Passwords in addresses and values that only have a telling name or look like chance
    stand in many examples; a token of a known form does not.
    """
    kinds = _KINDS.findall(redact(lines[line - 1])[0]) or ["private_key"]
    named = kinds[0].replace("_", " ")
    message = f"the line holds what looks like a real {named}"
    doubtful = not {*kinds} - _OFTEN_EXAMPLES
    return CheckedPlace("no-secrets-in-code", line, "", message, mark_of(lines[line - 1]), doubtful)


def tool_limits(read: Read) -> dict[str, int]:
    """The limits that a project's own tools are told, by the check that has the same."""
    found: dict[str, int] = {}
    for reader in CHECK_READERS.values():
        found |= reader.limits(read)
    return found


def tool_layers(read: Read) -> list[Layer]:
    """The layers that a project's own tools are told."""
    return [layer for reader in CHECK_READERS.values() for layer in reader.layers(read)]


def tool_ways(read: Read) -> list[ClosedWay]:
    """The imports that a project's own tools forbid."""
    return closed_ways(read)


def menders(top: Path, paths: Sequence[str]) -> list[Mender]:
    """The programs of a project that correct what they find, each with its own of these files."""
    mine = {name: tuple(path for path in paths if language_name(path) == name) for name in CHECK_READERS}
    return [each for name, files in mine.items() if files for each in CHECK_READERS[name].menders(top, files)]


def program_of(top: Path, name: str) -> Path | None:
    """A program of a project: that of its own environment, else the one on the path."""
    own = top / ".venv" / "bin" / name
    found = str(own) if own.exists() else shutil.which(name)
    return Path(found) if found else None


def lints_in_place(language: Language) -> bool:
    """Whether the linters of a language only read the checkout; others lay their packages beside the code."""
    return language.name in CHECK_READERS


def checkout_environment(language: Language, place: Path, plan: Plan) -> Environment | None:
    """The environment that a person has for a project in a checkout: its own packages, else the programs on
    the path, or the toolchain wherever they keep it. None if there is no program at all.
    """
    if isinstance(language.projects, KitProjects):
        chains = find_toolchains(plan.toolchains, os.environ, Path.home())
        usual = Path("/usr")
        whole = Environment(usual, usual, place, (), (), "", "", usual, toolchains=chains)
        return None if language.projects.missing(plan) else whole
    if lints_in_place(language):
        own = place / ".venv" / "bin"
        found = own / "python" if own.is_dir() else _on_path("ruff") or _on_path("python3")
    else:
        found = _on_path("node")
    if found is None:
        return None
    prefix = Path(os.path.realpath(found)).parent.parent
    linked = Path(os.path.realpath(found.parent / "ruff")).parent.parent  # others share one program
    return Environment(found.parent.parent, found, place, (), (), "", "", prefix, around=linked)


def _on_path(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


class Modules:
    """Which files of a project an import means, whatever it is written in."""

    def __init__(self, paths: Sequence[str], roots: Sequence[str] = ()) -> None:
        self.paths = dict.fromkeys(paths)
        self._known = {name: reader.modules(paths, roots) for name, reader in CHECK_READERS.items()}

    def targets(self, path: str, item: ImportedName) -> tuple[str, ...]:
        """The files that an import of a file loads by name; none for what is not the project's."""
        if (known := self._known.get(language_name(path))) is not None:
            return known.targets(path, item)
        return tuple(resolve_script(path, item.module, self.paths))[:1] if path.endswith(SCRIPTS) else ()

    def group(self, path: str, item: ImportedName) -> int:
        """Where an import belongs among the others of a file."""
        known = self._known.get(language_name(path))
        return known.group(item) if known is not None else 0

    def missing(self, path: str, item: ImportedName) -> str:
        """The name of the project's own that an import asks for and nobody has; empty if there is none."""
        known = self._known.get(language_name(path))
        return known.missing(path, item) if known is not None else ""
