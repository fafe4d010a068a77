"""`resolve`: a person answers a question, and the task goes on."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.task_names import task_option


@click.command(
    epilog="""\b
Examples:
  agentforge resolve ESC-001 --answer "Use UTC everywhere"
  agentforge resolve ESC-002 --task task-20300131-add --answer retry
  agentforge resolve ESC-003 --answer allow
  agentforge resolve ESC-001 --abort

To a question for permission the answers are allow, always and deny; any other text denies the call and is
passed to the model. The first answer counts. Without --task, it is the one task that is waiting for this
answer. `agentforge escalations show ID` shows everything that led to the question."""
)
@click.argument("escalation", metavar="ID")
@task_option
@click.option("--answer", help="One of the options, or your own words.")
@click.option("--abort", is_flag=True, help="Answer by ending the task; its work is kept.")
@click.option(
    "--no-drive", is_flag=True, help="Only record the answer; `agentforge continue` resumes the task later."
)
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def resolve(
    *, escalation: str, task: str | None, answer: str | None, abort: bool, no_drive: bool, as_data: bool
) -> int:
    """Answer the question ID, and let its task continue."""
    if abort == (answer is not None):
        raise click.UsageError("Give either --answer TEXT or --abort.")
    said = "abort" if answer is None else answer
    if not said.strip():
        raise click.UsageError("The answer is empty.")

    from agentforge.app.answers import answer as give
    from agentforge.app.engine_view import HOST_LOST, not_in_words
    from agentforge.app.questions import task_that_asks
    from agentforge.app.remote import tell_workers
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive_and_tell, tell

    identity = escalation.upper()
    if identity == HOST_LOST:
        raise not_in_words(task)
    found = task_that_asks(Site.open(Path.cwd()), identity, task)
    free, notes = give(found, identity, said)
    for note in notes:
        say(note, err=as_data)
    ended = found.refresh().status == "cancelled"
    if free and not no_drive and not ended:
        return drive_and_tell(found, as_data=as_data)
    if not no_drive and (note := tell_workers(found)):
        say(note, err=True)
    if as_data:
        tell(found, as_data=True)
    elif ended:
        say(f"{identity} answered: {found.task_id} is aborted; its work is kept.")
    elif free:
        say(f"{identity} answered. `agentforge continue {found.task_id}` resumes the task.")
    else:
        say(f"{identity} answered; the process that runs {found.task_id} continues.")
    return 0
