"""The clock of the records, and a task's summary at one moment: all that it takes to show what is known."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""The time now, with its zone."""

Summary: TypeAlias = dict[str, Any]
"""JSON, with fractions for shares and dollars: for readers, never recorded."""

_PLAUSIBLE = 0.1
"""Below this share of the work, what is left cannot be estimated from what was done."""


def utc_now() -> datetime:
    """The present time, in UTC, of this machine's clock."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """The one spelling of a time: ISO 8601, UTC, milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(before: str, after: str) -> int:
    """Whole seconds between two stamps; 0 where a clock went back or a time is not known."""
    try:
        span = datetime.fromisoformat(after) - datetime.fromisoformat(before)
    except ValueError:
        return 0
    return max(0, int(span.total_seconds()))


def timed(summary: Summary, now: datetime) -> Summary:
    """The summary at one moment: how long the task has run, and about how long it still needs."""
    timing, status = summary["timing"], summary["status"]
    end = str(timing["ended_at"] or stamp(now))
    elapsed = seconds_between(str(timing["started_at"]), end)
    share = status["overall_progress"]
    left: int | None = None
    if status["state"] == "in_progress" and isinstance(share, float) and share >= _PLAUSIBLE:
        left = round(elapsed * (1 - share) / share)
    return {**summary, "timing": {**timing, "elapsed_seconds": elapsed, "estimated_remaining_seconds": left}}
