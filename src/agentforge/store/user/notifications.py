"""Notifications that are on their way: on disk before they are sent, gone when they have arrived."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.store.layout import Home
from agentforge.store.user.own_files import read_own, replace_own
from agentforge.system.canon import digest
from agentforge.system.files import make_own_directory


@dataclass(frozen=True, slots=True)
class Notification:
    """What somebody is to be told, and what became of it so far."""

    id: str
    body: dict[str, Any]
    failures: int = 0
    """How often all tries of one command were in vain."""
    problem: str = ""
    """Why it could not be delivered the last time."""


def notification_id(*parts: str) -> str:
    """The same for the same occasion: nobody is told twice of one question."""
    return digest("\0".join(parts))[:32]


class Notifications:
    """The notifications of one user that have not arrived yet."""

    def __init__(self, home: Home) -> None:
        self._place = home.path / "notifications"

    def keep(self, notification: Notification) -> None:
        """Writes it, before anything is sent."""
        make_own_directory(self._place)
        value = {
            "body": notification.body,
            "failures": notification.failures,
            "problem": notification.problem,
        }
        replace_own(self._file(notification.id), json.dumps(value).encode())

    def drop(self, notification: Notification) -> None:
        """Forgets a notification that has arrived."""
        self._file(notification.id).unlink(missing_ok=True)

    def left(self) -> Iterator[Notification]:
        """Those that are still to be delivered, in a fixed order."""
        with contextlib.suppress(OSError):
            for path in sorted(self._place.glob("*.json")):
                value = _read(path)
                if value is not None:
                    yield Notification(path.stem, value["body"], value["failures"], value["problem"])

    def _file(self, identity: str) -> Path:
        return self._place / f"{identity}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(read_own(path) or b"")
    except (OSError, ValueError):
        return None
    known = isinstance(value, dict) and {"body", "failures", "problem"} <= value.keys()
    return value if known else None
