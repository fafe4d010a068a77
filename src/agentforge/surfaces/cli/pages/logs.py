"""A decision of the journal in lines, each with its time."""

from collections.abc import Iterator

from agentforge.app.record.logs import LogEntry
from agentforge.surfaces.cli.pages.events import describe


def log_lines(entry: LogEntry) -> Iterator[str]:
    """What happened, in the words of a driver's screen. What is not worth a line there has none here."""
    for event, state in entry.happened:
        for text in (describe(event, state) or "").splitlines():
            yield f"{entry.timestamp}  {text}"
