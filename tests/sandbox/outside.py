"""A machine in small, for a program that wants out: somebody's files, somebody's process, somebody's servers, and
what became of them afterwards.
"""

import contextlib
import ctypes
import glob
import json
import os
import re
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.sandbox.base import Confinement
from agentforge.sandbox.walls import seccomp
from tests.sandbox.probes import PROBES, Probe

INSIDE = Path(__file__).with_name("inside.py")
# It keeps the secret wherever a program may keep one: in its variables, its arguments, its memory, a file it
# holds open, shared memory.
VICTIM = """
import ctypes, os, signal, sys
def note(*_):
    with open(path + "-signalled", "a") as file:
        file.write("<processes.signal_by_input>")
signal.signal(signal.SIGUSR1, note)
secret, path, key, posix = os.environ["SECRET"], sys.argv[1], int(sys.argv[2]), sys.argv[3]
held = open(path)
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(key, 4096, 0o1666)
assert segment >= 0 and libc.semget(key, 1, 0o1666) >= 0 and libc.msgget(key, 0o1666) >= 0
place = libc.shmat(segment, None, 0)
ctypes.memmove(place, secret.encode(), len(secret))
open("/dev/shm/" + posix, "w").write(secret)
number = 240 if os.uname().machine == "x86_64" else 180
libc.syscall(number, posix.encode(), os.O_CREAT | os.O_RDWR, 0o600, 0)
print("ready", flush=True)
sys.stdin.read()
libc.syscall(number + 1, posix.encode())
libc.shmctl(segment, 0, None); libc.semctl(libc.semget(key, 0, 0), 0, 0, 0); libc.msgctl(libc.msgget(key, 0), 0, 0)
"""
HEARD = re.compile(r"<([\w.-]+)>")


