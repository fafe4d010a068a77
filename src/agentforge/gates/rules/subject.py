"""What a rule about artifacts judges, and how it reads it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agentforge.core.pipeline import Part

MAX_NAMED = 8
"""How many offenders one message names."""

Artifact: TypeAlias = Mapping[str, Any]


def _unread(_path: str) -> str | None:
    return None


def _nothing(_artifact: Artifact) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Subject:
    """One artifact, valid under its contract's schema, and what it is judged beside."""

    artifact: Artifact
    part: Part | None
    """The part that the artifact plays in the work."""
    inputs: Mapping[Part, Artifact] = field(default_factory=dict)
    """By part: earlier artifacts, and those of the same stage that are already submitted."""
    request: str = ""
    files: frozenset[str] = frozenset()
    """Every path of the tree at this moment."""
    read: Callable[[str], str | None] = _unread
    """The text of a file of that tree; None where it cannot be had, and then what it says is not judged."""
    answered: tuple[str, ...] = ()
    """What a person was asked and has answered."""
    names: Mapping[Part, str] = field(default_factory=dict)
    """The contract of each part, for messages."""
    to_rule_on: tuple[str, ...] = ()
    """What a review must rule on, by name, if it approves."""
    owes_tests: bool = True
    """Whether each criterion needs a test: not where the request asks for less than new behaviour."""
    waits: Callable[[Artifact], list[str]] = _nothing
    """What is wrong with the tasks and artifacts that an artifact waits for."""

    def missing(self, part: Part) -> str:
        """What is said where there is nothing to compare with."""
        return f"there is no {self.names.get(part, part)} to compare with; submit it first"


Rule: TypeAlias = Callable[[Subject], list[str]]


def parts(value: Artifact, key: str) -> list[Any]:
    """The list at a key; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, list) else []


def name_of(part: Artifact) -> str:
    """The id of a part of an artifact, for a message."""
    return str(part.get("id", "one without an id"))


def names_of(items: list[Artifact]) -> str:
    """The ids of the first few parts, for a message."""
    return ", ".join(name_of(part) for part in items[:MAX_NAMED])


def fold(text: str) -> str:
    """Text as it is compared: case, spacing and a last full stop aside."""
    return " ".join(text.casefold().split()).rstrip(".")


def cut(text: str) -> str:
    """Text short enough to be quoted in a message."""
    return text if len(text) <= 90 else f"{text[:87]}…"
