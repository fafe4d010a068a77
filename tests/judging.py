"""The judge in a process of its own, forked from one that has loaded pytest: most of a short run is that.

The judge, pytest, the tests and their outcomes are real, and so are the process and its variables. It has no
walls, no limits and no caretaker: what is about those, or about how the judge is loaded, takes `NoSandbox`.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.languages.python.testrun import SCRIPT, lay_judge
from agentforge.sandbox.base import Confinement, Sandbox, SandboxName, variables
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.landlock import Landlock
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed
from tests import doors
from tests.doors import READ_AT_THE_START, door_of, start_forking
from tests.kept_runs import KeptRuns


@dataclass(frozen=True, slots=True)
class ForkedJudge:
    """No walls, and a judge that need not be loaded; whatever else is asked runs as without walls."""

    name: SandboxName = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        if argv[0] != sys.executable or not _is_judge(argv, confinement):
            return NoSandbox().run(argv, confinement)
        return _judged(_parent(), argv, confinement)

    def guarantee(self) -> dict[str, str]:
        return NoSandbox().guarantee()


def _is_judge(argv: Sequence[str], confinement: Confinement) -> bool:
    """Whether this starts a judge as one is started always, with nothing that an interpreter must be told."""
    given = {name: value for name, value in variables(confinement, "").items() if name.startswith("PYTHON")}
    return len(argv) > 1 and Path(argv[1]).name == SCRIPT and given == READ_AT_THE_START


def _judged(line: "_Line", argv: Sequence[str], confinement: Confinement) -> Completed:
    with tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary:
        Path(temporary, "home").mkdir()
        started = time.monotonic()
        env = variables(confinement, temporary)
        request = {"argv": list(argv[1:]), "cwd": str(confinement.cwd), "env": env}
        code, out, err = line.fork(request, confinement.input, confinement.timeout_s)
    took = round((time.monotonic() - started) * 1000)
    return Completed(tuple(argv), code or 0, out, err, code is None, took, truncated=False)


class _Line:
    """A connection to a process that forks judges."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def fork(
        self, request: Mapping[str, object], given: bytes, timeout_s: float | None
    ) -> tuple[int | None, bytes, bytes]:
        """How it ended, None if it did not, and what it wrote."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(given)
            files[0].seek(0)
            line = json.dumps(request).encode()
            socket.send_fds(self._socket, [len(line).to_bytes(4, "big")], [file.fileno() for file in files])
            self._socket.sendall(line)
            pid = int(self._socket.recv(8))
            code: int | None = None
            self._socket.settimeout(timeout_s)
            try:
                code = int(self._socket.recv(8))
            except TimeoutError:
                os.killpg(pid, signal.SIGKILL)
            self._socket.settimeout(None)
            if code is None:
                self._socket.recv(8)
            for file in files:
                file.seek(0)
            return code, files[1].read(), files[2].read()

    def end(self) -> None:
        self._socket.close()


class _Parent(_Line):
    """The process that forks the judges of this one, with the interpreter of this one."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(ours)
        with theirs, tempfile.TemporaryDirectory() as folder:
            lay_judge(Path(folder))
            self._process = start_forking(sys.executable, theirs, Path(folder, SCRIPT), subprocess.DEVNULL)
            theirs.close()
            assert ours.recv(1), "the judge could not be loaded"

    def end(self) -> None:
        super().end()
        self._process.kill()
        self._process.wait()


_parents: list[_Parent] = []


def _parent() -> _Parent:
    if not _parents:
        _parents.append(_Parent())
        atexit.register(_parents[0].end)
    return _parents[0]


# ------------------------------------------------------------------ judges of commands

ASKED = "TESTS_JUDGES"
"""The variable with which a test says that the judges of its commands may be forked (`FORKED`), or where those are
kept that have been asked before.
"""
FORKED = "forked"
WALLS: tuple[type[Bubblewrap | Landlock | NoSandbox], ...] = (Bubblewrap, Landlock, NoSandbox)
OFTEN = 1
"""After so many runs an environment has a process that forks its judges: to load one takes as long as two judges."""


class Doors:
    """For the judges of each environment that has run one before: behind its door a process is waiting that has
    loaded the judge with the interpreter of that environment.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._noted = place / "noted"

    def lead_judges_there(self, asked: str, put: Callable[[type, str, object], None] = setattr) -> None:
        """In this process: its judges are forked, whatever walls it has. All else that it runs stays within them."""
        for kind in WALLS:
            put(kind, "run", self.around(kind.run))
        if asked != FORKED:
            ask_judges_once(asked, put)

    def around(self, run: Callable[..., Completed]) -> Callable[..., Completed]:
        """This way to run a program, but for judges that have a door."""

        def run_or_fork(walls: Sandbox, argv: Sequence[str], confinement: Confinement) -> Completed:
            if _is_judge(argv, confinement) and self._is_open(argv[0]):
                with contextlib.suppress(*_GONE), socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(str(door_of(self.place, argv[0])))
                    return _judged(_Line(connection), argv, confinement)
            return run(walls, argv, confinement)

        return run_or_fork

    def _is_open(self, program: str) -> bool:
        if door_of(self.place, program).exists():
            return True
        with self._noted.open("a+") as noted:
            noted.write(f"{program}\n")
            noted.seek(0)
            if noted.read().split("\n").count(program) <= OFTEN:
                return False
        with contextlib.suppress(*_GONE), socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self.place / _ASKED_FOR))
            asking.sendall(f"{program}\n".encode())
            return bool(asking.recv(1))
        return False


_GONE = (ConnectionError, FileNotFoundError)
_ASKED_FOR = "asked for"
"""The socket where doors are asked for."""


class KeptDoors(Doors):
    """Doors, and the process that opens them."""

    def __init__(self) -> None:
        super().__init__(Path(tempfile.mkdtemp(prefix="agentforge-doors-")))  # a socket's name is short
        lay_judge(self.place)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self.place / _ASKED_FOR))
            listening.listen(16)
            self._keeper = subprocess.Popen(
                [sys.executable, doors.__file__, str(listening.fileno()), str(self.place / SCRIPT)],
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
            )
        atexit.register(self.close)

    def close(self) -> None:
        """Whoever waits behind a door ends."""
        self._keeper.communicate()
        shutil.rmtree(self.place, ignore_errors=True)


@functools.cache
def the_doors() -> KeptDoors:
    """Those of the tests of this process, and of the commands that are forked for them."""
    return KeptDoors()


def ask_judges_once(place: str, put: Callable[[type, str, object], None] = setattr) -> None:
    """In this process: what a judge was asked before, by any test of the session, it is not asked again."""
    kept = KeptRuns(Path(place))

    def around(run: Callable[..., Completed]) -> Callable[..., Completed]:
        def run_or_remember(walls: Sandbox, argv: Sequence[str], confinement: Confinement) -> Completed:
            if not _is_judge(argv, confinement):
                return run(walls, argv, confinement)
            return kept.run(argv, confinement, lambda: run(walls, argv, confinement))

        return run_or_remember

    for kind in WALLS:
        put(kind, "run", around(kind.run))
