"""Claims about the packaged contracts: a valid and an invalid example of each, and their outlines."""

import json
from typing import Any

from agentforge.catalog.contracts import problems
from agentforge.catalog.fitting import fitted
from agentforge.catalog.load import OWN_CONTRACTS, Catalog
from agentforge.catalog.skeleton import offered_schema
from tests.rows import every

CATALOG = Catalog.packaged()

ISSUE = {
    "id": "SEC-001",
    "severity": "high",
    "description": "The path may lead outside.",
    "remediation": "Resolve it first.",
}

VALID_DRAFTS: dict[str, dict[str, Any]] = {
    "intake_record": {
        "extracted_intent": {"action": "fix", "target": "the parser", "scope": "file"},
        "identified_ambiguities": [{"area": "errors", "question": "Which error?", "impact": "minor"}],
    },
    "clarification": {
        "questions": [
            {
                "question": "Which error?",
                "answer": "ValueError",
                "confidence": 92,
                "evidence": [{"file": "a.py", "snippet": "raise ValueError"}],
            }
        ],
        "assumptions": ["The old name stays."],
    },
    "analysis": {
        "impacted_files": [{"path": "a.py", "reason": "holds the parser"}],
        "risks": ["callers that catch KeyError"],
    },
    "specification": {
        "title": "Parser",
        "description": "It raises.",
        "requirements": [
            {
                "id": "REQ-001",
                "description": "It raises.",
                "acceptance_criteria": ["parse('') raises ValueError"],
            }
        ],
        "dependencies": ["REQ-002 -> REQ-001"],
    },
    "test_suite": {
        "test_files": [
            {
                "path": "tests/test_a.py",
                "tests": [
                    {"name": "test_raises", "requirement_ref": "REQ-001"},
                    {"name": "test_old", "guard": True},
                ],
            }
        ],
        "supersedes": [
            {
                "id": "tests/test_b.py::test_x",
                "reason": "the request changes it",
                "requirement_ref": "REQ-001",
            }
        ],
    },
    "implementation": {"summary": "It raises now."},
    "review": {
        "verdict": "block",
        "summary": "Not yet.",
        "findings": [
            {
                "id": "REV-001",
                "severity": "major",
                "blocking": True,
                "description": "Only ''.",
                "remediation": "Strip first.",
            }
        ],
    },
    "security_review": {
        "verdict": "block",
        "summary": "Not yet.",
        "blocking_issues": [ISSUE],
        "advisory_issues": [
            {"id": "SEC-002", "severity": "low", "category": "secrets", "description": "A name in a log."}
        ],
    },
    "delivery_report": {},
}

COMPLETED: dict[str, dict[str, Any]] = {
    "intake_record": {
        "request_id": "r",
        "original_request": "Fix it.",
        "metadata": {"intake_timestamp": "2026-01-31T12:00:00Z", "tokens_used": 3},
    },
    "clarification": {},
    "analysis": {"facts": ["1 file"]},
    "specification": {"spec_id": "s"},
    "test_suite": {
        "suite_id": "t",
        "spec_ref": "s",
        "verification": {"all_tests_fail": True, "no_implementation_exists": True},
    },
    "implementation": {
        "implementation_id": "i",
        "spec_ref": "s",
        "test_suite_ref": "t",
        "files_created": [],
        "files_modified": [
            {"path": "a.py", "changes_summary": "raises", "lines_added": 2, "lines_removed": 1}
        ],
        "verification": {"all_tests_pass": True, "conformance_passing": True, "no_regressions": True},
    },
    "review": {"review_id": "v", "dissent": ["security_architect: SEC-001 was set aside"]},
    "security_review": {"review_id": "v"},
    "delivery_report": {
        "request_id": "r",
        "branch": "agentforge/x",
        "commits": ["0" * 40],
        "title": "Parser",
        "summary": "It raises.",
        "changelog_entry": "- It raises.",
        "release_notes": "It raises.",
        "files": [{"path": "a.py", "change": "modified"}],
        "readiness": {"ready": True, "open_points": []},
        "verification": {
            "all_tests_pass": True,
            "no_regressions": True,
            "test_lock_held": True,
            "tree": "0" * 40,
            "sandbox": "none",
        },
    },
}

