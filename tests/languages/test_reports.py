"""Reports of runners are read as data, and what somebody else wrote into them is not believed."""

import json

import pytest

from agentforge.languages.reports.ends import PANIC, Canaries, End, Program, believed, numbered
from agentforge.languages.reports.go_events import broken_files, read_go
from agentforge.languages.reports.junit_xml import UnreadableReport, read_junit
from agentforge.languages.reports.libtest import read_libtest, read_list
from agentforge.languages.reports.tap import read_tap

OWN = Canaries("a::passes", "a::fails")
VOUCHED = (End("a::passes", "passed"), End("a::fails", "failed"))


def _program(
    *ends: End, began: tuple[str, ...] = (), expected: tuple[str, ...] = ("a::x", "a::y")
) -> Program:
    return Program("a", expected, ends, began, OWN)


# ------------------------------------------------------------------ what is believed


def test_a_program_whose_last_test_failed_as_it_must_is_believed() -> None:
    found = believed(_program(*VOUCHED, End("a::x", "passed"), End("a::y", "failed", "no")))
    assert {key: result.outcome for key, result in found.results.items()} == {
        "a::x": "passed",
        "a::y": "failed",
    }
    assert (found.again, found.doubt) == ((), "")


def test_a_program_in_which_our_own_tests_did_not_run_has_no_outcome() -> None:
    found = believed(_program(End("a::x", "passed"), End("a::y", "passed")))
    assert {result.outcome for result in found.results.values()} == {"error"}
    assert "our own tests did not run" in found.doubt


def test_two_ends_of_one_test_are_a_forgery() -> None:
    found = believed(_program(*VOUCHED, End("a::x", "passed"), End("a::x", "failed"), End("a::y", "passed")))
    assert {result.outcome for result in found.results.values()} == {"error"}
    assert "ended 2 times" in found.doubt


def test_a_test_that_is_reported_as_passed_although_it_fails_discredits_all() -> None:
    found = believed(_program(End("a::passes", "passed"), End("a::fails", "passed"), End("a::x", "passed")))
    assert "a test of ours that fails" in found.doubt
    assert found.results["a::x"].outcome == "error"


def test_who_stops_the_program_has_failed_and_the_others_run_again() -> None:
    found = believed(
        _program(VOUCHED[0], End("a::x", "passed"), began=("a::x", "a::y"), expected=("a::x", "a::y", "a::z"))
    )
    assert found.results["a::y"].outcome == "failed"
    assert found.again == ("a::x", "a::z"), (
        "what ended before is not believed: the program did not come to its end"
    )


def test_a_program_that_nobody_stopped_and_that_did_not_come_to_its_end_is_not_believed() -> None:
    found = believed(
        _program(VOUCHED[0], End("a::x", "passed"), End("a::y", "passed"), began=("a::x", "a::y"))
    )
    assert {result.outcome for result in found.results.values()} == {"error"}


def test_a_panic_is_the_end_of_its_program_and_of_nobody_else() -> None:
    found = believed(_program(VOUCHED[0], End("a::x", "failed", "nil", PANIC), began=("a::x",)))
    assert found.results["a::x"].exception == "panic"
    assert found.again == ("a::y",)


def test_what_could_not_be_built_has_the_words_of_the_compiler() -> None:
    found = believed(Program("a", ("a::x",), unbuilt="a.go:3: undefined: Nope"))
    assert (found.results["a::x"].phase, found.results["a::x"].message) == (
        "collect",
        "a.go:3: undefined: Nope",
    )


def test_two_tests_of_one_name_are_numbered() -> None:
    assert [end.id for end in numbered([End("x", "passed"), End("x", "failed")])] == ["x", "x[2]"]


# ------------------------------------------------------------------ Go


def _events(*rows: tuple[str, str | None, str]) -> str:
    return "\n".join(
        json.dumps({"Action": action, "Package": "m/p", **({"Test": test} if test else {}), "Output": said})
        for action, test, said in rows
    )


def test_a_go_test_with_cases_ends_by_them() -> None:
    text = _events(
        ("run", "TestA", ""),
        ("run", "TestA/x y", ""),
        ("output", "TestA/x y", "    a_test.go:7: got 3\n"),
        ("fail", "TestA/x y", ""),
        ("pass", "TestA/z", ""),
        ("fail", "TestA", ""),
        ("skip", "TestB", ""),
        ("fail", None, ""),
    )
    ends, began = read_go(text)
    assert [(end.id, end.outcome, end.message.strip(), end.line) for end in ends] == [
        ("m/p::TestA[x y]", "failed", "got 3", 7),
        ("m/p::TestA[z]", "passed", "", 0),
        ("m/p::TestB", "skipped", "", 0),
    ]
    assert began == ["m/p::TestA", "m/p::TestA[x y]"]


