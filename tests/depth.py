"""How deep a run of the tests goes: every claim always, every combination of a long matrix only with SOAK=1
(`make soak`).
"""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

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


def shown_by(test: str) -> pytest.MarkDecorator:
    """Of a test that shows with other data what the named one (`file::name`) shows: it runs in a soak alone."""
    return pytest.mark.skipif(not SOAK, reason=f"in a soak; here {test} shows it")


def leaves_out(mark: str, chosen: str) -> bool:
    """Whether an expression of marks chooses nothing that has this one."""
    return " or " not in chosen and f"not {mark}" in chosen.split(" and ")
