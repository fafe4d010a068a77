"""A new test that passes where the change does nothing says nothing of what it does."""

from collections.abc import Mapping

import pytest

from agentforge.core.reply import Json
from agentforge.gates.new_tests.about import change_between
from agentforge.gates.new_tests.emptied import BASE_WAS_WRONG, EmptiedChange, empty_change, with_values
from tests.gates.bench_of_judges import OneRunEach, Site, make_site
from tests.rows import every

BASE = {
    "shop.py": "import logging\n\n\ndef login(name, word):\n    logging.warning('%s %s', name, word)\n    return True\n"
}
NEW = "\n\ndef check(items):\n    return sorted(items)\n"
TESTS = """\
import logging

import shop


def test_result():
    assert shop.check([2, 1]) == [1, 2]


def test_true():
    assert shop.check([2, 1])


def test_unchanged():
    items = [2, 1]
    shop.check(items)
    assert items == [2, 1]


def test_quiet(caplog):
    shop.login("ada", "secret")
    assert "secret" not in caplog.text
"""
LACKED: dict[str, Json] = {
    "reason": "AttributeError: module 'shop' has no attribute 'check'",
    "phase": "call",
    "guard": False,
}
FAILED: dict[str, Json] = {
    "reason": "AssertionError: assert 'secret' not in 'ada secret'",
    "phase": "call",
    "guard": False,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    files = {**BASE, "tests/test_shop.py": TESTS}
    return make_site(tmp_path_factory.mktemp("site"), files, OneRunEach)


def asked(
    site: Site, files: Mapping[str, str | None], red: Mapping[str, Mapping[str, Json]]
) -> EmptiedChange:
    tree = site.tree(files)
    change = change_between(site.runner, site.base, tree)
    named = {f"tests/test_shop.py::{name}": dict(entry) for name, entry in red.items()}
    assert isinstance(site.runner, OneRunEach)
    site.runner.asked.clear()
    return empty_change(site.runner, change.code, (site.base, tree), named, [*named])


WITH_CHECK = {"shop.py": BASE["shop.py"] + NEW}
QUIET = {"shop.py": BASE["shop.py"].replace("'%s %s', name, word", "'%s', name")}


@pytest.mark.slow
@every(
    ("names", "passing", "refused"),
    [
        (("test_result",), (), False),
        (("test_true",), (), False),
        (("test_unchanged",), ("test_unchanged",), True),
        (("test_result", "test_unchanged"), ("test_unchanged",), False),
    ],
)
def test_only_a_test_that_looks_at_something_notices_that_nothing_is_done(
    site: Site, names: tuple[str, ...], passing: tuple[str, ...], *, refused: bool
) -> None:
    found = asked(site, WITH_CHECK, dict.fromkeys(names, LACKED))
    assert [each.rpartition("::")[2] for each in found.passing] == [*passing]
    assert [flag.about.rpartition("::")[2] for flag in found.flags] == [*passing]
    assert all(flag.ruling for flag in found.flags)
    assert bool(found.reasons) == refused, "where no test at all notices, nothing is proved"


def test_what_must_not_happen_any_more_is_proved_by_the_base(site: Site) -> None:
    assert asked(site, QUIET, {"test_quiet": FAILED}) == EmptiedChange(why=BASE_WAS_WRONG)
    assert isinstance(site.runner, OneRunEach)
    assert site.runner.asked == [], "the old function was the wrong one, and the test noticed it"


def test_beside_new_code_it_is_asked_and_left_to_the_reviewer(site: Site) -> None:
    found = asked(site, {"shop.py": QUIET["shop.py"] + NEW}, {"test_quiet": FAILED})
    assert (len(found.flags), found.reasons) == (1, [])


INSISTS = {"shop.py": BASE["shop.py"] + NEW + "\n\nassert check([2, 1]) == [1, 2]\n"}


@pytest.mark.slow
def test_code_that_checks_itself_while_it_is_loaded_speaks_for_no_test(site: Site) -> None:
    assert asked(site, INSISTS, {"test_unchanged": LACKED}).reasons
    found = asked(site, INSISTS, {"test_result": LACKED})
    assert (found.passing, found.flags) == ((), []), "a test that looks is asked as ever"


def test_what_could_not_be_run_is_not_measured_and_ruled_on(site: Site) -> None:
    files = {**WITH_CHECK, "tests/conftest.py": "import shop\n\nassert shop.check([2, 1]) == [1, 2]\n"}
    found = asked(site, files, {"test_unchanged": LACKED})
    assert found.reasons == []
    assert [(flag.ruling, flag.text.partition(":")[0]) for flag in found.flags] == [(True, "not measured")]
    assert found.to_json()["emptied"] == {
        "asked": ["tests/test_shop.py::test_unchanged"],
        "passing": [],
        "runs": 1,
        "not_measured": dict(found.unmeasured),
    }


@pytest.mark.slow
def test_what_is_computed_while_code_is_loaded_is_left_to_the_reviewer(site: Site) -> None:
    rate = {"shop.py": BASE["shop.py"] + NEW + "\n\nRATE = check([3])[0]\n"}
    reload = "import importlib\n\nimport shop\n\n\ndef test_rate():\n    shop.check([])\n    assert importlib.reload(shop).RATE == 3\n"
    files = {**rate, "tests/test_shop.py": reload}
    found = asked(site, files, {"test_rate": LACKED})
    assert found.proves_nothing
    tree = site.tree(files)
    code = change_between(site.runner, site.base, tree).code
    told = with_values(site.runner, code, tree, found, ())
    assert (told.reasons, [flag.ruling for flag in told.flags]) == ([], [True])
    assert "only while code is loaded" in told.flags[0].text


def test_a_change_without_functions_is_not_asked(site: Site) -> None:
    assert asked(site, {"shop.py": BASE["shop.py"] + "\nRATE = 3\n"}, {"test_quiet": LACKED}).passing == ()
