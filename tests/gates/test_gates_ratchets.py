"""Claims about what counts as worse than before."""

from agentforge.catalog.exits import exit_numbers
from agentforge.gates.ratchets import grown, worse, worse_complexity
from agentforge.languages.values import CheckRun


def test_only_what_is_over_the_limit_and_worse_is_named() -> None:
    assert worse_complexity({"f": 12}, {"f": 12}) == []
    assert worse_complexity({"f": 12}, {"f": 11}) == []
    assert worse_complexity({"f": 3}, {"f": 10}) == []
    assert worse_complexity({"f": 3}, {"f": 11}) == [
        "f has complexity 11, it was 3; 10 is the limit: take parts out of it"
    ]
    assert worse_complexity({}, {"f": 11, "g": 12}) == [
        "g has complexity 12, it is new; 10 is the limit: take parts out of it",
        "f has complexity 11, it is new; 10 is the limit: take parts out of it",
    ]
    assert len(worse_complexity({}, {"f": 3}, limit=2)) == 1


def test_what_was_too_complex_before_may_grow_by_a_guard_unless_the_project_sets_a_limit() -> None:
    assert worse_complexity({"f": 28}, {"f": 30}) == []
    assert len(worse_complexity({"f": 28}, {"f": 31})) == 1
    assert len(worse_complexity({"f": 10}, {"f": 11})) == 1
    assert len(worse_complexity({"f": 28}, {"f": 29}, limit=10)) == 1


def test_a_function_that_moved_or_was_renamed_is_not_new() -> None:
    assert worse_complexity({"a: f": 14}, {"b: g": 14}) == []
    assert worse_complexity({"a: f": 14}, {"b: g": 13}) == []
    assert len(worse_complexity({"a: f": 14}, {"b: g": 15})) == 1
    assert len(worse_complexity({"a: f": 14}, {"b: g": 14, "b: h": 14})) == 1
    assert len(worse_complexity({"a: f": 14}, {"a: f": 14, "b: h": 14})) == 1


def test_more_findings_of_a_kind_in_a_file_are_worse_wherever_their_lines_went() -> None:
    before = CheckRun.of([("a.py", "E1", "3: old"), ("b.py", "E1", "4: old")])
    assert worse(before, CheckRun.of([("a.py", "E1", "30: old")])) == []
    after = CheckRun.of([("a.py", "E1", "3: old"), ("a.py", "E1", "9: new"), ("c.py", "E2", "1: other")])
    assert worse(before, after) == [
        "a.py:3: old (E1, 2 now, 1 before)",
        "c.py:1: other (E2, 1 now, 0 before)",
    ]


def test_a_function_that_stays_easy_or_only_moved_has_not_grown() -> None:
    assert grown({"f": 1}, {"f": exit_numbers().easy_complexity}) == {}
    assert grown(
        {"f": 1, "g": exit_numbers().easy_complexity},
        {"f": exit_numbers().easy_complexity + 1, "g": exit_numbers().easy_complexity + 2},
    ) == {"g": exit_numbers().easy_complexity + 2, "f": exit_numbers().easy_complexity + 1}
    assert grown({}, {"new": exit_numbers().easy_complexity + 1}) == {
        "new": exit_numbers().easy_complexity + 1
    }
    assert grown({"old": 7}, {"new": 7}) == {}
