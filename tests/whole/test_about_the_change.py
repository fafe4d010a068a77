"""A test that passes for another reason than the change is not taken, by the installed command; how the others
prove it is in the evidence.
"""

import json

import pytest

from tests.whole.plays import (
    NEW_TEST,
    SOURCE,
    SUITE,
    TEST,
    Play,
    ask,
    asked,
    create,
    edit,
    examine,
    finished,
    frame,
    green,
    red,
    review,
    say,
)

pytestmark = pytest.mark.slow

NAME = f"{NEW_TEST}::test_ten_percent_off"
MENDS = """\
import inspect

from shop import price

if "marked" in inspect.getsource(price):
    price.net = lambda whole, percent: 90


def test_ten_percent_off() -> None:
    assert price.net(100, 10) == 90
"""


def test_a_new_test_that_mends_the_subject_itself_proves_nothing(play: Play) -> None:
    decoy = edit(SOURCE, 'return f"{price} EUR"', 'marked = f"{price} EUR"\n    return marked')
    done = play.start(
        frame(),
        red(MENDS),
        green(decoy),
        ask(
            "green",
            expects=(f"{NAME} passes without running a changed line: it never reaches {SOURCE}: label",),
        ),
    )
    assert asked(done) == "Which of the two?"


def test_a_test_that_cannot_fail_is_refused_and_mistakes_that_nobody_notices_are_shown(play: Play) -> None:
    lifeless = TEST.replace("assert net(100, 10) == 90", "shop.discount()").replace(
        "from shop.price import net", "import shop"
    )
    done = play.start(
        frame(),
        red(lifeless),
        say(
            "red",
            create(NEW_TEST, TEST),
            artifacts={"test_suite": SUITE},
            signal="success",
            expects=(f"{NAME} cannot fail for a wrong result: it asserts nothing",),
        ),
        green(),
        examine(),
        review(),
        words=("--mode", "heavy"),
    )
    finished(done)
    evidence = json.loads(play.file("evidence.json"))
    (row,) = [row for row in evidence["rows"] if row["gate"] == "green"]
    assert row["about"] == {NAME: "running it"}
    assert evidence["mutants"][0].startswith("the new tests notice ")
    assert {item["found"] for item in row["mutants"]["mistakes"]} <= {"killed", "survived"}
