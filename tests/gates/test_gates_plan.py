"""The plan of runs is read from the records: how many of each kind, and why one was left out."""

from agentforge.core.reply import Json
from agentforge.gates.runs.plan import runs_of

NEW = ["tests/test_net.py::test_new"]


def ran(tree: str, *ids: str) -> dict[str, Json]:
    return {"tree": tree, "ids": [*ids], "status": "ran"}


def counted(red: dict[str, Json], green: dict[str, Json]) -> dict[str, int | str]:
    return {row.name: row.why or row.made for row in runs_of(red, green)}


def test_each_run_is_counted_as_what_it_was_and_what_was_left_out_says_why() -> None:
    red: dict[str, Json] = {
        "tests": dict.fromkeys(NEW),
        "runs": [ran("red"), ran("red", *NEW), ran("red", *NEW)],
    }
    green: dict[str, Json] = {
        "tree": "change",
        "old_tests_tree": "old",
        "runs": [
            ran("change"),
            ran("old"),
            ran("change", *NEW),
            ran("base", "old::test"),
            ran("change", "old::test"),
        ],
        "counterproof": {"outcomes": {NEW[0]: "failed"}},
        "emptied": {"asked": [], "runs": 0, "why": "only old functions changed"},
        "other_numbers": {"runs": 2},
        "elsewhere": {"calls": 3, "loaded": True},
    }
    assert counted(red, green) == {
        "base with new tests": 1,
        "new tests on the base": 2,
        "change": 1,
        "base's own tests on the change": 1,
        "new tests on the change": 1,
        "counterproof": 1,
        "change emptied": "only old functions changed",
        "numbers of the change a little other": 2,
        "calls made again without tests": 1,
        "changed files loaded alone": 1,
        "tests in dispute": 2,
    }


def test_where_no_test_is_new_that_is_the_reason() -> None:
    green: dict[str, Json] = {"tree": "change", "old_tests_tree": "change", "runs": [ran("change")]}
    found = counted({}, green)
    assert found["change"] == 1
    assert found["base's own tests on the change"] == "no file that tests load differs"
    assert {found["counterproof"], found["change emptied"], found["new tests on the base"]} == {
        "no test is new"
    }
    assert found["changed files loaded alone"] == "no changed file could be loaded alone"
    assert runs_of({}, {}) == [], "where no verdict was given, nothing is said"
