"""A Temporal server for one machine, so that a newcomer needs one command."""

from dataclasses import dataclass
from pathlib import Path

from agentforge.app.drivers.connection import read_temporal
from agentforge.engines.temporal.server import LOOPBACK, DevServer, find_program, listening_place, run_server
from agentforge.models.known.providers import is_loopback
from agentforge.store.site import home_path

__all__ = ["PreparedServer", "prepare_server", "run_server"]


@dataclass(frozen=True, slots=True)
class PreparedServer:
    """A development server that is not started yet."""

    server: DevServer
    is_configured: bool
    """Whether workers and commands look for it there anyway."""

    @property
    def is_open(self) -> bool:
        """Whether other machines can reach it, too."""
        return not is_loopback(self.server.host)


def prepare_server(port: int | None, ui_port: int | None, database: Path | None) -> PreparedServer:
    """The server where the user's configuration says it is; with `port` on the loopback instead."""
    config = read_temporal()
    host, number = (LOOPBACK, port) if port is not None else listening_place(config.address)
    place = database or home_path() / "temporal.db"
    server = DevServer(find_program(config.program), number, ui_port, place, config.namespace, host)
    return PreparedServer(server, server.address == config.address)
