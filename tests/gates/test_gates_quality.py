"""The quality gate over real trees: what is worse than the base or the stage's entry, and what is not."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.quality import QualityCase, judge_quality, nothing_worse
from agentforge.gates.runs.pristine import PristineRunner
from tests.gates.bench_of_judges import QUICK, Site, make_site

pytestmark = pytest.mark.slow

KNOT = (
    "def knot(a):\n"
    + "".join(f"    if a == {number}:\n        return {number}\n" for number in range(11))
    + "    return a\n"
)
TOTAL = """
def total(orders, rate):
    result = 0
    for order in orders:
        if order > 0:
            result += order * rate
        else:
            result -= 1
    return result
"""
TESTS = "import shop\n\n\ndef test_add():\n    assert shop.add(1, 2) == 3\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    files = {
        "shop.py": "def add(a, b):\n    return a + b\n",
        "old.py": TOTAL,
        "tests/test_shop.py": TESTS,
        "README.md": "A shop.\n",
    }
    made = make_site(tmp_path, files)
    # Coverage is measured in one process, which it tells the plugin that it finds beside pytest.
    return replace(made, runner=replace(made.runner, command=(*QUICK, "-p", "xdist.plugin")))


def case(site: Site, tree: str, entry: str = "", *, strict: bool = False) -> QualityCase:
    return QualityCase(site.base, entry or site.base, tree, strict)


def unmeasured(site: Site) -> PristineRunner:
    """One that cannot say what tests run, because the project's command is not pytest."""
    return replace(site.runner, command=("make", "test"))


def test_nothing_but_words_and_tests_needs_no_run(site: Site) -> None:
    tree = site.tree({"README.md": "Another.\n", "tests/test_more.py": KNOT})
    verdict = judge_quality(site.runner, case(site, tree))
    assert (verdict.status, verdict.record["coverage"]) == ("passed", None)


def test_a_new_knot_a_copy_of_untouched_code_and_lines_that_no_test_runs_fail_by_name(site: Site) -> None:
    untested = "def add(a, b):\n    if a is None:\n        a = 0\n        b = 0\n    return a + b\n"
    copied = TOTAL.replace("total", "summe").replace("order", "x")
    verdict = judge_quality(
        site.runner, case(site, site.tree({"knot.py": KNOT, "new.py": copied, "shop.py": untested}))
    )
    knot, copy, *missed = verdict.reasons
    assert verdict.status == "failed"
    assert knot.startswith("knot.py: knot has complexity 12, it is new; 10 is the limit")
    assert copy == "old.py:2: 8 lines repeat new.py:2; let both use one function"
    assert (
        "shop.py: no test runs lines 3-4; tests run 2% of the changed lines, 80% are needed: take out "
        "what no test needs" in missed
    )
    assert (verdict.record["complexity_acceptable"], verdict.record["no_code_smells"]) == (False, False)
    assert (
        verdict.record["duplicates"],
        verdict.record["coverage"],
        verdict.record["coverage_acceptable"],
    ) == (8, 2, False)


def test_a_tested_change_passes_with_its_numbers_and_only_strict_minds_that_it_moves_an_old_knot(
    site: Site,
) -> None:
    before = site.tree(
        {
            "knot.py": KNOT,
            "tests/test_knot.py": "import knot\n\n\ndef test_it():\n    assert knot.knot(99) == 99\n",
        }
    )
    shared = {
        "knot.py": "X = 1\n\n\n" + KNOT,
        "old.py": "from new import total\n",
        "new.py": TOTAL,
        "tests/test_new.py": "import old\n\n\ndef test_it():\n    old.total([1, -1], 2)\n",
    }
    after = site.tree(shared, before)
    verdict = judge_quality(site.runner, QualityCase(before, before, after))
    assert (verdict.status, verdict.reasons) == ("passed", ())
    assert (
        verdict.record | {"strict": False, "coverage_acceptable": True, "not_configured": []}
        == verdict.record
    )
    assert (verdict.record["complexity"], verdict.record["duplicates"], verdict.record["coverage"]) == (
        12,
        0,
        100,
    )
    strict = judge_quality(unmeasured(site), QualityCase(before, before, after, strict=True))
    assert "knot.py: knot has complexity 12" in strict.reasons[0]


