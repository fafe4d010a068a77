"""A question for permission, put to the person who sits there: the answer is taken at once, and the task goes
on.
"""

import click

from agentforge.core.state import State
from agentforge.surfaces.cli.pages.report import question
from agentforge.surfaces.cli.pages.screen import Screen
from agentforge.surfaces.cli.printing import say

LEAVE = "leave"


def ask_here(screen: Screen, state: State) -> str | None:
    """The answer; None if the question is left for later, as it is when nothing is typed."""
    waiting = state.open_escalation
    assert waiting is not None
    choices = (*waiting.question.options, LEAVE)
    with screen.still():
        say(f"\n{question(state, waiting)}\n", err=True)
        try:
            said = click.prompt("Your answer", type=click.Choice(choices), default=LEAVE, err=True)
        except click.Abort:  # the end of input, or Ctrl-C: the task is safe, and so is the question
            say("", err=True)
            return None
    return None if said == LEAVE else str(said)
