"""Ways out, each tried for real inside each rung. None may read, change or reach anything outside."""

# ruff: noqa: E501 - programs for the inside, one attempt to a line

import os
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.sandbox import seccomp
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.landlock import FIRST_ABI_WITH_SCOPES, kernel_abi
from tests.sandbox.rungs import INTERPRETER, RUNGS, has_namespaces, label, py, usable

START = """
import ctypes, os, socket, subprocess, sys, threading, time
OUTSIDE, DRIVER, SECRET = {outside!r}, {driver}, {secret!r}
libc = ctypes.CDLL(None, use_errno=True)
def look(path):
    try:
        if SECRET in open(path, "rb").read().decode("utf-8", "replace"): print("ESCAPED by", path)
    except OSError: pass
def change(path):
    try:
        open(path, "a").write("changed")
    except OSError: pass
"""

ESCAPES = {
    "the root of the first process": "for base in ('/proc/1/root', '/proc/self/root', '/proc/1/cwd', f'/proc/{DRIVER}/root', f'/proc/{DRIVER}/cwd'):\n"
    "    look(base + OUTSIDE); change(base + OUTSIDE); look(base + '/../' * 9 + OUTSIDE)",
    "open files of other processes": "for pid in os.listdir('/proc'):\n"
    "    if pid.isdigit():\n"
    "        try: entries = os.listdir(f'/proc/{pid}/fd')\n"
    "        except OSError: continue\n"
    "        for fd in entries: \n"
    "            try: os.readlink(f'/proc/{pid}/fd/{fd}') == OUTSIDE and look(f'/proc/{pid}/fd/{fd}')\n"
    "            except OSError: pass",
    "a link out": "os.symlink(OUTSIDE, 'link'); look('link'); change('link')\n"
    "os.symlink(os.path.dirname(OUTSIDE), 'dir'); look('dir/' + os.path.basename(OUTSIDE)); change('dir/made')",
    "a hard link out": "try:\n    os.link(OUTSIDE, 'hard'); look('hard'); change('hard')\nexcept OSError: pass",
    "a link that changes while it is followed": "os.mkdir('a'); open('a/secret', 'w').close(); stop = time.monotonic() + 0.3\n"
    "def swap():\n"
    "    while time.monotonic() < stop:\n"
    "        try:\n"
    "            os.symlink(os.path.dirname(OUTSIDE), 'b'); os.rename('a', 'c'); os.rename('b', 'a'); os.rename('a', 'b'); os.rename('c', 'a'); os.unlink('b')\n"
    "        except OSError: pass\n"
    "threading.Thread(target=swap, daemon=True).start()\n"
    "while time.monotonic() < stop: look('a/secret'); change('a/secret')",
    "climbing out of a moved directory": "os.makedirs('x/y'); os.chdir('x/y'); os.rename('../../x/y', '../../z'); look('../' * 30 + OUTSIDE.lstrip('/'))",
    "a new mount": "libc.mount(b'none', b'/', None, 1 << 18 | 16384, None); libc.mount(b'/', b'/', None, 32 | 4096, None)\n"
    "os.makedirs('m', exist_ok=True)\n"
    "if libc.mount(os.path.dirname(OUTSIDE).encode(), b'm', None, 4096, None) == 0: look('m/' + os.path.basename(OUTSIDE))\n"
    "if libc.umount2(b'/usr', 2) == 0: print('ESCAPED by umount')\n"
    "if libc.chroot(b'.') == 0: print('ESCAPED by chroot')",
    "a namespace with rights of its own": "if libc.unshare(0x10000000 | 0x20000) == 0: print('ESCAPED by unshare')\n"
    "subprocess.run(['unshare', '-Urm', 'mount', '-o', 'remount,rw,bind', '/usr'], stderr=-3); change('/usr/forged')",
    "the driver's memory": "if libc.ptrace(16, DRIVER, 0, 0) == 0: print('ESCAPED by ptrace')\nlook(f'/proc/{DRIVER}/environ'); look(f'/proc/{DRIVER}/cmdline-')\n"
    "try: open(f'/proc/{DRIVER}/mem', 'r+b').close(); print('ESCAPED by mem')\nexcept OSError: pass",
    "a device": "for name, kind, number in (('mem', 0o020666, (1, 1)), ('disk', 0o060666, (8, 0)), ('disk2', 0o060666, (254, 0))):\n"
    "    try: os.mknod(name, kind, os.makedev(*number)); print('ESCAPED by', name)\n"
    "    except OSError: pass\n"
    "for name in ('/dev/mem', '/dev/kmsg', '/dev/vda', '/dev/sda', '/dev/kvm'):\n"
    "    try: open(name, 'r+b').close(); print('ESCAPED by', name)\n"
    "    except OSError: pass",
    "the kernel's own files": "for name in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel/uevent_helper', '/proc/sys/kernel/hostname'):\n"
    "    try: open(name, 'a').close(); print('ESCAPED by', name)\n"
    "    except OSError: pass",
    "code for the interpreter to find": "import site\n"
    "for place in {*site.getsitepackages(), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)}:\n"
    "    for name in ('sitecustomize.py', 'agentforge-forged.pth', 'conftest.py'):\n"
    "        try: open(os.path.join(place, name), 'x').close(); print('ESCAPED by', place)\n"
    "        except OSError: pass",
    "signals": "for pid in (DRIVER, os.getppid()):\n    pass\ntry: os.kill(DRIVER, 0); print('ESCAPED by signal')\nexcept OSError: pass",
    "more rights": "try: os.setuid(0) if os.getuid() else None\nexcept OSError: pass\n"
    "status = open('/proc/self/status').read()\n"
    "if 'CapEff:\\t' + '0' * 16 not in status or 'NoNewPrivs:\\t1' not in status: print('ESCAPED by rights')",
}