def test_what_got_worse_since_the_entry_fails_though_the_base_was_worse(site: Site) -> None:
    base = site.tree({"knot.py": KNOT})
    entry = site.tree({"knot.py": "def knot(a):\n    return a\n"})
    worse = KNOT.replace("    if a == 0:\n        return 0\n", "")
    verdict = judge_quality(unmeasured(site), QualityCase(base, entry, site.tree({"knot.py": worse})))
    assert verdict.reasons[0].startswith("knot.py: knot has complexity 11, it was 1;")


def test_without_coverage_it_is_on_record_and_only_strict_minds(site: Site) -> None:
    runner = unmeasured(site)
    tree = site.tree({"shop.py": "def add(a, b):\n    return b + a\n"})
    verdict = judge_quality(runner, case(site, tree))
    assert (verdict.status, verdict.record["not_configured"], verdict.record["coverage"]) == (
        "passed",
        ["coverage"],
        None,
    )
    assert "coverage_acceptable" not in verdict.record
    strict = judge_quality(runner, case(site, tree, strict=True))
    assert strict.reasons == (
        "coverage is demanded by `strict` and not configured: the test command is not pytest",
    )


def test_coverage_is_measured_on_the_tests_that_reach_the_change_and_on_all_where_these_are_too_few(
    site: Site,
) -> None:
    tree = site.tree(
        {
            "shop.py": "def add(a, b):\n    return b + a\n",
            "tests/test_other.py": "def test_it():\n    assert True\n",
        }
    )
    reaching = replace(case(site, tree), affected=("tests/test_shop.py", "tests/test_gone.py"))
    verdict = judge_quality(site.runner, reaching)
    assert (verdict.status, verdict.record["coverage"], verdict.record["coverage_of"]) == (
        "passed",
        100,
        "the tests that reach the change",
    )
    few = judge_quality(site.runner, replace(case(site, tree), affected=("tests/test_other.py",)))
    assert (few.status, few.record["coverage"], few.record["coverage_of"]) == (
        "passed",
        100,
        "the whole suite",
    )


def test_a_measurement_that_breaks_has_not_passed(site: Site) -> None:
    runner = replace(site.runner, command=(*site.runner.command, "--no-such-option"))
    verdict = judge_quality(runner, case(site, site.tree({"shop.py": "def add(a, b):\n    return b + a\n"})))
    assert verdict.status == "not_run"


def test_a_deleted_file_is_no_trouble(site: Site) -> None:
    assert judge_quality(site.runner, case(site, site.tree({"old.py": None}))).status == "passed"


def test_no_test_need_run_a_stub(site: Site) -> None:
    stub = "def add(a: int, b: int) -> int: ...\ndef sub(a: int, b: int) -> int: ...\n"
    verdict = judge_quality(site.runner, case(site, site.tree({"shop.pyi": stub})))
    assert (verdict.status, verdict.reasons) == ("passed", ())


def test_nothing_is_worse_only_where_all_was_measured_and_nothing_grew_or_was_copied(site: Site) -> None:
    runner = unmeasured(site)
    easy = site.tree({"shop.py": "def add(a, b):\n    return b + a if b else a\n"})
    record = judge_quality(runner, case(site, easy)).record
    assert nothing_worse(record, easy, ["shop.py", "pyproject.toml"])
    assert not nothing_worse(record, site.base, ["shop.py"]), "of another tree"
    assert not nothing_worse(record, easy, ["shop.py", "web/app.rb"]), "nobody measured that one"
    assert not nothing_worse({"tree": easy}, easy, ["shop.py"]), "of a record of an older release"
    half = site.tree({"shop.py": KNOT.replace("range(11)", "range(4)").partition("    if a == 5")[0]})
    grown = judge_quality(runner, case(site, half))
    assert (grown.status, grown.record["grown"]) == ("passed", ["shop.py: knot"])
    assert not nothing_worse(grown.record, half, ["shop.py"])
