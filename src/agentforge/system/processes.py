"""Child processes: never a shell, bounded in time and output, gone with all of their own children when we are
done with them.
"""

import contextlib
import ctypes
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TypeAlias

from agentforge.core.errors import Unusable
from agentforge.system.files import exhausted

_TICK_S = 0.1
_LAST_WORDS_S = 1.0
"""How long output is still read after the child ended, if somebody who left its group keeps the pipe open."""
_CHUNK = 65536
_LOOK_S = 0.25

Tee: TypeAlias = Callable[[int, bytes], None]
"""Is handed each piece of output as it comes, with the number of its stream: 1 or 2. It must not take long:
nobody reads on meanwhile.
"""

# The one mutable state of this layer: a Ctrl-C must find every running child, whoever started it.
_running: dict[int, tuple[int, ...]] = {}
"""Each with the descriptors that it was given."""
_lock = threading.RLock()


@dataclass(frozen=True, slots=True)
class Completed:
    """How a child process ended, and what it wrote."""

    argv: tuple[str, ...]
    code: int
    """The exit code; minus the signal's number if a signal ended it."""
    out: bytes
    err: bytes
    timed_out: bool
    seconds_ms: int
    """Wall time in milliseconds."""
    truncated: bool
    """Whether the middle of `out` or `err` was cut."""
    beyond: str = ""
    """The bound at which it was ended, in words; empty if it was within all of them."""


def run(  # noqa: PLR0913 - every one of them is the caller's business
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float | None,
    input: bytes = b"",  # noqa: A002 - the name that subprocess taught everybody
    pass_fds: Sequence[int] = (),
    marks: Sequence[int] = (),
    output_limit: int = 4_000_000,
    tee: Tee | None = None,
    die_with_parent: bool = True,
    watch: Callable[[int], str] | None = None,
    joins: Sequence[int] = (),
    by_starter: bool = False,
) -> Completed:
    """Run a program to its end, in its own session. Afterwards nothing of its process group is left.

    `output_limit` bounds stdout and stderr each: head and tail are kept, and a line says how much was cut;
    `tee` sees all of it. `marks` are descriptors that somebody else holds for it. `watch` is asked now and
    then, and ends it by saying why. `joins` are open files of control groups that it enters before anything
    else. A child that dies with its parent costs a full fork, which takes the longer the larger this process
    is; a short one that holds the parent's lock may be let finish instead. `by_starter`: it is a program of
    ours, which is sure to start, so that two small programs may do before it what the fork is needed for.
    """
    started = time.monotonic()
    starter = _starter() if die_with_parent and by_starter else ()
    before_exec = _die_with(os.getpid(), joins) if die_with_parent and not starter else None
    if starter:
        _look_for(argv[0], env)
        doors = [str(Path(f"/proc/self/fd/{group}").readlink()) for group in joins]
        words, argv = argv, (*starter, str(os.getpid()), str(len(doors)), *doors, *argv)
    else:
        words = argv
    child = _start(argv, cwd=cwd, env=env, pipe_in=bool(input), pass_fds=pass_fds, before_exec=before_exec)
    if marks:
        with _lock:
            _running[child.pid] = (*pass_fds, *marks)
    out, err = _Bounded(output_limit, 1, tee), _Bounded(output_limit, 2, tee)
    try:
        ending = _Ending(None if timeout_s is None else started + timeout_s, watch, started + _LOOK_S)
        _converse(child, input, out, err, ending)
    finally:
        _end(child)
    return Completed(
        argv=tuple(words),
        code=child.returncode,
        out=out.value(),
        err=err.value(),
        timed_out=ending.timed_out,
        seconds_ms=round((time.monotonic() - started) * 1000),
        truncated=out.cut > 0 or err.cut > 0,
        beyond=ending.beyond,
    )


def kill_all() -> None:
    """Kill every running child with its group. The calls of `run` that wait for them return."""
    with _lock:
        for pid in _running:
            _kill_group(pid)


def kill_holding(fd: int) -> None:
    """Kill the children that were given this descriptor, each with its group: where several tasks are driven,
    those of one.
    """
    with _lock:
        for pid, fds in _running.items():
            if fd in fds:
                _kill_group(pid)


