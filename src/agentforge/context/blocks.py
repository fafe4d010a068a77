"""The kinds of blocks that a context is made of, read from `catalog/policies/blocks.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal

from agentforge.catalog.policies import check_keys, read_policy

Stays = Literal["stage", "mostly", "step"]
LASTING: tuple[Stays, ...] = ("stage", "mostly")
"""What a provider's prompt cache can hold from one step of a stage to the next, longest first."""


@dataclass(frozen=True, slots=True)
class BlockKind:
    """One kind of block."""

    source: str
    """Whose words it is made of."""
    stays: Stays
    """How long it is the same."""
    why: str
    """What a step needs it for."""


UNKNOWN = BlockKind("an older release", "step", "a block that this release does not make")


def kind_of(name: str) -> BlockKind:
    """The kind of a block, by its name: what stands before a colon."""
    return _kinds().get(name.partition(":")[0], UNKNOWN)


@cache
def _kinds() -> Mapping[str, BlockKind]:
    document = read_policy("blocks")
    check_keys("blocks.yaml", document, ("blocks",))
    found = {}
    for name, row in document["blocks"].items():
        check_keys(f"blocks.yaml: {name}", row, {field.name for field in fields(BlockKind)})
        found[name] = BlockKind(**row)
    return found
