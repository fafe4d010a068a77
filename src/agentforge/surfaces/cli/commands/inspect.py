"""`inspect`: the steps of a task, from its journal and its pack."""

import sys
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

if TYPE_CHECKING:
    from agentforge.app.record.steps import Step
    from agentforge.store.layout import TaskFiles


@click.command(
    epilog="""\b
Examples:
  agentforge inspect task-20300131-add-a-version-flag
  agentforge inspect task-20300131 --step 3
  agentforge inspect task-20300131 --step 3 --show context
  agentforge inspect task-20300131 --step 3 --show diff
  agentforge inspect task-20300131 --show state --json

Steps are model calls, counted over the task. Without --step the last one is shown. At a terminal you move
between steps and their parts with keys; --no-walk only prints."""
)
@task_argument
@click.option("--step", "number", type=click.IntRange(min=1), help="The step to show.")
@click.option(
    "--show",
    type=click.Choice(["context", "reply", "tools", "diff", "gate", "state"]),
    help="Which part of the step.",
)
@click.option(
    "--walk/--no-walk", default=None, help="Go from step to step by keys; on by default at a terminal."
)
@repo_option
@json_option
def inspect(
    *, task: str | None, number: int | None, show: str | None, walk: bool | None, as_data: bool
) -> int:
    """Show the steps of TASK: context, reply and state."""
    from agentforge.app.record.listed import is_left
    from agentforge.app.record.steps import mark_interrupted, pick, steps_of
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.flags import at_terminal
    from agentforge.surfaces.cli.walking import walk_along

    site = Site.open(here())
    files = site.find(task)
    steps = steps_of(files)
    if is_left(files, site.read(files).state.status):
        mark_interrupted(steps)
    if number is None and show is None and not walk:
        _list(files.task_id, steps, as_data=as_data)
        return 0
    step = pick(steps, number, files.task_id)
    seen = at_terminal() and sys.stdout.isatty()
    if walk and (as_data or not seen):
        raise click.UsageError("--walk needs a terminal, and no --json.")
    if as_data or not seen or walk is False:
        _show(files, step, show, as_data=as_data)
    else:
        walk_along(steps, step, show, lambda at, part: _show(files, at, part, as_data=False))
    return 0


def _show(files: "TaskFiles", step: "Step", show: str | None, *, as_data: bool) -> None:
    from agentforge.core.codec import encode
    from agentforge.surfaces.cli.printing import print_json

    match show:
        case None:
            _step(files, step, as_data=as_data)
        case "context":
            _context(files, step, as_data=as_data)
        case "reply":
            _reply(files, step, as_data=as_data)
        case "tools":
            _tools(files, step, as_data=as_data)
        case "diff":
            _diff(files, step, as_data=as_data)
        case "gate":
            _gates(files, step, as_data=as_data)
        case _:
            print_json(encode(step.state))


def _list(task_id: str, steps: "list[Step]", *, as_data: bool) -> None:
    from agentforge.app.record.steps import step_fields
    from agentforge.surfaces.cli.pages.steps import step_cells
    from agentforge.surfaces.cli.printing import print_json, table

    if as_data:
        print_json([step_fields(step) for step in steps])
    elif not steps:
        say(f"{task_id} has no steps yet.")
    else:
        header = ("step", "stage", "role", "context", "in", "out", "outcome", "actions")
        say(
            table(
                header,
                [step_cells(step) for step in steps],
                right=frozenset({"step", "context", "in", "out"}),
            )
        )


def _step(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    from agentforge.app.record.steps import read_results, step_fields
    from agentforge.surfaces.cli.pages.steps import step_headline
    from agentforge.surfaces.cli.printing import print_json, print_text

    results = read_results(files, step)
    if as_data:
        print_json({**step_fields(step), "results": results})
        return
    print_text(step_headline(step))
    for item in results:
        head = f"{item.get('name')} {item.get('target')}".rstrip()
        print_text(
            f"\n{'ok' if item.get('ok') else item.get('mistake') or 'failed'}: {head}\n{item.get('text')}"
        )
    if step.feedback:
        print_text("\nfed back to the next step:\n" + "\n".join(f"  {line}" for line in step.feedback))
    print_text("\nFor all of it: --show context, reply, tools, diff, gate or state.")


def _context(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    from agentforge.app.record.steps import read_context
    from agentforge.surfaces.cli.printing import print_json, print_text

    blocks = read_context(files, step)
    if as_data:
        print_json(
            {
                "step": step.number,
                "tokens": step.context_tokens,
                "blocks": [{"name": name, "text": text} for name, text in blocks],
            }
        )
        return
    for name, text in blocks:
        print_text(f"===== {name}\n{text}\n")


def _reply(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    from agentforge.app.record.steps import read_reply
    from agentforge.surfaces.cli.printing import print_json

    value = read_reply(files, step)
    # A program wants the whole record; a person wants the reply, and the raw text only where it could not be
    # read.
    if as_data or not isinstance(value, dict) or value.get("reply") is None:
        print_json(value)
    else:
        print_json(value["reply"])


def _tools(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    """What each action was asked to do, and what came of it."""
    from agentforge.app.record.steps import read_results
    from agentforge.surfaces.cli.printing import print_json, print_text

    results = read_results(files, step)
    if as_data:
        print_json({"step": step.number, "results": results})
    elif not results:
        say(f"Step {step.number} called no tool.")
    else:
        for item in results:
            head = f"{item.get('name')} {item.get('target')}".rstrip()
            print_text(f"===== {head}: {'ok' if item.get('ok') else item.get('mistake') or 'failed'}")
            print_text(f"{item.get('text')}\n")


def _diff(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    """What the step changed in the tree."""
    from agentforge.app.record.steps import read_patch
    from agentforge.surfaces.cli.printing import print_bytes, print_json

    patch = read_patch(files, step)
    if as_data:
        print_json({"step": step.number, "diff": patch.decode("utf-8", "replace")})
    elif not patch:
        say(f"Step {step.number} changed no file.")
    else:
        print_bytes(patch)


def _gates(files: "TaskFiles", step: "Step", *, as_data: bool) -> None:
    """What each gate said of what the step left, with its record."""
    from agentforge.app.record.steps import read_verdicts
    from agentforge.surfaces.cli.printing import print_json

    verdicts = read_verdicts(files, step)
    if as_data or verdicts:
        print_json({"step": step.number, "verdicts": verdicts})
    else:
        say(f"No gate judged what step {step.number} left.")
