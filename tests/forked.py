"""The command in a process of its own, forked from one that has imported it and read what is shipped with it:
that is most of a short command's time.

Directories, variables, streams, exit code and death are those of any process. What is about the start of the
program itself starts the installed one; so does a command whose variables Python reads at its start.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import json
import mmap
import os
import pkgutil
import pty
import runpy
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from agentforge.core.errors import UserError
from agentforge.models import wire
from agentforge.sandbox.walls.ladder import choose
from agentforge.surfaces import cli
from agentforge.surfaces.cli.main import main
from tests import judging
from tests.shipped import read_what_is_shipped

COMMAND = Path(sys.executable).with_name("agentforge")
TOP = Path(__file__).parents[1]
_AT_THE_START = ("PYTHON", "LC_", "LANG")
_LIMIT_S = 280
_LEAVE_S = 5
"""To clean up, when nobody asks for a command any more."""
# Of Temporal imported and not used: its threads begin with the first connection.
_LARGE = (
    *(module.name for module in pkgutil.walk_packages(wire.__path__, f"{wire.__name__}.")),
    *(f"agentforge.engines.temporal.{name}" for name in ("client", "worker", "workflow")),
)
_used = mmap.mmap(-1, len(_LARGE))
"""Seen by every child: which of them a command has loaded. The libraries of the providers take seconds, that of
Temporal makes each fork twice as long, and most commands need none.
"""


def run(words: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """One command to its end, with nothing to read."""
    parent = _parent()
    if _read_at_the_start(env) != _read_at_the_start(parent.environment):
        return subprocess.run(
            [COMMAND, *words],
            cwd=cwd,
            env=dict(env),
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = parent.fork(json.dumps([words, str(cwd), dict(env)]).encode(), (out.fileno(), err.fileno()))
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode().replace("\r\n", "\n"))
    return subprocess.CompletedProcess([str(COMMAND), *words], code, *said)


def at_a_terminal(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], columns: int = 0
) -> tuple[int, str]:
    """One command to its end, with a terminal of so many columns at which nobody types; and what that shows."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    shown: list[bytes] = []

    def look() -> None:
        with contextlib.suppress(OSError):  # nobody holds the terminal any more
            while piece := os.read(keeper, 65536):
                shown.append(piece)

    looking = threading.Thread(target=look)
    looking.start()
    request = json.dumps([list(words), str(cwd), dict(env)]).encode()
    try:
        code = _parent().fork(request, (terminal, terminal, terminal))
    finally:
        os.close(terminal)
        looking.join()
        os.close(keeper)
    text = b"".join(shown).decode("utf-8", "replace").replace("\r\n", "\n")
    assert "Traceback" not in text, text
    return code, text


class ForkedCommand(subprocess.Popen[Any]):
    """A command that may be left running, spoken to and killed: given what `subprocess.Popen` is given, with the
    command's path as its first word. Whoever wants something done before it begins gets an interpreter of its own.

    Or a module of the tests that drives tasks: given this interpreter, `-m` and its name.
    """

    _line: socket.socket | None = None

    def _execute_child(self, args: Sequence[str | Path], *given: Any) -> None:  # noqa: ANN401 - as Popen has it
        prepare, kept_open, cwd, env = given[1], given[3], given[4], given[5]
        pipes, session = given[9:15], given[20]
        env = dict(os.environ if env is None else env)
        parent = _parent()
        if prepare or kept_open or _read_at_the_start(env) != _read_at_the_start(parent.environment):
            super()._execute_child(args, *given)  # type: ignore[misc]  # not told to type checkers
            return
        ours, theirs = socket.socketpair()
        words = [str(word) for word in args[1:]]
        module = Path(args[0]) == Path(sys.executable) and words.pop(0) == "-m"
        request = json.dumps([words, str(cwd or Path.cwd()), env, session, module])
        with theirs, Path(os.devnull).open("rb") as nothing:
            wanted = zip((pipes[0], pipes[3], pipes[5]), (nothing.fileno(), 1, 2), strict=True)
            streams: list[int] = [pipe if pipe >= 0 else inherited for pipe, inherited in wanted]
            parent.send(request.encode(), (*streams, theirs.fileno()))
        self.pid, self._line = int(_exactly(ours, 8)), ours
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # as above

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self._line is None:
            found: int | None = super()._internal_poll(_deadstate)  # type: ignore[misc]  # as above
            return found
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self._end()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._line is None:
            return int(super()._wait(timeout))  # type: ignore[misc]  # as above
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._end()
        return self.returncode

    def _end(self) -> None:
        assert self._line is not None
        self.returncode = int(_exactly(self._line, 8))
        self._line.close()


def _read_at_the_start(env: Mapping[str, str]) -> dict[str, str]:
    """But for what `keyring` reads when it is imported, which no command has done when it begins."""
    return {
        name: value
        for name, value in env.items()
        if name.startswith(_AT_THE_START) and name != "PYTHON_KEYRING_BACKEND"
    }


