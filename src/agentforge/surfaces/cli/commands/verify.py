"""`verify`: the proof of a task, checked offline."""

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  agentforge verify task-20300131-add-a-version-flag
  agentforge verify agentforge/task-20300131-add-a-version-flag --rerun

Checks the chain of the journal and every hash of the evidence; with --rerun the recorded commands run
again."""
)
@click.argument("task_or_branch")
@click.option("--rerun", is_flag=True, help="Run the recorded commands again, in the sandbox.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def verify(*, task_or_branch: str, rerun: bool, as_data: bool) -> int:
    """Check the proof of TASK_OR_BRANCH."""
    from dataclasses import asdict

    from agentforge.app import proof
    from agentforge.app.deliverable import changes_files
    from agentforge.app.tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.report import nothing_changed
    from agentforge.surfaces.cli.pages.screen import open_screen
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.visible import brief

    task = open_task_or_branch(Path.cwd(), task_or_branch)
    with open_screen(json=as_data) as screen:
        findings = proof.verify(task, rerun=rerun, progress=lambda text: screen.line(f"  {text}", "quiet"))
    state = task.state
    branched = changes_files(state.pipeline)
    wrong = [finding.row for finding in findings if not finding.ok]
    if as_data:
        print_json(
            {
                "task_id": task.task_id,
                "ok": not wrong,
                "rerun": rerun,
                "changes_nothing": not branched,
                "findings": [asdict(finding) for finding in findings],
            }
        )
        return 1 if wrong else 0
    for finding in findings:
        click.echo(
            f"{'ok   ' if finding.ok else 'WRONG'}  {finding.row}: {brief(finding.text, 300)}".rstrip()
        )
    if not branched:
        click.echo(nothing_changed(state))
        click.echo(
            f"Its record does not hold: {', '.join(wrong)}"
            if wrong
            else "What it wrote is as recorded; there is nothing to run."
        )
    elif wrong:
        click.echo(f"{task.task_id}: the proof does not hold: {', '.join(wrong)}")
    else:
        click.echo(
            f"{task.task_id}: the proof holds"
            + ("." if rerun else "; --rerun also runs the recorded commands again.")
        )
    return 1 if wrong else 0
