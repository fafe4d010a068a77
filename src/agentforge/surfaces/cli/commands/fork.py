"""`fork`: a new task that begins in the middle of another one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.flags import at_terminal
from agentforge.surfaces.cli.printing import say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.intake.forking import Changes


@click.command(
    epilog="""\b
Examples:
  agentforge fork task-20300131-add-a-version-flag --from-step 23
  agentforge fork @1 --set model=openai:NAME
  agentforge fork @1 --set tier.reasoning=anthropic:NAME
  agentforge fork @1 --from-step 4 --set prompt=./try-harder.md
  agentforge fork @1 --set answer="round up"

The new task shares the first steps and does not pay for them; the old one is not changed. KEY is `model`
(the model from there on), `tier.reasoning`, or generation, summarization or classification (the model for
that kind of work), `prompt` (a file with other instructions for the stage under way) or `answer` (another
answer to the last question that was answered before)."""
)
@task_argument
@click.option(
    "--from-step",
    "step",
    type=click.IntRange(min=0),
    help="The last step to keep; by default the last one of the last accepted stage.",
)
@click.option("--set", "wanted", metavar="KEY=VALUE", multiple=True, help="What to change from there on.")
@click.option("--no-drive", is_flag=True, help="Record the new task and do not run it yet.")
@repo_option
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def fork(
    *, task: str | None, step: int | None, wanted: tuple[str, ...], no_drive: bool, as_data: bool
) -> int:
    """Continue a copy of TASK from one of its steps, with another model or one other change.

    Without TASK, the newest task is forked.
    """
    from agentforge.app.intake.forking import allowed_beforehand
    from agentforge.app.intake.forking import fork as split
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.driving import drive_and_tell, tell

    changes, first = _changes(wanted), open_task_or_branch(here(), task)
    made = split(first, step, changes, at_terminal=at_terminal())
    if made.state.sandbox == "none":
        say(f"{made.task_id} runs without a sandbox, because the first task did.", err=True)
    if flags := allowed_beforehand(first):
        again = " ".join(("agentforge", "continue", made.task_id, *flags))
        say(
            f"{made.task_id} asks before it does what {', '.join(flags)} allowed the first task; "
            f"`{again}` allows it here, too.",
            err=True,
        )
    return tell(made, as_data=as_data) if no_drive else drive_and_tell(made, as_data=as_data)


def _changes(wanted: tuple[str, ...]) -> "Changes":
    from agentforge.app.intake.forking import CHANGES, Changes

    said: dict[str, str] = {}
    for each in wanted:
        key, equals, value = each.partition("=")
        if not equals or not value or key not in CHANGES:
            raise click.BadParameter(
                f"{each!r} changes nothing; it takes {', '.join(f'{name}=…' for name in CHANGES)}.",
                param_hint="'--set'",
            )
        if key in said:
            raise click.BadParameter(f"{key} is there twice; choose one.", param_hint="'--set'")
        said[key] = value
    prompt = Path(said["prompt"]) if "prompt" in said else None
    tiers = {key.removeprefix("tier."): value for key, value in said.items() if key.startswith("tier.")}
    return Changes(said.get("model", ""), tiers, prompt, said.get("answer", ""))
