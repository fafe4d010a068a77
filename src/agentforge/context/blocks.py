"""The kinds of blocks that a context is made of, and how much each matters, read from
`catalog/policies/blocks.yaml`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from agentforge.catalog.policies import check_keys, read_policy
from agentforge.context.packing import Shrink

Stays = Literal["stage", "mostly", "step"]
LASTING: tuple[Stays, ...] = ("stage", "mostly")
"""What a provider's prompt cache can hold from one step of a stage to the next, longest first."""
Priority = Literal["task", "work", "interface", "analysis", "lessons", "project"]
Opened = Literal["pinned", "newest", "asked", "seeded_and_pinned", "seeded"]
"""Who opened a part of a file, and when."""
_RANKS = 1000
"""More ranks than one priority has."""


@dataclass(frozen=True, slots=True)
class BlockKind:
    """One kind of block."""

    source: str
    """Whose words it is made of."""
    stays: Stays
    """How long it is the same."""
    why: str
    """What a step needs it for."""
    priority: Priority = "project"
    rank: int = 0
    """Its place among the kinds of its priority, the highest first."""
    shrink: Shrink = "drop"
    share: str = ""
    """The part of a context that it takes at most."""
    most: int = 0
    """The tokens that it takes at most, where that is more than its share."""
    keep: int = 0
    """Tokens that more important blocks leave to it."""

    def limit(self, cap: int) -> int | None:
        """The most that a block of this kind takes of such a context; None: all there is."""
        if not self.share and not self.most:
            return None
        return max(self.most, cap // int(self.share.removeprefix("1/")) if self.share else 0)

    def order(self, rank: int | None = None) -> int:
        """How much it matters, as one number: by its priority, then by its rank."""
        return _above(self.priority) * _RANKS + (self.rank if rank is None else rank)


UNKNOWN = BlockKind("an older release", "step", "a block that this release does not make")


def kind_of(name: str) -> BlockKind:
    """The kind of a block, by its name: what stands before a colon."""
    return _kinds().get(name.partition(":")[0], UNKNOWN)


@cache
def priorities() -> Mapping[str, str]:
    """The six priorities in order, each with what belongs to it."""
    found: Mapping[str, str] = _policy()["priorities"]
    return found


@cache
def _above(priority: Priority) -> int:
    return len(priorities()) - list(priorities()).index(priority)


@cache
def open_rank(opened: Opened) -> tuple[int, Shrink]:
    """How much a part of a file matters that was opened so, and how it may be shortened."""
    row = _policy()["open"][opened]
    return int(row["rank"]), row["shrink"]


@cache
def _kinds() -> Mapping[str, BlockKind]:
    found = {}
    for name, row in _policy()["blocks"].items():
        check_keys(f"blocks.yaml: {name}", row, {field.name for field in fields(BlockKind)} & set(row))
        found[name] = BlockKind(**row)
    return found


@cache
def _policy() -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_policy("blocks")
    check_keys("blocks.yaml", document, ("priorities", "blocks", "open"))
    return document
