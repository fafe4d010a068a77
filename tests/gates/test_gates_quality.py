"""The quality gate over real trees: what is worse than the base or the stage's entry, and what is not."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.quality import QualityCase, judge_quality
from tests.gates.bench_of_judges import Site, make_site

pytestmark = pytest.mark.slow

KNOT = "def knot(a):\n" + "".join(f"    if a == {number}:\n        return {number}\n" for number in range(11)) + "    return a\n"
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
    files = {"shop.py": "def add(a, b):\n    return a + b\n", "old.py": TOTAL, "tests/test_shop.py": TESTS, "README.md": "A shop.\n"}
    return make_site(tmp_path, files)


def case(site: Site, tree: str, entry: str = "", *, strict: bool = False) -> QualityCase:
    return QualityCase(site.base, entry or site.base, tree, strict)


def test_a_clean_tested_change_passes_with_its_numbers(site: Site) -> None:
    tree = site.tree({"shop.py": "def add(a, b):\n    c = a + b\n    return c\n"})
    verdict = judge_quality(site.court, case(site, tree))
    assert (verdict.status, verdict.reasons) == ("passed", ())
    assert verdict.record | {"strict": False} == verdict.record
    assert (verdict.record["complexity"], verdict.record["duplicates"], verdict.record["coverage"]) == (1, 0, 100)
    assert verdict.record["coverage_acceptable"]
    assert verdict.record["not_configured"] == []


def test_nothing_but_words_and_tests_needs_no_run(site: Site) -> None:
    tree = site.tree({"README.md": "Another.\n", "tests/test_more.py": KNOT})
    verdict = judge_quality(site.court, case(site, tree))
    assert (verdict.status, verdict.record["coverage"]) == ("passed", None)


def test_a_new_knot_fails_and_an_old_one_does_not(site: Site) -> None:
    new = judge_quality(site.court, case(site, site.tree({"knot.py": KNOT})))
    assert new.status == "failed"
    assert new.reasons[0].startswith("knot.py: knot has complexity 12, it is new; 10 is the limit")
    assert new.record["complexity_acceptable"] is False
    before = site.tree({"knot.py": KNOT, "tests/test_knot.py": "import knot\n\n\ndef test_it():\n    assert knot.knot(99) == 99\n"})
    moved = site.tree({"knot.py": "X = 1\n\n\n" + KNOT}, before)
    assert judge_quality(site.court, QualityCase(before, before, moved)).status == "passed"
    strict = judge_quality(site.court, QualityCase(before, before, moved, strict=True))
    assert "knot.py: knot has complexity 12" in strict.reasons[0]


def test_what_got_worse_since_the_entry_fails_though_the_base_was_worse(site: Site) -> None:
    base = site.tree({"knot.py": KNOT})
    entry = site.tree({"knot.py": "def knot(a):\n    return a\n"})
    worse = KNOT.replace("    if a == 0:\n        return 0\n", "")
    verdict = judge_quality(site.court, QualityCase(base, entry, site.tree({"knot.py": worse})))
    assert verdict.reasons[0].startswith("knot.py: knot has complexity 11, it was 1;")


def test_a_copy_of_untouched_code_fails(site: Site) -> None:
    tree = site.tree({"new.py": TOTAL.replace("total", "summe").replace("order", "x")})
    verdict = judge_quality(site.court, case(site, tree))
    assert verdict.reasons[0] == "old.py:2: 8 lines repeat what stands at new.py:2; let both use one"
    assert (verdict.record["duplicates"], verdict.record["no_code_smells"]) == (8, False)
    shared = site.tree(
        {
            "old.py": "from new import total\n",
            "new.py": TOTAL,
            "tests/test_new.py": "import new\n\n\ndef test_it():\n    new.total([1, -1], 2)\n",
        }
    )
    assert judge_quality(site.court, case(site, shared)).status == "passed"


def test_changed_lines_that_no_test_runs_fail_by_name(site: Site) -> None:
    tree = site.tree({"shop.py": "def add(a, b):\n    if a is None:\n        a = 0\n        b = 0\n    return a + b\n"})
    verdict = judge_quality(site.court, case(site, tree))
    assert verdict.status == "failed"
    assert verdict.reasons == (
        "shop.py: no test runs lines 3-4; tests run 33% of the changed lines, 80% are needed: take out what no test needs",
    )
    assert (verdict.record["coverage"], verdict.record["coverage_acceptable"]) == (33, False)


def test_without_coverage_it_is_on_record_and_only_strict_minds(site: Site, tmp_path: Path) -> None:
    court = replace(site.court, command=("make", "test"))
    tree = site.tree({"shop.py": "def add(a, b):\n    return b + a\n"})
    verdict = judge_quality(court, case(site, tree))
    assert (verdict.status, verdict.record["not_configured"], verdict.record["coverage"]) == ("passed", ["coverage"], None)
    assert "coverage_acceptable" not in verdict.record
    strict = judge_quality(court, case(site, tree, strict=True))
    assert strict.reasons == ("coverage is demanded by `strict` and not configured: the test command is not pytest",)


def test_a_measurement_that_breaks_has_not_passed(site: Site) -> None:
    court = replace(site.court, command=(*site.court.command, "--no-such-option"))
    verdict = judge_quality(court, case(site, site.tree({"shop.py": "def add(a, b):\n    return b + a\n"})))
    assert verdict.status == "not_run"


def test_a_deleted_file_is_no_trouble(site: Site) -> None:
    assert judge_quality(site.court, case(site, site.tree({"old.py": None}))).status == "passed"
