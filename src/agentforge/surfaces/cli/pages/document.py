"""A report as a value: sections of tables, lists, bars and patches, written once and rendered as Markdown or
as one HTML file. Every text in it may come from a model or a repository, and is shown as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Code:
    """A name, a hash or a command, in the letters of a machine."""

    text: str


Cell: TypeAlias = str | Code


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: frozenset[str] = frozenset()
    """Columns of numbers."""


@dataclass(frozen=True, slots=True)
class Points:
    """A list of sentences."""

    lines: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Prose:
    """Words in a paragraph, as they were written."""

    text: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Amounts beside one another: label, amount, and how it is written."""

    title: str
    rows: Sequence[tuple[str, int, str]]


@dataclass(frozen=True, slots=True)
class Patch:
    """A change, as git prints it."""

    text: str


Block: TypeAlias = Table | Points | Prose | Bars | Patch


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading and what is below it."""

    title: str
    blocks: Sequence[Block]
    empty: str = "None."
    """What is said where there is nothing: an empty section would leave open whether it was looked for."""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    sections: Sequence[ReportSection]
    mark: str
    """One line that a program reads: what the report was made from."""
    remarks: Sequence[str] = field(default_factory=tuple)


def has_content(block: Block) -> bool:
    """Whether there is anything to show in a block."""
    match block:
        case Table(rows=rows) | Bars(rows=rows):
            return bool(rows)
        case Points(lines):
            return bool(lines)
        case Prose(text) | Patch(text):
            return bool(text.strip())
