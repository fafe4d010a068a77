"""The checks beside the suite: what a change may not make worse, and what strict does not forgive."""

from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import NO_TESTS
from agentforge.languages.python.testrun import TestRun
from agentforge.languages.values import CheckRun
from tests.gates.bench_of_judges import OneRunEach, Site, make_site

pytestmark = pytest.mark.slow

TEST = "import shop\n\n\ndef test_add():\n    assert shop.add(1, 2) == 3\n"
NAME = "tests/test_shop.py::test_add"
KEY = ("shop.py", "arg-type")
CLEAN = CheckRun("ran")
ONE = CheckRun("ran", findings={KEY: 1}, samples={KEY: "1: wrong"})
TWO = CheckRun("ran", findings={KEY: 2}, samples={KEY: "1: wrong"})
LINTED = CheckRun("ran")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("green"), {"shop.py": ""}, OneRunEach)


def verdict(
    site: Site,
    types: tuple[CheckRun, CheckRun],
    lint: tuple[CheckRun, CheckRun] = (LINTED, LINTED),
    *,
    strict: bool = False,
) -> Verdict:
    red = site.tree({"tests/test_shop.py": TEST})
    tree = site.tree({"shop.py": "def add(a, b):\n    return a + b\n"}, red)
    proof: dict[str, Json] = {"red_tree": red, "tests": {NAME: {"guard": False}}, "locked": {}}
    case = GreenCase(
        site.base, tree, proof, {}, TestRun((), "ran"), frozenset(), *lint, *types, strict=strict
    )
    return judge_green(site.runner, case)


def lie(
    site: Site, files: dict[str, str], test: str = TEST, *, base: TestRun | None = None, **entry: Json
) -> Verdict:
    """The verdict on a change that adds nothing but these files to a test that fails without them."""
    red = site.tree({"tests/test_shop.py": test})
    proof: dict[str, Json] = {"red_tree": red, "tests": {NAME: {"guard": False, **entry}}, "locked": {}}
    before = base or TestRun((), "ran")
    case = GreenCase(
        site.base, site.tree(files, red), proof, {}, before, frozenset(), LINTED, LINTED, CLEAN, CLEAN
    )
    return judge_green(site.runner, case)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Site:
    files = {"notes.md": "# Notes\n", "count.py": "N = 1\n"}
    return make_site(tmp_path_factory.mktemp("papers"), files, OneRunEach)


NONE = TestRun((), "not_run", NO_TESTS)


def words(papers: Site, files: dict[str, str], base: TestRun = NONE, *, strict: bool = False) -> Verdict:
    """The verdict on a change of a project that has no tests now."""
    proof: dict[str, Json] = {"red_tree": papers.base, "tests": {}, "locked": {}}
    lint = CheckRun("not_configured")
    case = GreenCase(papers.base, papers.tree(files), proof, {}, base, frozenset(), lint, lint, strict=strict)
    return judge_green(papers.runner, case)


def test_without_a_suite_words_alone_pass_and_nothing_is_claimed_of_tests(papers: Site) -> None:
    found = words(papers, {"notes.md": "# More notes\n"})
    assert (found.status, found.record["all_tests_pass"], found.record["no_regressions"]) == (
        "passed",
        None,
        None,
    )
    assert "tests" in found.record["not_configured"]  # type: ignore[operator]  # a list


@pytest.mark.parametrize(
    ("files", "base", "strict"),
    [
        ({"count.py": "N = 2\n"}, NONE, False),
        ({"notes.md": "# More\n", "settings.cfg": "[x]\n"}, NONE, False),
        ({"notes.md": "# More\n"}, TestRun((), "ran"), False),  # there were tests, and they are gone
        ({"notes.md": "# More\n"}, TestRun((), "not_run", "the runner died"), False),
        ({"notes.md": "# More\n"}, NONE, True),
        ({}, NONE, False),
    ],
)
def test_without_a_suite_nothing_else_passes(
    papers: Site, files: dict[str, str], base: TestRun, *, strict: bool
) -> None:
    found = words(papers, files, base, strict=strict)
    assert found.status == "not_run", found


def test_a_declared_test_that_is_expected_to_fail_proves_nothing_unless_it_is_a_guard_that_was(
    site: Site,
) -> None:
    gives_up = {"shop.py": "import pytest\n\n\ndef add(a, b):\n    pytest.xfail('later')\n"}
    found = lie(site, gives_up)
    assert (found.status, found.record["all_tests_pass"]) == ("failed", False)
    assert found.reasons[0].startswith(f"{NAME}: tests/test_shop.py:5: xfailed")
    assert lie(site, gives_up, guard=True, outcome="passed").status == "failed"
    assert lie(site, gives_up, guard=True, outcome="xfailed").status == "passed"


