"""The judge in a process of its own, forked from one that has loaded pytest: most of a short run is that.

The judge, pytest, the tests and their outcomes are real, and so are the process and its variables. It has no
walls, no limits and no caretaker: what is about those, or about how the judge is loaded, takes `NoSandbox`.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.languages.python.testrun import SCRIPT, lay_judge
from agentforge.sandbox.base import Confinement, SandboxName, variables
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed

READ_AT_THE_START = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
FORKING = Path(__file__).with_name("loaded_judge.py")


@dataclass(frozen=True, slots=True)
class ForkedJudge:
    """No walls, and a judge that need not be loaded; whatever else is asked runs as without walls."""

    name: SandboxName = "none"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        with tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary:
            Path(temporary, "home").mkdir()
            env = variables(confinement, temporary)
            given = {name: value for name, value in env.items() if name.startswith("PYTHON")}
            is_judge = argv[0] == sys.executable and Path(argv[1]).name == SCRIPT
            if not is_judge or given != READ_AT_THE_START:
                return NoSandbox().run(argv, confinement)
            started = time.monotonic()
            request = {"argv": list(argv[1:]), "cwd": str(confinement.cwd), "env": env}
            code, out, err = _parent().fork(request, confinement.input, confinement.timeout_s)
        took = round((time.monotonic() - started) * 1000)
        return Completed(tuple(argv), code or 0, out, err, code is None, took, truncated=False)

    def guarantee(self) -> dict[str, str]:
        return NoSandbox().guarantee()


class _Parent:
    """The process that forks, seen from a test."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        with theirs, tempfile.TemporaryDirectory() as folder:
            lay_judge(Path(folder))
            self._process = subprocess.Popen(
                [sys.executable, FORKING, str(theirs.fileno()), str(Path(folder, SCRIPT))],
                env=env | READ_AT_THE_START,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            theirs.close()
            assert self._socket.recv(1), "the judge could not be loaded"

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
        self._process.kill()
        self._process.wait()


_parents: list[_Parent] = []


def _parent() -> _Parent:
    if not _parents:
        _parents.append(_Parent())
        atexit.register(_parents[0].end)
    return _parents[0]
