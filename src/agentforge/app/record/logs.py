"""The journal of a task as it is read by people: every decision with its time, from the first, and what comes
after it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentforge.app.drivers.holdups import rests
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.events import Event
from agentforge.core.evolve import evolve
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.journal import read_lines
from agentforge.system.unlinked import read_unlinked

_BULLET = b"- "


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One decision of a task, as a line of the log."""

    timestamp: str
    line: Mapping[str, Json]
    """As it is on record."""
    happened: tuple[tuple[Event, State], ...]
    """Each event, and where it led."""


class LogReader:
    """Reads a journal once, then only what was appended since."""

    def __init__(self, task: OpenTask) -> None:
        self._journal = task.journal
        self._state = State()
        self._new: list[LogEntry] = []
        for line in read_lines(task.files.journal)[: self._journal.length]:
            self._take(dict(line.body), line.events)
        self._journal.listeners.append(lambda line, events, _: self._take(line, events))

    def more(self) -> Iterator[LogEntry]:
        """What is new since the last look."""
        self._journal.catch_up()
        new, self._new = self._new, []
        yield from new

    def rests(self) -> bool:
        """Whether nothing more comes by itself: the task is over, or waits for a person."""
        return rests(self._journal.state)

    def _take(self, line: Mapping[str, Json], events: tuple[Event, ...]) -> None:
        happened = []
        for event in events:
            self._state = evolve(self._state, event)
            happened.append((event, self._state))
        self._new.append(LogEntry(str(line["timestamp"]), line, tuple(happened)))


def entries_since(task: OpenTask, offset: int, most: int = 200) -> list[dict[str, Json]]:
    """What the journal says after that byte, in short; at most the newest `most` decisions. An offset at
    which no line ends is that of another journal: everything counts as new.
    """
    data = read_unlinked(task.files.journal)[: task.journal.size]
    if not 0 < offset <= len(data) or data[offset - 1 : offset] != b"\n":
        offset = 0
    lines = [line for line in data[offset:].split(b"\n") if line.startswith(_BULLET)]
    return [_brief(json.loads(line.removeprefix(_BULLET))) for line in lines[-most:]]


def _brief(line: dict[str, Json]) -> dict[str, Json]:
    events = line["events"]
    kinds = [event["type"] for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    return {"seq": line["seq"], "timestamp": line["timestamp"], "why": line["why"], "events": kinds}
