"""Reviews by the installed command: a change too long for one reader, and one that somebody could misuse."""

import json

import pytest

from tests.whole.plays import (
    NEW_TEST,
    RIGHT,
    SOURCE,
    TEST,
    Entry,
    Play,
    create,
    edit,
    finished,
    patch,
    review,
    say,
)

pytestmark = pytest.mark.slow


def approving(label: str, contract: str = "review", *, expects: tuple[str, ...] = ()) -> Entry:
    said = {contract: {"verdict": "approve", "summary": "as asked"}}
    return say(label, artifacts=said, signal="success", expects=expects)


def test_a_knot_is_fed_back_in_the_smallest_lane_and_a_long_change_is_read_in_parts(play: Play) -> None:
    long = TEST + "".join(
        f"    # whoever reads on to line {number} has seen it all\n" for number in range(1500)
    )
    knot = "".join(f"    if percent == -{number + 1}:\n        return price\n" for number in range(11))
    done = play.start(
        patch(create(NEW_TEST, long), edit(SOURCE, "    return price\n", f"{knot}    {RIGHT}\n")),
        patch(edit(SOURCE, knot, ""), expects=("Gate quality failed", "net has complexity 12, it was 1")),
        review(expects=("part 1 of 2: judge this part", f"=== {SOURCE}: changed", "stretch 1 of")),
        approving(
            "review/reviewer-2",
            expects=("part 2 of 2: judge this part", "line 1499 has seen it all"),
        ),
        lane="hotfix",
    )
    data = finished(done)
    assert data["cost"]["calls"] == 4
    evidence = json.loads(play.file("evidence.json"))
    (row,) = (row for row in evidence["rows"] if row["gate"] == "review")
    assert (row["parts"], len(row["contexts"]["reviewer"])) == (2, 2)
    assert data["review"]["summary"] == "Part 1: as asked Part 2: as asked"
    assert play.person.run("verify", data["task_id"]).code == 0


def test_a_delicate_change_is_read_for_security_once_in_a_small_lane_too(play: Play) -> None:
    risky = edit(SOURCE, "return price\n", 'return int(eval("price - price * percent // 100"))\n')
    plain = edit(
        SOURCE, 'return int(eval("price - price * percent // 100"))', "return price - price * percent // 100"
    )
    hole = {
        "id": "SEC-001",
        "severity": "high",
        "description": "Text is run as code.",
        "remediation": "Compute it.",
    }
    unsafe = {"verdict": "block", "summary": "eval", "blocking_issues": [hole]}
    done = play.start(
        patch(create(NEW_TEST, TEST), risky),
        review(),
        say(
            "review/security_architect",
            artifacts={"security_review": unsafe},
            signal="success",
            expects=(r"\+    return int\(eval\(",),
        ),
        patch(plain, expects=("SEC-001 .security_architect.: Text is run as code",)),
        review(expects=({"not": r"eval\("},)),
        lane="hotfix",
    )
    assert finished(done)["cost"]["calls"] == 5
