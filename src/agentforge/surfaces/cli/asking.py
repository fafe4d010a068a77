"""A question put to the person who sits there: the answer is taken at once, and the task goes on."""

import os
from collections.abc import Sequence

import click

from agentforge.app.people.answers import goes_on_with
from agentforge.app.people.deciding import DECISIONS, EDIT
from agentforge.app.people.presented import presented
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.versions import version_path
from agentforge.core.decisions import STOP
from agentforge.core.errors import UsageError
from agentforge.core.iterating import REFUSE
from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.pages.answers import question
from agentforge.surfaces.cli.pages.screen import Screen
from agentforge.surfaces.cli.pages.version import presented_page
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.prompting import typed_answer

LEAVE = "leave"
_NEEDS_WORDS = {"revise": "What should be different", "reject": "Why", REFUSE: "Why", STOP: "Why"}
"""Decisions that somebody has to act on, and what is asked then."""


def ask_here(screen: Screen, task: OpenTask, state: State) -> str | None:
    """The answer; None if the question is left for later, as it is when nothing is typed, or if somebody else
    has answered it meanwhile.
    """
    waiting = state.open_escalation
    assert waiting is not None
    with screen.still():
        if page := presented_page(task):
            say(f"\n{page}", err=True)
        say(f"\n{question(state, waiting)}\n", err=True)
        try:
            return _decision(task, waiting) if waiting.kind in DECISIONS else _choice(task, waiting)
        except click.Abort:  # the end of input, or Ctrl-C: the task is safe, and so is the question
            say("", err=True)
            return None


def _choice(task: OpenTask, waiting: Escalation) -> str | None:
    options = (*waiting.question.options, LEAVE)
    while (said := _typed(task, waiting, "Your answer", options)) not in (*options, None):
        say(f"{said!r} is none of the answers.", err=True)
    return None if said == LEAVE else said


def _typed(task: OpenTask, waiting: Escalation, what: str, options: Sequence[str]) -> str | None:
    """What is typed, or `leave`; None where somebody else was quicker."""
    said = typed_answer(task, waiting, f"{what} ({', '.join(options)}) [{LEAVE}]")
    return said if said is None else said or LEAVE


def _decision(task: OpenTask, waiting: Escalation) -> str | None:
    """A decision, with the words that it needs; `edit` opens the version in the person's editor."""
    edits = (EDIT,) if waiting.kind == "iteration" else ()
    options = (*waiting.question.options, *edits, LEAVE)
    said = _typed(task, waiting, "Your decision", options)
    if said is None:
        return None
    word = next((each for each in options if each == said.lower()), said)
    if word == LEAVE:
        return None
    if word == EDIT:
        edit_presented(task)
        return EDIT
    if (asked := _NEEDS_WORDS.get(word)) is None:
        return word
    words = str(click.prompt(asked, default="", show_default=False, err=True)).strip()
    if word == "revise" and not words:
        return None
    return f"{word}: {words}" if words else word


def ask_to_go_on(screen: Screen, task: OpenTask) -> bool:
    """Whether a task that is done shall go on as its pipeline proposes; the person is asked."""
    if not (prompt := goes_on_with(task)):
        return False
    with screen.still():
        made = ", ".join(product.contract for product in task.state.pipeline.stages[-1].products)
        say(f"\n{task.task_id} is done: {made}.", err=True)
        try:
            return click.confirm(prompt, default=False, err=True)
        except click.Abort:
            say("", err=True)
            return False


def edit_presented(task: OpenTask) -> None:
    """Opens the version that is presented in the person's editor."""
    shown = presented(task.state)
    if not at_terminal() and not (os.environ.get("EDITOR") or os.environ.get("VISUAL")):
        raise UsageError(
            "No editor can be opened here: this is no terminal, and EDITOR is not set.",
            f"Edit the file that `agentforge artifacts show {task.task_id}` names, then run "
            f"`agentforge continue {task.task_id}`.",
        )
    for ref in shown.shown if shown is not None else ():
        try:
            click.edit(filename=str(version_path(task, ref)))
        except click.ClickException as error:
            raise UsageError(
                f"{error.format_message().rstrip('.')}.",
                f"Set EDITOR to one that works, or edit {version_path(task, ref)} and run "
                f"`agentforge continue {task.task_id}`.",
            ) from None
