"""`inbox`: everything that waits for a person, in all repositories."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.people.inbox import InboxRecord
    from agentforge.store.layout import Home


@click.command(
    epilog="""\b
Examples:
  agentforge inbox
  agentforge inbox --json
  agentforge resolve 1 --option 2
  agentforge resolve task-20300131-add/ESC-001 --option 1

At a terminal you choose a question, read all that led to it, and answer; then the tasks go on. Elsewhere the
questions are listed, the longest waiting first. Their numbers can be used with `agentforge resolve 1`, and
mean the same until the next list."""
)
@click.option("--all", "everything", is_flag=True, help="Include answered questions.")
@json_option
def inbox(*, everything: bool, as_data: bool) -> int:
    """Show and answer the open questions of all repositories."""
    from agentforge.app.people.inbox import inbox_records, keep_numbers, mark_shown, record_fields
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.flags import at_terminal
    from agentforge.surfaces.cli.pages.inbox import inbox_lines
    from agentforge.surfaces.cli.printing import print_json

    home = Home(home_path())
    records = inbox_records(home, lambda text: say(text, err=True), answered=everything)
    if as_data:
        print_json([record_fields(record) for record in records])
        return 0
    if not records:
        say("No open questions.")
        return 0
    say("\n".join(inbox_lines(records)))
    keep_numbers(home, records)
    for record in records:
        mark_shown(record)
    if not at_terminal() or everything:
        return 0
    return _answer_them(home, records)


def _answer_them(home: "Home", records: "list[InboxRecord]") -> int:
    """One question after the other, until the person has had enough; then their tasks go on."""
    from agentforge.app.people.inbox import inbox_records, keep_numbers
    from agentforge.surfaces.cli.driving import drive_and_tell
    from agentforge.surfaces.cli.pages.inbox import inbox_lines

    free = []
    while records and (chosen := _number()):
        if not chosen.isdecimal() or not 1 <= int(chosen) <= len(records):
            say(f"There is no question {chosen!r}; type a number from 1 to {len(records)}.", err=True)
            continue
        record = records[int(chosen) - 1]
        if _answer_one(record):
            free.append(record.task)
        records = inbox_records(home)
        keep_numbers(home, records)
        say("\n".join(inbox_lines(records)))
    if not free:
        return 0
    if not click.confirm(f"Go on with {len(free)} of your tasks now?", default=True, err=True):
        for task in free:
            say(f"`agentforge continue {task.task_id}` resumes it, in {task.site.git.top}")
        return 0
    return max(drive_and_tell(task) for task in free)


def _number() -> str:
    return str(click.prompt("Number (Enter ends)", default="", show_default=False, err=True)).strip()


def _answer_one(record: "InboxRecord") -> bool:
    """Whether the question was answered here, and its task can go on."""
    from agentforge.app.people.answers import answer
    from agentforge.core.errors import UserError
    from agentforge.surfaces.cli.pages.inbox import ask_answer, record_page

    say(record_page(record))
    words = ask_answer(record)
    if words is None:
        return False
    try:
        taken = answer(record.task, record.escalation.id, words)
    except UserError as error:  # somebody else was quicker
        say(f"error: {error}", err=True)
        return False
    for note in taken.notes:
        say(note)
    return taken.free and record.task.refresh().status != "cancelled"
