"""`trace`: where the time of a task went, on the screen or at a collector."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge trace task-20300131-add-a-version-flag
  agentforge trace @1 --export
  agentforge trace @1 --export --endpoint ADDRESS
  agentforge trace @1 --json | jq '.spans[] | select(.failed != null)'

A trace is made from the journal, so it can be exported at any time. It holds no prompts and no replies,
unless you give --content. With `otel: {endpoint: ADDRESS}` in your settings, tasks are traced while they
run. Headers for the collector are taken from OTEL_EXPORTER_OTLP_HEADERS."""
)
@task_argument
@click.option("--export", is_flag=True, help="Send it to a collector, as OTLP over HTTP.")
@click.option(
    "--endpoint", metavar="ADDRESS", help="The collector; by default the one of your settings or environment."
)
@click.option("--content", is_flag=True, help="Include prompts and replies.")
@repo_option
@json_option
def trace(*, task: str | None, export: bool, endpoint: str | None, content: bool, as_data: bool) -> int:
    """Show where the time of TASK went: stages, effects and model requests; or send that to a collector.

    Without TASK, the newest task is taken.
    """
    from agentforge.app.evidence.tracing import export_trace, read_trace
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.trace import trace_fields, trace_page
    from agentforge.surfaces.cli.printing import print_json

    if endpoint and not export:
        raise click.UsageError("--endpoint needs --export.")
    opened = open_task_or_branch(here(), task)
    if export:
        sent = export_trace(opened, endpoint or "", content=content)
        if as_data:
            print_json(
                {
                    "task_id": opened.task_id,
                    "endpoint": sent.endpoint,
                    "trace": sent.telemetry.trace,
                    "spans": len(sent.telemetry.spans),
                    "log_records": len(sent.telemetry.records),
                }
            )
        else:
            say(
                f"Sent {len(sent.telemetry.spans):,} spans and {len(sent.telemetry.records):,} log records "
                f"of {opened.task_id} to {sent.endpoint}, as trace {sent.telemetry.trace}."
            )
        return 0
    found = read_trace(opened, content=content)
    if as_data:
        print_json(trace_fields(opened.task_id, found))
    else:
        say(trace_page(found))
    return 0