@dataclass(slots=True)
class Ears:
    """Servers of this machine, and which probes they heard."""

    servers: dict[str, tuple[int, int, object]] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)
    sockets: list[socket.socket] = field(default_factory=list)

    def open(self, name: str, family: int, kind: int, place: tuple[str | int, ...] | str) -> None:
        server = None
        with contextlib.suppress(OSError):
            server = socket.socket(family, kind)
            server.bind(place)
            if kind == socket.SOCK_STREAM:
                server.listen()
        where = place if isinstance(place, str) or server is None else server.getsockname()[:2]
        self.servers[name] = (int(family), int(kind), where)
        if server is not None:
            self.sockets.append(server)
            threading.Thread(target=self._listen, args=(server,), daemon=True).start()

    def _listen(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                if server.type == socket.SOCK_STREAM:
                    caller, _ = server.accept()
                    with caller:
                        caller.settimeout(1)
                        text = caller.recv(200)
                else:
                    text = server.recv(200)
                self.heard.update(HEARD.findall(text.decode(errors="replace")))


@dataclass(slots=True)
class Scene:
    """Everything is below `top`, which the run sees nothing of but its room; what belongs elsewhere is named."""

    top: Path
    victim: subprocess.Popen[bytes]
    ears: Ears
    facts: dict[str, object]
    before: dict[str, tuple[object, ...]] = field(default_factory=dict)

    @property
    def room(self) -> Path:
        """Where the program is."""
        return self.top / "room"

    def confinement(self) -> Confinement:
        """What it may see and change."""
        room, project = self.room, self.top / "project"
        return Confinement(
            cwd=room,
            write=(room, project),
            read=(project / ".git", project / "tests", self.top / "packages", INSIDE),
            timeout_s=120,
            input=self.text().encode(),
        )

    def text(self, probes: Iterable[Probe] = PROBES) -> str:
        """What the program inside is told."""
        return json.dumps({**self.facts, "probes": {each.full_name: each.line for each in probes}})

    def look(self) -> None:
        """Remembers what is there."""
        self.before = dict(self._pictures())

    def reached(self, told: dict[str, list[str]]) -> dict[str, str]:
        """Each probe that got out, by what it told or by what it left outside."""
        time.sleep(0.05)  # for the ears
        found = {name: said[0] for name, said in told.items() if said}
        after = dict(self._pictures())
        for path in self.before.keys() | after.keys():
            was, now = self.before.get(path), after.get(path)
            if was != now:
                named = HEARD.findall(str(now)) or [Path(path).name]
                found.update(dict.fromkeys(named, f"changed {path}"))
        return found | dict.fromkeys(self.ears.heard, "was heard")

    def _pictures(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        places = (self.top / "outside", self.top / "home", self.top / "project", self.top / "packages")
        for path in (each for place in places for each in (place, *place.rglob("*"))):
            about = path.lstat()
            attributes = [] if path.is_symlink() else os.listxattr(path)
            times = about.st_mtime if path.parent.name == "spares" else 0
            text = path.read_text(errors="replace") if stat.S_ISREG(about.st_mode) else ""
            yield str(path), (about.st_mode, about.st_uid, times, tuple(attributes), text)
        posix = Path("/dev/shm", str(self.facts["posix"]))
        yield str(posix), (posix.read_text(errors="replace"),)


def _numbers() -> dict[str, tuple[int | None, int | None]]:
    """Of every call that is always refused, on both machines."""
    first, second = (seccomp.refused_calls(seccomp.MACHINES[name]) for name in ("x86_64", "aarch64"))
    return {name: (first.get(name), second.get(name)) for name in {**first, **second}}


def _handle(path: Path) -> str:
    """How the disk itself names a file."""
    libc, room, mount = ctypes.CDLL(None), ctypes.create_string_buffer(136), ctypes.c_int()
    ctypes.memmove(room, (128).to_bytes(4, sys.byteorder), 4)
    if libc.name_to_handle_at(-100, str(path).encode(), room, ctypes.byref(mount), 0) < 0:
        return bytes(8).hex()
    return room.raw[: 8 + int.from_bytes(room.raw[:4], sys.byteorder)].hex()


def _lay_out(top: Path, secret: str) -> None:
    for name in ("outside/spares", "packages", "home/.ssh", "project/tests"):
        (top / name).mkdir(parents=True)
    (top / "outside/secret").write_text(secret)
    (top / "outside/program").write_text("#!/bin/sh\nexit 77\n")
    (top / "outside/program").chmod(0o755)
    (top / "outside/lender").write_text("")
    (top / "outside/lender").chmod(0o6755)
    (top / "room").mkdir()
    for probe in PROBES:
        (top / "outside/spares" / probe.full_name).write_text(secret)
    for name in (".bashrc", ".kept"):
        (top / "home" / name).write_text("# mine\n")
    (top / "home/.ssh/id").write_text(secret)
    (top / "project/tests/test_it.py").write_text("def test_it(): pass\n")
    subprocess.run(("git", "init", "-q", str(top / "project")), check=True)


@contextlib.contextmanager
def scene_of(top: Path) -> Iterator[Scene]:
    """One in a directory that is empty; nothing is left of it afterwards but files there."""
    secret, key = secrets.token_hex(16), 1 + secrets.randbelow(2**30)
    posix = f"agentforge-{secrets.token_hex(8)}"
    _lay_out(top, secret)
    foreign, in_tmp = Path("/var/tmp", posix), Path("/tmp", posix)
    for path in (foreign, in_tmp):
        path.touch()
    ears = Ears()
    ears.open("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    ears.open("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
    ears.open("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
    ears.open("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0))
    ears.open("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{posix}")
    ears.open("abstract_datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{posix}-d")
    port = 40000 + secrets.randbelow(9999)
    ears.open("vsock", socket.AF_VSOCK, socket.SOCK_STREAM, (socket.VMADDR_CID_ANY, port))
    home = top / "home"
    for name in ("X0", ".ssh/agent", "docker.sock"):
        ears.open(name, socket.AF_UNIX, socket.SOCK_STREAM, str(home / name))
    ears.open("log", socket.AF_UNIX, socket.SOCK_DGRAM, str(home / "log"))
    words = (sys.executable, "-I", "-S", "-c", VICTIM, str(top / "outside/secret"), str(key), posix, secret)
    keeper, terminal = os.openpty()
    victim = subprocess.Popen(
        words,
        env={"SECRET": secret},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd=top,
    )
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"ready\n"
    facts: dict[str, object] = {
        "secret": secret,
        "file": str(top / "outside/secret"),
        "program": str(top / "outside/program"),
        "victim": victim.pid,
        "driver": os.getpid(),
        "home": str(home),
        "foreign": str(foreign),
        "in tmp": str(in_tmp),
        "posix": posix,
        "key": key,
        "git": str(top / "project/.git"),
        "tests": str(top / "project/tests"),
        "packages": str(top / "packages"),
        "disk": next(iter(sorted(glob.glob("/dev/[sv]da") + glob.glob("/dev/nvme0n1"))), "/dev/sda"),  # noqa: PTH207
        "terminal": os.ttyname(terminal),
        "servers": ears.servers,
        "calls": _numbers(),
        "handle": _handle(top / "outside/secret"),
    }
    try:
        with victim:  # ends when its input does
            yield Scene(top, victim, ears, facts)
    finally:
        for server in ears.sockets:
            server.close()
        for fd in (keeper, terminal):
            os.close(fd)
        for path in (foreign, in_tmp, Path("/dev/shm", posix)):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def elsewhere(otherwise: Path) -> Iterator[Path]:
    """A directory that is in none of the places which are private to a run anyway; only root can make one."""
    if os.getuid() != 0 or not os.access("/srv", os.W_OK):
        yield otherwise
        return
    made = Path(tempfile.mkdtemp(prefix="agentforge-", dir="/srv"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made)


def lends(mode: int) -> bool:
    """Whether a file lends the rights of its owner or group, or is a device."""
    return bool(mode & (stat.S_ISUID | stat.S_ISGID)) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
