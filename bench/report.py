"""Measurements as rows: tables for people, and the same as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TIMES = ("us", "ms", "s")
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Row:
    """One number. Without a goal it is only shown."""

    about: str
    """Rows about the same thing stand in the same line of a table."""
    name: str
    value: float
    unit: str
    goal: float | None = None
    """The most it should be."""

    @property
    def verdict(self) -> str:
        """A word for the reader; nothing ends differently because of it."""
        return "" if self.goal is None else "pass" if self.value <= self.goal else "FAIL"

    @property
    def shown(self) -> str:
        """The value as people read it, with the verdict where there is a goal."""
        return f"{_number(self.value)} {self.unit} {self.verdict}".rstrip()


def table(title: str, rows: Sequence[Row]) -> str:
    """One line per thing, one column per name."""
    names = list(dict.fromkeys(row.name for row in rows))
    things = list(dict.fromkeys(row.about for row in rows))
    cells = {(row.about, row.name): row.shown for row in rows}
    grid = [
        [title, *names],
        *([thing, *(cells.get((thing, name), "") for name in names)] for thing in things),
    ]
    widths = [max(len(line[at]) for line in grid) for at in range(len(names) + 1)]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in grid
    )


def write_json(path: Path, tables: Mapping[str, Sequence[Row]], about: Mapping[str, object]) -> None:
    """The same for programs, with what it was measured on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"table": title, **asdict(row), "verdict": row.verdict or None}
        for title, found in tables.items()
        for row in found
    ]
    path.write_text(
        json.dumps({"about": about, "rows": rows}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def read_rows(path: Path) -> dict[tuple[str, str, str], Row]:
    """What an earlier run wrote, by table, thing and name; nothing if there was none."""
    if not path.is_file():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return {
        (row["table"], row["about"], row["name"]): Row(
            row["about"], row["name"], row["value"], row["unit"], row["goal"]
        )
        for row in rows
    }


def by_table(rows: Mapping[tuple[str, str, str], Row]) -> dict[str, list[Row]]:
    """The same rows, as they were measured."""
    tables: dict[str, list[Row]] = {}
    for (title, _, _), row in rows.items():
        tables.setdefault(title, []).append(row)
    return tables


def against(
    before: Mapping[tuple[str, str, str], Row], tables: Mapping[str, Sequence[Row]], most: float
) -> Iterator[Row]:
    """Every time that both runs measured: before, now, and one in multiples of the other."""
    for title, rows in tables.items():
        for row in rows:
            then = before.get((title, row.about, row.name))
            if then is not None and row.unit in TIMES and then.value > 0:
                name = f"{title}: {row.about}, {row.name}"
                yield Row(name, "before", then.value, row.unit)
                yield Row(name, "now", row.value, row.unit)
                yield Row(name, "now against before", row.value / then.value, "x", most)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
