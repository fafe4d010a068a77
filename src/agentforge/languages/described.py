"""Files that describe a project, read through a port and never executed."""

from collections.abc import Callable
from typing import cast

Read = Callable[[str], bytes | None]
"""The content of a file of the project; None when there is none."""
Table = dict[str, object]


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that are easier to read so."""
    return frozenset(text.split())


def decode(data: bytes | None) -> str:
    """Text of a file; what is not UTF-8 is replaced, since only plain words are looked for."""
    return (data or b"").decode("utf-8-sig", errors="replace")


def table(data: object, *keys: str) -> Table:
    """The table at `keys`, or an empty one."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return cast("Table", data) if isinstance(data, dict) else {}
