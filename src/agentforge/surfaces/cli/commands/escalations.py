"""`escalations`: the questions that wait for a person."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_option


@click.group(
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations list --all --json
  agentforge escalations show ESC-001
  agentforge escalations show ESC-001 --task task-20300131-add

Answer with `agentforge resolve ID`. HOST-LOST marks a task of the Temporal engine whose host stopped
answering; its page says what to do."""
)
def escalations() -> None:
    """List and show the open questions."""


@escalations.command(
    "list",
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations list --all --json""",
)
@click.option("--all", "everything", is_flag=True, help="Include answered questions.")
@repo_option
@json_option
def list_(*, everything: bool, as_data: bool) -> int:
    """List the open questions of this repository."""
    from agentforge.app.drivers.engine_view import HOST_LOST, lost_tasks
    from agentforge.app.people.inbox import mark_shown, record_fields, record_of
    from agentforge.app.people.questions import list_questions
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages.engine import lost_fields
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.visible import brief

    site = Site.open(here())
    found = list(list_questions(site, answered=everything))
    lost = lost_tasks(site)
    if lost.note:
        say(lost.note, err=True)
    if as_data:
        print_json([*map(lost_fields, lost.found), *(record_fields(record_of(item)) for item in found)])
        return 0
    for each in lost.found:
        say(f"{HOST_LOST}  {each.task.task_id}  host_lost\n    {each.holdup.text}")
    for item in found:
        task, asked = item
        mark_shown(record_of(item))
        answer = "" if asked.answer is None else f"  [answered: {brief(asked.answer, 40)}]"
        say(f"{asked.id}  {task.task_id}  {asked.kind}  {asked.stage}{answer}")
        say(f"    {brief(asked.question.text, 160)}")
    if not found and not lost.found:
        say("No open questions.")
    return 0


@escalations.command(
    "show",
    short_help="Show one question, and all that led to it.",
    epilog="""\b
Examples:
  agentforge escalations show ESC-001
  agentforge escalations show ESC-002 --task task-20300131-add
  agentforge escalations show @1
  agentforge escalations show 2

ID is the name of a question, a task that waits with one (@1 is the newest), or a number that `agentforge
inbox` has shown. Without --task, it is the one task that is waiting for this answer. The same page, as YAML,
is in .agentforge/escalations.""",
)
@click.argument("escalation", metavar="ID")
@task_option
@repo_option
@json_option
def show(*, escalation: str, task: str | None, as_data: bool) -> int:
    """Show one question on one page: the plan so far, what was tried, what is understood, how to answer."""
    from agentforge.app.drivers.engine_view import HOST_LOST, lost_task
    from agentforge.app.people.inbox import find_records, mark_shown, record_fields
    from agentforge.store.layout import Home
    from agentforge.store.site import Site, home_path
    from agentforge.surfaces.cli.pages.engine import lost_fields, lost_page
    from agentforge.surfaces.cli.pages.inbox import record_page
    from agentforge.surfaces.cli.printing import print_json

    if escalation.upper() == HOST_LOST:
        lost = lost_task(Site.open(here()), task)
        if as_data:
            print_json(lost_fields(lost))
        else:
            say(lost_page(lost))
        return 0
    (record,) = find_records((escalation,), task, here(), Home(home_path()))
    if as_data:
        print_json(record_fields(record))
    else:
        say(record_page(record))
        mark_shown(record)
    return 0
