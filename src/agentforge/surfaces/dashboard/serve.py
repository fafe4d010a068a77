"""The server itself: an address of this machine, and a process that answers there until it is stopped."""

import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from agentforge import __version__
from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.surfaces.dashboard import act_routes, connections, read_routes, sockets
from agentforge.surfaces.dashboard.door import ENTRANCE, Door, DoorKey
from agentforge.surfaces.dashboard.page import page_routes
from agentforge.surfaces.dashboard.reader import TaskReader
from agentforge.surfaces.dashboard.replies import tell_errors
from agentforge.surfaces.dashboard.watcher import TaskWatcher
from agentforge.system.files import make_own_directory

HOST = "127.0.0.1"
_MOST_SAID = 65_536
"""Bytes of one message of a listener, and of the headers of a request."""


def make_app(home: Home, here: Path) -> FastAPI:
    """The API and the page, without a door."""
    reader = TaskReader(home, here)
    watcher = TaskWatcher(reader)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        watcher.close()

    app = FastAPI(
        title="AgentForge dashboard",
        version=__version__,
        summary="Tasks of this machine: what they do, what they ask, and what they proved.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.reader, app.state.watcher = reader, watcher
    tell_errors(app)
    for router in (read_routes.router, act_routes.router, sockets.router, page_routes()):
        app.include_router(router)
    return app


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A server that has its address, and answers when it runs."""

    server: uvicorn.Server
    listening: socket.socket
    link: str
    """What lets a browser in. Whoever has it can act for the user."""

    def run(self) -> None:
        """Answers until somebody stops it."""
        with self.listening:
            self.server.run(sockets=[self.listening])


def open_dashboard(home: Home, here: Path, port: int) -> Dashboard:
    """Takes the port, 0 for any; a `UsageError` if somebody has it."""
    make_own_directory(home.path)
    listening = _bound(port)
    number = listening.getsockname()[1]
    key = DoorKey.of(home, number)
    config = uvicorn.Config(
        Door(make_app(home, here), key),
        http=connections.PatientProtocol,
        ws="websockets-sansio",
        log_config=None,
        log_level="critical",  # requests hold names and words that belong in no log
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=connections.MOST_CONNECTIONS,
        ws_max_size=_MOST_SAID,
        ws_max_queue=8,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=_MOST_SAID,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    return Dashboard(uvicorn.Server(config), listening, f"http://{HOST}:{number}{ENTRANCE}?token={key.word}")


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen(128)  # whoever opens the link at once waits a moment, and is not refused
    except OSError as error:
        listening.close()
        raise UsageError(
            f"Port {port} cannot be used: {(error.strerror or 'it is taken').lower()}.",
            "If a dashboard runs already, open its link; or choose another with `--port N`, 0 for any.",
        ) from None
    return listening
