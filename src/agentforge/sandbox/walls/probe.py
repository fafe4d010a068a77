"""What walls really hold at this moment, found out by a program inside that tries to get past each of
them.
"""

import fcntl
import json
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import Confinement, Sandbox, variables
from agentforge.system.processes import Completed

ProbeName = Literal[
    "start",
    "read",
    "write",
    "network",
    "sockets",
    "environment",
    "processes",
    "calls",
    "capabilities",
    "limits",
    "leftovers",
]
ESSENTIAL: frozenset[ProbeName] = frozenset(
    {"start", "read", "write", "network", "environment", "capabilities"}
)
"""Without these walls are none. The others may be weaker on a rung that says so in its guarantee."""
_OF_SHELLS = frozenset({"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"})
_TIME_S = 20
_DYING_S = 0.5

# Standard library only: it runs inside, where nothing of ours is. It never raises for a wall that holds, and
# tells what it could do.
_INSIDE = r"""
import ctypes, fcntl, json, os, resource, socket, sys, time
outside, locked, port, driver = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
told = {}

def attempt(name, function):
    try:
        told[name] = function()
    except Exception as error:
        told[name] = None

def spill(path, mode, text=None):
    with open(path, mode) as file:
        return file.read() if text is None else file.write(text)

KERNEL = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches",
          "/sys/kernel/uevent_helper")

def opens(path):
    try:
        open(path, "a").close(); return True
    except OSError:
        return False

def connect():
    socket.create_connection(("127.0.0.1", port), 1).close()
    return True

def shout():
    return bool(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", port)))

def knock():
    reached = []
    for name, place in (("abstract", "\0" + sys.argv[5]), ("file", outside + ".socket")):
        try:
            with socket.socket(socket.AF_UNIX) as one:
                one.settimeout(1); one.connect(place); reached.append(name)
        except OSError: pass
    return reached

def families():
    made = []
    for family in range(1, 46):
        if family not in (1, 2, 10, 16):
            try:
                socket.socket(family, socket.SOCK_STREAM).close(); made.append(family)
            except OSError: pass
    return made

def environments():
    names = set(os.environ)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                lines = open(f"/proc/{entry}/environ", "rb").read().split(b"\0")
                names |= {line.partition(b"=")[0].decode("utf-8", "replace") for line in lines if line}
            except OSError: pass
    return sorted(names)

def calls():
    libc, x86 = ctypes.CDLL(None, use_errno=True), os.uname().machine == "x86_64"
    tries = {"unshare": (272, 97, 0x10000000), "ptrace": (101, 117, 0), "mount": (165, 40, 0),
             "keyctl": (250, 219, 0), "bpf": (321, 280, 99), "io_uring_setup": (425, 425, 1),
             "perf_event_open": (298, 241, 0)}
    allowed = []
    for name, (one, other, first) in tries.items():
        ctypes.set_errno(0)
        result = libc.syscall(ctypes.c_long(one if x86 else other), *map(ctypes.c_ulong, (first, 0, 0, 0, 0)))
        if result >= 0 or ctypes.get_errno() not in (1, 38):
            allowed.append(name)
    return allowed

def status():
    wanted = ("CapEff", "NoNewPrivs")
    return dict(line.split(":\t", 1) for line in open("/proc/self/status") if line.startswith(wanted))

def limits():
    kinds = {"memory": resource.RLIMIT_DATA, "file size": resource.RLIMIT_FSIZE,
             "processor time": resource.RLIMIT_CPU, "open files": resource.RLIMIT_NOFILE}
    return [name for name, kind in kinds.items() if resource.getrlimit(kind)[1] == resource.RLIM_INFINITY]

def stay():
    ready, told_ready = os.pipe()
    if os.fork() == 0:
        os.setsid()
        file = open("alive", "w"); fcntl.flock(file, fcntl.LOCK_EX)
        os.write(told_ready, b"x")
        for fd in (0, 1, 2): os.close(fd)
        time.sleep(3); os._exit(0)
    os.read(ready, 1)
    return True

attempt("read", lambda: spill(outside, "r"))
attempt("write", lambda: spill(outside, "a", "changed"))
attempt("locked", lambda: spill(locked, "a", "changed"))
attempt("kernel", lambda: [name for name in KERNEL if opens(name)])
attempt("connect", connect)
attempt("shout", shout)
attempt("knock", knock)
attempt("families", families)
attempt("environments", environments)
attempt("kill", lambda: os.kill(driver, 0) is None)
attempt("calls", calls)
attempt("status", status)
attempt("limits", limits)
attempt("stay", stay)
print(json.dumps(told))
"""


@dataclass(frozen=True, slots=True)
class WallProbe:
    """Whether one wall held when a program inside tried to break it."""

    name: ProbeName
    held: bool
    detail: str
    """What was tried, or what got through."""


def probe(sandbox: Sandbox) -> tuple[WallProbe, ...]:
    """Tries to break each wall, in one run inside of the sandbox."""
    with tempfile.TemporaryDirectory(prefix="agentforge-probe-", ignore_cleanup_errors=True) as directory:
        top = Path(directory).resolve()
        attack = _Attack(top / "outside", top / "room", secrets.token_hex(16))
        attack.prepare()
        with _listener(socket.SOCK_STREAM) as tcp, _listener(socket.SOCK_DGRAM, tcp.getsockname()[1]) as udp:
            try:
                with _unix(f"\0{attack.secret}"), _unix(f"{attack.outside}.socket"):
                    done = attack.run(sandbox, tcp.getsockname()[1])
            except Unusable as error:
                return (WallProbe("start", held=False, detail=error.sentence),)
            return tuple(attack.judge(done, reached=_heard(tcp) or _heard(udp)))


