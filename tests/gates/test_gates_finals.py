"""Claims about what the engine writes into finals, and what it takes from a role."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.contracts import problems
from agentforge.catalog.load import Catalog
from agentforge.core.pipeline import Part
from agentforge.gates.change.documents import objects
from agentforge.gates.finals import Facts, computed, delivery_report, filled, not_run_lines
from tests.gates.bench_of_judges import make_site

GREEN: dict[str, Any] = {
    "tree": "t",
    "all_tests_pass": True,
    "no_regressions": True,
    "conformance_passing": True,
    "test_lock_held": True,
    "flaky": ["tests/a.py::b"],
    "not_configured": ["types"],
    "passed": 4,
    "baseline_failing": 1,
}
SPEC: dict[str, Any] = {"title": "Read fractions", "description": "Fractions are read."}


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    site = make_site(tmp_path, {"a.py": "a = 1\n"})
    tree = site.tree({"a.py": "a = 1\nb = 2\n", "b.py": "c = 3\n"})
    return Facts(
        "task-1",
        "Read  fractions",
        "2026-01-02T03:04:05Z",
        site.git,
        site.base,
        tree,
        "bubblewrap",
        {"green": GREEN},
    )


def valid(contract: str, document: dict[str, Any]) -> list[str]:
    return problems(Catalog.packaged().contract(contract), document, final=True)


def question(text: str, confidence: int, **more: object) -> dict[str, Any]:
    return {"question": text, "answer": "Yes", "confidence": confidence, **more}


def test_what_is_not_sure_is_an_assumption_on_record(facts: Facts) -> None:
    evidence = [{"file": "a.py", "snippet": "a = 1"}]
    draft: dict[str, Any] = {
        "questions": [question("Sure?", 80, evidence=evidence), question("Unsure?", 60)],
        "assumptions": ["It rains."],
    }
    final = filled("questions", draft, facts)
    assert final["assumptions"] == ["It rains.", "Unsure?: Yes (confidence 0.6)"]
    assert final["questions"] == draft["questions"]
    assert filled("questions", final, facts) == final
    assert filled("questions", {}, facts) == {"questions": []}
    assert valid("clarification", final) == []


def test_a_persons_answer_stands_under_their_name(facts: Facts) -> None:
    asked = replace(
        facts,
        answers=(
            (
                "Two things:\n- Which error?\n- Who pays?",
                "ValueError, and Ann",
                "ann",
                "2026-01-02T03:04:06Z",
            ),
        ),
    )
    final = filled(
        "questions",
        {"questions": [question("Which error?", 20)], "blocking": ["Who pays?", "Why?"]},
        asked,
    )
    person = {
        "answer": "ValueError, and Ann",
        "source": "human_escalation",
        "confidence": 100,
        "resolved_by": "ann",
        "resolved_at": "2026-01-02T03:04:06Z",
    }
    assert final["questions"] == [{"question": "Which error?", **person}, {"question": "Who pays?", **person}]
    assert final["blocking"] == ["Why?"]
    assert "assumptions" not in final
    assert valid("clarification", final) == []


def test_an_analysis_gets_what_was_computed(facts: Facts) -> None:
    final = filled(
        "analysis",
        {"affected_tests": ["tests/a.py"]},
        replace(facts, affected_tests=("tests/b.py",), facts=("a.py is imported by b.py",)),
    )
    assert (final["affected_tests"], final["facts"]) == (
        ["tests/a.py", "tests/b.py"],
        ["a.py is imported by b.py"],
    )
    assert valid("analysis", final) == []


def test_reviews_get_their_id_and_the_dissent(facts: Facts) -> None:
    security = filled("security", {"verdict": "approve", "summary": "Safe."}, facts)
    assert security["review_id"] == "SECURITY-task-1"
    assert valid("security_review", security) == []
    final = filled(
        "review", {"verdict": "approve", "summary": "Good."}, replace(facts, dissent=("reviewer blocked",))
    )
    assert (final["review_id"], final["dissent"]) == ("REVIEW-task-1", ["reviewer blocked"])
    assert valid("review", final) == []


def test_what_nobody_was_asked_for_is_derived(facts: Facts) -> None:
    intake = computed("request", replace(facts, request="word " * 40))
    assert intake is not None
    assert intake["derived"] is True
    assert intake["extracted_intent"] == {
        "action": "analyze",
        "target": ("word " * 40)[:80],
        "scope": "system",
    }
    assert valid("intake_record", filled("request", intake, facts)) == []
    clarification = computed("questions", facts)
    assert clarification is not None
    assert valid("clarification", filled("questions", clarification, facts)) == []
    assert computed("requirements", facts) is None


def test_an_implementation_has_the_numbers_of_the_gates_that_judged_this_tree(facts: Facts) -> None:
    quality: dict[str, Any] = {
        "tree": facts.tree,
        "complexity_acceptable": True,
        "no_code_smells": True,
        "complexity": 3,
        "duplicates": 0,
        "coverage": None,
    }
    records: dict[str, Any] = {
        "green": GREEN | {"reused": True, "type_check_pass": True},
        "quality": quality | {"not_configured": ["coverage"]},
    }
    final = filled("change", {"summary": "Done."}, replace(facts, records=records))
    verification = final["verification"]
    assert isinstance(verification, dict)
    assert (
        verification
        | {"reused": True, "complexity": 3, "coverage": None, "not_configured": ["types", "coverage"]}
        == verification
    )
    assert valid("implementation", final) == []
    other = filled(
        "change", {}, replace(facts, records={**records, "quality": {**quality, "tree": "another"}})
    )["verification"]
    assert isinstance(other, dict)
    assert "complexity" not in other


def test_who_improves_a_change_adds_to_what_was_said_of_it(facts: Facts) -> None:
    made: dict[str, Any] = {
        "summary": "Adds it.",
        "files_modified": [{"path": "shop.py", "changes_summary": "the sum"}],
    }
    known = replace(facts, records={"green": GREEN}, earlier=made)
    final = filled("change", {"summary": "One name less."}, known)
    assert (final["summary"], final["improvements"]) == ("Adds it.", "One name less.")
    assert valid("implementation", final) == []
    again = filled("change", final, known)
    assert (again["summary"], again["improvements"]) == ("Adds it.", "One name less.")
    assert "improvements" not in filled("change", made, known), "nobody improved anything"


def test_a_report_takes_words_from_a_role_and_nothing_else(facts: Facts) -> None:
    words: dict[str, Any] = {
        "changelog_entry": "- Fractions!",
        "summary": " ",
        "files": [],
        "readiness": {"ready": False},
    }
    told = replace(
        facts,
        remarks=("review note on spec: SEC-001", "undone: refactor: slower"),
        dissent=("refactor: reviewer blocked",),
        reviews=({"stage": "spec", "role": "security_architect", "verdict": "approve", "summary": "Safe."},),
        records={"green": GREEN, "review": {"verdicts": {}}, "quality": {"not_configured": ["coverage"]}},
    )
    finals: dict[Part, Any] = {
        "requirements": SPEC,
        "questions": {"assumptions": ["Metric."]},
        "review": {"findings": [{"description": "not twice"}]},
    }
    report = delivery_report(told, finals, words, branch="agentforge/x", base_commit="0" * 40, commits=[])
    assert (report["changelog_entry"], report["summary"], report["release_notes"]) == (
        "- Fractions!",
        "Fractions are read.",
        "Fractions are read.",
    )
    assert [item["path"] for item in objects(report, "files")] == ["a.py", "b.py"]
    readiness = report["readiness"]
    assert isinstance(readiness, dict)
    assert readiness["open_points"] == [
        "assumed: Metric.",
        "flaky, not counted: tests/a.py::b",
        "types: not run: not configured",
        "coverage: not run: not configured",
        "review note on spec: SEC-001",
        "undone: refactor: slower",
    ]
    assert report["dissent"] == ["refactor: reviewer blocked"]
    assert valid("delivery_report", report) == []


def test_a_report_without_a_specification_or_a_role_speaks_of_the_request(facts: Facts) -> None:
    report = delivery_report(facts, {}, {}, branch="b", base_commit="0" * 40, commits=[])
    assert (report["title"], report["changelog_entry"]) == ("Read fractions", "- Read fractions")
    assert valid("delivery_report", report) == []


def test_conformance_that_did_not_run_is_neither_true_nor_false(facts: Facts) -> None:
    def said(found: bool | None, why: dict[str, str]) -> object:
        green = {**GREEN, "conformance_passing": found, "not_run": why, "not_configured": [*why]}
        final = filled("change", {"summary": "s"}, replace(facts, records={"green": green}))
        assert valid("implementation", final) == []
        verification = final["verification"]
        assert isinstance(verification, dict)
        return verification["conformance_passing"]

    assert said(True, {}) is True
    assert said(None, {"lint": "not run: not configured"}) is None, "nothing ran, so nothing passed"
    assert said(None, {"lint": "not run: left out by a person's answer"}) is None
    assert said(None, {"lint by black": "not run: left out by a person's answer"}) is None


def test_what_of_the_suite_was_not_run_is_an_open_point(facts: Facts) -> None:
    green = {**GREEN, "not_checked": {"tests/slow": "not run: the project's own command leaves it out"}}
    lines = not_run_lines({"green": green})
    assert lines[-1] == "tests/slow: not run: the project's own command leaves it out"
    assert not_run_lines({"green": {}}) == [], "records of older tasks say nothing of it"
