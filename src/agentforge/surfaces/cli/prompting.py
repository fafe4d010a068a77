"""A question at the prompt that others may answer elsewhere: whoever sits there sees that at once."""

import select
import sys

import click

from agentforge.app.people.messages import is_answered
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.values import Escalation
from agentforge.surfaces.cli.printing import say, say_prompt
from agentforge.system.visible import brief

LOOK_S = 0.5
"""How often it is looked whether somebody else has answered, while nothing is typed."""


def typed_answer(task: OpenTask, waiting: Escalation, prompt: str) -> str | None:
    """The line that is typed, stripped; None once somebody else has answered, which is said. Raises
    `click.Abort` at the end of the input or Ctrl-C.
    """
    say_prompt(f"{prompt}: ")
    try:
        while not select.select([sys.stdin], [], [], LOOK_S)[0]:
            if is_answered(task, waiting.id):
                _say_answered(task, waiting)
                return None
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        raise click.Abort from None
    if not line:
        raise click.Abort
    return line.strip()


def _say_answered(task: OpenTask, waiting: Escalation) -> None:
    found = next(item for item in task.state.escalations if item.id == waiting.id)
    say(f"\n{waiting.id} was answered elsewhere, by {found.by}: {brief(found.answer or '', 200)}", err=True)
