"""What a role is shown of the checks after its edit."""

from agentforge.context.verification import verification_status
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


def test_where_all_is_well_nothing_blocks() -> None:
    passing = CheckDigest("passed", "3 affected tests pass", parts=(CheckPart("tests", "passing", 3, 3),))
    page = strict_yaml.load(verification_status(passing), "page")
    assert isinstance(page, dict)
    assert page["phase_exit_ready"] is True
    assert "blocking_issues" not in page


def test_steps_of_older_releases_show_their_summary_and_new_ones_come_back_whole() -> None:
    assert verification_status(None) == ""
    assert verification_status(CheckDigest("passed", "3 affected tests pass")) == "3 affected tests pass"
    assert decode(CheckDigest, encode(FAILING)) == FAILING