@pytest.fixture(params=RUNGS, ids=label)
def walls(request: pytest.FixtureRequest) -> Sandbox:
    return usable(request.param)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


@pytest.mark.parametrize("name", ESCAPES)
def test_no_way_leads_out(walls: Sandbox, room: Path, tmp_path: Path, name: str) -> None:
    if name == "signals" and not has_namespaces(walls) and kernel_abi() < FIRST_ABI_WITH_SCOPES:
        pytest.skip("these walls say that they cannot hold this")
    secret = secrets.token_hex(16)
    outside = tmp_path / "secret"
    outside.write_text(secret)
    before = sorted(tmp_path.iterdir())
    # The driver keeps the file open and the secret in its memory, as a real one does.
    with outside.open():
        script = START.format(outside=str(outside), driver=os.getpid(), secret=secret) + ESCAPES[name]
        done = py(walls, script + "\nprint('TRIED')", room)
    assert done.out == b"TRIED\n", done.err
    assert outside.read_text() == secret
    assert sorted(tmp_path.iterdir()) == before
    assert not Path("/usr/forged").exists()


def test_hooks_and_configuration_of_git_cannot_be_planted(walls: Sandbox, room: Path) -> None:
    subprocess.run(("git", "init", "-q", str(room)), check=True)
    before = {path: path.read_bytes() for path in (room / ".git").rglob("*") if path.is_file()}
    script = (
        "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; git config core.hooksPath evil; git config core.fsmonitor evil;"
        "mv .git old; rm -rf .git; ln -s evil .git/hooks/post-checkout; mkdir evil; cp -r .git forged; mv forged .git; echo tried"
    )
    done = walls.run(("/bin/sh", "-c", script), Confinement(cwd=room, write=(room,), read=(room / ".git",)))
    assert done.out == b"tried\n"
    assert {path: path.read_bytes() for path in (room / ".git").rglob("*") if path.is_file()} == before


def test_no_file_that_lends_its_owners_rights_can_be_left_behind(walls: Sandbox, room: Path) -> None:
    if not seccomp.is_available():
        pytest.skip("this kernel takes no filters")
    script = (
        "import os, shutil\nshutil.copy('/usr/bin/id', 'own')\n"
        "for attempt in (lambda: os.chmod('own', 0o4755), lambda: os.fchmod(os.open('own', os.O_RDONLY), 0o4755),"
        " lambda: os.chmod('own', 0o4755, follow_symlinks=True), lambda: os.chmod('own', 0o6755)):\n"
        "    try: attempt(); print('set')\n"
        "    except OSError: pass\n"
        "os.chmod('own', 0o755)\n"
        "fd = os.open('made', os.O_CREAT | os.O_RDWR, 0o4755); os.write(fd, b'#!/bin/sh')\nprint('tried')"
    )
    assert py(walls, script, room).out == b"tried\n"
    assert not [path for path in room.iterdir() if path.stat().st_mode & stat.S_ISUID]


