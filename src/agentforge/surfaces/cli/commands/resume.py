"""`continue`, also called `resume`: a task that was stopped goes on."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from agentforge.surfaces.cli.flags import Allowed, heard, permission_flags

if TYPE_CHECKING:
    from agentforge.store.engine import EngineName


@click.command(
    "continue",
    epilog="""\b
Examples:
  agentforge continue
  agentforge continue task-20300131-add-a-version-flag
  agentforge continue --strict

TASK may be any unambiguous beginning of a task's name, and is the newest task if left out. A task that was
killed just
goes on; one that failed or was aborted is resumed at the first stage without an accepted result. Flags
that allow something take the place of those that the task was started with.""",
)
@click.argument("task", required=False)
@permission_flags
@click.option(
    "--engine",
    type=click.Choice(["local", "temporal"]),
    help="Who drives it; the one it was started with if left out.",
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Drive it from here, or by the other engine, once it is proved that nothing runs.",
)
@click.option(
    "--detach",
    is_flag=True,
    help="End while its calls wait for a batch; for the engine temporal: do not follow.",
)
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def go_on(
    *,
    task: str | None,
    engine: "EngineName | None",
    take_over: bool,
    detach: bool,
    as_data: bool,
    **allowed: Unpack[Allowed],
) -> int:
    """Go on with TASK."""
    from agentforge.app.messages import resume_where_halted
    from agentforge.app.remote import by_batch, choose_engine, leave_to_workers
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive_and_tell

    site = Site.open(Path.cwd())
    wishes = heard(**allowed) if any(allowed.values()) else None
    files = site.find(task)
    for sentence in choose_engine(site, files, engine, take_over=take_over):
        click.echo(sentence, err=True)
    if detach and not by_batch(site, files):
        return leave_to_workers(site, files, resume_where_halted, wishes)
    return drive_and_tell(site, files, resume_where_halted, as_data=as_data, wishes=wishes, detach=detach)
