"""A lane that cannot carry its task: the task goes on in the full one, keeps what it has, and says why."""

from typing import Any

import pytest

from tests.whole.full_plays import (
    ARBITER,
    READER,
    SECURITY,
    approves,
    blocks,
    deliver,
    entered,
    events,
    evidence,
    final,
    open_points,
    refactor,
    revised,
)
from tests.whole.plays import (
    FIX,
    FRAMED,
    NEW_TEST,
    RIGHT,
    SOURCE,
    TEST,
    Entry,
    Expected,
    Play,
    create,
    edit,
    finished,
    frame,
    green,
    patch,
    red,
    say,
)

pytestmark = pytest.mark.slow

DOC = "The price without the discount."
KNOTTED = "\n".join(
    [
        "def sort_of(price: int) -> str:",
        *(f'    if price == {number}:\n        return "sort {number}"' for number in range(20)),
        '    return "none"',
    ]
)
SUMS = """\
def sums(prices: list[int]) -> dict[str, int]:
    found = {"all": 0}
    for price in sorted(prices):
        found["all"] += price
        found[label(price)] = price * 2
    if not prices:
        found.clear()
    return {name: abs(each) for name, each in found.items()}
"""
WORSE = f"{KNOTTED}\n\n\n{SUMS}\n\n{SUMS.replace('sums', 'totals')}\n\ndef label"
BREAKS = edit(SOURCE, RIGHT, "return price")


def second_reader(*findings: str, expects: tuple[Expected, ...] = ()) -> Entry:
    """The lane's own review, which blocks."""
    found = [
        {"id": f"REV-{at:03d}", "severity": "major", "blocking": True, "description": text, "remediation": "Say it."}
        for at, text in enumerate(findings, 1)
    ]
    return say("review", artifacts={"review": {"verdict": "block", "findings": found, "summary": "no"}}, signal="success", expects=expects)


def trivial_frame(*created: str) -> Entry:
    papers: dict[str, Any] = {
        **FRAMED,
        "intake_record": {**FRAMED["intake_record"], "initial_complexity": "trivial"},
        "specification": {**FRAMED["specification"], "files_to_create": [*created]},
    }
    return say("frame", artifacts=papers, signal="success")


def given_up(*actions: dict[str, Any], expects: tuple[Expected, ...]) -> Entry:
    return {**say("refactor", *actions, signal="failure_retryable", expects=expects)}


def test_two_blocking_reviews_raise_the_lane_and_when_no_refactoring_helps_the_work_before_it_stands(play: Play) -> None:
    kept = edit(SOURCE, DOC, f"{DOC[:-1]}, rounded up.")
    done = play.start(
        frame(),
        red(),
        green(),
        second_reader("No word on rounding."),
        revised(kept, expects=("No word on rounding",)),
        second_reader("No word on zero."),
        revised(expects=("The reviewer blocks:", "No word on zero")),
        # The first attempt breaks a test, then ties a knot; the second is given up with an edit that hurts nobody.
        say("refactor", BREAKS, expects=("Senior Developer",)),
        refactor(
            edit(SOURCE, "def label", WORSE),
            expects=("Your edit made something worse and was undone", RIGHT.replace("*", r"\*")),
        ),
        given_up(
            expects=(
                "Gate quality failed",
                "sort_of has complexity 21",
                "lines repeat what stands at",
                "All edits of this stage were undone",
            )
        ),
        given_up(edit(SOURCE, "rounded up", "rounded down"), expects=("An earlier attempt failed", "rounded up", {"not": "def sort_of"})),
        approves("refactor", SECURITY, "Percent is not bounded.", expects=(RIGHT.replace("*", r"\*"),)),
        approves("refactor", READER),
        deliver(expects=("DevOps Engineer",)),
    )
    data = finished(done)
    assert data["lane"] == "full"
    proof = evidence(play.top)
    assert proof["lane"] == "full"
    (why,) = proof["risen"]
    assert "a review blocked 2 times" in why
    assert [name for name in entered(play.top) if name != "refactor"] == [
        *("frame", "red", "green", "review", "green", "review", "green"),
        *("refactor/security_architect", "refactor/reviewer", "deliver"),
    ]
    assert proof["skipped"] == {"refactor": "no attempt made it better"}
    assert len(proof["reverted"]) == 3
    undone = [event["tree"] for event in events(play.top) if event["type"] == "reverted"]
    accepted = {event["stage"]: event["tree"] for event in events(play.top) if event["type"] == "stage_accepted"}
    assert {*undone, accepted["refactor"]} == {accepted["green"]}
    points = "\n".join(open_points(play.top))
    assert "no attempt made it better" in points
    assert "Percent is not bounded." in points
    assert "a review blocked 2 times" in points
    source = play.person.git("show", f"{data['branch']}:{SOURCE}")
    assert "rounded up" in source
    assert RIGHT in source


