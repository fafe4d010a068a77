"""How a criterion to abort can be watched: what its `Detection` says, in a closed list of forms. Whatever is
in none of them is for a person.

    date 2030-01-31                 the day is over
    file path/to/marker             the file is there
    check CHECK_ID                  the check finds something that blocks
    metric NAME over 0.05           a figure of `agentforge metrics` is above the number
    test PATH::NAME                 it fails on the commit that is checked out, in the sandbox
    command `words of a command`    it ends with another code than 0, in the sandbox
"""

import re
from dataclasses import dataclass
from typing import Literal

from agentforge.gates.debates.documents import KillSwitch
from agentforge.system.canon import digest

Detector = Literal["date", "file", "check", "metric", "test", "command", "person"]

_FORMS: tuple[tuple[Detector, re.Pattern[str]], ...] = (
    ("date", re.compile(r"date:?\s+(\d{4}-\d{2}-\d{2})")),
    ("file", re.compile(r"file:?\s+(\S+)")),
    ("check", re.compile(r"check:?\s+([\w.:/-]+)")),
    ("metric", re.compile(r"metric:?\s+(\w+)\s+(?:over|above|>)\s+(\d+(?:\.\d+)?)")),
    ("test", re.compile(r"test:?\s+(\S+::\S+)")),
    ("command", re.compile(r"command:?\s+(.+)")),
)


@dataclass(frozen=True, slots=True)
class SwitchWatch:
    """How one criterion is watched."""

    switch: KillSwitch
    by: Detector
    subject: str = ""
    """The day, path, id, name or command."""
    limit: float = 0.0
    """Of a metric: the number that it may not be over."""

    @property
    def digest(self) -> str:
        """What a person agrees to where it is a command: this very one."""
        return digest(f"kill-switch command\n{self.subject}")


def watch_of(switch: KillSwitch) -> SwitchWatch:
    """How a criterion is watched, by what its detection says."""
    said = " ".join(switch.detection.replace("`", "").split()).rstrip(".")
    for by, form in _FORMS:
        if found := form.fullmatch(said):
            limit = float(found[2]) if by == "metric" else 0.0
            return SwitchWatch(switch, by, found[1], limit)
    return SwitchWatch(switch, "person")
