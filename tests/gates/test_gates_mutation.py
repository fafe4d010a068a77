"""Mistakes put into a change: tests that look notice them, tests that do not look let them live."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.gates.new_tests.mutation import MutationRun, try_mutants
from agentforge.languages.outcomes import TestResult, TestRun
from tests.gates.bench_of_judges import Site, make_site

pytestmark = pytest.mark.slow

SHOP = "def price(count):\n    if count > 3:\n        return count * 2\n    return count\n"
TEST = """
import shop

def test_few():
    assert shop.price(3) == 3

def test_many():
    assert shop.price(4) == 8

def test_type():
    assert shop.price(4) is not None
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("mutants"), {"shop.py": SHOP, "tests/test_shop.py": TEST})


def tried(site: Site, limit: int, *names: str, clock: Callable[[], float] = time.monotonic) -> MutationRun:
    ids = [f"tests/test_shop.py::{name}" for name in names]
    return try_mutants(site.runner, site.base, {"shop.py": (3,)}, ids, limit=limit, clock=clock)


def test_a_mistake_is_killed_by_the_test_that_looks_and_survives_the_one_that_does_not(site: Site) -> None:
    found = tried(site, 2, "test_few", "test_many")
    assert {mistake.found for mistake in found.mistakes} == {"killed"}
    assert found.killers() == {"tests/test_shop.py::test_many"}
    lazy = tried(site, 1, "test_few")
    assert [mistake.found for mistake in lazy.mistakes] == ["survived"]
    assert site.runner.runs == []  # no run with a mistake in it is evidence


def test_the_time_for_all_of_them_is_limited_and_what_was_left_out_is_said(site: Site) -> None:
    found = tried(site, 2, "test_many", clock=iter((0.0, 59.5)).__next__)
    assert found.to_json() == {"reason": "2 more were not tried in 60 s", "mistakes": []}


def test_a_mistake_that_never_ends_is_noticed(tmp_path: Path) -> None:
    endless = "import time\n\ndef wait(left, step):\n    while left:\n        left -= step\n        time.sleep(0.1)\n"
    test = "import shop\n\ndef test_wait():\n    assert shop.wait(2, 1) is None\n"
    site = make_site(tmp_path, {"shop.py": endless, "tests/test_shop.py": test})
    name = "tests/test_shop.py::test_wait"
    right = TestRun((), "ran", ids=(name,), results={name: TestResult(name, "passed")})
    lines = {"shop.py": (5,)}
    found = try_mutants(site.runner, site.base, lines, [name], right=right, least_seconds=2, limit=1)
    assert [(item.what, item.found) for item in found.mistakes] == [("leaves out `left -= step`", "killed")]
