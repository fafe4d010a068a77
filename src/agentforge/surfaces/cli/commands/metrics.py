"""`metrics`: how well tasks go, over all repositories."""

import click

from agentforge.surfaces.cli.printing import json_option, say


@click.command(
    epilog="""\b
Examples:
  agentforge metrics
  agentforge metrics --since 2030-01-01 --by week
  agentforge metrics --by model --json
  agentforge metrics --prometheus > /var/lib/node_exporter/agentforge.prom

All figures are read from the journals. Your own time is counted from when a question was first shown to its
answer; a defect is what somebody put on record as one."""
)
@click.option(
    "--since",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Count tasks that began on this day or later.",
)
@click.option("--by", type=click.Choice(["repo", "lane", "model", "week"]), help="What to group by.")
@click.option("--prometheus", is_flag=True, help="Print in Prometheus's text format.")
@json_option
def metrics(*, since: object, by: str | None, prometheus: bool, as_data: bool) -> int:
    """Show how well your tasks go: steps, questions, first tries, rework, defects, and your own time."""
    from typing import cast

    from agentforge.app.evidence.metrics import By, measure, metrics_fields
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.pages.metrics import metrics_page, metrics_prometheus
    from agentforge.surfaces.cli.printing import print_json, print_text

    if prometheus and as_data:
        raise click.UsageError("--prometheus and --json are two formats; choose one.")
    day = "" if since is None else str(since)[:10]
    found = measure(Home(home_path()), day, cast("By | None", by), lambda text: say(text, err=True))
    if as_data:
        print_json(metrics_fields(found))
    elif prometheus:
        print_text(metrics_prometheus(found).rstrip("\n"))
    elif not found.all["tasks"]:
        say("No tasks yet." if not day else f"No tasks since {day}.")
    else:
        say(metrics_page(found))
    return 0
