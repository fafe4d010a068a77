"""A guard alone, or an inspection, proves no requirement: each is named, and the reviewer rules on what no test looks at."""

from agentforge.core.reply import Json
from agentforge.gates.new_tests.unproved import KEY, only_guarded, unproved, unproved_flags, unproved_lines

SPECIFICATION: dict[str, Json] = {
    "requirements": [
        {"id": "REQ-001", "description": "net takes the discount off"},
        {"id": "REQ-002", "description": "the label stays"},
        {"id": "REQ-003", "description": "the page reads well", "verification_method": "inspection"},
        {"id": "REQ-004", "description": "later", "verification_method": "inspection", "priority": "wont"},
    ]
}


def test_a_requirement_with_guards_alone_or_verified_by_inspection_is_named() -> None:
    proof: dict[str, Json] = {
        "a": {"requirement": "REQ-001", "guard": False},
        "b": {"requirement": "REQ-001", "guard": True},
        "c": {"requirement": "REQ-002", "guard": True},
    }
    found = unproved(SPECIFICATION, proof)
    assert found == {
        "REQ-002": "only guarded: its tests passed before the change, too",
        "REQ-003": "verified by inspection",
    }
    flags = unproved_flags(SPECIFICATION, found)
    assert [(flag.about, flag.ruling) for flag in flags] == [("REQ-002", False), ("REQ-003", True)]
    assert flags[1].text == "not proved by a test, verified by inspection: the page reads well"
    assert unproved_lines({KEY: {**found}})[1] == "REQ-003 (verified by inspection)"


def test_a_guard_alone_is_refused_unless_the_suite_says_on_record_that_the_requirement_holds_already() -> (
    None
):
    found = unproved(SPECIFICATION, {"c": {"requirement": "REQ-002", "guard": True}})
    [said] = only_guarded(SPECIFICATION, {}, found)
    assert said.startswith("REQ-002 (the label stays) has guards alone, and a guard proves no requirement")
    amends: dict[str, Json] = {
        "amends": [{"requirement_ref": "REQ-002", "criterion": "x", "now": "y", "reason": "z"}]
    }
    assert only_guarded(SPECIFICATION, amends, found) == []


def test_records_of_older_tasks_name_none() -> None:
    assert unproved_lines({}) == []
