"""The log of a workflow: a line for each command that changed its files, each bound to the one before.

The files are the truth, and nothing here is ever needed to go on: the log may be deleted, and begins anew.
It says who changed what: a file whose bytes are none that the log knows was changed by somebody else.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agentforge.core.reply import Json
from agentforge.phases.state import WorkflowState
from agentforge.phases.tree import WorkflowTree
from agentforge.system.canon import canonical, digest

LOG = ".claude/forge/log.jsonl"
_MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a command wrote, by the hashes of its bytes; None where there was, or is, no file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the workflow's log: a command and what it changed."""

    at: str
    command: str
    did: str
    why: str
    workflow: str
    phase: str
    status: str
    files: tuple[FileChange, ...]

    def record(self) -> dict[str, Json]:
        """The same for programs, and in the file."""
        return {
            "at": self.at,
            "command": self.command,
            "did": self.did,
            "why": self.why,
            "workflow": self.workflow,
            "phase": self.phase,
            "status": self.status,
            "files": [{"path": each.path, "before": each.before, "after": each.after} for each in self.files],
        }


@dataclass(frozen=True, slots=True)
class WorkflowLog:
    """A log as it was read."""

    lines: tuple[LogLine, ...]
    broken: str = ""
    """Where it does not follow from its beginning; empty if it does."""

    def known(self) -> dict[str, str | None]:
        """The hash that each file had when the log last spoke of it."""
        return {each.path: each.after for line in self.lines for each in line.files}


def line_of(tree: WorkflowTree, command: str, did: str, why: str, state: WorkflowState) -> LogLine:
    """What a command did, by what it wants written."""
    files = tuple(
        FileChange(
            path, digest(before) if (before := tree.files.get(path)) is not None else None, digest(text)
        )
        for path, text in sorted(tree.written.items())
    )
    short = why if len(why) <= _MOST_WORDS else f"{why[: _MOST_WORDS - 1]}…"
    return LogLine(tree.stamp, command, did, short, state.workflow_id, state.phase, state.phase_status, files)


def spell(line: LogLine, last: bytes) -> bytes:
    """A line as it is written behind `last`, the bytes of the line before; without its line break."""
    return canonical({**line.record(), "previous": digest(last) if last else None})


def read_log(data: bytes) -> WorkflowLog:
    """The log, and the first place at which it was changed: every line names the hash of the one before."""
    raw = [line for line in data.split(b"\n") if line]
    found: list[LogLine] = []
    broken = ""
    for number, (last, text) in enumerate(pairwise([b"", *raw]), 1):
        try:
            record = json.loads(text)
            found.append(_line(record))
        except (ValueError, KeyError, TypeError, RecursionError):
            broken = broken or f"line {number} cannot be read"
            continue
        if record.get("previous") != (digest(last) if last else None):
            broken = broken or f"line {number} does not follow the line before it"
    return WorkflowLog(tuple(found), broken)


def _line(record: Any) -> LogLine:  # noqa: ANN401  a line of a file is any JSON
    words = {key: str(record[key]) for key in LogLine.__dataclass_fields__ if key != "files"}
    files = tuple(FileChange(str(each["path"]), each["before"], each["after"]) for each in record["files"])
    return LogLine(**words, files=files)
