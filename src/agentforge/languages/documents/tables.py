"""Data as rows: CSV, TSV, JSON, JSON lines and YAML; and what can be computed of a column."""

import csv
import io
import json
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml

Row = Mapping[str, Any]
Take = Literal["count", "distinct", "sum", "mean", "median", "min", "max"]
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")
_NUMBERS: Mapping[Take, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}


class Unreadable(Exception):
    """Text that is no data of its kind; the message says where and why."""


def value_of(path: str, text: str, as_text: Collection[str] = ()) -> Any:  # noqa: ANN401 - data is anything
    """What a file of data holds; `Unreadable` if it is none. A table of plain text has no types: a cell that
    looks like a number is one, but in the columns `as_text`.
    """
    if path.endswith((".csv", ".tsv")):
        return _table(text, "\t" if path.endswith(".tsv") else ",", as_text)
    try:
        if path.endswith((".jsonl", ".ndjson")):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        if path.endswith((".yaml", ".yml")):
            return strict_yaml.load(text, path, floats=True)
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"`{path}` is no valid data: {error}") from None
    except UsageError as error:
        raise Unreadable(error.sentence) from None


def rows_of(path: str, text: str, as_text: Collection[str] = ()) -> list[Row]:
    """The rows of a table, or the objects of a list."""
    value = value_of(path, text, as_text)
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), list):
        value = next(iter(value.values()))
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Unreadable(f"`{path}` is no table: it is no list of rows with named columns")
    return value


def _table(text: str, separator: str, as_text: Collection[str]) -> list[Row]:
    try:
        lines = [*csv.reader(io.StringIO(text), delimiter=separator, strict=True)]
    except csv.Error as error:
        raise Unreadable(f"it is no table: {error}") from None
    lines = [line for line in lines if line]
    if not lines:
        raise Unreadable("it is no table: it has no header")
    header = lines[0]
    if len(set(header)) != len(header):
        raise Unreadable("it is no table: a column is there twice")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(header):
            raise Unreadable(f"row {number} has {len(line)} fields, and there are {len(header)} columns")
    return [
        {
            name: field if name in as_text else _cell(field)
            for name, field in zip(header, line, strict=True)
            if field != ""
        }
        for line in lines[1:]
    ]


def _cell(field: str) -> Any:  # noqa: ANN401 - as above
    for kind in (int, float):
        try:
            number = kind(field)
        except ValueError:
            continue
        # `007` and `1_000` are names, not numbers; so is what no JSON can hold.
        if field.strip() == field and "_" not in field and number == number and abs(number) != float("inf"):  # noqa: PLR0124 - not a number
            return field if kind is int and str(number) != field.lstrip("+") else number
    return field


def taken(rows: Sequence[Row], column: str, take: Take, where: Row) -> float:
    """A number of a column, of the rows in which other columns have these values."""
    chosen = [row for row in rows if all(str(row.get(name)) == str(value) for name, value in where.items())]
    cells = [row[column] for row in chosen if column in row] if column else chosen
    if column and not any(column in row for row in rows):
        raise Unreadable(f"there is no column `{column}`")
    if take == "count":
        return len(cells)
    if take == "distinct":
        return len({str(cell) for cell in cells})
    numbers = [cell for cell in cells if isinstance(cell, int | float) and not isinstance(cell, bool)]
    if not numbers or len(numbers) != len(cells):
        raise Unreadable(f"the column `{column}` has cells that are no numbers, or none at all")
    return _NUMBERS[take](numbers)
