"""A lane that cannot carry its task: the task goes on in the full one, keeps what it has, and says why."""

from typing import Any, Literal, NamedTuple

import pytest

from tests.depth import telling
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
    BUILT,
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
TABLE = "RATES = (\n" + "".join(f"    {number},\n" for number in range(70)) + ")\n\n\ndef label"
MORE = [f"shop/{name}.py" for name in ("first", "second", "third")]
SENT_BACK = (
    "Senior Developer",
    "The reviewer blocks:",
    "The rates must go",
    "Nobody asked for all these",
    "Remedy: Mend it",
)
TRIVIAL = {**FRAMED["intake_record"], "initial_complexity": "trivial"}


def second_reader(*findings: str, expects: tuple[Expected, ...] = ()) -> Entry:
    """The lane's own review, which blocks."""
    found = [
        {
            "id": f"REV-{at:03d}",
            "severity": "major",
            "blocking": True,
            "description": text,
            "remediation": "Say it.",
        }
        for at, text in enumerate(findings, 1)
    ]
    return say(
        "review",
        artifacts={"review": {"verdict": "block", "findings": found, "summary": "no"}},
        signal="success",
        expects=expects,
    )


def trivial_frame(*created: str) -> Entry:
    papers: dict[str, Any] = {
        **FRAMED,
        "intake_record": TRIVIAL,
        "specification": {**FRAMED["specification"], "files_to_create": [*created]},
    }
    return say("frame", artifacts=papers, signal="success")


def given_up(*actions: dict[str, Any], expects: tuple[Expected, ...]) -> Entry:
    return {**say("refactor", *actions, signal="failure_retryable", expects=expects)}


class Way(NamedTuple):
    """How a lane comes to rise: what is said until it does, why it does, and what takes the most of it
    back.
    """

    lane: Literal["hotfix", "small"]
    said: list[Entry]
    why: str
    entered: list[str]
    taken_back: dict[str, Any]


def ways() -> dict[str, Way]:
    """Nothing gets harder to read in any of them: nobody is asked to refactor, and two read all the same."""
    rate = {"name": "delete_file", "args": {"path": MORE[-1]}}
    files = [trivial_frame(*MORE), red(), green(FIX, *(create(path, "RATES = 1\n") for path in MORE))]
    doc = edit(SOURCE, DOC, f"{DOC[:-1]}, with no RATES.")
    reviews = [
        *(trivial_frame(), red(), green(), second_reader("No word on rounding.")),
        *(revised(doc, expects=("No word on rounding",)), second_reader("No word on zero.")),
        revised(expects=("The reviewer blocks:", "No word on zero")),
    ]
    table = [patch(create(NEW_TEST, TEST), FIX, edit(SOURCE, "def label", TABLE))]
    return {
        "files": Way("small", files, "4 files", ["frame", "red", "green"], rate),
        "reviews": Way(
            "small",
            reviews,
            "a review blocked 2 times",
            ["frame", "red", "green", "review", "green", "review", "green"],
            edit(SOURCE, ", with no RATES", ""),
        ),
        "lines": Way("hotfix", table, "lines", ["patch"], edit(SOURCE, TABLE, "def label")),
    }


def vain() -> list[Entry]:
    """The first attempt ties a knot; the second is given up with an edit that hurts nobody."""
    failed = (
        "Gate quality failed",
        "sort_of has complexity 21",
        "lines repeat",
        "All edits of this stage were undone",
    )
    return [
        refactor(edit(SOURCE, "def label", WORSE), expects=SENT_BACK),
        given_up(expects=failed),
        given_up(
            edit(SOURCE, '"""The', '"""A'),
            expects=("An earlier attempt failed", "The price", {"not": "def sort_of"}),
        ),
    ]


