"""`dashboard`, also called `ui`: the page of all tasks, served on this machine."""

import click

from agentforge.surfaces.cli.printing import print_own_secret, say


@click.command(
    epilog="""\b
Examples:
  agentforge dashboard
  agentforge dashboard --open
  agentforge dashboard --port 0

The page shows the tasks of all repositories as they go, and lets you answer, decide and start tasks. It is
reachable from this machine alone, by whoever has the link; from another one, forward the port with `ssh -L
8420:127.0.0.1:8420 HOST`. Tasks run in processes of their own: stopping the dashboard stops none of them.
Ctrl-C ends it."""
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8420,
    show_default=True,
    help="The port to listen on; 0 takes any free one.",
)
@click.option("--open", "in_browser", is_flag=True, help="Open the page in your browser.")
def dashboard(*, port: int, in_browser: bool) -> int:
    """Serve the page on which you see your tasks, answer their questions and start new ones."""
    from pathlib import Path

    from agentforge.core.errors import UsageError
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.system.installation import install_command

    try:
        from agentforge.surfaces.dashboard.serve import open_dashboard
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("agentforge"):
            raise
        raise UsageError(
            f"The dashboard needs {error.name}, which is not installed.",
            f"Install it with `{install_command('dashboard')}`.",
        ) from None

    made = open_dashboard(Home(home_path()), Path.cwd(), port)
    print_own_secret(f"The dashboard is ready: {made.link}")
    say("Whoever has this link can answer for you. Ctrl-C ends it; your tasks go on.", err=True)
    if in_browser:
        click.launch(made.link)
    made.run()
    return 0
