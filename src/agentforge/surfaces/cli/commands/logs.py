"""`logs`: what happened in a task, line by line, and what happens now."""

import click

from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

_EVERY_S = 0.5


@click.command(
    epilog="""\b
Examples:
  agentforge logs
  agentforge logs task-20300131-add-a-version-flag -f
  agentforge logs @2 -f --json | jq .why

With --json the decisions of the journal are printed as they are on record; with -f one in each line."""
)
@task_argument
@click.option(
    "--follow", "-f", is_flag=True, help="Keep printing until the task is over or needs your answer."
)
@repo_option
@click.option("--json", "as_data", is_flag=True, help="Print the decisions of the journal as JSON.")
def logs(*, task: str | None, follow: bool, as_data: bool) -> int:
    """Print what happened in TASK, each line with its time.

    Without TASK, the newest task is shown.
    """
    import time

    from agentforge.app.record.logs import LogReader
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.pages.logs import log_lines
    from agentforge.surfaces.cli.printing import print_json, print_json_line

    reader = LogReader(open_task(here(), task))
    try:
        while True:
            new = list(reader.more())
            if as_data and not follow:
                print_json([entry.line for entry in new])
            for entry in new if follow or not as_data else ():
                if as_data:
                    print_json_line(entry.line)
                else:
                    for line in log_lines(entry):
                        say(line)
            if not follow or reader.rests():
                return 0
            time.sleep(_EVERY_S)
    except KeyboardInterrupt:
        return 0
