"""`defect`: a fault that somebody found in what a task delivered."""

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument
from agentforge.surfaces.cli.usage import own_words


@click.command(
    epilog="""\b
Examples:
  agentforge defect task-20300131-add-a-version-flag --note "prints the version twice"
  agentforge start "Print the version once" --reworks task-20300131-add-a-version-flag

The note is kept in the task's journal, shown by `agentforge audit` and counted by `agentforge metrics`."""
)
@named_task_argument
@click.option("--note", required=True, help="What is wrong.")
@repo_option
@json_option
def defect(*, task: str, note: str, as_data: bool) -> int:
    """Record a defect in what TASK delivered."""
    from agentforge.app.evidence.defects import note_defect
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.printing import print_json

    found = open_task_or_branch(here(), task)
    note_defect(found, own_words(note, "note"))
    defects = found.refresh().defects
    if as_data:
        print_json({"task_id": found.task_id, "defects": [*defects]})
    else:
        say(f"Noted. {found.task_id} has {len(defects)} on record.")
        say(f'To have it corrected: `agentforge start "…" --reworks {found.task_id}`.')
    return 0
