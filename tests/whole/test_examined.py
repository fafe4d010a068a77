"""`--mode heavy`: an examiner who sees neither tests nor change, through the installed command."""

import json
import re

import pytest

from tests.whole.plays import (
    NEW_TEST,
    RIGHT,
    SOURCE,
    Expected,
    Play,
    asked,
    edit,
    examine,
    finished,
    frame,
    green,
    red,
    review,
)

HEAVY = ("--mode", "heavy")
WEAK = "return price - percent"
BLIND: tuple[Expected, ...] = (
    r"net\(price, percent\)",
    "net must take the discount off",
    {"not": re.escape(RIGHT)},
    {"not": re.escape(WEAK)},
    {"not": "test_ten_percent_off"},
    {"not": re.escape(NEW_TEST)},
    {"not": "- read_file:"},
)
"""What the context of an examiner holds, and what it never does."""


@pytest.mark.slow
def test_an_example_that_the_work_does_not_meet_is_sent_back_and_held_to(play: Play) -> None:
    done = play.start(
        frame(),
        red(),
        green(edit(SOURCE, "return price\n", f"{WEAK}\n")),
        examine(expects=BLIND),
        green(edit(SOURCE, WEAK, RIGHT), expects=(r"net\(50, 20\) == 40", "20 % off 50 is 40")),
        review(expects=({"not": r"net\(50, 20\)"},)),
        words=HEAVY,
    )
    question = asked(done)
    assert "20 % off 50 is 40" in question
    assert "assert net(50, 20) == 40" in question
    data = finished(play.answer(done, "send it back"))
    evidence = json.loads(play.file("evidence.json"))
    assert evidence["examined"] == [
        "examined: 1 held-out checks, all pass, with the test runner and without it"
    ]
    (row,) = [row for row in evidence["rows"] if row["gate"] == "examined"]
    assert row["checks"][0]["before"] == "failed"
    assert "examined: 1 held" in play.person.run("report", data["task_id"]).out
    branch = play.person.git("ls-tree", "-r", "--name-only", data["branch"])
    assert "held_out" not in branch
    again = play.person.run("verify", data["task_id"], "--rerun", "--json")
    assert again.code == 0, again.said
    assert again.data["findings"][-1] == {"row": "examined again", "ok": True, "text": "every outcome agrees"}