@dataclass(frozen=True, slots=True)
class _Attack:
    outside: Path
    room: Path
    secret: str

    def prepare(self) -> None:
        self.room.mkdir()
        for path in (self.outside, self.room / "locked"):
            path.write_text(self.secret, encoding="ascii")

    def confinement(self) -> Confinement:
        return Confinement(cwd=self.room, write=(self.room,), read=(self.room / "locked",), timeout_s=_TIME_S)

    def run(self, sandbox: Sandbox, port: int) -> Completed:
        # An ordinary file would do, but without namespaces nothing new can be made beside a read-only path.
        (self.room / "alive").touch()
        words = (str(self.outside), str(self.room / "locked"), str(port), str(os.getpid()), self.secret)
        return sandbox.run(
            (str(Path(sys.executable).resolve()), "-I", "-S", "-c", _INSIDE, *words), self.confinement()
        )

    def judge(self, done: Completed, *, reached: bool) -> Iterator[WallProbe]:
        told = _parsed_report(done)
        if told is None:
            yield WallProbe(
                "start",
                held=False,
                detail=f"the program inside ended with {done.code}: "
                f"{done.err.decode(errors='replace')[-200:]}",
            )
            return
        yield WallProbe("start", held=True, detail="a program runs inside")
        yield _probe(
            "read",
            "a file outside was read" if told["read"] is not None else "",
            "a file outside cannot be read",
        )
        changed = [
            path.name
            for path in (self.outside, self.room / "locked")
            if path.read_text(encoding="ascii") != self.secret
        ]
        changed += told["kernel"] or []
        yield _probe(
            "write",
            ", ".join(f"`{name}` can be changed" for name in changed),
            "files outside, read-only ones and the kernel's stay",
        )
        families = told["families"] or []
        through = "a server of this machine was reached" if reached or told["connect"] else ""
        through = through or (f"sockets of other families can be made: {families}" if families else "")
        yield _probe(
            "network", through, "this machine's loopback cannot be reached, nor any other family used"
        )
        reached_sockets = told["knock"] if told["knock"] is not None else ["unknown"]
        yield _probe(
            "sockets",
            f"sockets of other programs were reached: {', '.join(reached_sockets)}"
            if reached_sockets
            else "",
            "sockets of other programs (displays, buses, agents for keys) cannot be reached",
        )
        given = {*variables(self.confinement(), ""), *_OF_SHELLS}
        foreign = sorted(set(told["environments"] or ()) - given)
        yield _probe(
            "environment",
            f"{len(foreign)} variables of other programs were seen" if foreign else "",
            "no variable of yours is seen",
        )
        yield _probe(
            "processes",
            "the driver can be signalled" if told["kill"] else "",
            "the driver cannot be signalled",
        )
        calls = told["calls"] if told["calls"] is not None else ["unknown"]
        yield _probe(
            "calls", f"not refused: {', '.join(calls)}" if calls else "", "dangerous system calls are refused"
        )
        status: Mapping[str, str] = told["status"] or {}
        bare = int(status.get("CapEff", "1"), 16) == 0 and status.get("NoNewPrivs", "").strip() == "1"
        yield _probe(
            "capabilities", "" if bare else "rights are left, or can be gained", "none, and none to be gained"
        )
        unlimited = told["limits"] if told["limits"] is not None else ["unknown"]
        yield _probe(
            "limits",
            f"not limited: {', '.join(unlimited)}" if unlimited else "",
            "memory, processor time, files",
        )
        left = told["stay"] is None or _is_held(self.room / "alive")
        yield _probe("leftovers", "a process outlived its run" if left else "", "nothing outlives the run")


def _probe(name: ProbeName, broken: str, held: str) -> WallProbe:
    return WallProbe(name, held=not broken, detail=broken or held)


def _parsed_report(done: Completed) -> dict[str, Any] | None:
    try:
        value = json.loads(done.out)
    except ValueError:
        return None
    return value if done.code == 0 and isinstance(value, dict) else None


def _listener(kind: socket.SocketKind, port: int = 0) -> socket.socket:
    """A server on this machine's own loopback that nobody may reach."""
    server = socket.socket(socket.AF_INET, kind)
    server.bind(("127.0.0.1", port))
    server.settimeout(0)
    if kind == socket.SOCK_STREAM:
        server.listen()
    return server


def _unix(place: str) -> socket.socket:
    """What a display, a bus or an agent for keys listens on."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    server.listen()
    return server


def _heard(server: socket.socket) -> bool:
    try:
        if server.type == socket.SOCK_STREAM:
            server.accept()[0].close()
        else:
            server.recv(16)
    except BlockingIOError:
        return False
    return True


def _is_held(path: Path) -> bool:
    """Whether somebody still lives who locked it. The kernel may need a moment to bury whom it has killed."""
    deadline = time.monotonic() + _DYING_S
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return True
                time.sleep(0.01)
            else:
                return False