INVALID: list[tuple[str, dict[str, Any], str]] = [
    (
        "intake_record",
        {"extracted_intent": {"action": "invent", "target": "x", "scope": "file"}},
        "extracted_intent.action: 'invent'",
    ),
    (
        "intake_record",
        {"extracted_intent": {"action": "fix", "target": "x"}},
        "extracted_intent.scope: is missing; it is one of file",
    ),
    (
        "clarification",
        {"questions": [{"question": "q", "answer": "a", "confidence": 0.92}]},
        "questions[0].confidence: 0.92 has a fraction",
    ),
    ("clarification", {"questions": [{"question": "q", "answer": "a", "confidence": 101}]}, "up to 100"),
    (
        "clarification",
        {"questions": [{"question": "q", "answer": "a", "confidence": 1, "resolved_by": "me"}]},
        "filled in by the engine",
    ),
    ("analysis", {"impacted_files": [{"path": "a.py"}]}, "impacted_files[0].reason: is missing"),
    (
        "specification",
        {"title": "x" * 101, "description": "d", "requirements": []},
        "of at most 100 characters",
    ),
    (
        "specification",
        {
            "title": "x",
            "description": "d",
            "requirements": [{"id": "R1", "description": "d", "acceptance_criteria": ["c"]}],
        },
        "requirements[0].id: 'R1' does not fit; it is text like REQ-001",
    ),
    ("test_suite", {"test_files": [{"path": "tests/test_a.py", "tests": []}]}, "at least 1 entries"),
    (
        "test_suite",
        {
            **VALID_DRAFTS["test_suite"],
            "verification": {"all_tests_fail": True, "no_implementation_exists": True},
        },
        "verification: is filled in by the engine",
    ),
    (
        "implementation",
        {"verification": {"all_tests_pass": True}},
        "verification: is filled in by the engine",
    ),
    ("implementation", {"note": "x"}, "note: unknown key; allowed: "),
    (
        "review",
        {"verdict": "maybe", "summary": "s"},
        "verdict: 'maybe' does not fit; it is one of approve, block",
    ),
    ("review", {"verdict": "approve"}, "summary: is missing"),
    (
        "review",
        {"verdict": "approve", "summary": "s", "dissent": ["x"]},
        "dissent: is filled in by the engine",
    ),
    (
        "security_review",
        {"verdict": "block", "summary": "s", "blocking_issues": [{**ISSUE, "id": "REV-001"}]},
        "it is text like SEC-001",
    ),
    (
        "security_review",
        {"verdict": "block", "summary": "s", "blocking_issues": [{**ISSUE, "severity": "major"}]},
        "critical, high, medium",
    ),
    (
        "security_review",
        {
            "verdict": "block",
            "summary": "s",
            "blocking_issues": [{key: ISSUE[key] for key in ("id", "severity", "description")}],
        },
        "blocking_issues[0].remediation: is missing",
    ),
    ("delivery_report", {"branch": "b"}, "branch: is filled in by the engine"),
    ("delivery_report", {"commits": []}, "commits: is filled in by the engine"),
    ("delivery_report", {"changelog_entry": ""}, "changelog_entry: '' does not fit"),
]


@every("name", VALID_DRAFTS)
def test_a_good_draft_passes_and_is_final_once_the_engine_completed_it(name: str) -> None:
    contract = CATALOG.contract(name)
    draft = VALID_DRAFTS[name]
    assert problems(contract, draft, final=False) == []
    assert problems(contract, {**draft, **COMPLETED[name]}, final=True) == []


@every(
    "name",
    [
        "intake_record",
        "specification",
        "test_suite",
        "implementation",
        "review",
        "security_review",
        "delivery_report",
    ],
)
def test_a_draft_is_not_a_final(name: str) -> None:
    assert problems(CATALOG.contract(name), VALID_DRAFTS[name], final=True) != []


@every(("name", "draft", "said"), INVALID)
def test_a_bad_draft_is_told_what_is_wrong(name: str, draft: dict[str, Any], said: str) -> None:
    found = problems(CATALOG.contract(name), draft, final=False)
    assert any(said in text for text in found), found


