"""`server dev`: a Temporal server for one machine, so that a newcomer needs one command."""

import signal
import threading
from pathlib import Path

import click

from agentforge.surfaces.cli.printing import say


@click.group(
    epilog="""\b
Examples:
  agentforge server dev"""
)
def server() -> None:
    """Run a Temporal server for this machine."""


@server.command(
    epilog="""\b
Examples:
  agentforge server dev
  agentforge server dev --port 7300 --ui-port 8300
  agentforge server dev --db try.db

Uses the `temporal` on PATH, or the one of the extra `temporal-dev`; nothing is downloaded. It listens on the
`temporal: address` of ~/.agentforge/config.yaml or on TEMPORAL_ADDRESS, by default on 127.0.0.1:7233, for
this machine only. The database is in your AgentForge directory and outlives the server. Not for
production."""
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Listen on this port of 127.0.0.1, whatever is configured."
)
@click.option("--ui-port", type=click.IntRange(1, 65535), help="Also serve a web page on this port.")
@click.option(
    "--db",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The database file; created if it does not exist.",
)
def dev(*, port: int | None, ui_port: int | None, db: Path | None) -> int:
    """Start a development server, until stopped."""
    from agentforge.app.drivers.connection import need_temporal

    need_temporal()
    from agentforge.app.drivers.dev_server import prepare_server, run_server

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    found = prepare_server(port, ui_port, db)
    server = found.server

    def ready() -> None:
        say(f"server: {server.address}, namespace {server.namespace}, database {server.database}")
        if found.is_open:
            say("server: other machines can reach it, see requests and end workflows")
        if ui_port is not None:
            say(f"server: web page at 127.0.0.1:{ui_port}")
        if not found.is_configured:
            say(f"server: in other terminals, `export TEMPORAL_ADDRESS={server.address}`")
        say(
            "server: next, `agentforge worker` in another terminal, then `agentforge start … --engine "
            "temporal`"
        )

    return run_server(server, ready, stop.is_set)
