"""`discard`: a person throws a task away."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge discard @2
  agentforge discard task-20300131-add-a-version-flag

At a terminal you are asked first; elsewhere TASK must be the whole name. Commits and edits of yours that no
other branch has are kept on a branch, and named. What the task cost stays in `agentforge cost`."""
)
@named_task_argument
@repo_option
@json_option
def discard(*, task: str, as_data: bool) -> int:
    """Remove TASK: its branch, its worktree and its record."""
    from dataclasses import asdict

    from agentforge.app.branches.discarding import discard as remove
    from agentforge.app.record.open_tasks import open_task
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.flags import at_terminal
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.visible import brief

    found = open_task(here(), task)
    name = found.task_id
    if task != name:
        if not at_terminal():
            raise UsageError(
                f"{task!r} is not the whole name, and there is no terminal to ask on.",
                f"`agentforge discard {name}` removes it for good.",
            )
        say(f"{name} ({found.state.status}): {brief(found.state.request, 120)}", err=True)
    if at_terminal() and not click.confirm("Remove its branch, worktree and record for good?", err=True):
        say("Nothing was removed.")
        return 0
    done = remove(found)
    if as_data:
        print_json(asdict(done))
        return 0
    say(
        f"{name} is removed"
        + (f", and so is its branch {done.removed_branch}." if done.removed_branch else ".")
    )
    for kept in done.kept:
        say(f"kept: {kept}")
    return 0
