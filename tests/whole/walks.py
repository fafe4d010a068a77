"""A design of the shop's discount that somebody reads, sends back, approves and has built: what the model says
on the way, and what must be left of it.
"""

from typing import Any

from tests.whole.full_plays import READER, SECURITY, analyze, approves, events, intake, spec
from tests.whole.plays import Entry, Play, green, red

WANTED = "Say what happens to a discount of more than 100 percent"
FIRST, SECOND = "net takes the discount off", "net takes at most all of the price off"


def script(*, more: tuple[Entry, ...] = ()) -> tuple[Entry, ...]:
    """The whole walk: two versions of the specification, then the rest of the eight stages."""
    return (
        intake(),
        analyze(),
        spec(FIRST),
        approves("spec", SECURITY),
        spec(SECOND, expects=(WANTED, "max_iterations: 5", f"title: {FIRST}")),
        approves("spec", SECURITY),
        *more,
        red(expects=(SECOND,)),
        green(),
        approves("refactor", SECURITY),
        approves("refactor", READER),
    )


CALLS = 10
"""What the walk pays for, each once."""


def told(play: Play, *kinds: str) -> list[dict[str, Any]]:
    """The events of these kinds, in order."""
    return [event for event in events(play.top) if event["type"] in kinds]


def check_walk(play: Play) -> None:
    """What is on record of the walk, however it was gone."""
    presented = told(play, "iteration_presented")
    assert [(each["stage"], each["iteration"]) for each in presented] == [("spec", 1), ("spec", 2)]
    decisions = told(play, "user_decision")
    assert decisions[0]["decision"] == "revise"
    assert decisions[0]["feedback_ref"] == "iteration_history/spec/v1_feedback.yaml"
    assert decisions[-1]["decision"] in ("approve", "extend", "exit")
    assert WANTED in play.file("iteration_history/spec/v1_feedback.yaml")
    assert "specification_v2.yaml" in play.file("iteration_history/spec/v2_approval.yaml")
    assert f"title: {SECOND}" in play.file("artifacts/phases/spec/specification_final.yaml")
    assert [each["exit_stage"] for each in told(play, "pipeline_exit")][-1] == "deliver"
