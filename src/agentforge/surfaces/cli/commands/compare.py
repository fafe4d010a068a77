"""`compare`: two tasks beside each other."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_names

if TYPE_CHECKING:
    from agentforge.app.record.open_tasks import OpenTask


@click.command(
    epilog="""\b
Examples:
  agentforge compare @2 @1
  agentforge compare task-20300131-add-a-flag task-20300131-add-a-flag-2 --format html > compare.html
  agentforge start "Add a --version flag" --compare-to @1

A step is compared by what it did: stage, role, actions and outcome. The words of replies always differ."""
)
@click.argument("first", shell_complete=task_names)
@click.argument("second", shell_complete=task_names)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="The format of the comparison.",
)
@repo_option
@json_option
def compare(*, first: str, second: str, kind: str, as_data: bool) -> int:
    """Show how two tasks went: stages, calls, cost, gates, files, and where their paths parted."""
    from agentforge.app.evidence.comparing import compare_tasks
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.compare import compare_document, compare_fields, compare_page
    from agentforge.surfaces.cli.pages.html import as_html
    from agentforge.surfaces.cli.printing import print_json, print_text

    found = compare_tasks(open_task_or_branch(here(), first), open_task_or_branch(here(), second))
    if as_data or kind == "json":
        print_json(compare_fields(found))
    elif kind == "html":
        print_text(as_html(compare_document(found)).removesuffix("\n"))
    else:
        say(compare_page(found))
    return 0


def tell_comparison(first: "OpenTask", second: "OpenTask") -> None:
    """For a person, after a task that was started to be compared."""
    from agentforge.app.evidence.comparing import compare_tasks
    from agentforge.surfaces.cli.pages.compare import compare_page

    say(f"\n{compare_page(compare_tasks(first, second))}")
