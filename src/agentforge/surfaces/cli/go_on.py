"""`continue`, also called `resume`: a task that was stopped goes on."""

from pathlib import Path
from typing import Unpack

import click

from agentforge.surfaces.cli.wishes import Allowed, heard, permission_flags


@click.command(
    "continue",
    epilog="""\b
Examples:
  agentforge continue
  agentforge continue task-20300131-add-a-version-flag
  agentforge continue --strict

TASK may be any unambiguous beginning of a task's name, and is the newest task if left out. A task that was killed just
goes on; one that failed or was aborted is resumed at the first stage without an accepted result. Flags that allow something
take the place of those that the task was started with.""",
)
@click.argument("task", required=False)
@permission_flags
@click.option("--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream.")
def go_on(*, task: str | None, as_data: bool, **allowed: Unpack[Allowed]) -> int:
    """Go on with TASK."""
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive_and_tell
    from agentforge.surfaces.cli.messages import resume_where_halted

    site = Site.open(Path.cwd())
    wishes = heard(**allowed) if any(allowed.values()) else None
    return drive_and_tell(site, site.find(task), resume_where_halted, as_data=as_data, wishes=wishes)
