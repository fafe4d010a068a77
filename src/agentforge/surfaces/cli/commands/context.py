"""`context`: what a step is shown, block by block, and why; also before a task exists."""

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agentforge.surfaces.cli.printing import json_option
from agentforge.surfaces.cli.repo_option import default_base, here, repo_option
from agentforge.surfaces.cli.start_flags import LANES, MODES
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.record.contexts import ContextReport


class _Planned(TypedDict):
    """The options of `context` beside a request."""

    lane: str | None
    mode: str | None
    base: str | None
    pipeline: str | None


@click.command(
    epilog="""\b
Examples:
  agentforge context task-20300131-add-a-version-flag
  agentforge context task-20300131 --step 3
  agentforge context task-20300131 --step 3 --text | less
  agentforge context --dry-run "Fix the rounding in total()"
  agentforge context --dry-run "Parse fractions" --lane full --json

A + marks what a provider's prompt cache can reuse: for a step, the beginning that it shares with an earlier
one; for a dry run, what the next step will begin with. A dry run asks no model and writes nothing to your
repository. Tokens are our own estimate, on the high side."""
)
@task_argument
@click.option(
    "--step", "number", type=click.IntRange(min=1), help="The step to show; the last one by default."
)
@click.option(
    "--dry-run",
    "request",
    metavar="REQUEST",
    help="Show the first step of a request without starting a task.",
)
@click.option("--lane", type=click.Choice(LANES), help="With --dry-run: as for `start`.")
@click.option("--mode", type=click.Choice(MODES), help="With --dry-run: as for `start`.")
@click.option("--base", metavar="REF", help="With --dry-run: as for `start`.")
@click.option("--pipeline", metavar="NAME", help="With --dry-run: as for `start`.")
@click.option("--text", "whole", is_flag=True, help="Also print the text of every block.")
@repo_option
@json_option
def context(
    *,
    task: str | None,
    number: int | None,
    request: str | None,
    whole: bool,
    as_data: bool,
    **planned: Unpack[_Planned],
) -> int:
    """Show what the model saw in a step of TASK: every block, its size, why it is there, and what was left
    out.
    """
    from agentforge.app.record.contexts import context_fields
    from agentforge.surfaces.cli.pages.context import context_page, context_texts
    from agentforge.surfaces.cli.printing import print_json, print_text, say_toned

    report = _recorded(task, number, planned) if request is None else _dry(task, number, request, planned)
    if as_data:
        print_json(context_fields(report, whole=whole))
        return 0
    for line, tone in context_page(report):
        say_toned(line, tone)
    if whole:
        print_text(context_texts(report))
    return 0


def _recorded(task: str | None, number: int | None, planned: _Planned) -> "ContextReport":
    from agentforge.app.record.contexts import recorded_context
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site

    if said := [f"--{name}" for name, value in planned.items() if value is not None]:
        raise UsageError(
            f"{said[0]} needs --dry-run; a task keeps the options it was started with.",
            f'Write `agentforge context --dry-run "REQUEST" {said[0]} …`, or leave it out.',
        )
    return recorded_context(Site.open(here()).find(task), number)


def _dry(task: str | None, number: int | None, request: str, planned: _Planned) -> "ContextReport":
    from agentforge.app.intake.planned_contexts import planned_context
    from agentforge.app.intake.starting import StartOptions
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site

    if task is not None or number is not None:
        raise UsageError(
            "A dry run is for a request that is not a task yet, so there is no task or step to show.",
            f"Leave {'--step' if task is None else task} out, or leave --dry-run out.",
        )
    site = Site.open(here())
    planned["base"] = planned["base"] or default_base(site.git)
    return planned_context(site, StartOptions(request, **planned))
