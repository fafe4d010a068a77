"""Policies that are data: the files of `policies/`. They are AgentForge's own; a project cannot replace them.

Each has a reader beside the code that judges by it, which makes typed values of it once, when they are first
asked for. The contract `NAME_policy` says what a file looks like; a reader refuses what no schema can see,
such as a word in two rows that contradict each other.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

POLICIES = (
    "blocks",
    "choices",
    "commands",
    "conventions",
    "debates",
    "degraded",
    "delicate",
    "doubts",
    "exits",
    "injections",
    "kinds",
    "modes",
    "named",
    "orders",
    "phases",
    "places",
    "review_prompts",
    "rules",
    "runners",
    "summaries",
    "superseding",
    "wording",
)
"""Every policy there is."""

_FOLDER = Path(__file__).parent / "policies"


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


_Section = TypeVar("_Section", bound=_Dataclass)


def read_policy(name: str) -> Any:  # noqa: ANN401  a document is any YAML
    """A policy as it is written."""
    path = _FOLDER / f"{name}.yaml"
    return strict_yaml.load(path.read_text(encoding="utf-8"), f"catalog/policies/{path.name}")


def check_keys(where: str, keys: Iterable[str], known: Collection[str]) -> None:
    """Refuses a key that means nothing here."""
    if unknown := sorted(set(keys) - set(known)):
        raise refusal(where, f"unknown key `{unknown[0]}`; known: {', '.join(sorted(known))}")


def words(where: str, text: str) -> frozenset[str]:
    """The words of a text, which are separated by blanks. One that is there twice is refused."""
    return frozenset(word for word, _ in each_once(where, ((word, None) for word in text.split())))


def words_by_name(where: str, rows: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The words of each row. A key may hold several names; a name that is there twice is refused."""
    return {name: words(f"{where}.{name}", text) for name, text in each_once(where, each_name(rows))}


def each_name(rows: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The rows of a table whose keys may hold several names: one row for each name."""
    for key, row in rows.items():
        for name in key.split():
            yield name, row


def each_once(where: str, rows: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The same rows. A name that is there twice is refused."""
    seen: set[str] = set()
    for name, row in rows:
        if name in seen:
            raise refusal(where, f"`{name}` is there twice")
        seen.add(name)
        yield name, row


def section(kind: type[_Section], where: str, rows: Mapping[str, Any]) -> _Section:
    """A value whose fields are the keys of a section: text is words, a list is patterns, one of which
    matches.
    """
    check_keys(where, rows, kind.__dataclass_fields__)
    return kind(
        **{
            key: words(f"{where}.{key}", row) if isinstance(row, str) else one_of(row)
            for key, row in rows.items()
        }
    )


def one_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """Matches what one of the patterns matches."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def refusal(where: str, problem: str) -> UsageError:
    """A policy that cannot be used."""
    return UsageError(f"catalog/policies/{where}: {problem}.")
