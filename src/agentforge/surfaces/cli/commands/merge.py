"""`merge`: a person takes a delivered branch into their own."""

from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument

if TYPE_CHECKING:
    from agentforge.app.branches.merging import MergeResult


@click.command(
    epilog="""\b
Examples:
  agentforge merge task-20300131-add-a-version-flag
  git switch develop && agentforge merge @1

The branch that is checked out here moves forward, or gets a merge commit of yours. The tests run on the
merged tree first: if they fail there, or files conflict, your checkout is not changed. Nothing is forced,
and nothing is pushed."""
)
@named_task_argument
@repo_option
@json_option
def merge(*, task: str, as_data: bool) -> int:
    """Merge the branch of TASK into the branch that is checked out, if its tests pass there."""
    from dataclasses import asdict

    from agentforge.app.branches.merging import merge as take_in
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.screen import open_screen
    from agentforge.surfaces.cli.printing import print_json

    found = open_task_or_branch(here(), task)
    with open_screen(json=as_data) as screen:
        result = take_in(found, lambda text: screen.line(f"  {text}", "quiet"))
    if as_data:
        print_json({"task_id": found.task_id, **asdict(result)})
    else:
        say("\n".join(_lines(found.task_id, result)))
    return 0 if result.outcome in ("merged", "already_merged") else 1


def _lines(task: str, result: "MergeResult") -> list[str]:
    branch, target = result.branch, result.target
    match result.outcome:
        case "merged":
            return [
                f"Merged {branch} into {target} ({result.how}): {result.proved}.",
                f"{target} was at {result.before[:12]} and is at {result.commit[:12]}. Nothing was pushed.",
            ]
        case "already_merged":
            return [f"{target} has all of {branch} already."]
        case outcome:
            why, step = _FAILED[outcome]
            return [
                f"{branch} was not merged into {target}: {why}.",
                *(f"  {reason}" for reason in result.reasons),
                f"{target} is where it was. {step.format(branch=branch, task=task)}",
            ]


_FAILED = {
    "conflict": ("conflict", "`git merge {branch}` lets you resolve it; run your tests afterwards."),
    "red": ("tests fail on the merged tree", "`agentforge diff {task}` shows the change."),
    "not_run": ("the merged tree could not be tested", "`agentforge doctor` checks this machine."),
    "unproved": ("its proof does not hold", "`agentforge verify {task}` says why."),
    "refused": ("git refused", "Look at `git status`, then merge again."),
}
