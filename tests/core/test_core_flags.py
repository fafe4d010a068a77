"""What reads like an instruction is on record once, and the marker of a task is the same from its first line
on.
"""

from dataclasses import replace

from agentforge.core.digests import ActionResults, ContextDigest
from agentforge.core.events import ContextAssembled
from agentforge.core.evolve import replay
from agentforge.core.inputs import Acted, Assembled, Create
from agentforge.core.steps import MAX_FLAGGED
from tests.core.scenes import EDIT, Played, answered, begun, created, step


def met(task: Played, *flags: str) -> tuple[str, ...]:
    """One step whose context holds these; what of them is new."""
    (event,) = (
        event
        for event in task.end("Assemble", Assembled(ContextDigest("context", 500, (), flags)))
        if isinstance(event, ContextAssembled)
    )
    step(task, answered(), Acted(ActionResults("results", f"{task.state.tree}'", (EDIT,))))
    return event.context.flagged


def test_a_flag_is_told_when_it_is_met_first_and_never_again() -> None:
    task = begun()
    assert met(task, "override in a.md: x", "secrets in a.md: y", "override in a.md: x") == (
        "override in a.md: x",
        "secrets in a.md: y",
    )
    assert met(task, "override in a.md: x") == ()
    assert met(task) == ()
    assert met(task, "override in b.md: x", "secrets in a.md: y") == ("override in b.md: x",)
    assert task.state.flagged == ("override in a.md: x", "secrets in a.md: y", "override in b.md: x")
    assert replay(task.events) == task.state


def test_flags_without_end_are_not_all_kept() -> None:
    task = begun()
    assert len(met(task, *map(str, range(MAX_FLAGGED + 50)))) == MAX_FLAGGED
    assert met(task, "one more") == ()


def test_the_marker_is_given_at_the_start_and_stays() -> None:
    task = Played()
    task.say(Create(replace(created().spec, marker="0f1e2d3c4b5a6978")))
    assert task.state.marker == "0f1e2d3c4b5a6978"
    assert begun().state.marker == ""
