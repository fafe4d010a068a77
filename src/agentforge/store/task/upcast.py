"""Old journals stay readable: one pure function per old version of the events, applied one after the other on
reading.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from agentforge.core.reply import Json

VERSION = 1
"""The version of the events that this program writes."""

Recorded: TypeAlias = dict[str, Json]
Upgrade: TypeAlias = Callable[[Recorded], Recorded]

UPGRADES: Mapping[int, Upgrade] = MappingProxyType({})
"""By version: what turns a recorded event of that version into one of the next."""


class TooNew(ValueError):
    """The event's version is not known here."""


def upcast(
    version: int, event: Recorded, upgrades: Mapping[int, Upgrade] = UPGRADES, target: int = VERSION
) -> Recorded:
    """The event as `target` would have recorded it. A version beyond `target` raises `TooNew`."""
    if version > target:
        raise TooNew(f"events of version {version}; this program knows {target}")
    for old in range(version, target):
        event = upgrades[old](event)
    return event
