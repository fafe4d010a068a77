"""How deep a run of the tests goes: every claim always, every combination of a long matrix only with SOAK=1
(`make soak`).
"""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SOAK = bool(os.environ.get("SOAK"))


def telling(values: Sequence[T], count: int) -> list[T]:
    """So many of them, evenly spread and always the first and the last; all of them in a soak."""
    if SOAK or count >= len(values):
        return list(values)
    return (
        [values[round(place * (len(values) - 1) / (count - 1))] for place in range(count)]
        if count > 1
        else [values[0]]
    )
