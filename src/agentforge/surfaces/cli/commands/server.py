"""`server dev`: a Temporal server for one machine, so that a newcomer needs one command."""

import signal
import threading
from pathlib import Path

import click


@click.group(
    epilog="""\b
Examples:
  agentforge server dev"""
)
def server() -> None:
    """Run what the Temporal engine needs."""


@server.command(
    epilog="""\b
Examples:
  agentforge server dev
  agentforge server dev --port 7300 --ui-port 8300
  agentforge server dev --db try.db

The `temporal` on PATH is used, else that of the extra `temporal-dev`; nothing is downloaded. It listens on
this machine
only. The database lies in your AgentForge directory and outlives the server. Not for production."""
)
@click.option(
    "--port", type=click.IntRange(1, 65535), default=7233, show_default=True, help="Where clients find it."
)
@click.option("--ui-port", type=click.IntRange(1, 65535), help="Also a page for the browser, there.")
@click.option(
    "--db",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The database; made if it is not there.",
)
def dev(*, port: int, ui_port: int | None, db: Path | None) -> int:
    """Start a development server, until stopped."""
    from agentforge.app.connection import need_temporal

    need_temporal()
    from agentforge.app.connection import read_temporal
    from agentforge.engines.temporal.server import DevServer, find_program, run_server
    from agentforge.store.site import home_path

    config = read_temporal()
    database = db or home_path() / "temporal.db"
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    found = DevServer(find_program(config.program), port, ui_port, database, config.namespace)

    def ready() -> None:
        click.echo(f"server: {found.address}, namespace {found.namespace}, database {database}")
        if ui_port is not None:
            click.echo(f"server: the page is at 127.0.0.1:{ui_port}")
        if found.address != config.address:
            click.echo(f"server: for the others, `export TEMPORAL_ADDRESS={found.address}`")
        click.echo(
            "server: next, `agentforge worker` in another terminal, then `agentforge start … --engine "
            "temporal`"
        )

    return run_server(found, ready, stop.is_set)
