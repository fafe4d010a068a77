"""Reports that judges write line by line: each with its number, and a hash that only who has the key can
make.
"""

import hmac
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agentforge.system.bounded import LARGEST, read_bounded


class Records(NamedTuple):
    """What was read of a report."""

    rows: list[dict[str, Any]]
    tampered: bool = False
    unread: str = ""
    """Why it could not be read."""


def read_records(path: Path, mac: Callable[[bytes], str]) -> Records:
    """The report of a run. The tests could write there: what is no plain file, or too large, is not read."""
    try:
        return _records_in(read_bounded(path, LARGEST, follow=False), mac)
    except FileNotFoundError:
        return Records([])
    except OSError as error:
        return Records([], tampered=True, unread=f"the report of the tests cannot be read: {error.strerror}")


def _records_in(data: bytes, mac: Callable[[bytes], str]) -> Records:
    """The lines that were written whole, up to the first whose hash or number is wrong."""
    rows: list[dict[str, Any]] = []
    for number, whole in enumerate(io.BytesIO(data)):
        if not whole.endswith(b"\n"):
            break
        found, _, body = whole[:-1].partition(b" ")
        record = _said(body) if hmac.compare_digest(found, mac(body).encode()) else {}
        if record.get("seq") != number:
            return Records(rows, tampered=True)
        rows.append(record)
    return Records(rows)


def _said(body: bytes) -> dict[str, Any]:
    """What a line says; nothing if it is no record: tests can change what writes them in their process."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
