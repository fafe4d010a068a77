"""What RED may do and may not when it proves tests, the first time or again: beside old tests, beside code
that is there already, and to what the specification says.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.values import Escalation, Question
from agentforge.gates.new_tests.amendments import amended, amendment_flags
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.red_checks import check_problems
from agentforge.gates.review import judge_panel, judge_review
from agentforge.gates.rules import specification as rules
from agentforge.gates.rules.subject import Subject
from agentforge.gates.suite.justified import asked_about, justifies, question_about, unjustified
from agentforge.gates.verdict import Verdict
from agentforge.languages.values import CheckRun
from tests.gates.bench_of_judges import OneRunEach, Site, make_site
from tests.rows import every

OLD_FILE, NEW_FILE = "tests/test_old.py", "tests/test_new.py"
OLD = """\
import shop


def test_add():
    assert shop.add(4, 4) == 8


def test_nothing():
    assert shop.add(0, 0) == 0
"""
NEW = "import shop\n\n\ndef test_sub():\n    assert shop.sub(3, 1) == 2\n"
CODE = "def add(a, b):\n    return a + b\n"
BUILT = CODE + "\n\ndef sub(a, b):\n    return a - b\n"
IDS = frozenset({f"{OLD_FILE}::test_add", f"{OLD_FILE}::test_nothing"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    place: Path = tmp_path_factory.mktemp("returns")
    return make_site(place, {"shop.py": CODE, OLD_FILE: OLD}, OneRunEach)


def suite(path: str, *names: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    tests = [{"name": name, "requirement_ref": "REQ-001"} for name in names]
    return {"test_files": [{"path": path, "tests": tests}], **more}


def prove(site: Site, files: Mapping[str, str | None], suite: Mapping[str, Any], began: str = "") -> Verdict:
    tree = site.tree(files, began)
    case = RedCase(site.base, tree, suite, {}, same_author=False, began_with=began, old=IDS)
    return prove_red(site.runner, case)


# ------------------------------------------------------------------ old test files


def test_red_adds_imports_fixtures_and_tests_to_an_old_file_and_leaves_its_tests_alone(site: Site) -> None:
    text = OLD.replace(
        "import shop\n", "import pytest\n\nimport shop\n\n\n@pytest.fixture\ndef three():\n    return 3\n"
    )
    text += "\n\ndef test_sub(three):\n    assert shop.sub(three, 1) == 2\n"
    verdict = prove(site, {OLD_FILE: text}, suite(OLD_FILE, "test_sub"))
    assert verdict.status == "passed", verdict.reasons
    tests = verdict.record["tests"]
    assert isinstance(tests, dict)
    assert [*tests] == [f"{OLD_FILE}::test_sub"]


@pytest.mark.parametrize(
    "edited",
    [
        OLD.replace("    assert shop.add(4, 4) == 8", "    return\n    assert shop.add(4, 4) == 8"),
        OLD.replace("    assert shop.add(4, 4) == 8", "    shop.add = max\n    assert shop.add(4, 8) == 8"),
    ],
)
def test_the_text_of_an_old_test_stays_unless_it_is_given_up(site: Site, edited: str) -> None:
    verdict = prove(site, {OLD_FILE: edited, NEW_FILE: NEW}, suite(NEW_FILE, "test_sub"))
    assert verdict.status == "failed"
    assert f"{OLD_FILE}::test_add" in verdict.reasons[0]


# ------------------------------------------------------------------ a second time


def test_tests_that_are_proved_again_are_proved_without_the_code_that_is_there(site: Site) -> None:
    began = site.tree({"shop.py": BUILT, NEW_FILE: NEW.replace("== 2", "== 3")})
    verdict = prove(site, {NEW_FILE: NEW}, suite(NEW_FILE, "test_sub"), began)
    assert verdict.status == "passed", verdict.reasons
    red_tree = str(verdict.record["red_tree"])
    assert site.git.read_blob(red_tree, "shop.py") == CODE.encode()
    assert site.git.read_blob(red_tree, NEW_FILE) == NEW.encode()
    wrong = prove(site, {NEW_FILE: NEW, "shop.py": CODE}, suite(NEW_FILE, "test_sub"), began)
    assert wrong.reasons == ("`shop.py` changed, and only tests may change in RED",)


# ------------------------------------------------------------------ lint and types


def ran(*rows: tuple[str, str, str]) -> CheckRun:
    return CheckRun.of(rows)


SPEC: dict[str, Any] = {"title": "`sub` takes away", "files_to_create": ["shop/minus.py"]}
CLEAN = ran()


@every(
    ("lint", "types", "reasons"),
    [
        (CLEAN, CLEAN, []),
        (ran((NEW_FILE, "F401", "1: `os` imported but unused")), CLEAN, ["lint: tests/test_new.py:1: `os`"]),
        (CLEAN, ran((NEW_FILE, "attr-defined", '5: Module "shop" has no attribute "sub"')), []),
        (CLEAN, ran((NEW_FILE, "import-not-found", '1: Cannot find module named "shop.minus"')), []),
        (
            CLEAN,
            ran((NEW_FILE, "attr-defined", '5: "str" has no attribute "upperr"')),
            ['types: tests/test_new.py:5: "str"'],
        ),
        (ran(("shop.py", "F401", "1: unused")), ran(("shop.py", "misc", "1: bad")), []),
        (CheckRun("not_configured", "none"), CheckRun("not_run", "mypy stopped"), []),
    ],
)
def test_test_files_are_held_to_lint_and_to_types_that_are_not_about_what_is_to_come(
    lint: CheckRun, types: CheckRun, reasons: list[str]
) -> None:
    found = check_problems((CLEAN, lint), (CLEAN, types), SPEC, lambda path: path.startswith("tests/"))
    assert len(found) == len(reasons)
    assert all(line.startswith(start) for line, start in zip(found, reasons, strict=True))


# ------------------------------------------------------------------ criteria that prove wrong


WANTED: dict[str, Any] = {
    "requirements": [
        {"id": "REQ-001", "acceptance_criteria": ["sub(3, 1) is 2", "sub(1, 3) is an error"]},
        {"id": "REQ-002", "acceptance_criteria": ["add stays"]},
    ]
}


def amend(criterion: str, reference: str = "REQ-001") -> dict[str, Any]:
    tests = [
        {"name": "test_a", "requirement_ref": "REQ-001", "acceptance_criterion": "REQ-001.1"},
        {"name": "test_b", "requirement_ref": "REQ-001", "acceptance_criterion": "sub(1, 3) is -2"},
        {"name": "test_c", "requirement_ref": "REQ-002"},
    ]
    entry = {
        "requirement_ref": reference,
        "criterion": criterion,
        "now": "sub(1, 3) is -2",
        "reason": "numbers go below zero",
    }
    return {"test_files": [{"path": NEW_FILE, "tests": tests}], "amends": [entry]}


@every("criterion", ["sub(1, 3) is an error", "REQ-001.2", "2"])
def test_a_criterion_is_amended_in_its_words_or_by_its_place(criterion: str) -> None:
    subject = Subject(amend(criterion), "tests", {"requirements": WANTED})
    assert [*rules.tests_name_known_requirements(subject), *rules.every_criterion_has_test(subject)] == []
    now = amended(WANTED, subject.artifact)["requirements"]
    assert now[0]["acceptance_criteria"] == ["sub(3, 1) is 2", "sub(1, 3) is -2"]
    assert now[1] == WANTED["requirements"][1]
    (flag,) = amendment_flags(subject.artifact)
    assert (flag.about, flag.ruling) == ("REQ-001", True)
    assert flag.text.endswith('to "sub(1, 3) is -2": numbers go below zero')


@every(
    ("criterion", "reference"),
    [("sub(9, 9) is 1", "REQ-001"), ("3", "REQ-001"), ("2", "REQ-002"), ("1", "REQ-9")],
)
def test_what_the_specification_does_not_say_cannot_be_amended(criterion: str, reference: str) -> None:
    subject = Subject(amend(criterion, reference), "tests", {"requirements": WANTED})
    (reason,) = rules.tests_name_known_requirements(subject)
    assert f'{reference} has no criterion "{criterion}"' in reason
    assert rules.every_criterion_has_test(
        Subject({**subject.artifact, "amends": []}, "tests", {"requirements": WANTED})
    )


# ------------------------------------------------------------------ old tests that are given up


SOURCE = "def test_label_names_the_currency():\n    assert label(3) == '3 EUR'"
NAME = "tests/test_price.py::test_label_names_the_currency"


@every(
    ("words", "justified"),
    [
        ("label must say 'only 3 EUR' for prices from 1 to 4", True),
        ("Change label: no currency", True),
        ("Remove test_label_names_the_currency", True),
        ("tests/test_price.py is outdated", True),
        ("delete the obsolete tests in test_price.py", True),
        ("net must take the discount off the price", False),
        ("add a currency to label", False),
        ("labels must be short", False),
        ("make everything better", False),
    ],
)
def test_the_words_of_the_request_justify_what_they_speak_of(words: str, justified: bool) -> None:
    assert justifies(words, NAME, SOURCE) is justified


@every(
    ("words", "now", "justified"),
    [
        ("Change the default currency to USD", '"3 USD"', True),
        ("The tag must end in dollars instead of EUR", '"3 dollars"', True),
        ("Change the default currency to USD", '"3 CHF"', False),
        ("Add USD as a currency", '"3 USD"', False),
    ],
)
def test_a_value_that_the_request_names_justifies_a_test_that_expects_it(
    words: str, now: str, justified: bool
) -> None:
    before = 'def test_it():\n    assert tag(3) == "3 EUR"\n'
    after = before.replace('"3 EUR"', now)
    assert justifies(words, "tests/test_a.py::test_it", before, (before, after)) is justified


@every(
    ("words", "justified"),
    [
        ('The info "could not find the file" should be a warning', True),
        ("The info `could not find` should be a warning", False),
        ('The warning "could not find the key" should be an info', False),
        ("`Cart.__repr__` should show its class", True),
        ("`Cart.__str__` should show its class", False),
    ],
)
def test_a_message_that_the_request_quotes_justifies_a_test_that_has_it(words: str, justified: bool) -> None:
    source = "def test_it(log):\n    load()\n    assert log() == 'could not find the file %s' % repr(cart)\n"
    assert justifies(words, "tests/test_a.py::test_it", source) is justified


@every(
    "after",
    [
        "def test_it():\n    assert not tag(3) == '3 EUR'\n",
        "def test_it():\n    assert tag(3)\n",
        "def test_it():\n    tag(3)\n",
        "def test_it():\n    assert tag(3) in '3 EUR'\n",
    ],
)
def test_a_test_that_says_less_is_not_justified_by_a_value(after: str) -> None:
    before = "def test_it():\n    assert tag(3) == '3 EUR'\n"
    words = "Change the default: the currency is USD and not EUR, in all that is shown"
    assert not justifies(words, "tests/test_a.py::test_it", before, (before, after))


def test_what_they_do_not_is_asked_once_with_reason_and_change(site: Site) -> None:
    identity = f"{OLD_FILE}::test_nothing"
    given_up = suite(NEW_FILE, "test_sub", supersedes=[{"id": identity, "reason": "it is in the way"}])
    assert unjustified(site.runner, given_up, "add sub") == [identity]
    assert unjustified(site.runner, given_up, "shop.add must refuse nothing") == []
    gone = site.tree({OLD_FILE: OLD[: OLD.index("\n\ndef test_nothing")]})
    question = question_about(site.runner, gone, given_up, [identity])
    assert f"{identity}: it is in the way" in question.text
    assert "-    assert shop.add(0, 0) == 0" in question.text
    assert (question.about, question.options) == ((identity,), ("allow", "keep them", "abort"))

    def said(answer: str | None) -> tuple[frozenset[str], frozenset[str]]:
        return asked_about([Escalation("ESC-001", "question", "red", question, answer=answer)])

    assert said("allow") == (frozenset({identity}), frozenset())
    assert said("keep them") == said("why?") == (frozenset(), frozenset({identity}))
    assert said(None) == asked_about(
        [Escalation("ESC-002", "question", "red", Question("?"), answer="allow")]
    )


# ------------------------------------------------------------------ reviews


@every(
    ("remedies", "where"),
    [(["tests"], "tests"), (["code", "tests"], "tests"), (["code"], "code"), ([None], "code")],
)
def test_a_review_says_where_its_findings_are_settled(remedies: list[str | None], where: str) -> None:
    found = [
        {
            "id": f"REV-00{place}",
            "blocking": True,
            "description": "wrong",
            **({"remedy_in": said} if said else {}),
        }
        for place, said in enumerate(remedies, 1)
    ]
    document: dict[str, Any] = {"verdict": "block", "findings": found}
    assert judge_review(document).record["remedy_in"] == where
    assert judge_panel("blocking", {"reviewer": document}).record["remedy_in"] == where
    advice: dict[str, Any] = {"verdict": "approve", "findings": [{**found[0], "blocking": False}]}
    assert "remedy_in" not in judge_review(advice).record
