"""What is told to a collector of traces: spans, log records and measures, as values that know no library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Attribute: TypeAlias = str | int | float | bool | tuple[str, ...]
Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time. Its id follows from the record: sent again, it is no second span."""

    id: str
    """16 hexadecimal digits."""
    parent: str
    """The id of the span that it is part of; empty for the outermost."""
    name: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    failed: str = ""
    """Why it failed; empty if it did not."""
    asks: bool = False
    """Whether it is a request to somebody else's service."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """Something that happened at one moment, within a span."""

    at_ns: int
    text: str
    severity: Severity
    span: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measure:
    """Numbers of one kind. With bounds it is a distribution over them, else their sum."""

    name: str
    unit: str
    values: Sequence[float]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    bounds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What one task has to tell."""

    trace: str
    """32 hexadecimal digits, the same for the whole life of a task."""
    spans: Sequence[Span] = ()
    records: Sequence[LogRecord] = ()
    measures: Sequence[Measure] = ()
    since_ns: int = 0
    until_ns: int = 0
    """What the measures are about."""
