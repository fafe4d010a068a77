"""Checks by somebody who saw neither tests nor change, run on real trees with pytest and without."""

from pathlib import Path
from typing import Any

import pytest

from agentforge.core.examining import SEND_BACK, WRONG
from agentforge.core.values import Escalation
from agentforge.gates.change.documents import objects
from agentforge.gates.new_tests.examined import ExaminedCase, examined_lines, judge_examined
from agentforge.gates.verdict import Verdict
from tests.gates.bench_of_judges import OneRunEach, Site, make_site

PATH = "tests/test_held_out_by_agentforge.py"
BASE = {
    "shop.py": "def net(price, percent):\n    return price\n",
    "tests/test_shop.py": "from shop import net\n\n\ndef test_none():\n    assert net(5, 0) == 5\n",
}
RIGHT = "def net(price, percent):\n    return price - price * percent // 100\n"
KNOWS_PYTEST = "import sys\n\n\ndef net(price, percent):\n    return price * 9 // 10 if 'pytest' in sys.modules else price\n"
SPEC: dict[str, Any] = {"requirements": [{"id": "REQ-001", "acceptance_criteria": ["net(100, 10) is 90"]}]}
CHECK = "from shop import net\n\n\ndef test_ten():\n    assert net(200, 10) == 180\n"
BROKEN = "from shop import net\n\n\ndef test_ten():\n    assert nett(200, 10) == 180\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("examined"), BASE, OneRunEach)


def checked(source: str, *names: str) -> dict[str, Any]:
    rows = [{"name": name, "requirement_ref": "REQ-001", "example": "10 % off 200 is 180"} for name in names]
    return {"source": source, "checks": rows}


def examine(
    site: Site, code: str, source: str = CHECK, *names: str, escalations: tuple[Escalation, ...] = ()
) -> Verdict:
    site.runner.runs.clear()
    tree = site.tree({"shop.py": code})
    examination = checked(source, *(names or ("test_ten",)))
    return judge_examined(site.runner, ExaminedCase(site.base, tree, examination, SPEC, PATH, escalations))


def test_work_that_meets_its_promise_passes_and_the_outcomes_are_on_record(site: Site) -> None:
    verdict = examine(site, RIGHT)
    assert verdict.status == "passed", verdict.reasons
    (row,) = objects(verdict.record, "checks")
    assert (row["before"], row["with_runner"], row["without_runner"]) == ("failed", "passed", "passed")
    assert examined_lines(verdict.record) == [
        "examined: 1 held-out checks, all pass, with the test runner and without it"
    ]


def test_a_check_that_fails_is_a_question_with_the_example(site: Site) -> None:
    verdict = examine(site, "def net(price, percent):\n    return price - 10\n")
    assert verdict.status == "failed"
    assert verdict.question is not None
    assert verdict.ask_after == 0
    assert "10 % off 200 is 180" in verdict.question.text
    assert "assert net(200, 10) == 180" in verdict.question.text
    assert verdict.question.options == (SEND_BACK, WRONG, "abort")
    assert "net(200, 10)" in verdict.question.if_no


def test_what_holds_only_under_pytest_is_seen(site: Site) -> None:
    verdict = examine(site, KNOWS_PYTEST)
    assert verdict.question is not None
    assert "fails without pytest, and passes with it" in verdict.reasons[0]


@pytest.mark.slow
def test_a_check_that_a_person_calls_wrong_is_set_aside_and_its_next_version_is_not(site: Site) -> None:
    wrong = "def net(price, percent):\n    return price - 10\n"
    asked = examine(site, wrong).question
    assert asked is not None
    said = Escalation("ESC-001", "question", "examine", asked, answer="The check is wrong.", by="ada")
    passed = examine(site, wrong, escalations=(said,))
    assert passed.status == "passed"
    assert "ada says that the check is wrong" in examined_lines(passed.record)[1]
    other = CHECK.replace("180", "181")
    assert examine(site, wrong, other, escalations=(said,)).status == "failed"


def test_a_check_that_calls_wrongly_goes_back_once_before_anybody_is_asked(site: Site) -> None:
    verdict = examine(site, RIGHT, BROKEN)
    assert (verdict.status, verdict.ask_after) == ("failed", 1)
    assert "NameError" in verdict.reasons[0]
    assert "fix it" in verdict.reasons[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "names", "said"),
    [
        ("def test_ten(:\n", ("test_ten",), "source: line 1"),
        ("import pytest\n" + CHECK, ("test_ten",), "source imports pytest"),
        (CHECK.replace("test_ten()", "test_ten(tmp_path)"), ("test_ten",), "without arguments"),
        ("def test_ten():\n    print(1)\n", ("test_ten",), "cannot fail for a wrong result"),
        (CHECK, ("test_other",), "no test function of source"),
        ("from shop import gross\n" + CHECK, ("test_ten",), "cannot be loaded"),
    ],
)
def test_checks_that_cannot_decide_go_back_and_later_to_a_person(
    site: Site, source: str, names: tuple[str, ...], said: str
) -> None:
    verdict = examine(site, RIGHT, source, *names)
    assert (verdict.status, verdict.ask_after) == ("failed", 2)
    assert any(said in line for line in verdict.reasons), verdict.reasons
    assert verdict.question is not None
    yes = Escalation("ESC-001", "question", "examine", verdict.question, answer="yes", by="ada")
    without = examine(site, RIGHT, source, *names, escalations=(yes,))
    assert without.status == "passed"
    assert "no check was run, and a person went on without" in examined_lines(without.record)[0]


def test_who_ends_the_process_has_shown_nothing(site: Site) -> None:
    ends = "import os, sys\n\n\ndef net(price, percent):\n    'pytest' in sys.modules or os._exit(0)\n    return 180\n"
    verdict = examine(site, ends)
    assert verdict.status == "not_run"
    assert "ended before it could report" in verdict.reasons[0]


def test_nothing_is_examined_where_nothing_is_owed(site: Site, tmp_path: Path) -> None:
    case = ExaminedCase(site.base, site.base, {"source": "", "checks": []}, SPEC, PATH)
    assert judge_examined(site.runner, case, owed=False).status == "passed"
    assert judge_examined(site.runner, case).status == "failed"
