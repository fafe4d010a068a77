"""The process that `tests/judging.py` has judges forked from. It has loaded what a judge loads, and hides it: the
judge looks at what an interpreter starts with, and finds just that; with its next import all the rest is there.

It is given a line, and forks one judge after the other; or a door, and then whoever knocks has a line of their
own, until the standard input ends.
"""

# ruff: noqa: E402 - the first line looks before all others

import sys

STARTED_WITH = frozenset(sys.modules)

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import threading
import time
import types
from collections.abc import Iterable, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NoReturn

FIRST_IMPORT = "gc"
"""Of the judge, after it has looked around."""


class _Hidden(Loader):
    """What a judge has loaded, until it begins to load."""

    def __init__(self, names: Iterable[str]) -> None:
        self._modules = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        self._spec = self._modules[FIRST_IMPORT].__spec__

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        if name != FIRST_IMPORT:
            return None
        sys.meta_path.remove(self)
        return ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self._spec
        sys.modules.update(self._modules)


def _load(script: str) -> set[str]:
    """Loads what the judge loads before anything of a tree is there; the names of all that is loaded then."""
    path = list(sys.path)
    runpy.run_path(script)["load_judge"]()
    sys.path[:] = path
    for name in [name for name in sys.modules if name.startswith(Path(script).stem)]:
        del sys.modules[name]
    return set(sys.modules)


def _names_of_the_judge(script: str) -> set[str]:
    """What it loads by itself: this process has loaded more."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            _forget()
            os.write(theirs, " ".join(_load(script) - STARTED_WITH).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        names = set(pipe.read().split())
    os.waitpid(child, 0)
    return names


def _forget() -> None:
    for name in set(sys.modules) - STARTED_WITH - {"__main__"}:
        del sys.modules[name]


def serve(connection: socket.socket, script: str) -> None:
    """Loads the judge, then forks."""
    names = _names_of_the_judge(script)
    _load(script)
    gc.collect()
    gc.freeze()  # a child that looks through all of this would copy every page of it
    gc.enable()
    if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        _open(connection, names)
    else:
        connection.sendall(b"+")
        _answer(connection, names)


def _open(door: socket.socket, names: set[str]) -> None:
    """A process for each who knocks: judges of one command run beside one another."""
    while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
        line, _ = door.accept()
        if os.fork() == 0:
            door.close()
            _answer(line, names)
            os._exit(0)
        line.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(connection: socket.socket, names: set[str]) -> None:
    """Forks a judge per request, and says how it ended."""
    while True:
        length, fds, _, _ = socket.recv_fds(connection, 4, 3)
        if not length:
            return
        line = b""
        while len(line) < int.from_bytes(length, "big"):
            line += connection.recv(65536)
        child = os.fork()
        if child == 0:
            connection.close()
            _become(json.loads(line), fds, names)
        connection.sendall(b"%8d" % child)
        for fd in fds:
            os.close(fd)
        ending = os.pidfd_open(child)
        if select.select([ending, connection.fileno()], [], [])[0] == [connection.fileno()]:
            os.kill(child, signal.SIGKILL)  # who asked is gone
        os.close(ending)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            connection.sendall(b"%8d" % os.waitstatus_to_exitcode(status))


def _become(request: dict[str, Any], fds: Sequence[int], names: set[str]) -> NoReturn:
    """From here on this is the judge, as it is when an interpreter starts with it."""
    os.setsid()
    for place, fd in enumerate(fds):
        os.dup2(fd, place)
        os.close(fd)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    script = Path(request["argv"][0])
    sys.argv[:] = request["argv"]
    sys.path[0] = str(script.parent)
    code, text = 1, script.read_bytes()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = str(script)
    sys.meta_path.insert(0, _Hidden(names))
    _forget()
    try:
        exec(compile(text, str(script), "exec"), vars(main))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - what the interpreter itself would say
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
