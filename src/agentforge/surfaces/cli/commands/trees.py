"""`trees`: the directories that tasks work in."""

import click

from agentforge.surfaces.cli.commands.clean import clean
from agentforge.surfaces.cli.printing import json_option, say


@click.group(
    epilog="""\b
Examples:
  agentforge trees list
  agentforge trees clean --dry-run"""
)
def trees() -> None:
    """Look at the directories that tasks work in, and remove old ones."""


trees.add_command(clean)


@trees.command(
    "list",
    epilog="""\b
Examples:
  agentforge trees list
  agentforge trees list --json

Of all repositories, the largest first. `agentforge discard TASK` removes one with its task.""",
)
@json_option
def list_(*, as_data: bool) -> int:
    """List each task's directory with its owner, its size and when it was last used."""
    from datetime import datetime

    from agentforge.app.branches.trees import list_leases
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.store.task.times import utc_now
    from agentforge.surfaces.cli.pages.words import age, count, size
    from agentforge.surfaces.cli.printing import print_json, table

    found = list_leases(Home(home_path()))
    if as_data:
        print_json(
            [
                {
                    "task_id": lease.task_id,
                    "repo": None if lease.repo is None else str(lease.repo),
                    "state": lease.state or None,
                    "bytes": lease.bytes,
                    "used_at": lease.used_at,
                    "in_use": lease.in_use,
                    "path": str(lease.path),
                }
                for lease in found
            ]
        )
        return 0
    if not found:
        say("No task has a directory on this machine.")
        return 0
    now = utc_now()
    rows = [
        (
            size(lease.bytes),
            age(int((now - datetime.fromisoformat(lease.used_at)).total_seconds())),
            "in use" if lease.in_use else lease.state or "no task",
            lease.task_id,
            "-" if lease.repo is None else str(lease.repo),
        )
        for lease in found
    ]
    say(table(("size", "used", "state", "task", "repository"), rows, right=frozenset({"size", "used"})))
    total = size(sum(lease.bytes for lease in found))
    say(f"\n{count(len(found), 'directory').replace('directorys', 'directories')}, {total}")
    return 0
