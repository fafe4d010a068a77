"""Which old tests may go, and what is said of those that may not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.reply import Json
from agentforge.gates.new_tests.counterproof import run_by_others
from agentforge.gates.suite.justified import question_about, unjustified
from agentforge.gates.suite.superseded import (
    edited_tests,
    record_of,
    superseded_lines,
    unknown_ids,
    unsettled,
    untouched,
    weakened_tests,
)
from agentforge.languages.generic.judging import DeclaredTests
from agentforge.languages.generic.language import GENERIC
from agentforge.languages.outcomes import TestResult, TestRun
from agentforge.sandbox.walls.none import NoSandbox
from tests.gates.bench_of_judges import Site, make_site

FILE = "tests/test_a.py"
OLD = """\
import pytest


class TestK:
    def test_m(self):
        assert 1 == 1

    def test_n(self):
        assert 2 == 2


@pytest.mark.parametrize("v", [1, 2, 3])
def test_p(v):
    assert v == abs(v)


def test_one():
    assert 3 == 3


def test_one_more():
    assert 4 == 4
"""
IDS = [
    f"{FILE}::{name}"
    for name in (
        "TestK::test_m",
        "TestK::test_n",
        "test_p[1]",
        "test_p[2]",
        "test_p[3]",
        "test_one",
        "test_one_more",
    )
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("superseded"), {FILE: OLD})


def suite(*names: str) -> dict[str, Json]:
    return {
        "supersedes": [
            {"id": f"{FILE}::{name}" if name else FILE, "reason": "it changes", "requirement_ref": "REQ-001"}
            for name in names
        ]
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", f"`{FILE}` matches 7 tests of the baseline; name each by its own id, as `{IDS[0]}`"),
        (
            "TestK",
            f"`{FILE}::TestK` matches 2 tests of the baseline; name each by its own id, as `{IDS[0]}`",
        ),
        (
            "test_p",
            f"`{FILE}::test_p` matches 3 tests of the baseline; name each by its own id, as `{IDS[2]}`",
        ),
        ("test_on", f"`{FILE}::test_on` is not a test of the baseline; the nearest is `{IDS[5]}`"),
        ("TestK::test_", f"`{FILE}::TestK::test_` is not a test of the baseline; the nearest is `{IDS[1]}`"),
    ],
)
def test_only_the_exact_id_of_one_test_of_the_baseline_is_taken(name: str, reason: str) -> None:
    assert unknown_ids(suite(name), [*IDS, FILE]) == [f"supersedes: {reason}"]


def test_an_exact_id_is_taken() -> None:
    assert unknown_ids(suite("TestK::test_m", "test_p[2]", "test_one"), IDS) == []


def lost(site: Site, old: str, new: str, *names: str) -> list[str]:
    assert old in OLD
    tree = site.tree({FILE: OLD.replace(old, new)})
    return weakened_tests(site.runner, site.base, tree, suite(*names), IDS)


def test_a_test_that_is_given_up_may_go_and_its_namesakes_may_not(site: Site) -> None:
    one, more = "def test_one():\n    assert 3 == 3\n", "def test_one_more():\n    assert 4 == 4\n"
    assert lost(site, one, "", "test_one") == []
    assert lost(site, one, "") == [f"weakened: {FILE}::test_one was deleted"]
    assert lost(site, more, "", "test_one") == [f"weakened: {FILE}::test_one_more was deleted"]
    assert lost(site, "assert 1 == 1", "pass", "TestK::test_n") != []


def test_of_a_parametrised_test_as_many_cases_may_go_as_are_given_up(site: Site) -> None:
    assert lost(site, "[1, 2, 3]", "[1, 3]", "test_p[2]") == []
    assert lost(site, "[1, 2, 3]", "[1]", "test_p[2]") == [
        f"weakened: {FILE}::test_p lost 2 of its parametrised cases"
    ]
    assert lost(site, "assert v == abs(v)", "pass", "test_p[2]") != []
    assert lost(site, "assert v == abs(v)", "pass", "test_p[1]", "test_p[2]", "test_p[3]") == []


def test_what_is_given_up_does_not_stay_as_it_was(site: Site) -> None:
    whole = suite("test_one", "TestK::test_m")
    (first, second) = untouched(site.runner, site.base, site.base, whole)
    assert (
        first
        == f"`{FILE}::TestK::test_m` is superseded and has not changed; rewrite it or remove it, with the new tests"
    )
    assert "test_one" in second
    changed = site.tree({FILE: OLD.replace("3 == 3", "3 == 30").replace("1 == 1", "1 == 10")})
    assert untouched(site.runner, site.base, changed, whole) == []
    assert untouched(site.runner, site.base, site.tree({FILE: None}), whole) == []


def test_a_test_of_a_mixin_is_given_up_by_the_ids_of_all_that_inherit_it(tmp_path: Path) -> None:
    text = (
        "import unittest\n\n\nclass Mixin:\n    def test_repr(self):\n        self.assertEqual(repr(self.made), 'a')\n"
        "\n\nclass One(Mixin, unittest.TestCase):\n    made = 1\n\n\nclass Two(Mixin, unittest.TestCase):\n    made = 2\n"
    )
    site = make_site(tmp_path, {FILE: text})
    tree = site.tree({FILE: text.replace("'a')", "'b')")})
    known = [f"{FILE}::One::test_repr", f"{FILE}::Two::test_repr"]
    both, one = suite("One::test_repr", "Two::test_repr"), suite("One::test_repr")
    assert weakened_tests(site.runner, site.base, tree, both, known) == []
    assert len(weakened_tests(site.runner, site.base, tree, one, known)) == 1
    assert untouched(site.runner, site.base, tree, both) == []


def test_a_table_of_cases_that_changed_is_a_change_of_its_tests(tmp_path: Path) -> None:
    table = 'import pytest\n\nPLURALS = [("octopus", "octopi"), ("box", "boxes")]\n\n\n'
    test = '@pytest.mark.parametrize(("one", "many"), PLURALS)\ndef test_plural(one, many):\n    assert plural(one) == many\n'
    site = make_site(tmp_path, {FILE: table + test, "tests/test_b.py": "def test_b():\n    assert 1\n"})
    given_up = suite("test_plural[octopus-octopi]")
    asked = "pluralize gives octopi for an octopus, which should be octopuses"
    after = site.tree({FILE: table.replace("octopi", "octopuses") + test})
    assert untouched(site.runner, site.base, after, given_up) == []
    assert unjustified(site.runner, given_up, asked, after) == []
    assert unjustified(site.runner, given_up, "pluralize is slow, make it faster", after) != []
    assert unjustified(site.runner, suite("test_plural[box-boxes]"), asked, site.base) != []
    more = site.tree({FILE: table + test + "\n\ndef test_more():\n    assert 1 == 1\n"})
    assert len(untouched(site.runner, site.base, more, given_up)) == 1, "a new test beside it changes nothing"
    shown = question_about(site.runner, after, given_up, [f"{FILE}::test_plural[octopus-octopi]"]).text
    assert '+PLURALS = [("octopus", "octopuses")' in shown


@pytest.mark.parametrize(
    "body",
    [
        "assert True",
        "pass",
        "assert v == 3 or True",
        "try:\n        assert v == 4\n    except Exception:\n        pass",
    ],
)
def test_what_is_given_up_and_stays_still_asserts_something(site: Site, body: str) -> None:
    tree = site.tree({FILE: OLD.replace("assert v == abs(v)", body)})
    assert untouched(site.runner, site.base, tree, suite("test_p[2]")) == [
        f"`{FILE}::test_p[2]` is superseded and no longer asserts anything; let it assert what is true now, or remove it"
    ]


def ran(outcome: str, **more: dict[str, str]) -> TestRun:
    results = {IDS[5]: TestResult(IDS[5], outcome, exception="AssertionError", message="no")}  # type: ignore[arg-type]  # of a table
    return TestRun((), "ran", results=results if outcome else {}, **more)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed"])
def test_none_of_them_is_left_failing_or_hidden(outcome: str) -> None:
    assert unsettled(ran(outcome), suite("test_one")) == [
        f"{IDS[5]} was superseded and rewritten, and is {outcome} now: AssertionError no"
    ]


def test_a_file_that_cannot_be_collected_settles_nothing() -> None:
    assert unsettled(ran("", collect_errors={FILE: "E"}), suite("test_one")) != []


def test_what_became_of_each_is_on_record() -> None:
    for outcome, word in (("passed", "rewritten, passed"), ("", "removed")):
        now = ran(outcome)
        assert unsettled(now, suite("test_one")) == []
        rows = record_of(now, ran("passed"), suite("test_one"))
        assert superseded_lines(rows) == [f"{IDS[5]} ({word}), for REQ-001: it changes"]


def test_a_file_that_a_declared_command_runs_is_one_test_whatever_language_it_is_in(site: Site) -> None:
    generic = replace(site.runner, language=GENERIC)
    known = [f"{FILE}::test_a"]
    weaker = site.tree({FILE: OLD.replace("assert 3 == 3", "assert True")})
    (said,) = edited_tests(generic, site.base, weaker, {}, known)
    assert said.startswith(f"`{FILE}::test_a` is an old test, and its text changed")
    assert edited_tests(generic, site.base, weaker, {"supersedes": [{"id": known[0]}]}, known) == []
    among_others = edited_tests(site.runner, site.base, weaker, {}, known)
    assert among_others == [said], "beside projects of other languages, too"
    more = site.tree({FILE: OLD + "\n\ndef test_new():\n    assert 5 == 5\n"})
    assert edited_tests(site.runner, site.base, more, {}, IDS) == []


SHELL = {
    "Makefile": "check:\n\t@echo 1..1; sh tests/old.sh\n",
    "shop.sh": "twice() { echo $(($1 * 2)); }\n",
    "tests/old.sh": '. ./shop.sh\n[ "$(twice 2)" = 4 ] && echo "ok 1 - old" || echo "not ok 1 - old"\n',
}


@pytest.mark.slow
def test_where_a_list_is_edited_every_old_test_must_still_be_what_its_file_says(tmp_path: Path) -> None:
    site = make_site(tmp_path, SHELL)
    declared = DeclaredTests("tap", "make -s check", tests=("tests/*.sh",))
    runner = replace(site.runner, language=GENERIC, command=declared.words(), sandbox=NoSandbox())
    old = "tests/old.sh::old"

    def said(files: Mapping[str, str]) -> list[str]:
        tree = site.tree(files)
        run = runner.run(tree)
        assert run.results[old].outcome == "passed"
        return run_by_others(runner, site.base, tree, [], run)

    assert said({"Makefile": SHELL["Makefile"] + "\nclean:\n\trm -f *.o\n"}) == []
    forged = {"Makefile": "check:\n\t@echo 1..1; echo ok 1 - old\n"}
    (told,) = said({**forged, "shop.sh": "twice() { echo 5; }\n"})
    assert told.startswith(
        f"{old} passes even where its file fails, and does not on the base: a list says now"
    )
    assert said({"shop.sh": SHELL["shop.sh"] + "# more\n"}) == [], "no list was edited"


def test_a_list_of_the_base_says_how_its_tests_run_until_they_are_given_up(site: Site) -> None:
    line = "add_test(NAME old COMMAND old)\n"
    generic = replace(site.runner, language=GENERIC)
    base = site.tree({"CMakeLists.txt": line})
    edited = site.tree({"CMakeLists.txt": line.replace("D old", "D true")})
    (told,) = weakened_tests(generic, base, edited, {}, [])
    assert told.startswith("weakened: CMakeLists.txt::old is run otherwise")
    assert weakened_tests(site.runner, base, edited, {}, []) == [], "it says nothing of tests of Python"
    assert weakened_tests(generic, base, edited, {"supersedes": [{"id": "tests/old.c::old"}]}, []) == []
