"""Locked tests that turn out to be wrong: opened, proved and locked again, from wherever that is seen."""

import json
from typing import Any

import pytest

from tests.whole.plays import (
    BUILT,
    FIX,
    NEW_TEST,
    OLD_TEST,
    SUITE,
    TEST,
    WHOLE,
    Entry,
    Play,
    asked,
    create,
    edit,
    finished,
    frame,
    read,
    red,
    review,
    say,
)

pytestmark = pytest.mark.slow

WRONG_TEST = TEST.replace("== 90", "== 80")
ID = f"{NEW_TEST}::test_ten_percent_off"
MEND = edit(NEW_TEST, "== 80", "== 90")
REASON = "ten percent off 100 is 90, not 80"
REOPEN = {"name": "reopen_tests", "args": {"reason": REASON, "tests": [ID]}}


def blocks(finding: dict[str, Any], *, expects: tuple[str, ...] = ()) -> Entry:
    found = {"id": "REV-001", "severity": "major", "blocking": True, "remediation": "mend it", **finding}
    document = {"review": {"verdict": "block", "summary": "not yet", "findings": [found]}}
    return say("review", artifacts=document, signal="success", expects=expects)


def events(play: Play, kind: str) -> list[dict[str, Any]]:
    """The events of a class, from the journal."""
    rows = []
    for line in play.file("actions.yaml").splitlines():
        if line.startswith("- {"):
            rows += [event for event in json.loads(line[2:])["events"] if event["type"] == kind]
    return rows


def test_green_and_review_send_tests_back_and_what_was_built_stays(play: Play) -> None:
    elsewhere = {"reason": REASON, "tests": ["tests/test_x.py::test_x"]}
    more = edit(NEW_TEST, "net(100, 10) == 90", "net(100, 10) == 90\n    assert net(50, 10) == 45")
    weak = "REV-001: one value proves little"
    done = play.start(
        frame(),
        red(WRONG_TEST),
        say("green", edit(NEW_TEST, "== 80", "== 90"), FIX),
        say("green", FIX, expects=("locked since RED; if it is wrong, say so and why with reopen_tests",)),
        say("green", {"name": "reopen_tests", "args": elsewhere}),
        say(
            "green", REOPEN, expects=(r"`tests/test_x.py::test_x` is no locked test; the locked ones: .*net",)
        ),
        say("red", MEND, expects=(REASON, "open again, because the role after RED says")),
        say("red", artifacts={"test_suite": SUITE}, signal="success", expects=(REASON,)),
        say("green", artifacts=BUILT, signal="success", expects=(f"proved and locked again: {REASON}",)),
        blocks({"description": "one value proves little", "remedy_in": "tests", "path": NEW_TEST}),
        say("red", read(OLD_TEST), expects=(weak,)),
        say("red", more, signal="success", expects=(weak,)),
        say("green", signal="success", expects=(weak,)),
        review(expects=("was sent back for:", weak, rf"Changed since then: {NEW_TEST} \(changed\)")),
        review(ID, expects=(f"`{ID}` is not ruled on", f"opened again, because a later role said: {REASON}")),
    )
    data = finished(done)
    assert [event["why"].get("by", "role") for event in events(play, "red_reopened")] == ["role", "review"]
    gates = [(event["gate"], event["status"]) for event in events(play, "gate_judged")]
    assert gates.count(("red", "passed")) == 3
    assert "assert net(50, 10) == 45" in play.person.git("show", f"{data['branch']}:{NEW_TEST}")
    assert play.person.run("verify", data["task_id"], "--rerun").code == 0


def test_in_one_reply_a_finding_is_mended_where_it_was_made_and_stands_on_the_screen(play: Play) -> None:
    more = edit(NEW_TEST, "net(100, 10) == 90", "net(100, 10) == 90\n    assert net(50, 10) == 45")
    papers = {name: paper for name, paper in WHOLE.items() if name != "clarification"}
    weak = "REV-001: one value proves little"
    done = play.start(
        say("patch", create(NEW_TEST, TEST), FIX, artifacts=papers, signal="success"),
        blocks({"description": "one value proves little", "remedy_in": "tests"}),
        say("patch", signal="success", expects=(weak,)),
        say("patch", more, signal="success", expects=("Nothing changed since the review blocked",)),
        review(expects=(weak, rf"Changed since then: {NEW_TEST} \(changed\)")),
        lane="hotfix",
    )
    data = finished(done)
    assert "net(50, 10) == 45" in play.person.git("show", f"{data['branch']}:{NEW_TEST}")
    page = play.person.run("status", data["task_id"]).said
    assert f"settled   {weak}" in page
    assert "clarify/clarification_final.yaml (derived)" in page
    report = play.file("artifacts/phases/deliver/delivery_report_final.yaml")
    assert f"settled by a revision: {weak}" in " ".join(report.split())


def test_a_person_keeps_old_tests_that_the_request_does_not_speak_of_and_mends_a_new_one_by_hand(
    play: Play,
) -> None:
    old = f"{OLD_TEST}::test_label_names_the_currency"
    text = 'def test_label_names_the_currency() -> None:\n    assert label(3) == "3 EUR"\n\n\n'
    given_up = {"id": old, "reason": "it is in the way", "requirement_ref": "REQ-001"}
    suite = {"test_suite": {**SUITE, "supersedes": [given_up]}}
    back = edit(OLD_TEST, "def test_label_of_nothing", f"{text}def test_label_of_nothing")
    done = play.start(
        frame(),
        say("red", create(NEW_TEST, WRONG_TEST), edit(OLD_TEST, text, ""), artifacts=suite, signal="success"),
        say("red", signal="success", expects=(f"A person wants these old tests kept as they are: {old}",)),
        say(
            "red",
            back,
            artifacts={"test_suite": SUITE},
            signal="success",
            expects=("a person wants this old test kept; take it out of supersedes",),
        ),
        say("green", FIX, {"name": "escalate", "args": {"question": "Is it 80 or 90?"}}),
        say(
            "green", artifacts=BUILT, signal="success", expects=("proved and locked again: A person edited",)
        ),
        review(),
    )
    question = asked(done)
    assert f"{old}: it is in the way" in question
    assert "assert label(3) == '3 EUR'" in question
    assert done.data["escalation"]["question"]["options"] == ["allow", "keep them", "abort"]
    done = play.answer(done, "keep them")
    assert asked(done) == "Is it 80 or 90?"
    test = play.person.worktree(done.data["task_id"]) / NEW_TEST
    test.write_text(test.read_text().replace("== 80", "== 90"))
    data = finished(play.answer(done, "90, I mended the test"))
    assert data["superseded"] == []
    assert "== 90" in play.person.git("show", f"{data['branch']}:{NEW_TEST}")
    assert [event["why"].get("by", "role") for event in events(play, "red_reopened")] == ["person"]
