"""Claims about the named rules of artifacts."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentforge.catalog.load import Catalog
from agentforge.catalog.rules import CATALOG_RULES
from agentforge.core.pipeline import PREDICATES, Predicate, part_of
from agentforge.core.reply import Json
from agentforge.gates.rules.table import ARTIFACT_RULES, JUDGED, Subject, unanswered
from tests.rows import every

SPECIFICATION: dict[str, Any] = {
    "requirements": [
        {
            "id": "REQ-001",
            "description": "d",
            "acceptance_criteria": ["Empty text raises ValueError.", "Blank text is  empty"],
        },
        {"id": "REQ-002", "description": "d", "acceptance_criteria": ["One criterion"]},
        {
            "id": "REQ-003",
            "description": "d",
            "acceptance_criteria": ["Read it"],
            "verification_method": "inspection",
        },
        {"id": "REQ-004", "description": "d", "acceptance_criteria": ["Not now"], "priority": "wont"},
    ]
}


def judge(
    rule: Predicate,
    artifact: dict[str, Any],
    contract: str = "specification",
    *,
    inputs: Mapping[str, dict[str, Any]] | None = None,
    request: str = "",
    files: Mapping[str, str] | frozenset[str] = frozenset(),
    answered: tuple[str, ...] = (),
) -> list[str]:
    read = files.get if isinstance(files, Mapping) else lambda _: None
    return ARTIFACT_RULES[rule](
        Subject(
            artifact,
            part_of(contract),
            {part: value for name, value in (inputs or {}).items() if (part := part_of(name))},
            request,
            frozenset(files),
            read,
            answered,
            {"requirements": "specification", "request": "intake_record"},
        )
    )


def suite(*tests: dict[str, Any]) -> dict[str, Any]:
    return {"test_files": [{"path": "tests/test_a.py", "tests": list(tests)}]}


def judge_suite(rule: Predicate, *tests: dict[str, Any]) -> list[str]:
    return judge(rule, suite(*tests), "test_suite", inputs={"specification": SPECIFICATION})


def test_every_predicate_is_bound_somewhere() -> None:
    assert set(ARTIFACT_RULES) | set(CATALOG_RULES) | set(JUDGED) == set(PREDICATES)
    assert not set(ARTIFACT_RULES) & set(JUDGED)


def test_every_rule_takes_every_empty_artifact() -> None:
    for contract in Catalog.packaged().names("contracts"):
        for rule in ARTIFACT_RULES.values():
            assert all(isinstance(text, str) for text in rule(Subject({}, part_of(contract))))


def test_a_requirement_without_a_criterion_is_named() -> None:
    assert judge("every_requirement_has_criterion", SPECIFICATION) == []
    found = judge(
        "every_requirement_has_criterion", {"requirements": [{"id": "REQ-009", "acceptance_criteria": [" "]}]}
    )
    assert found == ["REQ-009 has no acceptance criterion; write at least one that a test can decide"]


def test_two_requirements_with_one_id_are_named() -> None:
    assert judge("requirement_ids_unique", SPECIFICATION) == []
    assert judge("requirement_ids_unique", {"requirements": [{"id": "REQ-001"}] * 2}) == [
        "REQ-001 is the id of 2 requirements; give each its own"
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x.py",
        "a/../../x",
        "C:\\x.py",
        "a\\b.py",
        "~/x",
        "",
        " ",
        ".",
        "a/.git/config",
        "a\0b",
    ],
)
def test_a_path_that_leaves_the_repository_is_refused(path: str) -> None:
    assert len(judge("paths_are_relative", {"files_to_modify": [path]})) == 1
    assert len(judge("paths_are_relative", suite() | {"test_files": [{"path": path}]}, "test_suite")) == 1


@pytest.mark.parametrize(
    "path", ["a.py", "src/a b/ü.py", "./a.py", ".github/x.yml", "a..b.py", "tests/test_a.py::test_b"]
)
def test_an_ordinary_path_is_fine(path: str) -> None:
    assert judge("paths_are_relative", {"affected_tests": [path]}, "analysis") == []


def test_cited_files_exist_and_new_ones_do_not() -> None:
    files = frozenset({"a.py", "tests/test_a.py"})
    assert (
        judge("files_exist", {"files_to_modify": ["./a.py"], "files_to_create": ["b.py"]}, files=files) == []
    )
    assert judge("files_exist", {"files_to_modify": ["b.py"], "files_to_create": ["a.py"]}, files=files) == [
        "files_to_modify[0]: b.py is not in the repository; a new file belongs under files_to_create",
        "files_to_create: a.py exists already; list it under files_to_modify",
    ]
    assert judge("files_exist", suite(), "test_suite", files=files) == []
    assert "create it before you submit" in judge("files_exist", suite(), "test_suite")[0]
    evidence = {"questions": [{"evidence": [{"file": "zz.py"}]}]}
    assert judge("files_exist", evidence, "clarification", files=files)[0].startswith(
        "questions[0].evidence[0].file: zz.py"
    )


def test_a_circle_of_dependencies_is_spelled_out() -> None:
    assert (
        judge("no_circular_dependencies", {"dependencies": ["requests", "B -> A", "C -> B", "C -> A"]}) == []
    )
    found = judge("no_circular_dependencies", {"dependencies": ["A -> B", "B → C", "C -> A"]})
    assert found == ["dependencies: A -> B -> C -> A is a circle; remove one of them"]
    assert judge("no_circular_dependencies", {"dependencies": {"tasks": []}}) == []


def test_tests_name_requirements_that_exist() -> None:
    rule: Predicate = "tests_name_known_requirements"
    assert judge_suite(rule, {"name": "t", "requirement_ref": "REQ-001"}, {"name": "g", "guard": True}) == []
    assert (
        "t names REQ-099, which the specification does not have"
        in judge_suite(rule, {"name": "t", "requirement_ref": "REQ-099"})[0]
    )
    assert "t has no requirement_ref" in judge_suite(rule, {"name": "t"})[0]
    old = {"supersedes": [{"id": "x::y", "reason": "r", "requirement_ref": "REQ-077"}]}
    assert (
        "supersedes x::y names REQ-077"
        in judge(rule, old, "test_suite", inputs={"specification": SPECIFICATION})[0]
    )


def test_only_requirements_that_a_test_should_decide_need_one() -> None:
    rule: Predicate = "every_requirement_has_test"
    assert (
        judge_suite(
            rule, {"name": "a", "requirement_ref": "REQ-001"}, {"name": "b", "requirement_ref": "REQ-002"}
        )
        == []
    )
    assert judge_suite(rule, {"name": "a", "requirement_ref": "REQ-001"}) == [
        "REQ-002 has no test; name it as a test's requirement_ref"
    ]


@pytest.mark.parametrize("second", ["blank TEXT is empty.", "REQ-001.2", "req-001.2", "2"])
def test_a_criterion_is_named_by_its_words_or_its_place(second: str) -> None:
    first = {
        "name": "a",
        "requirement_ref": "REQ-001",
        "acceptance_criterion": "empty text  raises ValueError",
    }
    assert (
        judge_suite(
            "every_criterion_has_test",
            first,
            {"name": "b", "requirement_ref": "REQ-001", "acceptance_criterion": second},
        )
        == []
    )


@pytest.mark.parametrize("criterion", [None, "REQ-001.1, REQ-001.2", "1,2"])
def test_one_test_may_prove_several_criteria_or_its_whole_requirement(criterion: str | None) -> None:
    named: dict[str, Json] = {} if criterion is None else {"acceptance_criterion": criterion}
    test: dict[str, Json] = {"name": "a", "requirement_ref": "REQ-001", **named}
    assert judge_suite("every_criterion_has_test", test) == []
    guard: dict[str, Json] = {**test, "guard": True}
    assert (judge_suite("every_criterion_has_test", guard) == []) is (criterion is not None)


def test_a_criterion_without_a_test_is_told_with_its_place() -> None:
    found = judge_suite(
        "every_criterion_has_test", {"name": "a", "requirement_ref": "REQ-001", "acceptance_criterion": "1"}
    )
    assert found == [
        (
            'REQ-001.2 has no test: "Blank text is  empty"; set acceptance_criterion to REQ-001.2 in the '
            "test that proves it"
        )
    ]


def test_a_place_of_another_requirement_does_not_count() -> None:
    tests = [
        {"name": "a", "requirement_ref": "REQ-001", "acceptance_criterion": text}
        for text in ("1", "REQ-002.2")
    ]
    assert len(judge_suite("every_criterion_has_test", *tests)) == 1


def test_a_single_criterion_needs_only_the_requirement() -> None:
    assert (
        judge_suite(
            "every_criterion_has_test",
            {"name": "b", "requirement_ref": "REQ-002", "acceptance_criterion": "in other words"},
        )
        == []
    )


def test_without_a_specification_a_suite_is_not_passed() -> None:
    rules: tuple[Predicate, ...] = (
        "tests_name_known_requirements",
        "every_requirement_has_test",
        "every_criterion_has_test",
    )
    for rule in rules:
        assert judge(rule, suite(), "test_suite") == [
            "there is no specification to compare with; submit it first"
        ]


INTAKE = {
    "identified_ambiguities": [
        {"area": "errors", "question": "Which error?", "impact": "blocking"},
        {"area": "b", "question": "?", "impact": "minor"},
    ]
}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"question": "which  ERROR?", "answer": "a", "confidence": 80}, ""),
        ({"area": "errors", "question": "other words", "answer": "a", "confidence": 95}, ""),
        ({"question": "Which error?", "answer": "a", "confidence": 10, "resolved_by": "user"}, ""),
        ({"question": "Which error?", "answer": "a", "confidence": 79}, "is answered below 80; escalate it"),
        (
            {"question": "Which error?", "answer": "a", "confidence": 10, "source": "human_escalation"},
            "is answered below 80; escalate it",
        ),
        ({"question": "Another?", "answer": "a", "confidence": 99}, "has no entry in questions"),
    ],
)
def test_a_blocking_ambiguity_needs_a_sure_answer_or_a_person(question: dict[str, Any], said: str) -> None:
    found = judge(
        "blocking_ambiguities_answered",
        {"questions": [question]},
        "clarification",
        inputs={"intake_record": INTAKE},
    )
    assert (said in found[0]) if said else found == []


def test_what_is_listed_as_blocking_blocks() -> None:
    found = judge(
        "blocking_ambiguities_answered",
        {"blocking": ["Who pays?"]},
        "clarification",
        inputs={"intake_record": {}},
    )
    assert found == [
        '"Who pays?" is still blocking; escalate it, or answer it from the repository under questions'
    ]


def test_the_request_is_kept_word_for_word() -> None:
    assert judge("original_request_verbatim", {}, "intake_record", request="Fix it.") == []
    assert (
        judge(
            "original_request_verbatim", {"original_request": "Fix it."}, "intake_record", request="Fix it."
        )
        == []
    )
    assert (
        len(
            judge(
                "original_request_verbatim",
                {"original_request": "Fix it"},
                "intake_record",
                request="Fix it.",
            )
        )
        == 1
    )


def test_the_verdict_of_a_review_follows_from_its_findings() -> None:
    finding = {"id": "REV-001", "blocking": True, "remediation": "Do."}
    rule: Predicate = "findings_block_or_approve"
    assert judge(rule, {"verdict": "approve", "findings": [finding | {"blocking": False}]}, "review") == []
    assert judge(rule, {"verdict": "block", "findings": [finding]}, "review") == []
    assert (
        "approve, but REV-001 is blocking"
        in judge(rule, {"verdict": "approve", "findings": [finding]}, "review")[0]
    )
    assert "block without a blocking finding" in judge(rule, {"verdict": "block"}, "review")[0]
    assert (
        "without a remediation"
        in judge(rule, {"verdict": "block", "findings": [finding | {"remediation": ""}]}, "review")[0]
    )
    assert (
        "several findings" in judge(rule, {"verdict": "block", "findings": [finding, finding]}, "review")[0]
    )


INTENT = {"action": "modify", "target": "parse", "scope": "module"}


@pytest.mark.parametrize(
    ("rule", "artifact", "said"),
    [
        ("intent_extracted", {"extracted_intent": INTENT}, ""),
        (
            "intent_extracted",
            {"extracted_intent": INTENT | {"target": " "}},
            "extracted_intent.target is empty; name what is acted upon",
        ),
        (
            "intent_extracted",
            {"extracted_intent": INTENT | {"action": ""}},
            "extracted_intent.action is empty",
        ),
        ("scope_defined", {"extracted_intent": INTENT, "out_of_scope": ["The printer"]}, ""),
        ("scope_defined", {"extracted_intent": {"action": "fix"}}, "extracted_intent.scope is empty"),
        (
            "scope_defined",
            {"extracted_intent": INTENT, "out_of_scope": [" "]},
            "out_of_scope has an empty entry",
        ),
        ("scope_defined", {"extracted_intent": INTENT, "out_of_scope": ["Parse."]}, "is also the target"),
        ("ambiguities_listed", {}, ""),
        (
            "ambiguities_listed",
            {
                "identified_ambiguities": [
                    {"area": "a", "question": "Why?"},
                    {"area": "a", "question": "How?"},
                ]
            },
            "",
        ),
        (
            "ambiguities_listed",
            {"identified_ambiguities": [{"area": " ", "question": "Why?"}]},
            "[0] has no area",
        ),
        (
            "ambiguities_listed",
            {"identified_ambiguities": [{"area": "a", "question": ""}]},
            "[0] has no question",
        ),
        (
            "ambiguities_listed",
            {"identified_ambiguities": [{"area": "a", "question": text} for text in ("Why?", "why? ")]},
            "asked 2 times",
        ),
    ],
)
def test_an_intake_says_what_is_done_to_what_and_asks_each_question_once(
    rule: Predicate, artifact: dict[str, Any], said: str
) -> None:
    found = judge(rule, artifact, "intake_record")
    assert (said in found[0]) if said else found == []


MINOR = {"identified_ambiguities": [{"area": "units", "question": "Which units?", "impact": "minor"}]}


@pytest.mark.parametrize(
    ("clarification", "fine"),
    [
        ({"questions": [{"question": "which  units?"}]}, True),
        ({"questions": [{"question": "In other words", "area": "Units"}]}, True),
        ({"questions": [], "assumptions": ["Which units? Metric ones."]}, True),
        ({"questions": [], "blocking": ["Which units?"]}, True),
        ({"questions": [{"question": "Something else?"}]}, False),
        ({"questions": []}, False),
    ],
)
def test_every_ambiguity_is_addressed(clarification: dict[str, Any], fine: bool) -> None:
    found = judge("all_questions_addressed", clarification, "clarification", inputs={"intake_record": MINOR})
    assert (
        found == [] if fine else found[0].startswith('the ambiguity "Which units?" has no entry in questions')
    )
    assert judge("all_questions_addressed", clarification, "clarification") == [
        "there is no intake_record to compare with; submit it first"
    ]


def test_every_answer_has_a_confidence() -> None:
    rule: Predicate = "confidence_scores_provided"
    assert (
        judge(
            rule,
            {"questions": [{"question": "q", "confidence": 0}, {"question": "r", "confidence": 100}]},
            "clarification",
        )
        == []
    )
    for wrong in (None, "high", 101, -1):
        assert (
            "has no confidence"
            in judge(rule, {"questions": [{"question": "q", "confidence": wrong}]}, "clarification")[0]
        )


FILES = {"src/a.py": "def parse(text):\n    return int(\n        text)\n", "b.md": ""}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"confidence": 90, "evidence": [{"file": "src/a.py", "snippet": "return int( text)"}]}, ""),
        (
            {
                "confidence": 90,
                "evidence": [{"file": "./src/a.py", "snippet": "def parse(text):\n  ...\n text)"}],
            },
            "",
        ),
        (
            {
                "confidence": 90,
                "evidence": [{"file": "src/a.py", "snippet": "1: def parse(text):\n2:     return int("}],
            },
            "",
        ),
        ({"confidence": 90, "evidence": [{"file": "src/a.py"}]}, ""),
        ({"confidence": 90, "evidence": [{"file": "request", "snippet": "metric  units"}]}, ""),
        ({"confidence": 79}, ""),
        ({"confidence": 90, "source": "human_escalation"}, ""),
        (
            {"confidence": 10, "evidence": [{"file": "src/a.py", "snippet": "return float(text)"}]},
            "is not in src/a.py",
        ),
        (
            {"confidence": 90, "evidence": [{"file": "request", "snippet": "imperial"}]},
            "is not in request",
        ),
        ({"confidence": 80}, "is answered with 80 percent and no evidence; cite a file and a snippet"),
        ({"confidence": 99, "source": "agent_inference", "evidence": []}, "no evidence"),
    ],
)
def test_a_sure_answer_quotes_what_is_there(question: dict[str, Any], said: str) -> None:
    artifact = {"questions": [{"question": "q", **question}]}
    found = judge(
        "evidence_is_in_the_files", artifact, "clarification", request="Use metric units.", files=FILES
    )
    assert (said in found[0] and len(found) == 1) if said else found == []


def test_what_cannot_be_read_is_only_looked_for() -> None:
    artifact = {
        "questions": [
            {
                "question": "q",
                "confidence": 90,
                "evidence": [{"file": "src/a.py", "snippet": "nothing of it"}],
            }
        ]
    }
    assert judge("evidence_is_in_the_files", artifact, "clarification", files=frozenset(FILES)) == []
    assert judge("files_exist", artifact, "clarification", files=frozenset(FILES)) == []
    request = {"questions": [{"evidence": [{"file": "request"}]}]}
    assert judge("files_exist", request, "clarification") == []
    assert judge("files_exist", request, "analysis") != []


def test_what_only_a_person_can_answer_is_told_apart() -> None:
    low: dict[str, Any] = {
        "questions": [{"area": "errors", "question": "Which one?", "answer": "a", "confidence": 50}],
        "blocking": ["Who pays?"],
    }

    def asked(artifact: dict[str, Any], *answered: str) -> list[str]:
        return unanswered(Subject(artifact, "questions", {"request": INTAKE}, answered=answered))

    assert asked(low) == ["Who pays?", "Which error?"]
    assert asked(low, "Who pays?") == ["Which error?"]
    assert asked(low, "Two questions:\n- who pays?\n- Which error?") == []
    assert asked({"questions": [{**low["questions"][0], "confidence": 80}]}) == []
    assert asked({"questions": [{**low["questions"][0], "resolved_by": "ann"}]}) == []
    assert asked({"questions": []}) == []  # forgotten, not too hard: the role is told
    assert asked({"blocking": ["Which error?", "which error?"]}) == ["Which error?"]


def test_what_a_person_answered_blocks_no_more() -> None:
    low = {
        "questions": [{"question": "Which error?", "answer": "a", "confidence": 50}],
        "blocking": ["Who pays?"],
    }
    rule: Predicate = "blocking_ambiguities_answered"
    assert len(judge(rule, low, "clarification", inputs={"intake_record": INTAKE})) == 2
    assert (
        judge(
            rule,
            low,
            "clarification",
            inputs={"intake_record": INTAKE},
            answered=("Which error?", "Who pays?"),
        )
        == []
    )


def test_a_specification_says_how_it_answers_the_request() -> None:
    rule: Predicate = "requirements_addressed"
    assert judge(rule, SPECIFICATION) == []
    blank = {"requirements": [{"id": "REQ-001", "description": " "}]}
    assert "REQ-001 says nothing" in judge(rule, blank)[0]
    assert judge(rule, blank | {"trace_to_request": "All of it."}) == []


def test_interfaces_and_constraints_that_are_named_are_described() -> None:
    whole = {"name": "load", "type": "api", "direction": "input"}
    assert judge("interfaces_defined", {"interfaces": [whole]}) == []
    assert judge("interfaces_defined", {}) == []
    assert judge("interfaces_defined", {"interfaces": [{"name": "load"}]}) == [
        "the interface load has no type; one of api, event, file, database",
        "the interface load has no direction; one of input, output, bidirectional",
    ]
    assert (
        judge(
            "constraints_documented",
            {"constraints": [{"description": "Fast."}, {"rationale": "Slow disks."}]},
        )
        == []
    )
    assert judge("constraints_documented", {"constraints": [{"id": "C-1", "description": " "}]})[
        0
    ].startswith("constraint C-1 says nothing")


SECURITY = {"id": "SEC-001", "severity": "high", "description": "d", "remediation": "Do."}


@pytest.mark.parametrize(
    ("review", "said"),
    [
        ({"verdict": "approve", "advisory_issues": [SECURITY]}, ""),
        (
            {
                "verdict": "block",
                "blocking_issues": [SECURITY],
                "advisory_issues": [SECURITY | {"id": "SEC-002"}],
            },
            "",
        ),
        ({"verdict": "approve", "blocking_issues": [SECURITY]}, "approve, but SEC-001 is blocking"),
        ({"verdict": "block", "advisory_issues": [SECURITY]}, "block without a blocking issue"),
        (
            {"verdict": "block", "blocking_issues": [SECURITY | {"remediation": " "}]},
            "SEC-001 blocks without a remediation",
        ),
        (
            {"verdict": "block", "blocking_issues": [SECURITY], "advisory_issues": [SECURITY]},
            "SEC-001 is the id of several issues",
        ),
    ],
)
def test_an_issue_of_security_blocks_or_advises(review: dict[str, Any], said: str) -> None:
    found = judge("issues_categorized", review, "security_review")
    assert (said in found[0]) if said else found == []


def test_a_review_ends_in_a_verdict_and_in_words() -> None:
    assert (
        judge("review_complete", {"verdict": "block", "summary": "Looked at input."}, "security_review") == []
    )
    assert judge("review_complete", {"summary": "…"}, "security_review") == [
        "there is no verdict; approve or block",
        "the summary is empty; say what was looked at and what was found",
    ]


def test_words_of_a_delivery_are_words_or_left_out() -> None:
    assert judge("documentation_complete", {}, "delivery_report") == []
    assert (
        judge(
            "documentation_complete",
            {"summary": "It reads.", "release_notes": "Nothing to do."},
            "delivery_report",
        )
        == []
    )
    assert (
        "release_notes says nothing"
        in judge("documentation_complete", {"release_notes": "-"}, "delivery_report")[0]
    )
    assert judge("changelog_generated", {"changelog_entry": "- Reads fractions"}, "delivery_report") == []
    assert len(judge("changelog_generated", {"changelog_entry": " - "}, "delivery_report")) == 1


@every(
    ("request_", "asked", "fine"),
    [
        ("Make it better", False, False),
        ("Make it better", True, True),
        ("Improve everything", False, False),
        ("Improve the till", False, True),
        ("Improve Counter", False, True),
        ("It must be quick", False, True),
    ],
)
def test_a_request_that_names_no_place_and_no_result_carries_a_question(
    request_: str,
    asked: bool,
    fine: bool,
) -> None:
    questions = [{"area": "all", "question": "What should be better?", "impact": "blocking"}]
    subject = Subject(
        {"identified_ambiguities": questions if asked else []},
        "request",
        request=request_,
        files=frozenset({"shop/till.py"}),
        read=lambda _: "class Counter:\n    pass\n",
    )
    assert (ARTIFACT_RULES["vague_request_questioned"](subject) == []) is fine
