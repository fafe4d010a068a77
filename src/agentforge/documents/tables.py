"""Tables of a document: read by the names of their columns, extended by rows, changed cell by cell."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentforge.documents.outline import TextLine, lines, newline_of

_DELIMITER = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$")
"""Of a line without blanks around it."""
_CELL = re.compile(r"(?:\\.|[^|\\])*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its cells by column, and where each lies."""

    cells: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]
    end: int

    def get(self, *names: str) -> str:
        """The cell of the first of these columns that the table has, whatever their case."""
        for name in names:
            for column, cell in self.cells.items():
                if column.casefold() == name.casefold():
                    return cell
        return ""


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table, by its place."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    end: int
    """Where a row that is added begins."""

    def has(self, *columns: str) -> bool:
        """Whether it has all of these columns."""
        own = {column.casefold() for column in self.columns}
        return all(column.casefold() in own for column in columns)

    def filled(self) -> tuple[Row, ...]:
        """The rows that say something: those with more than their first cell."""
        return tuple(row for row in self.rows if any(list(row.cells.values())[1:]) or len(row.cells) == 1)


def tables(text: str, start: int = 0, end: int | None = None) -> tuple[MarkdownTable, ...]:
    """The tables in a part of a document."""
    found: list[MarkdownTable] = []
    before: TextLine | None = None
    header: tuple[str, ...] = ()
    rows: list[Row] = []
    last = 0
    for line in lines(text, start, end):
        if header:
            if line.prose and line.text.strip() and ("|" in line.text):
                rows.append(_row(header, line))
                last = line.end
                continue
            found.append(MarkdownTable(header, tuple(rows), last))
            header, rows = (), []
        if before and line.prose and "-" in line.text and _DELIMITER.match(line.text.strip()):
            columns = tuple(cell for cell, _ in _split(before))
            if len(columns) == len(_split(line)):
                header, last = _distinct(columns), line.end
        before = line if line.prose and "|" in line.text else None
    if header:
        found.append(MarkdownTable(header, tuple(rows), last))
    return tuple(found)


def with_row(text: str, table: MarkdownTable, cells: Mapping[str, str]) -> str:
    """The document with a row below the last one of a table. Cells go by the names of the columns, in the
    order that the table has them in now.
    """
    newline = newline_of(text)
    known = {name.casefold(): value for name, value in cells.items()}
    row = spell_row([known.get(column.casefold(), "") for column in table.columns])
    head = text[: table.end]
    if head and not head.endswith(("\n", "\r")):
        head += newline
    return f"{head}{row}{newline}{text[table.end :]}"


def with_cell(text: str, row: Row, column: str, value: str) -> str:
    """The document with one cell of a row changed, if that row has it."""
    place = row.places.get(column)
    if place is None or row.cells.get(column) == value:
        return text
    return f"{text[: place[0]]} {escaped(value)} {text[place[1] :]}"


def spell_row(cells: Sequence[str]) -> str:
    """A row as it is written."""
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def spell_table(columns: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> str:
    """A whole table, one line for each row, without a break at its end."""
    rule = "|" + "|".join("-" * (len(column) + 2) for column in columns) + "|"
    return "\n".join([spell_row(columns), rule, *(spell_row(row) for row in rows)])


def escaped(cell: str) -> str:
    """A text as a cell: on one line, its bars escaped."""
    flat = " ".join(cell.split())
    return re.sub(r"\\\|", r"\\&#124;", flat).replace("|", "\\|") if "|" in flat else flat


def _row(header: tuple[str, ...], line: TextLine) -> Row:
    pieces = _split(line)
    cells = dict.fromkeys(header, "")
    places: dict[str, tuple[int, int]] = {}
    for name, (cell, place) in zip(header, pieces, strict=False):
        cells[name] = cell
        places[name] = place
    return Row(cells, places, line.end)


def _split(line: TextLine) -> list[tuple[str, tuple[int, int]]]:
    """The cells of a line, unescaped, with their places in the document."""
    text = line.text.rstrip()
    at = len(text) - len(text.lstrip())
    if text[at : at + 1] == "|":
        at += 1
    found: list[tuple[str, tuple[int, int]]] = []
    while at < len(text) or not found:
        match = _CELL.match(text, at)
        stop = match.end() if match else at
        if stop == at and stop < len(text) and text[stop] != "|":  # a backslash at the very end
            stop = len(text)
        cell = text[at:stop].strip().replace("\\|", "|").replace("&#124;", "|")
        found.append((cell, (line.start + at, line.start + stop)))
        at = stop + 1
    return found


def _distinct(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Columns of one name become different ones, so that no cell is lost."""
    seen: dict[str, int] = {}
    names = []
    for column in columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(column if seen[column] == 1 else f"{column} ({seen[column]})")
    return tuple(names)
