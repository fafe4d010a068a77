"""A behaviour that changes, and the old tests that said otherwise: given up one by one, and loudly."""

import json
from typing import Any

import pytest

from tests.whole.plays import NEW_TEST, OLD_TEST, SOURCE, Entry, Play, create, edit, finished, review, say

pytestmark = pytest.mark.slow

REQUEST = "label must say 'only 3 EUR' for prices from 1 to 4"
GIVEN_UP, KEPT = f"{OLD_TEST}::test_label_names_the_currency", f"{OLD_TEST}::test_label_of_nothing"
REASON = "a price of 3 is a small one now"
TEST = """\
from shop.price import label


def test_small_prices_are_praised() -> None:
    assert label(1) == "only 1 EUR"
"""
FRAMED: dict[str, Any] = {
    "intake_record": {"extracted_intent": {"action": "modify", "target": "label", "scope": "file"}},
    "clarification": {"questions": []},
    "analysis": {"impacted_files": [{"path": SOURCE, "reason": "label is there"}]},
    "specification": {
        "title": "small prices are praised",
        "description": "A price from 1 to 4 is written with `only` before it.",
        "requirements": [
            {"id": "REQ-001", "description": "only", "acceptance_criteria": ["label(1) is only 1 EUR"]}
        ],
        "files_to_modify": [SOURCE],
    },
}
BUILT = {"implementation": {"summary": "small prices are praised"}}
CODE = 'return f"{price} EUR"'
TOO_MUCH = 'return f"only {price} EUR" if price < 5 else f"{price} EUR"'
RIGHT = 'return f"only {price} EUR" if 0 < price < 5 else f"{price} EUR"'
REWRITTEN = edit(OLD_TEST, 'assert label(3) == "3 EUR"', 'assert label(3) == "only 3 EUR"')
REMOVED = edit(
    OLD_TEST, 'def test_label_names_the_currency() -> None:\n    assert label(3) == "3 EUR"\n\n\n', ""
)
LINE = f"{GIVEN_UP} (rewritten, passed), for REQ-001: {REASON}"


def suite(identity: str) -> dict[str, Any]:
    test = {"name": "test_small_prices_are_praised", "requirement_ref": "REQ-001"}
    old = {"id": identity, "reason": REASON, "requirement_ref": "REQ-001"}
    return {"test_suite": {"test_files": [{"path": NEW_TEST, "tests": [test]}], "supersedes": [old]}}


def start(play: Play, *entries: Entry, lane: str, words: tuple[str, ...] = ("--json",)) -> Any:  # noqa: ANN401
    play.person.scripted(*entries)
    model = f"scripted:{play.person.script}"
    return play.person.run("start", REQUEST, "--lane", lane, "--model", model, *words)


def test_an_old_test_is_given_up_by_its_exact_id_and_another_still_blocks(play: Play) -> None:
    weaker = edit(OLD_TEST, 'assert label(0) == "0 EUR"', "label(0)")
    stronger = edit(OLD_TEST, "    label(0)\n", '    assert label(0) == "0 EUR"\n')
    done = start(
        play,
        say("frame", artifacts=FRAMED, signal="success"),
        say("red", create(NEW_TEST, TEST), REWRITTEN, artifacts=suite(OLD_TEST), signal="success"),
        say(
            "red",
            weaker,
            artifacts=suite(GIVEN_UP),
            signal="success",
            expects=("Gate red failed", f"`{OLD_TEST}` matches 2 tests of the baseline", GIVEN_UP),
        ),
        say("red", stronger, signal="success", expects=(f"weakened: {KEPT} lost 1 assertion",)),
        say("green", edit(SOURCE, CODE, TOO_MUCH), artifacts=BUILT, signal="success"),
        say(
            "green",
            edit(SOURCE, TOO_MUCH, RIGHT),
            artifacts=BUILT,
            signal="success",
            expects=(f"{KEPT}: .*AssertionError", {"not": f"{GIVEN_UP}: "}),
        ),
        review(expects=("Named by the engine; rule on those marked", f"rule on it. {GIVEN_UP}: an old test")),
        review(GIVEN_UP, expects=(f"rulings: `{GIVEN_UP}` is not ruled on",)),
        lane="small",
    )
    data = finished(done)
    row = {"id": GIVEN_UP, "requirement": "REQ-001", "reason": REASON, "before": "passed"}
    assert data["superseded"] == [{**row, "after": "rewritten, passed"}]
    evidence = json.loads(play.file("evidence.json"))
    assert evidence["superseded"] == data["superseded"]
    assert [(item["about"], item["verdict"]) for item in evidence["rulings"]] == [(GIVEN_UP, "accept")]
    assert [line["superseded"] for line in evidence["rows"] if line["gate"] == "delivery"] == [
        data["superseded"]
    ]
    assert f"old test dropped: {LINE}" in " ".join(
        play.file("artifacts/phases/deliver/delivery_report_final.yaml").split()
    )
    assert 'label(3) == "only 3 EUR"' in play.person.git("show", f"{data['branch']}:{OLD_TEST}")
    assert play.person.run("verify", data["task_id"], "--rerun").code == 0


def test_in_one_reply_the_role_is_told_what_to_do_with_it_and_the_screen_names_it(play: Play) -> None:
    whole = {**FRAMED, **suite(GIVEN_UP), **BUILT}
    change = edit(SOURCE, CODE, RIGHT)
    done = start(
        play,
        say("patch", create(NEW_TEST, TEST), change, artifacts=whole, signal="success"),
        say(
            "patch",
            REMOVED,
            artifacts=whole,
            signal="success",
            expects=(f"{GIVEN_UP}: is superseded, so rewrite it or remove it",),
        ),
        review(GIVEN_UP, expects=(r"test_label_names_the_currency: .* dropped \(removed\), for REQ-001",)),
        lane="hotfix",
        words=(),
    )
    assert done.code == 0, done.said
    assert f"old test dropped: {GIVEN_UP} (removed), for REQ-001: {REASON}" in done.said
