"""Which lines a test runs: in its own body, in threads and processes of it, and not while files are imported."""

import sys
from pathlib import Path

import pytest

from agentforge.languages.outcomes import Reached, TestRun, Watch
from agentforge.languages.python.testrun import run_tests
from agentforge.languages.values import Environment
from tests.judging import ForkedJudge

pytestmark = pytest.mark.slow

FILES = {
    "shop.py": """
import json

LIMIT = [number for number in range(3)]

def add(a, b):
    return a + b

def slow(a):
    return a

async def later(a):
    return a

def setup():
    return 1

def read():
    return json.load(open("data/prices.json"))

if __name__ == "__main__":
    print(add(1, 2))
""",
    "data/prices.json": "{}",
    "tests/test_shop.py": """
import asyncio, importlib, multiprocessing, os, subprocess, sys, threading, unittest
import pytest
import shop

@pytest.fixture
def one():
    return shop.setup()

def test_imports():
    importlib.reload(shop)
    assert shop.LIMIT

@pytest.mark.parametrize("a", [1, 2])
def test_add(a):
    assert shop.add(a, 1) == a + 1

def test_again():
    assert shop.add(1, 1) == 2

def test_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(shop.slow(1)))
    thread.start()
    thread.join()
    assert found == [1]

def test_async():
    assert asyncio.run(shop.later(1)) == 1

def test_fixture(one):
    assert one == 1

def test_reads():
    assert shop.read() == {}

class TestOld(unittest.TestCase):
    def test_add(self):
        self.assertEqual(shop.add(1, 1), 2)

def test_program():
    assert subprocess.run([sys.executable, "shop.py"], stdout=-1).stdout == b"3\\n"

def test_forked():
    child = multiprocessing.get_context("fork").Process(target=shop.slow, args=(1,))
    child.start()
    child.join()
    assert child.exitcode == 0

def test_stands_in(monkeypatch):
    monkeypatch.setattr(shop, "slow", len)
    assert shop.slow("ab") == 2

def test_takes_over():
    sys.settrace(None)
    assert shop.add(1, 1) == 2
""",
}
ADD = {"shop.py": {7}}


def watched(place: Path, *, children: bool, python: Path = Path(sys.executable)) -> TestRun:
    for path, text in FILES.items():
        (place / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "tree" / path).write_text(text)
    (place / "source").mkdir(exist_ok=True)
    prefix = python.parent.parent
    env = Environment(prefix, python, place / "source", (".",), (), "test", "", Path(sys.base_prefix))
    return run_tests(
        ForkedJudge(),
        env,
        place / "tree",
        base_command=("python", "-m", "pytest", "--disable-plugin-autoload"),
        scratch=place / "scratch",
        timeout_s=60,
        watch=Watch(("shop.py",), ("data/prices.json", "data/none.json"), children=children),
    )


def lines(reached: Reached, name: str, kind: str = "tests") -> object:
    return getattr(reached, kind)[f"tests/test_shop.py::{name}"]


def test_each_test_has_the_lines_that_its_own_body_ran(tmp_path: Path) -> None:
    run = watched(tmp_path, children=False)
    assert (run.status, run.counts()) == ("ran", {"passed": 13})
    assert (found := run.reached) is not None
    assert lines(found, "test_imports") == {}  # what a module does while it is imported is no test's doing
    for name in ("test_add[1]", "test_add[2]", "test_again", "TestOld::test_add"):
        assert lines(found, name) == ADD, name
    assert lines(found, "test_thread") == {"shop.py": {10}}
    assert lines(found, "test_async") == {"shop.py": {13}}
    assert lines(found, "test_fixture") == {}
    assert found.setup == {"shop.py": {16}}
    assert found.loading == {}
    assert found.opened == {"data/prices.json"}
    assert lines(found, "test_program", "children") == {}
    assert lines(found, "test_forked", "children") == {"shop.py": {10}}
    assert found.started == {"tests/test_shop.py::test_program", "tests/test_shop.py::test_forked"}
    assert found.replaced == {"tests/test_shop.py::test_stands_in": {"shop.py::slow"}}
    if not hasattr(sys, "monitoring"):
        assert found.lost == {"tests/test_shop.py::test_takes_over"}


def test_a_process_that_a_test_starts_is_seen_where_that_was_asked(tmp_path: Path) -> None:
    run = watched(tmp_path, children=True)
    assert run.counts() == {"passed": 13}
    assert run.reached is not None
    program = run.reached.children["tests/test_shop.py::test_program"]["shop.py"]
    assert {7, 21, 22} <= program
    assert 10 not in program
    assert lines(run.reached, "test_add[1]", "children") == {}