@dataclass(slots=True)
class _Bounded:
    """The head and the tail of a stream."""

    limit: int
    stream: int = 1
    tee: Tee | None = None
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    cut: int = 0

    def add(self, data: bytes) -> None:
        if self.tee is not None and data:
            self.tee(self.stream, data)
        room = self.limit - self.limit // 2 - len(self.head)
        self.head += data[:room] if room > 0 else b""
        self.tail += data[max(room, 0) :]
        # Trimmed only when twice too long: each byte moves at most once.
        if len(self.tail) > 2 * (self.limit // 2) + _CHUNK:
            self._trim()

    def value(self) -> bytes:
        self._trim()
        if not self.cut:
            return bytes(self.head + self.tail)
        # At whole lines, if there are any: half of a word may be half of a key, which has no
        # shape.
        head, tail = bytes(self.head), bytes(self.tail)
        keep, skip = head.rfind(b"\n", len(head) // 2) + 1, tail.find(b"\n", 0, len(tail) // 2) + 1
        cut = self.cut + (len(head) - keep if keep else 0) + skip
        return (head[:keep] if keep else head) + b"\n[... %d bytes cut ...]\n" % cut + tail[skip:]

    def _trim(self) -> None:
        surplus = len(self.tail) - self.limit // 2
        if surplus > 0:
            del self.tail[:surplus]
            self.cut += surplus


def _prctl() -> Callable[[int, int], int] | None:
    if sys.platform != "linux":
        return None
    function = ctypes.CDLL(None).prctl
    function.argtypes = [ctypes.c_int, ctypes.c_ulong]
    function.restype = ctypes.c_int

    def call(option: int, value: int) -> int:
        return int(function(option, value))

    return call


# Looked up once: between fork and exec only calls that are ready to go are safe.
_PRCTL = _prctl()
_PR_SET_PDEATHSIG = 1


def _die_with(parent: int, joins: Sequence[int] = ()) -> Callable[[], None]:
    def before_exec() -> None:
        for group in joins:
            with contextlib.suppress(OSError):  # it is watched all the same
                os.write(group, b"0")
        if _PRCTL is not None:
            _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # the parent died before we asked
                os._exit(1)

    return before_exec


_START = (
    'parent=$1 left=$2; shift 2; [ "$PPID" = "$parent" ] || exit 1; '
    'while [ "$left" -gt 0 ]; do { echo 0 >"$1"; } 2>/dev/null; shift; left=$((left - 1)); done; '
    'unset PWD OLDPWD; exec "$@"'
)
"""The same as `_die_with` does, in the words of a shell, once the signal is asked for. Where a shell is, it
tells whatever it starts; nobody asked for that.
"""


@cache
def _starter() -> tuple[str, ...]:
    """The programs that ask for the signal and look who the parent is; empty where the machine has none."""
    setpriv, shell = (shutil.which(name, path=os.defpath) for name in ("setpriv", "sh"))
    if sys.platform != "linux" or setpriv is None or shell is None:
        return ()
    words = (setpriv, "--pdeathsig", "KILL", shell, "-c")
    tried = subprocess.run((*words, "exit 7"), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return (*words, _START, "sh") if tried.returncode == 7 else ()


def _look_for(program: str, env: Mapping[str, str]) -> None:
    """A program that is not there is told as itself, and not as its starter."""
    if shutil.which(program, path=env.get("PATH")) is None:
        raise Unusable(f"`{program}` is not installed.", "Install it, and try again.")


def ends_with_us() -> Callable[[], None]:
    """For a child that is started by hand, as its `preexec_fn`: it is killed when the thread that started it
    is gone.
    """
    return _die_with(os.getpid())


def _start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    pipe_in: bool,
    pass_fds: Sequence[int],
    before_exec: Callable[[], None] | None,
) -> subprocess.Popen[bytes]:
    try:
        with _lock:
            child = subprocess.Popen(
                argv,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.PIPE if pipe_in else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=tuple(pass_fds),
                preexec_fn=before_exec,  # noqa: PLW1509 - one prepared system call
            )
            _running[child.pid] = tuple(pass_fds)
            return child
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and not cwd.is_dir():
            raise Unusable(f"The directory {cwd} does not exist.") from error
        # A directory on PATH that may not be entered turns "not found" into "not permitted".
        hidden = (
            isinstance(error, PermissionError)
            and "/" not in argv[0]
            and shutil.which(argv[0], path=env.get("PATH")) is None
        )
        if hidden or isinstance(error, FileNotFoundError):
            raise Unusable(f"`{argv[0]}` is not installed.", "Install it, and try again.") from error
        if isinstance(error, OSError) and (trouble := exhausted(OSError(error.errno, "", None))):
            raise trouble from error
        raise Unusable(f"`{argv[0]}` could not be started: {error}.") from error


@dataclass(slots=True)
class _Ending:
    """What ends a child before it ends by itself."""

    deadline: float | None
    watch: Callable[[int], str] | None
    next_look: float
    timed_out: bool = False
    beyond: str = ""

    def is_due(self, pid: int, now: float) -> bool:
        self.timed_out = self.deadline is not None and now > self.deadline
        if self.watch is not None and not self.timed_out and now > self.next_look:
            self.beyond = self.watch(pid)
            self.next_look = time.monotonic() + _LOOK_S
        return self.timed_out or bool(self.beyond)


def _converse(
    child: subprocess.Popen[bytes], data: bytes, out: _Bounded, err: _Bounded, ending: _Ending
) -> None:
    """Feed and read the child until it ended, by itself or not, and its pipes are closed."""
    rest = memoryview(data)
    give_up = math.inf
    with selectors.DefaultSelector() as selector, _alarm(child, selector):
        pipes = _register(child, selector, out, err)
        while True:
            for key, _ in selector.select(_TICK_S):
                if isinstance(key.data, _Bounded):
                    chunk = os.read(key.fd, _CHUNK)
                    key.data.add(chunk)
                    is_done = not chunk
                elif key.data == "stdin":
                    rest = _feed(key.fd, rest)
                    is_done = not rest
                else:
                    is_done = True
                if is_done:
                    selector.unregister(key.fd)
                    if key.fd in pipes:
                        pipes.pop(key.fd).close()
            now = time.monotonic()
            if give_up == math.inf and _has_ended(child):
                # What it left running in its group would keep the pipes open.
                _kill_group(child.pid)
                give_up = now + _LAST_WORDS_S
            elif give_up == math.inf and ending.is_due(child.pid, now):
                _kill_group(child.pid)
                give_up = now + _LAST_WORDS_S
            if now > give_up or (give_up < math.inf and not pipes):
                return


def _register(
    child: subprocess.Popen[bytes], selector: selectors.BaseSelector, out: _Bounded, err: _Bounded
) -> dict[int, IO[bytes]]:
    """Watch the child's pipes; the answer is those that are open, by number."""
    pipes: dict[int, IO[bytes]] = {}
    for stream, sink in ((child.stdout, out), (child.stderr, err)):
        if stream is not None:
            selector.register(stream.fileno(), selectors.EVENT_READ, sink)
            pipes[stream.fileno()] = stream
    if child.stdin is not None:
        os.set_blocking(child.stdin.fileno(), False)
        selector.register(child.stdin.fileno(), selectors.EVENT_WRITE, "stdin")
        pipes[child.stdin.fileno()] = child.stdin
    return pipes


@contextlib.contextmanager
def _alarm(child: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> Iterator[None]:
    """Wake the selector when the child ends, where the system can; elsewhere its tick finds out."""
    try:
        fd = os.pidfd_open(child.pid) if sys.platform == "linux" else -1
    except OSError:
        fd = -1
    if fd < 0:
        yield
        return
    try:
        selector.register(fd, selectors.EVENT_READ, "end")
        yield
    finally:
        os.close(fd)


def _feed(fd: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(fd, rest[:_CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:  # it does not want to read on
        return rest[:0]


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child ended, without reaping it: until then nobody else can get its number, and its group
    can be killed safely.
    """
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group and reap the child."""
    with _lock:
        _running.pop(child.pid, None)
        if child.returncode is None:
            _kill_group(child.pid)
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
