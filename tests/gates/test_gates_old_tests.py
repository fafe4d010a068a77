"""Old tests are judged as the base has them: what a task does to them, or beside them, hides nothing."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.suite.old_tests import tree_with_old_tests
from agentforge.gates.verdict import Verdict
from agentforge.languages.values import CheckRun
from tests.depth import telling
from tests.gates.bench_of_judges import OneRunEach, Site, make_site

pytestmark = pytest.mark.slow

RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 3\n\n\ndef sub(a, b):\n    return a - b\n"
HONEST = RIGHT + "\n\ndef sub(a, b):\n    return a - b\n"
OLD = """\
import json
import pathlib

import shop

LIMIT = 3
DATA = json.loads(pathlib.Path(__file__).with_name("data.json").read_text())


def test_add():
    assert shop.add(4, 4) == 8 or LIMIT > 3


def test_loop():
    for number in [5, 6]:
        assert shop.add(number, 1) == number + 1


def test_data():
    assert [shop.add(each, 1) for each in DATA] == [each + 1 for each in DATA]
"""
NEW = "import shop\n\n\ndef test_sub():\n    assert shop.sub(3, 1) == 2\n"
NAME = "tests/test_sub.py::test_sub"
FILES = {"shop.py": RIGHT, "tests/test_old.py": OLD, "tests/data.json": "[7, 8]"}
FAKE = """\
import sys
import types

fake = types.ModuleType("shop")
fake.add = lambda a, b: a + b
fake.sub = lambda a, b: a - b
fake.__file__ = "shop.py"
sys.modules["shop"] = fake
"""
EASY = (
    OLD.replace("LIMIT = 3", "LIMIT = 999").replace("[5, 6]", "[]").replace("\nDATA = ", "\nDATA = [] and ")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("old-tests"), FILES, OneRunEach)


def verdict(
    site: Site, tests: Mapping[str, str | None], source: str, given_up: tuple[str, ...] = ()
) -> Verdict:
    """The verdict on a change whose RED did this to the tests, and whose GREEN made the source so."""
    red = site.tree({"tests/test_sub.py": NEW, **tests})
    proof: dict[str, Json] = {"red_tree": red, "tests": {NAME: {"guard": False}}, "locked": {}}
    suite: dict[str, Json] = {"supersedes": [{"id": name, "reason": "r"} for name in given_up]}
    clean = CheckRun("ran")
    tree = site.tree({"shop.py": source}, red)
    before = site.runner.run(site.base)
    return judge_green(
        site.runner, GreenCase(site.base, tree, proof, suite, before, frozenset(), clean, clean)
    )


TRICKS: list[dict[str, str | None]] = [
    {"tests/test_aaa.py": FAKE},
    {"tests/conftest.py": FAKE},
    {"tests/__init__.py": FAKE},
    {"conftest.py": FAKE},
    {"tests/test_old.py": EASY},
    {"tests/data.json": "[]", "tests/test_old.py": EASY.replace("[] and ", "")},
    {"pytest.ini": "[pytest]\npython_files = test_sub.py\n"},
    {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'test_sub.py'\n"},
    {"pytest.ini": "[pytest]\naddopts = -k sub\n"},
]


@pytest.mark.parametrize("tests", telling(TRICKS, 3), ids=", ".join)
def test_code_that_breaks_old_behaviour_is_found_whatever_was_done_to_the_tests(
    site: Site, tests: Mapping[str, str | None]
) -> None:
    found = verdict(site, tests, WRONG)
    assert found.status == "failed"
    told = (
        "tests/test_old.py::test_add",
        "pytest does not run as on the base",
        "weakened: tests/test_old.py",
    )
    assert any(each in reason for reason in found.reasons for each in told)


def test_the_same_tricks_would_have_hidden_it_without_the_tests_of_the_base(site: Site) -> None:
    found = verdict(site, {"tests/test_aaa.py": FAKE}, WRONG)
    outcomes = [
        site.runner.run(str(found.record[name])).results["tests/test_old.py::test_add"].outcome
        for name in ("tree", "old_tests_tree")
    ]
    assert outcomes == ["passed", "failed"]
    assert all("as the base has it" in reason for reason in found.reasons)


def test_an_honest_change_with_new_tests_fixtures_and_data_passes(site: Site) -> None:
    support = "import pytest\n\n\n@pytest.fixture\ndef four():\n    return 4\n"
    more = OLD + "\n\ndef test_more(four):\n    assert shop.add(four, 1) == 5\n"
    tests = {"tests/conftest.py": support, "tests/test_old.py": more, "tests/more.json": "[1]"}
    found = verdict(site, tests, HONEST)
    assert (found.status, found.reasons) == ("passed", ())
    assert found.record["old_tests_tree"] != found.record["tree"]


def test_what_was_given_up_by_its_id_is_excused_and_nothing_beside_it(site: Site) -> None:
    # `add` starts at one now: two of three old tests say otherwise.
    source = HONEST.replace("return a + b", "return a + b + 1")
    rewritten = (
        OLD.replace("== 8", "== 9")
        .replace("number + 1\n", "number + 2\n")
        .replace("each + 1 for", "each + 2 for")
    )
    ids = tuple(f"tests/test_old.py::test_{name}" for name in ("add", "loop", "data"))
    assert verdict(site, {"tests/test_old.py": rewritten}, source, ids).status == "passed"
    found = verdict(site, {"tests/test_old.py": rewritten}, source, ids[:2])
    assert found.status == "failed"
    assert any("test_data" in reason for reason in found.reasons)


def test_a_task_that_touches_no_test_is_run_once(site: Site) -> None:
    assert tree_with_old_tests(site.runner, site.base, tree := site.tree({"shop.py": HONEST})) == tree


def test_a_repository_without_tests_is_judged_by_the_new_ones_alone(tmp_path: Path) -> None:
    assert verdict(make_site(tmp_path, {"shop.py": RIGHT}), {}, HONEST).status == "passed"
