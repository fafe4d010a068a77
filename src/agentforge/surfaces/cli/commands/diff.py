"""`diff`: what a task has changed so far."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge diff task-20300131-add-a-version-flag
  agentforge diff task-20300131 --stat
  agentforge diff task-20300131 | git apply"""
)
@task_argument
@click.option("--stat", is_flag=True, help="Show only file names and line counts.")
@repo_option
@json_option
def diff(*, task: str | None, stat: bool, as_data: bool) -> int:
    """Show the difference between the base of TASK and its last recorded tree.

    Without TASK, the newest task is shown.
    """
    from agentforge.app.record.deliverable import changes_files
    from agentforge.app.record.diffs import diff_fields
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.pages.report import nothing_changed
    from agentforge.surfaces.cli.printing import print_bytes, print_json, print_text

    found = open_task(here(), task)
    state, git = found.state, found.site.git
    if as_data:
        print_json(diff_fields(found, stat=stat))
        return 0
    if not changes_files(state.pipeline):
        say(nothing_changed(state), err=True)
    elif state.tree == state.base_tree:
        say(f"{found.task_id} has changed nothing yet.", err=True)
    elif stat:
        print_text(git.diff_stat(state.base_tree, state.tree))
    else:
        print_bytes(git.diff_patch(state.base_tree, state.tree))
    return 0
