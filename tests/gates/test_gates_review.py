"""Claims about what a panel decides."""

from typing import Any

from agentforge.gates.review import judge_panel, judge_review

SEC = {"id": "SEC-001", "severity": "high", "description": "Input is run.", "remediation": "Do not run it."}
REV = {"id": "REV-001", "severity": "major", "description": "Names lie.", "remediation": "Rename."}
SAFE: dict[str, Any] = {
    "verdict": "approve",
    "summary": "Safe.",
    "advisory_issues": [SEC | {"id": "SEC-009"}],
}
UNSAFE: dict[str, Any] = {"verdict": "block", "summary": "Unsafe.", "blocking_issues": [SEC]}
GOOD: dict[str, Any] = {
    "verdict": "approve",
    "summary": "Good.",
    "findings": [REV | {"id": "REV-009", "blocking": False}],
}
BAD: dict[str, Any] = {"verdict": "block", "summary": "Bad.", "findings": [REV | {"blocking": True}]}


def test_all_approve_and_advice_is_kept() -> None:
    verdict = judge_panel("blocking", {"security_architect": SAFE, "reviewer": GOOD})
    assert (verdict.status, verdict.reasons) == ("passed", ())
    assert verdict.record["verdicts"] == {"security_architect": "approve", "reviewer": "approve"}
    assert verdict.record["advisory"] == [
        "SEC-009 (security_architect): Input is run.",
        "REV-009 (reviewer): Names lie.",
    ]
    assert (verdict.record["arbiter"], verdict.record["dissent"]) == (None, [])


def test_all_block_and_every_blocking_finding_is_a_reason() -> None:
    verdict = judge_panel("blocking", {"security_architect": UNSAFE, "reviewer": BAD})
    assert verdict.status == "blocked"
    assert set(verdict.reasons) == {
        "SEC-001 (security_architect): Input is run. Remedy: Do not run it.",
        "REV-001 (reviewer): Names lie. Remedy: Rename.",
    }
    assert judge_panel("blocking", {"security_architect": UNSAFE}).status == "blocked"


def test_reviewers_who_disagree_wait_for_the_arbiter() -> None:
    verdict = judge_panel("blocking", {"security_architect": UNSAFE, "reviewer": GOOD})
    assert verdict.status == "split"
    block, approval = verdict.reasons
    assert block == "SEC-001 (security_architect): Input is run. Remedy: Do not run it."
    assert approval.startswith("reviewer approves: ")


def test_an_arbiter_who_approves_overrules_the_block_on_record() -> None:
    verdict = judge_panel("blocking", {"security_architect": UNSAFE, "reviewer": GOOD}, GOOD)
    assert verdict.status == "passed"
    assert verdict.record["arbiter"] == "approve"
    assert verdict.record["dissent"] == [
        (
            "security_architect blocked and was overruled: SEC-001 (security_architect): Input is run. "
            "Remedy: Do not run it."
        )
    ]


def test_an_arbiter_who_blocks_overrules_the_approval_on_record() -> None:
    verdict = judge_panel("blocking", {"security_architect": UNSAFE, "reviewer": GOOD}, BAD)
    assert verdict.status == "blocked"
    assert verdict.reasons[0] == "REV-001 (arbiter): Names lie. Remedy: Rename."
    assert "SEC-001 (security_architect): Input is run. Remedy: Do not run it." in verdict.reasons
    assert verdict.record["dissent"] == ["reviewer approved and was overruled: Good."]


def test_a_panel_that_advises_blocks_nothing_and_forgets_nothing() -> None:
    verdict = judge_panel("advisory", {"security_architect": UNSAFE, "reviewer": GOOD})
    assert verdict.status == "passed"
    assert verdict.record["advisory"] == [
        "SEC-001 (security_architect): Input is run. Remedy: Do not run it.",
        "REV-009 (reviewer): Names lie.",
    ]


def test_no_review_is_not_run_and_no_verdict_is_no_approval() -> None:
    assert judge_panel("blocking", {}).status == "not_run"
    assert judge_panel("blocking", {"reviewer": {"summary": "?"}}).reasons == ("reviewer: ?",)


def test_a_stage_that_is_a_review_keeps_its_words() -> None:
    assert judge_review(GOOD).status == "passed"
    verdict = judge_review(BAD)
    assert (verdict.status, verdict.reasons) == ("blocked", ("REV-001: Names lie. Remedy: Rename.",))
    assert judge_review({"verdict": "block", "summary": "No."}).reasons == ("No.",)
