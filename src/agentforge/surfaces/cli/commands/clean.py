"""`clean`: the disk space of what can be made again."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.branches.cleaning import Cleaning, KeptDirectory
    from agentforge.core.reply import Json

_WHY = {
    "in_use": "in use",
    "unfinished": "an unfinished task needs it",
    "unmerged": "a branch that is not merged needs it",
    "edited": "it has edits that are not committed",
    "not_archived": "git does not have all of it",
    "record_gone": "the task's record is gone",
    "unreadable": "the task's record cannot be read",
}


@click.command(
    epilog="""\b
Examples:
  agentforge clean --dry-run
  agentforge clean
  agentforge clean --all --json

Removes checkouts of finished tasks and environments, of all repositories, least recently used first, down
to the limits in your settings (`keep: {environments_mb: 2000, checkouts: 20}`). The same happens after each
task. What an unfinished task or an unmerged branch needs stays, and so does whatever git does not have.
Anything that is needed again is made again."""
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--all", "everything", is_flag=True, help="Remove all that nobody needs, whatever the limits.")
@json_option
def clean(*, dry_run: bool, everything: bool, as_data: bool) -> int:
    """Remove old environments and checkouts that nobody needs."""
    from agentforge.app.branches.cleaning import clean as tidy_up
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.printing import print_json

    done = tidy_up(Home(home_path()), everything=everything, dry_run=dry_run)
    if as_data:
        print_json(_fields(done, dry_run=dry_run))
    else:
        say("\n".join(_lines(done, dry_run=dry_run, everything=everything)))
    return 0


def _lines(done: "Cleaning", *, dry_run: bool, everything: bool) -> list[str]:
    from agentforge.surfaces.cli.pages.words import count, size

    freed = f"{'Would free' if dry_run else 'Freed'} {size(done.bytes)}."
    lines = [*map(_row, done.removed), freed if done.removed else "Nothing to remove."]
    lines.append(
        f"Left: {size(done.environment_bytes)} of environments (limit {done.limits.environments_mb:,} MB), "
        f"{count(done.checkouts, 'finished checkout')} (limit {done.limits.checkouts})."
    )
    lines += [f"{_row(each)}: kept, {_WHY[each.reason]}" for each in done.held]
    if not everything and not done.removed and (done.environment_bytes or done.checkouts):
        lines.append("`agentforge clean --all --dry-run` shows what could go before its limit is reached.")
    return lines


def _row(found: "KeptDirectory") -> str:
    from agentforge.surfaces.cli.pages.words import size

    what = f"checkout of {found.task_id}" if found.task_id else f"{found.kind} of {found.repo}"
    return f"  {size(found.bytes):>8}  {what}"


def _fields(done: "Cleaning", *, dry_run: bool) -> "dict[str, Json]":
    return {
        "dry_run": dry_run,
        "bytes": done.bytes,
        "removed": [_directory(each) for each in done.removed],
        "held": [_directory(each) for each in done.held],
        "environments": {
            "bytes": done.environment_bytes,
            "limit_bytes": done.limits.environments_mb * 1_000_000,
        },
        "checkouts": {"count": done.checkouts, "limit": done.limits.checkouts},
    }


def _directory(found: "KeptDirectory") -> "dict[str, Json]":
    from datetime import UTC, datetime

    from agentforge.store.task.times import stamp

    return {
        "kind": found.kind,
        "repo": found.repo,
        "task_id": found.task_id or None,
        "path": str(found.path),
        "bytes": found.bytes,
        "used_at": stamp(datetime.fromtimestamp(found.used, UTC)),
        "reason": found.reason or None,
    }
