"""The order of tests in several processes: each begins with slow modules and ends with quick tests, so that
none is last alone.
"""

import hashlib
from itertools import groupby
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def parted(args: list[str], hand: int, hands: int) -> list[str]:
    """The same folders of tests, each process beginning with others: a file that nobody has loaded before must be
    compiled, and what one process has compiled the next one finds.
    """
    if [Path(arg).resolve() for arg in args] != [TESTS]:
        return args
    folders = sorted(str(folder) for folder in TESTS.iterdir() if any(folder.glob("test_*.py")))
    first = len(folders) * hand // hands
    return folders[first:] + folders[:first]


def dealt(items: list[pytest.Item], hands: int) -> list[pytest.Item]:
    """The same tests, in as many equal parts as there are processes: that is how `--dist worksteal` begins. A
    module stays together. The first part has those that need a workflow server: each process with such tests
    starts one of its own, and they wait more than they work.
    """
    items = sorted(items, key=lambda item: item.path)  # however they were found
    modules = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    served = sorted((tests for tests in modules if hands > 1 and _needs_a_server(tests)), key=_chance)
    others = sorted((tests for tests in modules if _is_slow(tests) and tests not in served), key=_chance)
    quick = [item for tests in modules if not _is_slow(tests) and tests not in served for item in tests]
    shares = [served, *(others[hand :: hands - 1] for hand in range(hands - 1))] if hands > 1 else [others]
    parts = [[item for tests in share for item in tests] for share in shares]
    for number, part in enumerate(parts):
        end = len(items) * (number + 1) // hands - len(items) * number // hands - len(part)
        part += [quick.pop() for _ in range(min(max(end, 0), len(quick)))]
    return [item for part in parts for item in part] + quick


def _is_slow(tests: list[pytest.Item]) -> bool:
    return any(item.get_closest_marker("slow") for item in tests)


def _needs_a_server(tests: list[pytest.Item]) -> bool:
    return any("temporal" in item.nodeid for item in tests)


def _chance(tests: list[pytest.Item]) -> tuple[bool, str]:
    """What installs from an index takes longest, and comes first: no process is last with it alone. Of the rest
    neighbours wait for the same things to be made: better they are far from one another. The same in every process.
    """
    waits = any(item.get_closest_marker("network") for item in tests)
    return not waits, hashlib.sha256(tests[0].path.stem.encode()).hexdigest()