def test_a_go_test_that_fails_beside_its_cases_has_an_end_of_its_own() -> None:
    ends, _ = read_go(_events(("pass", "TestA/x", ""), ("fail", "TestA", "")))
    assert [(end.id, end.outcome) for end in ends] == [("m/p::TestA[x]", "passed"), ("m/p::TestA", "failed")]


def test_what_go_could_not_build_is_told_by_file() -> None:
    event = json.dumps(
        {"Action": "build-output", "ImportPath": "m/p", "Output": "p/new_test.go:3:33: undefined: Nope\n"}
    )
    assert broken_files(event) == {"p/new_test.go": "p/new_test.go:3: undefined: Nope"}
    assert broken_files("# m/p\n./new_test.go:3:33: undefined: Nope\n") == {
        "new_test.go": "new_test.go:3: undefined: Nope"
    }


# ------------------------------------------------------------------ Rust


def test_rusts_test_programs_tell_who_began_and_how_it_ended() -> None:
    said = "\\nthread 'a' panicked at src/lib.rs:9:16:\\nassertion `left == right` failed\\n  left: 3\\n right: 4\\nnote: run with"
    text = "\n".join(
        (
            '{ "type": "suite", "event": "started", "test_count": 2 }',
            '{ "type": "test", "event": "started", "name": "tests::a" }',
            f'{{ "type": "test", "name": "tests::a", "event": "failed", "stdout": "{said}" }}',
            "printed by a test",
            '{ "type": "test", "name": "tests::b", "event": "ignored" }',
        )
    )
    ends, began = read_libtest(text)
    assert [(end.id, end.outcome, end.file, end.line) for end in ends] == [
        ("tests::a", "failed", "src/lib.rs", 9),
        ("tests::b", "skipped", "", 0),
    ]
    assert "left: 3" in ends[0].message
    assert "note" not in ends[0].message
    assert began == ["tests::a"]
    assert read_list("tests::a: test\nbench_b: benchmark\n") == ["tests::a"]


# ------------------------------------------------------------------ JUnit's XML


def test_junits_xml_tells_failures_errors_and_what_was_skipped() -> None:
    cases = read_junit(
        b"""<testsuites><testsuite name="s"><testcase classname="a.B" name="x"/>
        <testcase classname="a.B" name="y"><failure type="org.AssertionError">text &lt;b&gt;</failure></testcase>
        <testcase classname="a.B" name="z"><error message="boom" type="E"/><skipped/></testcase>
        <testcase classname="a.B" name="s"><skipped message="later"/></testcase></testsuite></testsuites>"""
    )
    assert [(case.name, case.outcome, case.exception, case.message) for case in cases] == [
        ("x", "passed", "", ""),
        ("y", "failed", "AssertionError", "text <b>"),
        ("z", "failed", "E", "boom"),
        ("s", "skipped", "", "later"),
    ]


@pytest.mark.parametrize(
    "report",
    [
        b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>',
        b'<!DOCTYPE t SYSTEM "file:///etc/passwd"><testsuite/>',
        b"<testsuite><testcase name='x'>",
        b"<testsuite><testcase name='\x01'/></testsuite>",
        b"<html/>",
        b"",
    ],
)
def test_a_report_with_a_document_type_or_without_an_end_is_none(report: bytes) -> None:
    with pytest.raises(UnreadableReport):
        read_junit(report)


# ------------------------------------------------------------------ TAP


def test_tap_is_read_line_by_line() -> None:
    tap = read_tap(
        "TAP version 13\n1..5\nok 1 - adds\nnot ok 2 - subtracts\n# got 3\n    ok 1 - inner\nok 3 # SKIP no disk\n"
        "not ok 4 - later # TODO not yet\nok 5 done\n"
    )
    assert [(line.name, line.outcome, line.message) for line in tap.lines] == [
        ("adds", "passed", ""),
        ("subtracts", "failed", "got 3"),
        ("test 3", "skipped", "no disk"),
        ("later", "xfailed", "not yet"),
        ("done", "passed", ""),
    ]
    assert not tap.trouble


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ok 1 - a\n", "no plan"),
        ("1..2\nok 1 - a\n", "planned 2"),
        ("1..1\nok 1 - a\nok 1 - a\n", "planned 1"),
        ("1..1\nok 1 - a\n1..1\n", "more than one plan"),
        ("1..2\nok 1 - a\nBail out! no disk\n", "bailed out: no disk"),
        ("", "no plan"),
    ],
)
def test_tap_that_does_not_keep_its_plan_counts_for_nothing(text: str, why: str) -> None:
    assert why in read_tap(text).trouble
