"""What a role is shown of the checks after its edit."""

from agentforge.context.verification import measured, on_the_base, verification_status
from agentforge.core.codec import decode, encode
from agentforge.core.values import CheckDigest, CheckPart, CodeViolation
from agentforge.system import strict_yaml

VIOLATION = CodeViolation(
    "documentation-required",
    "style_contracts",
    "major",
    "auth/oauth.py",
    45,
    "Function 'refresh_token' missing docstring",
    "Add a docstring",
)
FAILING = CheckDigest(
    "failed",
    "conformance: 1 new violation; 12 of 14 affected tests pass",
    ("tests/auth/test_oauth.py::test_expiry: AssertionError",),
    ("tests/auth/test_oauth.py",),
    12,
    14,
    (
        CheckPart("syntax", "passing"),
        CheckPart("lint", "not_configured"),
        CheckPart("conformance", "failing", 12, 11, (VIOLATION,)),
        CheckPart("type_check", "passing", errors=0, warnings=2),
        CheckPart("tests", "failing", 15, 12, skipped=1),
    ),
)


def test_every_kind_of_check_has_its_status_and_the_next_step_is_named() -> None:
    page = strict_yaml.load(verification_status(FAILING), "page")
    assert page == {
        "syntax": {"status": "passing"},
        "lint": {"status": "not_configured"},
        "conformance": {
            "status": "failing",
            "total": 12,
            "passing": 11,
            "failing": 1,
            "violations": [
                {
                    "check_id": "documentation-required",
                    "contract": "style_contracts",
                    "severity": "major",
                    "file": "auth/oauth.py",
                    "line": 45,
                    "message": "Function 'refresh_token' missing docstring",
                    "fix_hint": "Add a docstring",
                }
            ],
        },
        "type_check": {"status": "passing", "errors": 0, "warnings": 2},
        "tests": {"status": "failing", "total": 15, "passing": 12, "failing": 2, "skipped": 1},
        "summary": "conformance: 1 new violation; 12 of 14 affected tests pass",
        "phase_exit_ready": False,
        "blocking_issues": ["1 conformance violation: documentation-required", "2 tests failing"],
        "next_suggested_action": (
            "settle documentation-required in auth/oauth.py:45, then fix the failing tests"
        ),
    }


def test_nothing_blocks_but_what_a_check_found_or_a_role_is_told() -> None:
    passing = CheckDigest("passed", "3 affected tests pass", parts=(CheckPart("tests", "passing", 3, 3),))
    page = strict_yaml.load(verification_status(passing), "page")
    assert isinstance(page, dict)
    assert page["phase_exit_ready"] is True
    assert "blocking_issues" not in page
    page = strict_yaml.load(
        verification_status(passing, ("Gate red failed:", "test_a passes already")), "page"
    )
    assert isinstance(page, dict)
    assert page["phase_exit_ready"] is False
    assert (page["blocking_issues"], page["next_suggested_action"]) == (
        ["the feedback"],
        "act on the feedback",
    )


def test_steps_of_older_releases_show_their_summary_and_new_ones_come_back_whole() -> None:
    assert verification_status(None) == ""
    assert verification_status(CheckDigest("passed", "3 affected tests pass")) == "3 affected tests pass"
    assert decode(CheckDigest, encode(FAILING)) == FAILING


def test_a_failure_that_is_no_fault_of_the_change_is_not_said_to_be_one() -> None:
    old = CheckDigest("passed", "3 of 4 pass", parts=(CheckPart("tests", "passing", 4, 3),))
    page = strict_yaml.load(verification_status(old), "page")
    assert isinstance(page, dict)
    assert page["tests"] == {
        "status": "passing",
        "total": 4,
        "passing": 3,
        "failing_without_the_change_too": 1,
    }


def test_of_a_check_that_failed_the_feedback_is_no_second_thing_to_do() -> None:
    alone, told = (
        verification_status(FAILING),
        verification_status(FAILING, ("conformance: 1 new violation",)),
    )
    assert told == alone


def test_cases_of_one_function_are_told_once_for_each_outcome() -> None:
    failed, passed = {"outcome": "failed", "reason": "1 != 2"}, {"outcome": "passed", "reason": ""}
    tests = {
        "t.py::f[1]": failed,
        "t.py::f[2]": failed,
        "t.py::f[3]": passed,
        "t.py::g": failed,
        "a [b": passed,
    }
    assert on_the_base({"red": {"tests": tests}})[1:] == [
        "- t.py::f[1]: failed (1 != 2); 1 more case of it likewise",
        "- t.py::f[3]: passed",
        "- t.py::g: failed (1 != 2)",
        "- a [b: passed",
    ]


def test_numbers_of_a_file_say_whether_the_change_made_them() -> None:
    green = {"passed": 3, "not_configured": []}
    fine = {"complexity": 90, "duplicates": 274, "complexity_acceptable": True, "no_code_smells": True}
    tests, numbers = measured({"green": green, "quality": fine})
    assert tests == "After it: 3 tests pass, no regression."
    assert "highest complexity 90 (the change makes none too complex)" in numbers
    assert "lines that stand elsewhere too 274 (none of them added)." in numbers
    worse = fine | {"complexity_acceptable": False, "no_code_smells": False}
    (line,) = measured({"quality": worse})
    assert "(" not in line
