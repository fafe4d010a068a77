"""The recorded reader: replies kept as data, and the context that each answered.

A reply is found by request, stage, reviewer and step, not by the context's hash: a context that is packed better
keeps old replies valid. Where the hash differs, the reply answered an older context, which is counted.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.system import strict_yaml
from agentforge.system.canon import digest

SHORT = 16
_OF_THE_HOUR = re.compile(r"\b\d+\.\d+ ?m?s\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{40}\b")
"""How long things took, when it was, and the commits that hold the time: none of it is what a reader reads."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One reply of the reader."""

    stage: str
    role: str
    """The reviewer of the stage whose reply it is; empty for the one who works."""
    context: str
    """The hash of the context that it answered."""
    reply: Mapping[str, Any] | str
    renewed: int = 0
    """How often it was recorded again because it did not fit any more."""

    @property
    def label(self) -> str:
        """As a run of the engine calls itself."""
        return f"{self.stage}/{self.role}" if self.role else self.stage


def read_replies(path: Path) -> tuple[Recorded, ...]:
    """The recorded replies, in the order in which they were given; none if nothing was recorded yet."""
    if not path.is_file():
        return ()
    document: Any = strict_yaml.load(path.read_text(encoding="utf-8"), path.name)
    return tuple(
        Recorded(
            row["stage"], row.get("role", ""), str(row["context"]), row["reply"], int(row.get("renewed", 0))
        )
        for row in document["replies"]
    )


def write_replies(path: Path, replies: Iterable[Recorded]) -> None:
    """Keeps the replies, readable."""
    rows = [
        {
            "stage": each.stage,
            **({"role": each.role} if each.role else {}),
            "context": each.context,
            **({"renewed": each.renewed} if each.renewed else {}),
            "reply": each.reply,
        }
        for each in replies
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(strict_yaml.dump({"replies": rows}), encoding="utf-8")


def write_script(path: Path, replies: Iterable[Recorded]) -> None:
    """The same as a script for the scripted model, which consumes replies in order, by stage and reviewer."""
    rows = [
        {"stage": each.stage, **({"role": each.role} if each.role else {}), "reply": each.reply}
        for each in replies
    ]
    path.write_text(strict_yaml.dump({"replies": rows}), encoding="utf-8")


def context_hash(blocks: Iterable[tuple[str, str]], *chance: str) -> str:
    """The hash of a context, whatever the task was called and its marker was, and however long things took."""
    shown = "\n".join(f"{name}\n{text}" for name, text in blocks)
    for word in filter(None, chance):
        shown = shown.replace(word, "-")
    return digest(_OF_THE_HOUR.sub("-", shown))[:SHORT]