@every("name", ["clarification", "analysis", "implementation"])
def test_what_the_engine_can_derive_may_be_empty(name: str) -> None:
    assert problems(CATALOG.contract(name), {}, final=False) == []


@every("claim", ["all_tests_pass", "conformance_passing", "no_regressions"])
def test_an_implementation_that_fails_a_check_has_no_final_form(claim: str) -> None:
    verification = {**COMPLETED["implementation"]["verification"], claim: False}
    found = problems(
        CATALOG.contract("implementation"),
        {**COMPLETED["implementation"], "verification": verification},
        final=True,
    )
    allowed = "true" if claim == "test_lock_held" else "one of true, null"
    assert found == [f"verification.{claim}: false does not fit; it is {allowed}"]


@every("name", sorted(CATALOG.names("contracts") - OWN_CONTRACTS))
def test_what_a_model_is_offered_of_a_contract_is_short(name: str) -> None:
    text = json.dumps(offered_schema(CATALOG.contract(name)))
    assert len(text) / 4 <= 600
    assert '"verification"' not in text


def test_an_offer_requires_what_must_be_written_and_lists_choices() -> None:
    offered: Any = offered_schema(CATALOG.contract("intake_record"))
    assert offered["required"] == ["extracted_intent"]
    intent = offered["properties"]["extracted_intent"]
    assert intent["required"] == ["action", "target", "scope"]
    assert intent["properties"]["scope"]["enum"] == ["file", "module", "feature", "system"]
    assert not {"request_id", "original_request"} & set(offered["properties"])


def test_what_is_seldom_said_is_offered_only_where_the_document_is_all_and_taken_in_anyway() -> None:
    contract = CATALOG.contract("specification")
    alone: Any = offered_schema(contract)
    beside: Any = offered_schema(contract, alone=False)
    assert {"interfaces", "constraints"} <= alone["properties"].keys() - beside["properties"].keys()
    assert alone["required"] == beside["required"]
    requirement = {"id": "REQ-001", "description": "It holds.", "acceptance_criteria": ["It holds."]}
    spec = {
        "title": "T",
        "description": "D",
        "requirements": [requirement],
        "constraints": [{"description": "C"}],
    }
    assert problems(contract, spec, final=False) == []


def test_words_that_the_engine_could_fill_are_still_asked_for() -> None:
    offered: Any = offered_schema(CATALOG.contract("delivery_report"))
    assert [*offered["properties"]] == ["summary", "changelog_entry", "release_notes"]


def test_what_a_model_writes_beside_the_keys_is_left_out_and_named() -> None:
    contract = CATALOG.contract("specification")
    wrong: Any = {
        "title": "t",
        "description": "d",
        "mood": "good",
        "derived": True,
        "files_to_modify": "a.py",
        "requirements": [{"id": "REQ-001", "description": "d", "criteria": ["c"]}],
    }
    document, notes = fitted(contract, wrong)
    assert [*document] == ["title", "description", "files_to_modify", "requirements"]
    assert document["files_to_modify"] == ["a.py"]
    assert document["requirements"] == [{"id": "REQ-001", "description": "d"}]
    assert notes == ["Left out, because specification has no such key: mood, derived, requirements.criteria."]


def test_a_fault_that_several_entries_have_is_told_once_with_their_ids() -> None:
    entries = [{"id": f"REQ-00{number}", "description": "d", "priority": "high"} for number in (1, 2, 3)]
    value = {"title": "t", "description": "d", "requirements": entries}
    ids = "(REQ-001, REQ-002, REQ-003)"
    assert problems(CATALOG.contract("specification"), value, final=False) == [
        f"requirements[*].acceptance_criteria: is missing; it is a list with at least 1 entries {ids}",
        f"requirements[*].priority: 'high' does not fit; it is one of must, should, could, wont {ids}",
    ]


def test_entries_without_a_name_are_named_by_their_place_and_one_alone_by_its_path() -> None:
    value = {"questions": [{"answer": "a", "confidence": 90}, {"confidence": 90}]}
    assert problems(CATALOG.contract("clarification"), value, final=False) == [
        "questions[*].question: is missing; it is text of at least 1 characters (questions[0], questions[1])",
        "questions[1].answer: is missing; it is text of at least 1 characters",
    ]
