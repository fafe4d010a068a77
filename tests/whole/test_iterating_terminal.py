"""The whole walk in a real terminal: a design is shown, revised with a comment, approved, extended and
delivered; and the same with the process killed between any two steps.
"""

import pytest

from tests.depth import telling
from tests.sharing import share_here
from tests.terminal import Terminal
from tests.whole.plays import Play
from tests.whole.walks import FIRST, SECOND, WANTED, check_walk, script

pytestmark = pytest.mark.slow

REQUEST = "Take the discount off in net"
DECIDE = "Your decision"
DIALOGUE = (
    (DECIDE, "revise"),
    ("What should be different", WANTED),
    (DECIDE, "approve"),
    ("Go on and build it?", "y"),
)
"""Each prompt, and what the person types there."""


def terminal(play: Play, *words: str) -> Terminal:
    share_here(play.top)
    return Terminal(words, play.top, play.person.environment())


def design(play: Play) -> Terminal:
    return terminal(play, "design", REQUEST, "--model", f"scripted:{play.person.script}")


def test_a_design_is_shown_revised_approved_and_built_in_a_terminal(play: Play) -> None:
    play.person.scripted(*script())
    with design(play) as screen:
        shown = screen.wait(DECIDE)
        assert f"Title: {FIRST}" in shown
        assert "- REQ-001  the discount is off" in shown
        screen.type("revise")
        screen.wait("What should be different")
        screen.type(WANTED)
        again = screen.wait(DECIDE)
        assert "specification: changed since v1" in again
        assert f"-Title: {FIRST}" in again
        assert f"+Title: {SECOND}" in again
        screen.type("approve")
        screen.wait("Go on and build it?")
        screen.type("y")
        assert screen.end() == 0
        assert "Done: task-" in screen.shown
    check_walk(play)
    found = play.person.run("status", play.person.only_task(), "--json").data
    assert found["cost"]["tokens_used"] > 0


MOMENTS = (
    "stage intake accepted",
    *(f"prompt {at}" for at in range(len(DIALOGUE))),
    "iteration 2 of stage spec is presented",
)
LATER = ("stage spec accepted", "stage red accepted", "stage green accepted", "stage refactor accepted")


@pytest.mark.parametrize("moment", telling((*MOMENTS, *LATER), 1))
def test_whoever_is_killed_on_the_way_goes_on_from_there(play: Play, moment: str) -> None:
    play.person.scripted(*script())
    left = _killed(play, moment)
    task = play.person.only_task()
    if left and left[0][0].startswith("Go on"):  # it is done: nobody is asked twice
        with terminal(play, "continue", task, "--extend-to", "deliver") as screen:
            assert screen.end() == 0
    else:
        with terminal(play, "continue", task) as screen:
            for prompt, words in left:
                screen.wait(prompt)
                screen.type(words)
            assert screen.end() == 0
    check_walk(play)


def _killed(play: Play, moment: str) -> list[tuple[str, str]]:
    """The walk up to a moment, where its process dies; what was not typed yet."""
    left = list(DIALOGUE)
    with design(play) as screen:
        number = 0
        while left:
            prompt, words = left[0]
            if moment.startswith(("stage", "iteration")) and _comes_first(screen, moment, prompt):
                screen.kill()
                return left
            if not moment.startswith(("stage", "iteration")):
                screen.wait(prompt)
            if moment == f"prompt {number}":
                screen.kill()
                return _from_the_question(left)
            screen.type(words)
            left, number = left[1:], number + 1
        screen.wait(moment)
        screen.kill()
    return left


def _comes_first(screen: Terminal, moment: str, prompt: str) -> bool:
    return screen.first_of(moment, prompt) == moment


def _from_the_question(left: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Who is killed while saying why has decided nothing: the question is put again from its beginning."""
    return [DIALOGUE[0], *left] if left[0] == DIALOGUE[1] else left