def test_a_file_of_the_base_may_become_a_plugin_with_the_new_tests(tmp_path: Path) -> None:
    site = make_site(tmp_path, {"shop.py": "", "fixtures.py": "def pytest_configure():\n    pass\n"})
    right = {"shop.py": "def add(a, b):\n    return a + b\n"}
    assert lie(site, right, f"pytest_plugins = ['fixtures']\n{TEST}").status == "passed"


def test_a_changed_file_that_the_runner_takes_for_its_plugin_is_refused(site: Site) -> None:
    hook = "def pytest_pyfunc_call(pyfuncitem):\n    return pyfuncitem.name == 'test_add' or None\n"
    test = f"pytest_plugins = ['shop']\n{TEST}"
    found = lie(site, {"shop.py": hook}, test)
    assert (found.status, found.reasons) == (
        "failed",
        (
            "pytest loads `shop.py` as a plugin of its own, which can change outcomes; take back what makes it one",
        ),
    )
    known = lie(site, {"shop.py": hook}, test, base=TestRun((), "ran", plugins=("shop.py",)))
    assert [reason.partition(":")[0] for reason in known.reasons] == ["tests/test_shop.py"]
    assert "passes even with a failure put at its end" in known.reasons[0]


@pytest.mark.parametrize("name", ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"])
def test_settings_of_the_runner_that_come_after_red_are_refused_whatever_their_form(
    site: Site, name: str
) -> None:
    assert lie(site, {name: ""}).reasons == (
        f"`{name}` decides how tests run and changed after RED; take that back",
    )


def test_no_type_finding_may_be_new(site: Site) -> None:
    found = verdict(site, (ONE, TWO))
    assert (found.status, found.reasons) == (
        "failed",
        ("types: shop.py:1: wrong (arg-type, 2 now, 1 before)",),
    )
    assert found.record["type_check_pass"] is False


def test_an_old_type_finding_is_forgiven_but_not_by_strict(site: Site) -> None:
    found = verdict(site, (ONE, ONE))
    assert (found.status, found.record["type_check_pass"], found.record["not_configured"]) == (
        "passed",
        True,
        ["existing tests"],
    )
    assert verdict(site, (ONE, ONE), strict=True).reasons == (
        "types: shop.py:1: wrong (arg-type, 1 now, 0 before)",
    )
    assert verdict(site, (CLEAN, CLEAN), strict=True).status == "passed"


def test_a_checker_that_ran_before_and_does_not_now_has_not_passed(site: Site) -> None:
    found = verdict(site, (CLEAN, CheckRun("not_run", "it crashed")))
    assert (found.status, found.reasons) == ("not_run", ("types did not run: it crashed",))


def test_a_linter_that_was_left_out_is_named_and_one_that_stopped_has_not_passed(site: Site) -> None:
    some = CheckRun("ran", missing={"black": "left out by a person's answer"})
    found = verdict(site, (CLEAN, CLEAN), (some, CheckRun("ran", missing={"black": "not there"})))
    assert (found.status, found.record["conformance_passing"]) == ("passed", None)
    assert found.record["not_run"] == {
        "lint by black": "not run: left out by a person's answer",
        "existing tests": "not run: there are none",
    }
    stopped = CheckRun("ran", missing={"flake8": "flake8 failed: exit code 1"})
    found = verdict(site, (CLEAN, CLEAN), (CLEAN, stopped))
    assert (found.status, found.reasons) == ("not_run", ("lint did not run: flake8 failed: exit code 1",))
    assert verdict(site, (CLEAN, CLEAN), (some, some), strict=True).status == "failed"
    limited = CheckRun("ran", limits=("mypy without its plugin x",))
    found = verdict(site, (limited, limited))
    assert (found.status, found.record["type_check_pass"]) == ("passed", True)
    assert str(found.record["not_run"]).startswith("{'mypy without its plugin x': 'only so it could run'")


def test_what_is_not_configured_is_on_record_and_only_strict_minds(site: Site) -> None:
    none = CheckRun("not_configured", "the project configures none")
    unlinted = CheckRun("not_configured", "the project configures none")
    found = verdict(site, (none, none), (unlinted, unlinted))
    assert found.status == "passed"
    assert found.record["not_configured"] == ["types", "lint", "existing tests"]
    assert "type_check_pass" not in found.record
    strict = verdict(site, (none, none), (unlinted, unlinted), strict=True)
    assert strict.status == "failed"
    assert len(strict.reasons) == 2
