"""Doctests where the project runs them: an example that passed is an old test, and no new one may fail."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentforge.core.reply import Json
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.suite.newcomers import failing_newcomers
from agentforge.gates.suite.not_checked import outside_suite, suite_gaps
from agentforge.gates.suite.superseded import untouched
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import TestResult, TestRun
from agentforge.languages.python.examples import examples_of
from agentforge.languages.values import CheckRun
from tests.gates.bench_of_judges import QUICK, OneRunEach, Site, make_site
from tests.rows import every

SHOP = '''\
"""A shop.

>>> add(1, 1)
2
"""


def add(a, b):
    """Both together.

    >>> add(1, 2)
    3
    >>> add(2, 2)
    4
    """
    return a + b
'''
NEW = "import shop\n\n\ndef test_sub():\n    assert shop.sub(3, 1) == 2\n"
NAME = "tests/test_sub.py::test_sub"
SUB = "\n\ndef sub(a, b):\n    return a - b\n"
SHOWN = '\n\ndef sub(a, b):\n    """Less.\n\n    >>> sub(3, 1)\n    2\n    """\n    return a - b\n'
ADD = "shop.py::shop.add"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    place = tmp_path_factory.mktemp("examples")
    files = {"shop.py": SHOP, "guide.rst": ">>> 1 + 1\n2\n", "tests/test_old.py": "def test_a(): pass\n"}
    made = make_site(place, files, OneRunEach)
    command = (*QUICK, "--doctest-modules", "--doctest-glob=*.rst")
    return replace(made, runner=replace(made.runner, command=command))


def verdict(site: Site, files: Mapping[str, str | None], given_up: tuple[str, ...] = ()) -> Verdict:
    red = site.tree({"tests/test_sub.py": NEW})
    proof: dict[str, Json] = {"red_tree": red, "tests": {NAME: {"guard": False}}, "locked": {}}
    suite: dict[str, Json] = {
        "supersedes": [{"id": name, "reason": "r", "requirement_ref": "REQ-001"} for name in given_up]
    }
    clean = CheckRun("ran")
    before = site.runner.run(site.base)
    assert {ADD, "shop.py::shop", "guide.rst::guide.rst"} <= before.results.keys()
    case = GreenCase(site.base, site.tree(files, red), proof, suite, before, frozenset(), clean, clean)
    return judge_green(site.runner, case)


@pytest.mark.slow
def test_a_file_of_the_suite_has_the_same_ids_alone_as_with_all_others(site: Site) -> None:
    whole, alone = (site.runner.run(site.base, ids).results for ids in ((), ("shop.py", "guide.rst")))
    assert {*alone} == {identity for identity in whole if not identity.startswith("tests/")}


OTHER = SHOP.replace("    3\n", "    4\n").replace("a + b", "a + b + (a == 1 and b == 2)")


@pytest.mark.slow
def test_an_example_that_passed_cannot_be_rewritten_with_the_code(site: Site) -> None:
    for changed, lost in (
        (OTHER, ">>> add(1, 2) -> 3"),
        (SHOP.replace("    >>> add(2, 2)\n    4\n", ""), ">>> add(2, 2) -> 4"),
        (SHOP.replace("add(2, 2)", "add(2, 2)  # doctest: +ELLIPSIS"), ">>> add(2, 2) -> 4"),
    ):
        found = verdict(site, {"shop.py": changed + SUB})
        assert found.status == "failed"
        assert found.reasons[0].startswith(f"weakened: {ADD} lost 1 example(s), first `{lost}`;")
    assert verdict(site, {"shop.py": SHOP + SUB, "guide.rst": None}).reasons[0].startswith("weakened: guide")


@pytest.mark.slow
def test_what_is_given_up_by_its_id_may_say_something_else_and_must_be_true(site: Site) -> None:
    assert verdict(site, {"shop.py": OTHER + SUB}, (ADD,)).status == "passed"
    untrue = SHOP.replace("    3\n", "    5\n") + SUB
    found = verdict(site, {"shop.py": untrue}, (ADD,))
    assert (found.status, found.reasons[0].startswith(f"{ADD} was superseded")) == ("failed", True)
    suite: dict[str, Json] = {"supersedes": [{"id": ADD}]}
    assert untouched(site.runner, site.base, site.tree({"tests/test_sub.py": NEW}), suite) == [], (
        "it is rewritten with the code, not with the tests"
    )


@pytest.mark.slow
def test_more_examples_and_other_words_are_welcome_and_a_new_one_that_fails_is_not(site: Site) -> None:
    words = SHOP.replace("Both together.", "The sum.\n\n    >>> add(0, 0)\n    0\n") + SHOWN
    assert verdict(site, {"shop.py": words}).status == "passed"
    found = verdict(site, {"shop.py": SHOP + SHOWN.replace("    2\n", "    7\n")})
    assert found.status == "failed"
    assert found.reasons == ("shop.py::shop.sub is new and is failed now: sub(3, 1) gave 2, expected 7",)


@every(
    ("identity", "found"),
    [
        ("src/shop/cart.py::shop.cart", (">>> 1 -> 1",)),
        ("src/shop/cart.py::shop.cart.Cart.add", (">>> 2 -> 2",)),
        ("src/shop/cart.py::cart.Cart.add", (">>> 2 -> 2",)),
        ("src/shop/cart.py::shop.cart.Cart.gone", None),
        ("src/shop/cart.py::test_cart", None),
    ],
)
def test_the_examples_behind_an_id_are_found_without_running_them(
    identity: str, found: tuple[str, ...] | None
) -> None:
    text = '"""\n>>> 1\n1\n"""\nclass Cart:\n    def add(self):\n        """\n        >>> 2\n        2\n        """\n'
    assert examples_of(text, identity) == found
    assert examples_of("# Title\n\n>>> 1\n1\n", "docs/a.md::a.md") == (">>> 1 -> 1",)


def run_of(**outcomes: str) -> TestRun:
    results = {
        name: TestResult(name, outcome, message=f"why {name[0]}")  # type: ignore[arg-type]  # words of rows
        for name, outcome in outcomes.items()
    }
    return TestRun((), "ran", results=results, collect_errors={"x.py": "E  ImportError: numpy"})


def test_a_newcomer_is_no_case_of_a_test_that_failed_before() -> None:
    before = run_of(**{"a::b[1]": "failed", "a::c[1]": "passed"})
    after = run_of(**{"a::b[2]": "failed", "a::c[2]": "error", "a::d": "failed", "a::e": "failed"})
    assert [item.id for item in failing_newcomers(before, after, {"a::e"})] == ["a::c[2]", "a::d"]


def test_what_was_skipped_or_could_not_be_loaded_is_not_checked() -> None:
    base = run_of(**{"a::b": "skipped", "a::c": "skipped", "z::d": "skipped", "a::e": "passed"})
    record: dict[str, Json] = {
        "runs": [{"outcomes": {"a::b": "skipped", "a::c": "skipped", "z::d": "passed"}}]
    }
    assert suite_gaps((("tests/slow", "not run: left out"),), base, record) == {
        "tests/slow": "not run: left out",
        "x.py": "not run: it cannot be loaded on the base: ImportError: numpy",
        "a::b and 1 more": "skipped: why a",
    }


def test_a_new_test_stands_where_the_projects_command_looks() -> None:
    suite: dict[str, Json] = {
        "test_files": [{"path": "tests/test_new.py", "tests": [{"name": "test_a"}]}],
    }
    assert outside_suite(suite, ()) == outside_suite(suite, ("tests",)) == outside_suite(suite, (".",)) == []
    assert outside_suite(suite, ("tests/unit", "src"))[0].startswith("`tests/test_new.py` is not where")
