"""`start`: a request becomes a task, and the task is driven."""

from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  agentforge start "Add a --version flag to the command line" --model openai:NAME
  agentforge start "Fix the rounding in total()" --lane hotfix
  agentforge start "Parse fractions" --base main --budget 2.50 --json

The answer is a branch, agentforge/TASK. Your checkout is never touched and nothing is merged."""
)
@click.argument("request")
@click.option("--lane", type=click.Choice(["hotfix", "small"]), help="How much process; found from the request if left out.")
@click.option("--base", metavar="REF", help="The commit to start from; the one that is checked out if left out.")
@click.option("--model", metavar="SPEC", help="openai:NAME or scripted:FILE.")
@click.option("--sandbox", type=click.Choice(["auto", "bubblewrap", "landlock", "none"]), help="The walls around what runs.")
@click.option("--budget", metavar="USD", help="The most that the task may cost, such as 2.50.")
@click.option("--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream.")
def start(  # noqa: PLR0913 - one parameter per option
    *, request: str, lane: str | None, base: str | None, model: str | None, sandbox: str | None, budget: str | None, as_data: bool
) -> int:
    """Turn REQUEST into a verified branch, or one precise question."""
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive, tell
    from agentforge.surfaces.cli.screen import open_screen
    from agentforge.wiring import StartOptions
    from agentforge.wiring import start as begin

    site = Site.open(Path.cwd())
    dirty = site.git.is_dirty()
    files = begin(site, StartOptions(request, base, lane, model, sandbox, budget))
    with open_screen(json=as_data) as screen:
        state = site.read(files).state
        why = f" ({'; '.join(state.triage)})" if state.triage else ""
        screen.line(files.task_id, "heading")
        screen.line(f"  lane {state.pipeline.lane}{why}, model {state.model}, sandbox {state.sandbox}")
        if dirty:
            screen.line(f"  uncommitted changes are not part of the task; it starts from commit {state.base_commit[:12]}", "caught")
        state = drive(site, files, screen)
    return tell(site, files, state, as_data=as_data)
