"""The order of tests in several processes: each begins with slow modules and ends with quick tests, so that
none is last alone.
"""

import hashlib
from itertools import groupby

import pytest


def dealt(items: list[pytest.Item], hands: int) -> list[pytest.Item]:
    """The same tests, in as many equal parts as there are processes: that is how `--dist worksteal` begins. A
    module stays together.
    """
    modules = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    slow = sorted((tests for tests in modules if _is_slow(tests)), key=_chance)
    quick = [item for tests in modules if not _is_slow(tests) for item in tests]
    parts: list[list[pytest.Item]] = [
        [item for tests in slow[hand::hands] for item in tests] for hand in range(hands)
    ]
    for number, part in enumerate(parts):
        end = len(items) * (number + 1) // hands - len(items) * number // hands - len(part)
        part += [quick.pop() for _ in range(min(max(end, 0), len(quick)))]
    return [item for part in parts for item in part] + quick


def _is_slow(tests: list[pytest.Item]) -> bool:
    return any(item.get_closest_marker("slow") for item in tests)


def _chance(tests: list[pytest.Item]) -> str:
    """Neighbours wait for the same things to be made: better they are far from one another. The same in every
    process.
    """
    return hashlib.sha256(tests[0].path.stem.encode()).hexdigest()
