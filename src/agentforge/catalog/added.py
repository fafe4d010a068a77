"""What we add to a project's environment where the project brings none: each tool with all that it needs, in
versions that are fixed, for every Python that a project may ask for, and the hashes of their files.

The tables `added/NAME.txt` are requirements as pip and uv read them; `make lock` renews them from the
ranges in `added/NAME.in`. They name no index: a file that has the hash may come from any. `managers.json` is
the same for npm: one archive each, which needs no other.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agentforge.system.canon import digest

TABLES = Path(__file__).parent / "added"
_ENTRY = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>[\w.!+]+)(?: ; [^\\\n]+)?"
    r"(?:\s*\\\n +--hash=sha256:[0-9a-f]{64})+"
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """One version of one package, for some versions of Python or for all."""

    name: str
    version: str
    text: str
    """Its lines, with the condition and the hashes."""


@cache
def pinned(tool: str) -> tuple[Pinned, ...]:
    """What a tool is installed from. A line without a hash is an error of ours, and nothing is installed."""
    found = []
    for entry in re.split(r"\n(?=\S)", _table(tool).strip()):
        read = _ENTRY.fullmatch(entry.strip())
        if read is None:
            raise ValueError(f"`{tool}.txt` has a line without a version or a hash: {entry[:80]}")
        found.append(Pinned(read["name"], read["version"], f"{entry.strip()}\n"))
    return tuple(found)


def tools() -> tuple[str, ...]:
    """The tools that have a table."""
    return tuple(sorted(path.stem for path in TABLES.glob("*.txt")))


def hash_of(tool: str) -> str:
    """A digest of a tool's table: another table makes another environment."""
    return digest(_table(tool))


@cache
def _table(tool: str) -> str:
    return (TABLES / f"{tool}.txt").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One version of a package of npm's that needs no other, by the hash of its archive."""

    package: str
    version: str
    integrity: str
    """As npm spells it."""
    programs: Mapping[str, str]
    """What it brings to a path of programs: name, and file within the package."""


@cache
def package_managers() -> Mapping[str, PinnedPackage]:
    """The managers of JavaScript packages that npm brings where a project has another one's lock and names no
    version, by the name and the number that such a lock needs.
    """
    rows = json.loads((TABLES / "managers.json").read_text("utf-8"))
    return {
        name: PinnedPackage(row["package"], row["version"], row["integrity"], row["bin"])
        for name, row in rows.items()
    }