def test_a_program_that_lends_rights_outside_lends_none_inside(walls: Sandbox, room: Path) -> None:
    lending = next(
        (path for path in map(shutil.which, ("su", "mount", "passwd", "newgrp")) if path and Path(path).stat().st_mode & stat.S_ISUID), None
    )
    if lending is None:
        pytest.skip("no such program is installed")
    script = f"import subprocess; print(subprocess.run([{lending!r}, '--help'], capture_output=True).returncode); print(open('/proc/self/status').read())"
    done = py(walls, script, room)
    assert b"NoNewPrivs:\t1" in done.out
    done = walls.run(("/bin/sh", "-c", "su -c id 2>&1 </dev/null; sudo -n id 2>&1; id -u"), Confinement(cwd=room, write=(room,)))
    assert b"uid=0(root) gid=0(root) groups=0(root)" not in done.out or os.getuid() == 0


@pytest.fixture
def ears() -> Iterator[dict[str, object]]:
    """Servers of this machine on every family there is, and who was heard."""
    heard: list[str] = []
    servers: list[socket.socket] = []
    name = f"\0agentforge-{secrets.token_hex(8)}"

    def open_one(label: str, family: int, kind: int, address: tuple[str | int, ...] | str) -> object:
        try:
            server = socket.socket(family, kind)
            server.bind(address)
        except OSError:
            return None
        if kind == socket.SOCK_STREAM:
            server.listen()
        servers.append(server)

        def listen() -> None:
            try:
                if kind == socket.SOCK_STREAM:
                    server.accept()[0].close()
                else:
                    server.recv(10)
            except OSError:
                return
            heard.append(label)

        threading.Thread(target=listen, daemon=True).start()
        return server.getsockname()

    places = {
        "tcp4": open_one("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "tcp6": open_one("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
        "udp4": open_one("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "udp6": open_one("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0)),
        "abstract": open_one("abstract", socket.AF_UNIX, socket.SOCK_STREAM, name) and name,
        "vsock": open_one("vsock", socket.AF_VSOCK, socket.SOCK_STREAM, (socket.VMADDR_CID_ANY, 40000 + secrets.randbelow(9999))),
    }
    yield {"places": places, "heard": heard}
    for server in servers:
        server.close()


REACH = """
import socket
KINDS = {"tcp4": (socket.AF_INET, 1), "tcp6": (socket.AF_INET6, 1), "udp4": (socket.AF_INET, 2), "udp6": (socket.AF_INET6, 2),
         "abstract": (socket.AF_UNIX, 1), "vsock": (socket.AF_VSOCK, 1)}
for name, place in PLACES.items():
    if place is None: continue
    family, kind = KINDS[name]
    for target in ([place] if name != "vsock" else [(1, place[1]), (2, place[1]), (2, 1024), (3, place[1])]):
        try:
            one = socket.socket(family, kind); one.settimeout(0.5)
            one.connect(tuple(target) if isinstance(target, list) else target); one.send(b"out")
            print("sent by", name)
        except OSError: pass
print("tried")
"""


def test_no_family_of_sockets_reaches_the_machine(walls: Sandbox, room: Path, ears: dict[str, object]) -> None:
    if not has_namespaces(walls) and kernel_abi() < FIRST_ABI_WITH_SCOPES:
        pytest.skip("these walls say that they cannot hold this")
    done = py(walls, f"PLACES = {ears['places']!r}\n{REACH}", room)
    assert b"tried" in done.out
    assert ears["heard"] == []
    # A datagram can be sent into the private loopback, where nobody listens.
    assert {line for line in done.out.decode().splitlines() if line != "tried"} <= {"sent by udp4", "sent by udp6"}


def test_the_same_servers_are_heard_without_walls(room: Path, ears: dict[str, object]) -> None:
    subprocess.run((sys.executable, "-c", f"PLACES = {ears['places']!r}\n{REACH}"), check=True, capture_output=True)
    heard = ears["heard"]
    assert isinstance(heard, list)
    deadline = time.monotonic() + 5
    while not {"tcp4", "abstract"} <= set(heard) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert {"tcp4", "abstract"} <= set(heard)


def test_no_descriptor_of_the_driver_is_inherited(walls: Sandbox, room: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    with (tmp_path / "secret").open() as kept:
        os.set_inheritable(kept.fileno(), True)
        script = "import os\nfor fd in os.listdir('/proc/self/fd'):\n    try: print(os.readlink('/proc/self/fd/' + fd))\n    except OSError: pass"
        done = walls.run((INTERPRETER, "-I", "-c", script), Confinement(cwd=room, write=(room,)))
    assert str(tmp_path / "secret") not in done.out.decode()
    assert not [line for line in done.out.decode().splitlines() if line.startswith("/") and not line.startswith(("/dev/null", "/proc/"))]
