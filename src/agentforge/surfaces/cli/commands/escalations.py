"""`escalations`: the questions that wait for a person."""

from pathlib import Path

import click


@click.group(
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations list --all --json
  agentforge escalations show ESC-001
  agentforge escalations show ESC-001 --task task-20300131-add

Answer with `agentforge resolve ID`. HOST-LOST is a task of the engine temporal whose host is silent; what
to do is shown with it."""
)
def escalations() -> None:
    """List and show the questions that wait for you."""


@escalations.command(
    "list",
    epilog="""\b
Examples:
  agentforge escalations list
  agentforge escalations list --all --json""",
)
@click.option("--all", "everything", is_flag=True, help="Answered ones too.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def list_(*, everything: bool, as_data: bool) -> int:
    """List the open questions of this repository."""
    from agentforge.app.engine_view import HOST_LOST, lost_hosts
    from agentforge.app.questions import asked
    from agentforge.store.site import Site
    from agentforge.store.views import escalation_view
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.visible import one_line

    site = Site.open(Path.cwd())
    found = list(asked(site, answered=everything))
    lost = lost_hosts(site)
    if lost.note:
        click.echo(lost.note, err=True)
    if as_data:
        views = [escalation_view(item.files, item.state, item.escalation, item.times) for item in found]
        print_json([*(each.view() for each in lost.found), *views])
        return 0
    for each in lost.found:
        click.echo(f"{HOST_LOST}  {each.files.task_id}  host_lost\n    {each.holdup.text}")
    for item in found:
        answer = (
            "" if item.escalation.answer is None else f"  [answered: {one_line(item.escalation.answer, 40)}]"
        )
        click.echo(
            f"{item.escalation.id}  {item.files.task_id}  {item.escalation.kind}  "
            f"{item.escalation.stage}{answer}"
        )
        click.echo(f"    {one_line(item.escalation.question.text, 160)}")
    if not found and not lost.found:
        click.echo("Nothing waits for you.")
    return 0


@escalations.command(
    "show",
    epilog="""\b
Examples:
  agentforge escalations show ESC-001
  agentforge escalations show ESC-002 --task task-20300131-add

Without --task the one task that waits for this answer is meant. The same page, as YAML, is in
.agentforge/escalations.""",
)
@click.argument("escalation", metavar="ID")
@click.option("--task", help="The task, or an unambiguous beginning of its name.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def show(*, escalation: str, task: str | None, as_data: bool) -> int:
    """Show one question on one page: the plan so far, what was tried, what is understood, how to answer."""
    from agentforge.app.engine_view import HOST_LOST, lost_host
    from agentforge.app.questions import task_of
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site
    from agentforge.store.views import escalation_view
    from agentforge.surfaces.cli.pages.escalation import escalation_page
    from agentforge.surfaces.cli.pages.report import stand
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(Path.cwd())
    identity = escalation.upper()
    if identity == HOST_LOST:
        lost = lost_host(site, task)
        if as_data:
            print_json(lost.view())
        else:
            click.echo(lost.page())
        return 0
    files = site.find(task) if task else task_of(site, identity)
    journal = site.read(files)
    found = next((item for item in journal.state.escalations if item.id == identity), None)
    if found is None:
        raise UsageError(
            f"{files.task_id} has no escalation {identity}.",
            "`agentforge escalations list --all` shows what there is.",
        )
    if as_data:
        print_json(escalation_view(files, journal.state, found, journal.times))
        return 0
    click.echo(escalation_page(stand(site.git, files, journal.state), files, journal.times, found))
    return 0