def test_an_edit_over_more_files_raises_the_lane_and_a_panel_that_blocks_a_skipped_stage_puts_its_role_to_work(play: Play) -> None:
    more = [f"shop/{name}.py" for name in ("first", "second", "third")]
    done = play.start(
        trivial_frame(*more),
        red(),
        green(FIX, *(create(path, "RATE = 1\n") for path in more)),
        # A few lines that intake calls trivial: nobody is asked to refactor, and two read all the same.
        blocks("refactor", SECURITY, "Three rates lie about.", expects=("shop/third.py",)),
        blocks("refactor", READER, "Nobody needs the third rate."),
        refactor(
            {"name": "delete_file", "args": {"path": "shop/third.py"}},
            summary="the third rate is gone",
            expects=("Senior Developer", "Three rates lie about", "Nobody needs the third rate", "Remedy: Mend it"),
        ),
        approves("refactor", SECURITY, expects=("The version before was sent back for", {"not": r"^diff .*third"})),
        approves("refactor", READER),
        deliver(),
    )
    data = finished(done)
    proof = evidence(play.top)
    assert ["4 files" in why for why in proof["risen"]] == [True]
    assert proof["skipped"] == {}
    two = ["refactor/security_architect", "refactor/reviewer"]
    assert entered(play.top) == ["frame", "red", "green", "refactor", *two, "refactor", *two, "deliver"]
    skipped = [event.get("skipped", "") for event in events(play.top) if event["type"] == "stage_entered" and event["stage"] == "refactor"]
    assert skipped == ["trivial_change", "", "", "", "", ""]
    assert final(play.top, "refactor", "implementation")["summary"] == "the third rate is gone"
    assert "shop/third.py" not in play.person.git("ls-tree", "-r", "--name-only", data["branch"])
    assert play.person.git("show", f"{data['branch']}:{NEW_TEST}") == TEST.strip()


def test_an_edit_of_many_lines_raises_a_hotfix_and_an_arbiter_who_sides_with_the_block_sends_it_back(play: Play) -> None:
    table = "RATES = (\n" + "".join(f"    {number},\n" for number in range(70)) + ")\n\n\ndef label"
    done = play.start(
        patch(create(NEW_TEST, TEST), FIX, edit(SOURCE, "def label", table)),
        refactor(expects=("The tests pass",)),
        approves("refactor", SECURITY),
        blocks("refactor", READER, "Seventy rates that nobody asked for."),
        blocks("refactor", ARBITER, "The rates must go.", expects=("The reviewers disagree", "Seventy rates")),
        refactor(
            edit(SOURCE, table, "def label"),
            summary="the rates are gone",
            expects=("The reviewer blocks:", "The rates must go", "Seventy rates"),
        ),
        approves("refactor", SECURITY),
        approves("refactor", READER, expects=("The version before was sent back for", "The rates must go")),
        deliver(),
        lane="hotfix",
    )
    data = finished(done)
    proof = evidence(play.top)
    assert ["lines" in why for why in proof["risen"]] == [True]
    assert entered(play.top)[:2] == ["patch", "refactor"]
    assert proof["panels"]["refactor"]["verdicts"] == {READER: "approve", SECURITY: "approve"}
    assert proof["panels"]["refactor"]["dissent"] == []
    assert "RATES" not in play.person.git("show", f"{data['branch']}:{SOURCE}")
    assert proof["same_author"] is True
