"""`report`: what a task proved, as Markdown for a pull request; and its envelope, as a file."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument


@click.command(
    epilog="""\b
Examples:
  agentforge report task-20300131-add-a-version-flag > body.md
  agentforge report task-20300131-add-a-version-flag --envelope proof.json
  agentforge report task-20300131-add-a-version-flag --json

The envelope is what the seal at the tip of the branch contains. If you squash the commits, keep it as a
file: `agentforge verify FILE` checks it against the tree."""
)
@task_argument
@click.option(
    "--envelope",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the seal's envelope to this file.",
)
@repo_option
@json_option
def report(*, task: str | None, envelope: Path | None, as_data: bool) -> int:
    """Print what TASK, or the newest task, proved, and what it did not."""
    from dataclasses import asdict

    from agentforge.app.evidence.proof_report import proof_report, write_envelope
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.pull_request import as_markdown
    from agentforge.surfaces.cli.printing import print_json, print_text

    opened = open_task_or_branch(here(), task)
    found = proof_report(opened)
    if envelope is not None:
        write_envelope(opened, envelope)
    if as_data:
        print_json(asdict(found))
    else:
        print_text(as_markdown(found))
    return 0
