"""`replay`: a recorded task once more, without a model: all of it, or its changes alone."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.evidence.reapplying import AppliedStep, Reapplied
    from agentforge.app.evidence.replaying import Replayed
    from agentforge.app.record.open_tasks import OpenTask


@click.command(
    epilog="""\b
Examples:
  agentforge replay task-20300131-add-a-version-flag
  agentforge replay --all --since 2030-01-01
  agentforge replay task-20300131 --actions-only --onto release-2
  agentforge replay task-20300131 --actions-only --onto release-2 --apply

No model is called: the recorded replies are used again. Sandbox, tests and gates run for real, under
today's rules. The first step that came out differently is named (exit code 1), and nothing is left behind.
What would leave the sandbox is not done a second time, unless --as-allowed says so. --actions-only applies
the recorded changes as a three-way merge and calls no model; without --apply nothing is written."""
)
@task_argument
@click.option("--actions-only", is_flag=True, help="Apply the recorded changes, and nothing else.")
@click.option("--onto", metavar="BRANCH", help="With --actions-only: where to; HEAD by default.")
@click.option(
    "--apply", "write", is_flag=True, help="With --actions-only: make a branch of it, if its tests pass."
)
@click.option(
    "--as-allowed",
    is_flag=True,
    help="Let it act outside the sandbox as the first task could: its grants, flags and answers count again.",
)
@click.option("--keep", is_flag=True, help="Keep the task that a replay makes.")
@click.option("--all", "everything", is_flag=True, help="Replay every finished task of this repository.")
@click.option(
    "--since",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="With --all: those that began on this day or later.",
)
@repo_option
@json_option
def replay(  # noqa: PLR0913 - one for each option
    *,
    task: str | None,
    actions_only: bool,
    onto: str | None,
    write: bool,
    as_allowed: bool,
    keep: bool,
    everything: bool,
    since: datetime | None,
    as_data: bool,
) -> int:
    """Run TASK again with its recorded replies, and show what came out differently.

    Without TASK, the newest task is replayed.
    """
    from agentforge.app.record.open_tasks import open_task_or_branch

    if (onto or write) and not actions_only:
        raise click.UsageError("--onto and --apply go with --actions-only.")
    if everything and (task or actions_only):
        raise click.UsageError("--all replays every task whole; leave TASK and --actions-only out.")
    if as_allowed and (actions_only or everything):
        raise click.UsageError("--as-allowed is said of one task at a time, and of all of it.")
    if since and not everything:
        raise click.UsageError("--since goes with --all.")
    if everything:
        return _all(f"{since:%Y-%m-%d}" if since else "", as_data=as_data)
    found = open_task_or_branch(here(), task)
    if actions_only:
        return _changes(found, onto, write=write, as_data=as_data)
    return _whole(found, keep=keep, as_allowed=as_allowed, as_data=as_data)


def _whole(task: "OpenTask", *, keep: bool, as_allowed: bool, as_data: bool) -> int:
    from agentforge.app.evidence.replaying import replay as play
    from agentforge.surfaces.cli.pages.screen import ScreenWatcher, open_screen
    from agentforge.surfaces.cli.printing import print_json

    with open_screen(json=as_data) as screen:
        result = play(task, ScreenWatcher(screen), keep=keep, as_allowed=as_allowed)
    if as_data:
        print_json(_fields(result))
    else:
        say("\n" + "\n".join(_lines(result)))
    return 1 if result.divergence else 0


def _all(since: str, *, as_data: bool) -> int:
    from agentforge.app.evidence.replaying import replay as play
    from agentforge.app.evidence.replaying import replayable
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    results = []
    for task in replayable(Site.open(here()), since):
        result = play(task)
        results.append(result)
        if not as_data:
            say(f"{task.task_id}: {_in_short(result)}")
    diverged = sum(result.divergence is not None for result in results)
    if as_data:
        print_json([_fields(result) for result in results])
    elif not results:
        say("No finished tasks to replay.")
    else:
        say(f"{len(results) - diverged} of {len(results)} came out as on record.")
    return 1 if diverged else 0


def _changes(task: "OpenTask", onto: str | None, *, write: bool, as_data: bool) -> int:
    from dataclasses import asdict

    from agentforge.app.evidence.reapplying import reapply
    from agentforge.surfaces.cli.pages.screen import open_screen
    from agentforge.surfaces.cli.printing import print_json

    with open_screen(json=as_data) as screen:
        result = reapply(task, onto, write=write, progress=lambda text: screen.line(f"  {text}", "quiet"))
    if as_data:
        print_json(asdict(result))
    else:
        say("\n".join(_change_lines(result, write=write)))
    return 1 if result.conflict or (write and not result.branch) else 0


def _in_short(result: "Replayed") -> str:
    found = result.divergence
    if found is None:
        return "as on record"
    return f"step {found.step}, stage {found.stage}: {found.what} came out otherwise"


def _lines(result: "Replayed") -> list[str]:
    from agentforge.system.visible import brief

    found = result.divergence
    lines = [f"{result.task_id}: {_in_short(result)}."]
    if found is None:
        lines.append(f"{result.facts} results, verdicts, trees and documents are the same, times aside.")
    else:
        lines.append(f"  on record  {brief(found.recorded, 400) or 'had ended'}")
        lines.append(f"  now        {brief(found.replayed, 400) or 'had ended'}")
    asked = result.state.open_escalation
    if asked is not None and asked.kind == "permission":
        lines.append(
            "It stopped at a call that was allowed then: a replay allows nothing a second time; "
            f"`agentforge replay {result.task_id} --as-allowed` lets it act outside again."
        )
    if result.other_contexts:
        steps = ", ".join(map(str, result.other_contexts))
        lines.append(f"Shown something else than then, which alone is no difference: step {steps}.")
    if result.kept:
        lines.append(f"The replay is kept as {result.replay_id}.")
    return lines


def _change_lines(result: "Reapplied", *, write: bool) -> list[str]:
    lines = [_step_line(step) for step in result.steps]
    where = result.onto[:12]
    if conflict := result.conflict:
        return [
            *lines,
            f"The change of step {conflict.step} does not fit {where}; nothing was written.",
        ]
    if not lines:
        return [f"{result.task_id} has changed nothing."]
    if result.branch:
        return [*lines, f"The tests pass: {result.branch} is at {result.commit[:12]}."]
    if write:
        return [*lines, "No branch was made:", *(f"  {reason}" for reason in result.reasons)]
    return [*lines, f"All of it fits {where}. Nothing was written; --apply makes a branch."]


def _step_line(step: "AppliedStep") -> str:
    paths = ", ".join(step.paths[:5]) + (", …" if len(step.paths) > 5 else "")
    return f"step {step.step}: {step.outcome.replace('_', ' ')}: {paths}"


def _fields(result: "Replayed") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "task_id": result.task_id,
        "same": result.divergence is None,
        "diverged": asdict(result.divergence) if result.divergence else None,
        "compared": result.facts,
        "contexts": result.contexts,
        "other_contexts": [*result.other_contexts],
        "kept": result.replay_id if result.kept else None,
    }
