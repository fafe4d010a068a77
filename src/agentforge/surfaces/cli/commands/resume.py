"""`continue`, also called `resume`: a task that was stopped goes on."""

from typing import TYPE_CHECKING, Unpack

import click

from agentforge.surfaces.cli.flags import PermissionFlags, no_wait_option, permission_flags, permissions_of
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.store.task.engine import EngineName


@click.command(
    "continue",
    epilog="""\b
Examples:
  agentforge continue
  agentforge continue task-20300131-add-a-version-flag
  agentforge continue --strict
  agentforge continue --model anthropic:NAME

TASK is the beginning of a task's name, or its place in `agentforge status` (@1, @2); the newest task
by default. A task that was killed continues where it stopped; one that failed or was aborted resumes at the
first stage without an accepted result. Permission flags replace those that the task was started with.""",
)
@task_argument
@permission_flags
@click.option("--model", metavar="SPEC", help="PROVIDER:NAME for the rest of the task.")
@click.option(
    "--engine",
    type=click.Choice(["local", "temporal"]),
    help="What runs the task; the same as before by default.",
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Run it from here, or on the other engine, once it is certain that nothing else runs it.",
)
@click.option(
    "--detach",
    is_flag=True,
    help="Return while it waits for a batch or another task; with Temporal: do not follow.",
)
@no_wait_option
@repo_option
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def resume(  # noqa: PLR0913 - the options of the command
    *,
    task: str | None,
    model: str | None,
    engine: "EngineName | None",
    take_over: bool,
    detach: bool,
    no_wait: bool,
    as_data: bool,
    **allowed: Unpack[PermissionFlags],
) -> int:
    """Continue TASK, or the newest task."""
    from functools import partial

    from agentforge.app import driving, remote
    from agentforge.app.model_change import model_change, resume_with
    from agentforge.app.tasks import open_task
    from agentforge.surfaces.cli.driving import drive_and_tell, tell_handed_over

    permissions = permissions_of(**allowed) if any(allowed.values()) else None
    found = open_task(here(), task)
    if take_over:
        for sentence in remote.take_over(found, engine):
            say(sentence, err=True)
    else:
        remote.check_driven_by(found, engine)
    change = model_change(found, model, partial(say, err=True)) if model else None
    if detach and not remote.may_be_left(found):
        problem = remote.hand_over(found, resume_with(change, no_wait=no_wait), permissions)
        return tell_handed_over(found, problem, as_data=as_data)
    work = partial(driving.resume, permissions=permissions, change=change, no_wait=no_wait, detach=detach)
    return drive_and_tell(found, work, as_data=as_data)
