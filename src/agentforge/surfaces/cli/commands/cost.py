"""`cost`: what the model calls of a task, or of all tasks here, used and cost. Read from the journals, which
are the bill.
"""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge cost
  agentforge cost task-20300131-add-a-version-flag
  agentforge cost --by model
  agentforge cost task-20300131-add-a-version-flag --by day --json

`cached` and `written` are the input tokens read from and written to a prompt cache.
A call that was sent but never answered may still be billed: it is listed separately, at the most it
can have cost."""
)
@task_argument
@click.option(
    "--by",
    type=click.Choice(["stage", "role", "model", "day"]),
    help="What to group by.  [default: stage; without TASK: task]",
)
@repo_option
@json_option
def cost(*, task: str | None, by: str | None, as_data: bool) -> int:
    """Show what TASK, or every task of this repository, has cost."""
    from agentforge.app.models.costs import Savings, calls_of, calls_of_all, in_state, is_discounted
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.pages.costs import costs_fields, costs_page
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(here())
    files = site.find(task) if task else None

    def notice(text: str) -> None:
        say(text, err=True)

    calls = calls_of(site, files) if files else list(calls_of_all(site, notice))
    by = by or ("stage" if task else "task")
    saved = Savings()
    if any(map(is_discounted, calls)):  # else no price list need be loaded
        from agentforge.app.models.savings import savings

        saved = savings(in_state(calls, "settled"))
    if as_data:
        print_json({"task": files.task_id if files else None, "by": by, **costs_fields(calls, by, saved)})
    elif not calls:
        say("No model calls yet.")
    else:
        say(costs_page(calls, by, saved))
    return 0
