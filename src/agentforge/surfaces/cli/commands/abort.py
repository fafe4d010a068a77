"""`abort`: a person ends a task."""

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  agentforge abort task-20300131-add-a-version-flag --reason "not needed any more"

The branch and everything on record are kept; `agentforge continue TASK` takes it up again."""
)
@click.argument("task")
@click.option("--reason", default="", help="Why; it goes on record.")
def abort(*, task: str, reason: str) -> int:
    """End TASK and keep its work."""
    from agentforge.app.messages import send_abort
    from agentforge.app.remote import nudge
    from agentforge.store.site import Site

    site = Site.open(Path.cwd())
    files = site.find(task)
    done = send_abort(site, files, reason)
    if note := nudge(site, files):
        click.echo(note, err=True)
    if done:
        click.echo(
            f"{files.task_id} is aborted; its work is kept. `agentforge continue {files.task_id}` takes "
            "it up again."
        )
    else:
        click.echo(
            f"The driver of {files.task_id} was told, and stops when it comes to it. `agentforge status "
            f"{files.task_id}` shows when."
        )
    return 0
