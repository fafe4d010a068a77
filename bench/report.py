"""Rows of measurements: a table for people, and the same as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

GROUP, NAME, VALUE, GOAL = 10, 58, 18, 16


@dataclass(frozen=True, slots=True)
class Row:
    """One number. Without a goal it is only shown."""

    group: str
    name: str
    value: float
    unit: str
    goal: float | None = None
    """The most it should be."""

    @property
    def verdict(self) -> str:
        """A word for the table; nothing ends differently because of it."""
        return "" if self.goal is None else "pass" if self.value <= self.goal else "FAIL"

    @property
    def shown(self) -> str:
        """The value as people read it."""
        return f"{_number(self.value)} {self.unit}"


def table(rows: Sequence[Row]) -> str:
    """All rows, aligned."""
    lines = [f"{'':{GROUP}}{'':{NAME}}{'measured':>{VALUE}}{'goal':>{GOAL}}"]
    for before, row in zip([None, *rows], rows, strict=False):
        group = row.group if before is None or before.group != row.group else ""
        goal = "" if row.goal is None else f"≤ {_number(row.goal)} {row.unit}"
        lines.append(f"{group:{GROUP}}{row.name:{NAME}}{row.shown:>{VALUE}}{goal:>{GOAL}}  {row.verdict}".rstrip())
    return "\n".join(lines)


def write_json(path: Path, rows: Sequence[Row], about: dict[str, object]) -> None:
    """The same for programs, with what it was measured on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    value = {"about": about, "rows": [{**asdict(row), "verdict": row.verdict or None} for row in rows]}
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
