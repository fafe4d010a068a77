"""What `init` proposes for a project whose language is not known: a guess from its files, to be corrected."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentforge.catalog.policies import read_policy
from agentforge.languages.described import Read, decode
from agentforge.languages.plain.answers import is_of_others
from agentforge.system.globs import glob


@dataclass(frozen=True, slots=True)
class SuggestedTests:
    """How the tests of a project are likely to run."""

    name: str
    """The tool."""
    because: str
    """The file that says so."""
    settings: Mapping[str, Any]
    hosts: tuple[str, ...] = ()
    """Where its set-up would fetch from, if the person lets it."""


def suggest(read: Read, paths: Sequence[str]) -> SuggestedTests | None:
    """The first tool whose files are there; None where nobody can guess."""
    own = sorted((path for path in paths if not is_of_others(path)), key=lambda path: (path.count("/"), path))
    for row in _rows():
        if found := _found_by(row, read, own):
            return SuggestedTests(row["name"], found, row["settings"], tuple(row.get("hosts", ())))
    return None


def _found_by(row: Mapping[str, Any], read: Read, paths: Sequence[str]) -> str:
    for pattern in map(glob, row.get("files", ())):
        if found := next(filter(pattern.matches, paths), ""):
            return found
    for name, words in row.get("mentions", {}).items():
        for path in filter(glob(name).matches, paths):
            if _mentions(decode(read(path)), words):
                return path
    return ""


def _mentions(text: str, words: str) -> bool:
    return re.search(rf"{re.escape(words)}(?![\w=])", f"\n{text}") is not None


@lru_cache(maxsize=1)
def _rows() -> tuple[Mapping[str, Any], ...]:
    return tuple(read_policy("runners")["runners"])
