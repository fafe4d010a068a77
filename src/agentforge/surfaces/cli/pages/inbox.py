"""Open questions: a list of them, one on a page, and the words that a person is asked for."""

from collections.abc import Sequence

import click

from agentforge.app.people.inbox import InboxRecord
from agentforge.app.record.reports import report
from agentforge.store.task.views import expires_at
from agentforge.surfaces.cli.pages.escalation import escalation_page
from agentforge.surfaces.cli.pages.version import presented_page
from agentforge.surfaces.cli.pages.words import age, count, money
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.prompting import typed_answer
from agentforge.system.visible import brief

LEAVE = "leave"


def inbox_lines(records: Sequence[InboxRecord]) -> list[str]:
    """Two lines for each: who asks, since when and about what; then the question."""
    lines: list[str] = []
    for number, record in enumerate(records, 1):
        escalation, top = record.escalation, record.task.site.git.top
        lines.append(
            f"{number:>3}  {record.name}  {escalation.kind}  {escalation.stage}  waits {age(record.waited_s)}"
            f"  {brief(top.name, 40)}"
        )
        recommended = escalation.question.recommendation
        hint = f"  [recommended: {brief(recommended, 60)}]" if recommended else ""
        lines.append(f"     {brief(escalation.question.text, 160)}{hint}")
    return lines


def record_page(record: InboxRecord) -> str:
    """Everything that led to the question, and what waiting costs."""
    task = record.task
    page = escalation_page(report(task), task.files, task.journal.times, record.escalation)
    held, times = record.reserved, task.journal.times
    costs = [
        f"  open for {age(record.waited_s)}; {task.task_id} waits until it is answered",
        *(
            [f"  {count(held.calls, 'call')} in flight hold back {money(held.micro_usd)}"]
            if held.calls
            else []
        ),
        *([f"  {_expiry(record, until)}"] if (until := expires_at(record.escalation, times)) else []),
        *([f"  the work so far is in {record.worktree}"] if record.worktree.is_dir() else []),
    ]
    shown = presented_page(task) if record.escalation.answer is None else ""
    parts = ["", "What is presented", *(f"  {line}" for line in shown.splitlines())] if shown else []
    return "\n".join([page, *parts, "", "What waiting costs", *costs])


def _expiry(record: InboxRecord, until: str) -> str:
    """What happens if nobody answers."""
    return (
        f"at {until} the answer is {brief(record.escalation.unless_answered, 80)}: "
        f"`agentforge continue {record.task.task_id}` then takes it"
    )


def ask_answer(record: InboxRecord) -> str | None:
    """The answer of the person who sits there: an option by its number, or words of their own. None leaves
    the question for later, or means that somebody else has answered it.
    """
    options = record.options
    for number, words in enumerate(options, 1):
        mark = "  (recommended)" if words == record.escalation.question.recommendation else ""
        say(f"  {number}  {brief(words, 200)}{mark}", err=True)
    shape = "A number, or your own words" if options else "Your answer"
    try:
        text = typed_answer(record.task, record.escalation, f"{shape} (Enter leaves it)")
    except click.Abort:
        say("", err=True)
        return None
    if not text or text.lower() == LEAVE:
        return None
    return record.option(int(text)) if text.isdecimal() and options and len(text) < 4 else text