@pytest.mark.parametrize(
    ("how", "helps"),
    telling((("files", False), ("files", True), ("reviews", False), ("reviews", True), ("lines", True)), 1),
)
def test_a_lane_rises_and_a_role_that_a_block_puts_to_work_mends_it_or_a_person_is_asked(
    play: Play, how: str, *, helps: bool
) -> None:
    way = ways()[how]
    play.person.write({"CHANGELOG.md": "# Changelog\n\n## Unreleased\n"})
    play.person.commit_all()
    done = play.start(
        *way.said,
        approves("refactor", SECURITY, expects=("RATES",)),
        blocks("refactor", READER, "Nobody asked for all these rates."),
        blocks(
            "refactor",
            ARBITER,
            "The rates must go.",
            expects=("The reviewers disagree", "Nobody asked for all these"),
        ),
        *([refactor(way.taken_back, summary="the rates are gone", expects=SENT_BACK)] if helps else vain()),
        *([] if helps else [refactor(expects=("A person answered: The rates may stay",))]),
        approves(
            "refactor", SECURITY, "Percent is not bounded.", expects=("The version before was sent back for",)
        ),
        approves("refactor", READER, expects=("The version before was sent back for", "The rates must go")),
        deliver(
            expects=(
                "DevOps Engineer",
                "The whole change",
                f"=== {SOURCE}: changed",
                r"CHANGELOG\.md \(lines 1-3\)\n# Changelog\n\n## Unreleased",
                "Proved as: new behaviour",
                r"\A(?![\s\S]*Repository map)",
            )
        ),
        lane=way.lane,
    )
    if not helps:  # what was undone settles nothing: nobody reads the same tree again before a person spoke
        assert (done.code, done.data["escalation"]["kind"]) == (3, "exhausted"), done.said
        done = play.answer(done, "The rates may stay.")
    data = finished(done)
    proof = evidence(play.top)
    assert (data["lane"], proof["lane"], [way.why in why for why in proof["risen"]]) == (
        "full",
        "full",
        [True],
    )
    assert proof["same_author"] is (way.lane == "hotfix")
    panel = proof["panels"]["refactor"]
    assert (panel["verdicts"], panel["dissent"]) == ({READER: "approve", SECURITY: "approve"}, [])
    two = ["refactor/security_architect", "refactor/reviewer"]
    worked = ["refactor"] if helps else ["refactor"] * 3
    assert entered(play.top) == [*way.entered, "refactor", *two, "refactor/arbiter", *worked, *two, "deliver"]
    first = next(
        event
        for event in events(play.top)
        if event["type"] == "stage_entered" and event["stage"] == "refactor"
    )
    trivial = "" if how == "lines" else ", trivial_change"
    assert first["skipped"] == f"nothing_worse{trivial}"
    points = "\n".join(open_points(play.top))
    assert "Percent is not bounded." in points
    assert way.why in points
    assert RIGHT in play.person.git("show", f"{data['branch']}:{SOURCE}")
    assert play.person.git("show", f"{data['branch']}:{NEW_TEST}") == TEST.strip()
    if helps:
        _mended(play, data["branch"])
    else:
        _stands(play)


def _mended(play: Play, branch: str) -> None:
    assert evidence(play.top)["skipped"] == {}
    change = final(play.top, "refactor", "implementation")
    assert change["improvements"] == "the rates are gone"
    assert change["summary"] == BUILT["implementation"]["summary"], "what the change does stays said"
    assert "RATES" not in play.person.git("show", f"{branch}:{SOURCE}")
    assert MORE[-1] not in play.person.git("ls-tree", "-r", "--name-only", branch)


def _stands(play: Play) -> None:
    proof = evidence(play.top)
    assert proof["skipped"] == {}
    assert len(proof["reverted"]) == 1
    undone = [event["tree"] for event in events(play.top) if event["type"] == "reverted"]
    accepted = {
        event["stage"]: event["tree"] for event in events(play.top) if event["type"] == "stage_accepted"
    }
    assert {*undone, accepted["refactor"]} == {accepted["green"]}
