"""The development server as tests start, kill and lose it."""

import atexit
import random
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.server import DevServer, find_program, listens
from agentforge.system.processes import ends_with_us


def free_port() -> int:
    """Below the ports that the system hands out: a client that knocks at one of those before the server is
    there may meet itself.
    """
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """Started with the words that `agentforge server dev` uses."""

    def __init__(self, database: Path | None, place: Path) -> None:
        self.database = database
        self.port = free_port()
        self._log = place / "server.log"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        words = DevServer(find_program(), self.port, None, self.database).words()
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=ends_with_us(),  # noqa: PLW1509
            )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if listens(self.port):
                return
            assert self._child.poll() is None, self._log.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.03)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        assert self._child is not None
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()

    def forget(self) -> None:
        """Loses the database of a server that was killed."""
        assert self.database is not None
        for path in self.database.parent.glob(f"{self.database.name}*"):
            path.unlink()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


_running: list[Server] = []


def the_server(factory: pytest.TempPathFactory) -> Server:
    """One for each process that runs tests, in memory; it ends with that process. Every test has queues of
    its own.
    """
    if not _running:
        server = Server(None, factory.mktemp("temporal"))
        server.start()
        atexit.register(server.kill)
        _running.append(server)
    return _running[0]


def own_config(server: Server, request: pytest.FixtureRequest, host_silence_s: int) -> Config:
    """A queue that nobody else works on."""
    return Config(
        address=server.address,
        queue=f"q-{abs(hash(request.node.nodeid)) % 10**8}",
        host_silence_s=host_silence_s,
    )
