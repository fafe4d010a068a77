"""`diff`: what a task has changed so far."""

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  agentforge diff task-20300131-add-a-version-flag
  agentforge diff task-20300131 --stat
  agentforge diff task-20300131 | git apply"""
)
@click.argument("task", required=False)
@click.option("--stat", is_flag=True, help="Files and counts only.")
def diff(*, task: str | None, stat: bool) -> int:
    """Show the difference between the base of TASK and its last recorded tree.

    Without TASK the newest one is meant.
    """
    from agentforge.app.deliverable import changes_files, nothing_changed
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_bytes, print_text

    site = Site.open(Path.cwd())
    files = site.find(task)
    state = site.read(files).state
    if not changes_files(state.pipeline):
        click.echo(nothing_changed(state), err=True)
    elif state.tree == state.base_tree:
        click.echo(f"{files.task_id} has changed nothing yet.", err=True)
    elif stat:
        print_text(site.git.diff_stat(state.base_tree, state.tree))
    else:
        print_bytes(site.git.diff_patch(state.base_tree, state.tree))
    return 0