class _Parent:
    """The process that forks, seen from a test."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked", str(theirs.fileno()), str(judging.the_doors().place)],
                cwd=TOP,
                env=self.environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self.socket.settimeout(_LIMIT_S)

    def send(self, request: bytes, fds: tuple[int, ...]) -> None:
        socket.send_fds(self.socket, [len(request).to_bytes(4, "big")], fds)
        self.socket.sendall(request)

    def fork(self, request: bytes, fds: tuple[int, ...]) -> int:
        self.send(request, fds)
        try:
            return int(_exactly(self.socket, 8))
        except TimeoutError:
            self.end()
            raise

    def end(self) -> None:
        self.socket.close()
        try:
            self._process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_parents: list[_Parent] = []


def _parent() -> _Parent:
    if _parents and _parents[0].socket.fileno() < 0:
        _parents.clear()
    if not _parents:
        _parents.append(_Parent())
        atexit.register(_parents[0].end)
    return _parents[0]


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other end is gone")
        data += part
    return data


def _serve(connection: socket.socket, place: Path) -> None:
    """Forks a command per request, and says how it ended; whoever gave a line of their own is told there."""
    doors, keepers = judging.Doors(place), set()
    while True:
        length, fds, _, _ = socket.recv_fds(connection, 4, 4)
        if not length:
            return
        request = json.loads(_exactly(connection, int.from_bytes(length, "big")))
        _import_what_was_used()
        if len(fds) < 4:
            _, status = os.waitpid(_begin(request, fds, doors, connection), 0)
            connection.sendall(b"%8d" % os.waitstatus_to_exitcode(status))
            continue
        keeper = os.fork()
        if keeper == 0:
            _keep_one(request, fds, doors, connection)
        keepers.add(keeper)
        for fd in fds:
            os.close(fd)
        keepers -= {each for each in keepers if os.waitpid(each, os.WNOHANG)[0]}


def _begin(request: list[Any], fds: list[int], doors: judging.Doors, *lines: socket.socket) -> int:
    words, cwd, env, *more = request
    session, module = more or (False, False)
    # What drives tasks for a test asks its judges itself.
    asked = "" if module else env.pop(judging.ASKED, "")
    child = os.fork()
    if child == 0:
        for line in lines:
            line.close()
        if asked:
            doors.lead_judges_there(asked)
        _become(words, cwd, env, fds, session=session, work=partial(_run, words) if module else main)
    for fd in fds:
        os.close(fd)
    return child


def _keep_one(
    request: list[Any], fds: list[int], doors: judging.Doors, connection: socket.socket
) -> NoReturn:
    """The parent of one command, which tells its number and then how it ended, while others are forked."""
    line = socket.socket(fileno=fds.pop())
    child = _begin(request, fds, doors, connection, line)
    connection.close()
    with contextlib.suppress(OSError):  # nobody asks any more
        line.sendall(b"%8d" % child)
        _, status = os.waitpid(child, 0)
        line.sendall(b"%8d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _run(words: list[str]) -> int:
    """What an interpreter does with `-m`."""
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    return 0


def _become(
    words: list[str],
    cwd: str,
    env: dict[str, str],
    fds: list[int],
    *,
    session: bool,
    work: Callable[[], int],
) -> NoReturn:
    """From here on this is the command."""
    code = 1
    try:
        for fd, place in zip(fds, (0, 1, 2)[-len(fds) :], strict=True):
            os.dup2(fd, place)
            os.close(fd)
        if session:
            os.setsid()
            if os.isatty(0):
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        if len(fds) == 3:
            sys.stdin, sys.stdout, sys.stderr = _streams()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        tempfile.tempdir = None
        sys.argv = [str(COMMAND), *words]
        sys.meta_path.insert(0, _Noting())
        code = work()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001 - what the interpreter itself would say
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _streams() -> Iterator[Any]:
    """As an interpreter opens them, whatever is there now."""
    for place, mode, errors in ((0, "r", "strict"), (1, "w", "strict"), (2, "w", "backslashreplace")):
        lines = 1 if place == 2 or os.isatty(place) else -1
        yield open(place, mode, buffering=lines, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115 - to the end


def _import_everything() -> None:
    for name in (
        "agentforge.app.drivers.driver",
        "agentforge.models.scripted",
        "agentforge.app.drivers.hosting",
        "rich.console",
        "rich.table",
    ):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(cli.__path__, f"{cli.__name__}."):
        importlib.import_module(module.name)
    with contextlib.suppress(UserError):
        choose("auto")  # what works on this machine is found out once
    read_what_is_shipped()
    _keep()


class _Noting:
    """Finds nothing, and notes what is looked for: however the command ends, the next one finds it loaded."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> None:
        if name in _LARGE:
            _used[_LARGE.index(name)] = 1


def _import_what_was_used() -> None:
    new = [name for at, name in enumerate(_LARGE) if _used[at] and name not in sys.modules]
    for name in new:
        importlib.import_module(name)
    if new:
        _keep()


def _keep() -> None:
    gc.collect()
    gc.freeze()  # a child that looks through all of this would copy every page of it


if __name__ == "__main__":
    _import_everything()
    _serve(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
