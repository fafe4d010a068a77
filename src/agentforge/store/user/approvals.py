"""Every yes of a person to one call, in the user's own directory: appended, never changed, and the oldest
forgotten.

Two things are read from it. A call that the journal says was allowed is allowed only if this says so too: a
journal lies in the repository, and a repository can bring one along. And after equal ones a grant can be
proposed.
"""

import json
import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, get_args

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.store.layout import Home
from agentforge.store.user.grants import Approval, GrantRisk
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system.files import append_durable, disk_errors

MOST = 2000
"""Lines beyond which the older half is forgotten."""
_MOST_BYTES = 800_000


class Approved(NamedTuple):
    """One approval that a person gave, with the task and the call it was for."""

    approval: Approval
    task: str
    call: str
    """The digest of the very call."""
    at: str


def approvals_file(home: Home) -> Path:
    """Where a user's approvals are."""
    return home.path / "approvals.jsonl"


def record_approval(path: Path, approved: Approved) -> None:
    """Adds one. A file that is not the user's alone is left as it is, and refused."""
    line = json.dumps(_to_json(approved), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    with locked(path):
        known = _bytes(path)
        lines = known.splitlines(keepends=True)
        if len(lines) >= MOST or len(known) + len(line) > _MOST_BYTES:
            replace_own(path, b"".join(_latest(lines)) + line)
            return
        with disk_errors():
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                append_durable(fd, line if not known or known.endswith(b"\n") else b"\n" + line)
            finally:
                os.close(fd)


def read_approvals(path: Path) -> tuple[Approved, ...]:
    """Every yes, oldest first. A line that cannot be read is no yes; nor is any of a file that others can
    write.
    """
    try:
        data = _bytes(path)
    except UsageError:
        return ()
    found = (_from_line(line) for line in data.splitlines())
    return tuple(item for item in found if item is not None)


def approved_calls(path: Path, project: str, task: str) -> frozenset[str]:
    """The calls of one task that a person on this machine allowed."""
    return frozenset(
        item.call for item in read_approvals(path) if item.approval.project == project and item.task == task
    )


def _bytes(path: Path) -> bytes:
    try:
        return read_own(path) or b""
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}).", "Make it writable only by you, or remove it."
        ) from None
    except UsageError as error:
        raise UsageError(
            f"{path} does not count: {error.sentence.rstrip('.')}.", "Fix or remove it, then try again."
        ) from None


def _latest(lines: Iterable[bytes]) -> Iterable[bytes]:
    """The newer half, by number and by size."""
    kept: deque[bytes] = deque()
    size = 0
    for line in reversed([*lines]):
        size += len(line)
        if len(kept) >= MOST // 2 or size > _MOST_BYTES // 2:
            break
        kept.appendleft(line if line.endswith(b"\n") else line + b"\n")
    return kept


def _to_json(approved: Approved) -> dict[str, Json]:
    given = approved.approval
    return {
        "at": approved.at,
        "project": given.project,
        "task": approved.task,
        "call": approved.call,
        "tool": given.tool,
        "command": [*given.command],
        "path": given.path,
        "risk": given.risk,
    }


def _from_line(line: bytes) -> Approved | None:
    try:
        value = json.loads(line)
        command = tuple(str(word) for word in value["command"])
        texts = {key: str(value[key]) for key in ("at", "project", "task", "call", "tool", "path")}
        risk: GrantRisk = value["risk"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if risk not in get_args(GrantRisk):
        return None
    approval = Approval(texts["project"], texts["tool"], command, texts["path"], risk)
    return Approved(approval, texts["task"], texts["call"], texts["at"])
