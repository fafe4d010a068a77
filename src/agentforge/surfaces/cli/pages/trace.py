"""The trace of a task: a tree of spans, each with where it began, how long it took, and a bar."""

from collections.abc import Iterator
from typing import Any

from agentforge.integrations.spans import Span, Telemetry
from agentforge.surfaces.cli.printing import screen_width, table
from agentforge.system.visible import one_line

_BAR = 24
_NARROW = 100


def trace_page(found: Telemetry) -> str:
    """For a person. The bar shows when a span was under way, of the whole life of the task."""
    begin, whole = found.since_ns, max(found.until_ns - found.since_ns, 1)
    bars = (screen_width(or_else=0) or _NARROW) >= _NARROW
    rows = []
    for depth, span in _tree(found):
        name = "  " * depth + one_line(span.name)
        row = [name, _seconds(span.start_ns - begin), _seconds(span.end_ns - span.start_ns), _end(span)]
        rows.append([*row, _bar(span, begin, whole)] if bars else row)
    header = ["span", "from", "took", "end"] + ([""] if bars else [])
    return table(header, rows, right=frozenset({"from", "took"}))


def trace_fields(task_id: str, found: Telemetry) -> dict[str, Any]:
    """For a program."""
    return {
        "task_id": task_id,
        "trace": found.trace,
        "spans": [
            {
                "id": span.id,
                "parent": span.parent or None,
                "name": span.name,
                "start_ns": span.start_ns,
                "end_ns": span.end_ns,
                "failed": span.failed or None,
                "attributes": dict(span.attributes),
            }
            for _, span in _tree(found)
        ],
    }


def _tree(found: Telemetry) -> Iterator[tuple[int, Span]]:
    """Every span with its depth, parents first, each level in the order of its beginning."""
    known = {span.id for span in found.spans}
    within: dict[str, list[Span]] = {}
    for span in found.spans:
        within.setdefault(span.parent if span.parent in known else "", []).append(span)
    waiting = [(0, span) for span in _latest_first(within.get("", []))]
    while waiting:
        depth, span = waiting.pop()
        yield depth, span
        waiting += [(depth + 1, each) for each in _latest_first(within.get(span.id, []))]


def _latest_first(spans: list[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.start_ns, span.end_ns), reverse=True)


def _end(span: Span) -> str:
    if span.attributes.get("agentforge.unfinished"):
        return "under way"
    if span.attributes.get("agentforge.withdrawn"):
        return "withdrawn"
    return "failed" if span.failed else "ok"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:,.2f}s"


def _bar(span: Span, begin: int, whole: int) -> str:
    first = min(_BAR - 1, (span.start_ns - begin) * _BAR // whole)
    last = min(_BAR - 1, max(first, (span.end_ns - begin) * _BAR // whole))
    return " " * first + "█" * (last - first + 1)
