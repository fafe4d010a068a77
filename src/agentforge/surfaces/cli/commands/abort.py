"""`abort`: a person ends a task."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge abort task-20300131-add-a-version-flag --reason "not needed any more"

The branch and the whole record are kept; `agentforge continue TASK` resumes the task."""
)
@named_task_argument
@click.option("--reason", default="", help="The reason, for the record.")
@repo_option
@json_option
def abort(*, task: str, reason: str, as_data: bool) -> int:
    """End TASK and keep its work."""
    from agentforge.app.drivers.remote import tell_workers
    from agentforge.app.people.messages import abort as end
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.printing import print_json

    found = open_task(here(), task)
    done = end(found, reason)
    if note := tell_workers(found):
        say(note, err=True)
    if as_data:
        print_json({"task_id": found.task_id, "status": found.refresh().status, "driven": not done})
    elif done:
        say(f"Aborted {found.task_id}; its work is kept. `agentforge continue {found.task_id}` resumes it.")
    else:
        say(
            f"{found.task_id} is running in another process, which was told "
            f"to stop. `agentforge status {found.task_id}` shows when it has stopped."
        )
    return 0
