"""Ways out, each tried for real inside each rung, against a real process beside it. None may read, change or
reach anything outside.
"""

import ctypes
import json
import os
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

import agentforge
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import seccomp
from agentforge.sandbox.walls.landlock import FIRST_ABI_WITH_SCOPES, kernel_abi
from tests.sandbox.rungs import INTERPRETER, RUNGS, has_namespaces, label, usable

INSIDE = Path(__file__).with_name("inside.py")
# It keeps the secret wherever a program may keep one: in its variables, its arguments, its memory, a file it
# holds open, shared memory.
VICTIM = """
import ctypes, os, sys
secret, path, key, posix = os.environ["SECRET"], sys.argv[1], int(sys.argv[2]), sys.argv[3]
held = open(path)
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(key, 4096, 0o1666)
assert segment >= 0
place = libc.shmat(segment, None, 0)
ctypes.memmove(place, secret.encode(), len(secret))
open("/dev/shm/" + posix, "w").write(secret)
print("ready", flush=True)
sys.stdin.read()
"""


@dataclass(slots=True)
class Ears:
    """Servers of this machine on every family there is, and which of them were heard."""

    servers: list[tuple[str, int, int, object]] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    sockets: list[socket.socket] = field(default_factory=list)

    def open(self, name: str, family: int, kind: int, place: tuple[str | int, ...] | str) -> None:
        try:
            server = socket.socket(family, kind)
            server.bind(place)
        except OSError:
            return
        if kind == socket.SOCK_STREAM:
            server.listen()
        self.sockets.append(server)
        self.servers.append(
            (name, family, kind, place if isinstance(place, str) else server.getsockname()[:2])
        )
        threading.Thread(target=self._listen, args=(name, server), daemon=True).start()

    def _listen(self, name: str, server: socket.socket) -> None:
        try:
            if server.type == socket.SOCK_STREAM:
                server.accept()[0].close()
            else:
                server.recv(10)
        except OSError:
            return
        self.heard.append(name)

    def hears(self, names: set[str]) -> bool:
        deadline = time.monotonic() + 10
        while not names <= set(self.heard) and time.monotonic() < deadline:
            time.sleep(0.01)
        return names <= set(self.heard)


@dataclass(frozen=True, slots=True)
class Scene:
    """A machine in small: somebody's files, somebody's program, somebody's servers; and a room for the
    program that wants out.
    """

    top: Path
    victim: subprocess.Popen[bytes]
    ears: Ears
    secret: str
    facts: dict[str, object]

    def confinement(self) -> Confinement:
        locked = (self.top / "project/.git", self.top / "project/tests", self.top / "packages")
        return Confinement(
            cwd=self.top / "room",
            write=(self.top / "room", self.top / "project"),
            read=(*locked, INSIDE),
            timeout_s=120,
        )

    def outside(self) -> dict[str, bytes]:
        """Everything outside of the room, with its content."""
        files = (path for path in self.top.rglob("*") if not path.is_relative_to(self.top / "room"))
        return {str(path): path.read_bytes() if path.is_file() else b"" for path in files}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    secret = secrets.token_hex(16)
    for name in ("room", "packages", "home/.ssh", "project/tests"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "secret").write_text(secret)
    (tmp_path / "home/.bashrc").write_text("# mine\n")
    (tmp_path / "project/tests/test_it.py").write_text("def test_it(): pass\n")
    subprocess.run(("git", "init", "-q", str(tmp_path / "project")), check=True)
    key, posix = 1 + secrets.randbelow(2**30), f"agentforge-{secrets.token_hex(8)}"
    victim = subprocess.Popen(
        (sys.executable, "-I", "-S", "-c", VICTIM, str(tmp_path / "secret"), str(key), posix),
        env={"SECRET": secret},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"ready\n"
    ears = Ears()
    ears.open("tcp4", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
    ears.open("tcp6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
    ears.open("udp4", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
    ears.open("udp6", socket.AF_INET6, socket.SOCK_DGRAM, ("::1", 0))
    ears.open("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{posix}")
    ears.open("abstract datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{posix}-d")
    ears.open(
        "vsock", socket.AF_VSOCK, socket.SOCK_STREAM, (socket.VMADDR_CID_ANY, 40000 + secrets.randbelow(9999))
    )
    ears.open("x11", socket.AF_UNIX, socket.SOCK_STREAM, str(tmp_path / "X0"))
    ears.open("ssh-agent", socket.AF_UNIX, socket.SOCK_STREAM, str(tmp_path / "home/.ssh/agent"))
    ears.open("docker", socket.AF_UNIX, socket.SOCK_STREAM, str(tmp_path / "docker.sock"))
    # Places of others, hidden from a run that has namespaces.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    foreign = Path("/var/tmp") / posix
    foreign.touch()
    facts = {
        "files that are sockets": [
            place for _, _, _, place in ears.servers if isinstance(place, str) and place.startswith("/")
        ],
        "names": [str(tmp_path / "home/.bashrc"), str(foreign), str(tmp_path / "docker.sock")],
        "secret": secret,
        "file": str(tmp_path / "secret"),
        "victim": victim.pid,
        "group": victim.pid,
        "key": key,
        "posix": posix,
        "homes": [str(tmp_path / "home")],
        "git": str(tmp_path / "project/.git"),
        "packages": str(tmp_path / "packages"),
        "tests": str(tmp_path / "project/tests"),
        "servers": [row for row in ears.servers if row[0] not in ("x11", "ssh-agent", "docker")],
    }
    with victim:  # ends when its input does
        yield Scene(tmp_path, victim, ears, secret, facts)
    for server in ears.sockets:
        server.close()
    libc = ctypes.CDLL(None)
    libc.shmctl(libc.shmget(key, 0, 0), 0, None)
    (Path("/dev/shm") / posix).unlink(missing_ok=True)
    foreign.unlink()


def words(scene: Scene, *only: str) -> tuple[str, ...]:
    return (INTERPRETER, "-I", str(INSIDE), json.dumps({**scene.facts, "only": only}))


def allowed(walls: Sandbox) -> set[str]:
    """What these walls say that they cannot hold on this kernel."""
    if has_namespaces(walls):
        return set()
    weak = {"sockets_that_are_files", "names_in_usual_places"}
    return weak if kernel_abi() >= FIRST_ABI_WITH_SCOPES else weak | {"signals", "servers_of_the_machine"}


@pytest.mark.parametrize("sandbox", RUNGS, ids=label)
def test_no_way_leads_out(sandbox: Sandbox, scene: Scene) -> None:
    walls = usable(sandbox)
    if not seccomp.is_available():
        pytest.skip("this kernel takes no filters")
    os.set_inheritable(kept := os.open(scene.top / "secret", os.O_RDONLY), True)
    with (scene.top / "task-lock").open("w") as lock:
        before = scene.outside()
        done = walls.run(words(scene), replace(scene.confinement(), pass_fds=(lock.fileno(),)))
    os.close(kept)
    told = json.loads(done.out or done.err)
    assert {name: reached for name, reached in told.items() if reached and name not in allowed(walls)} == {}
    assert len(told) > 35
    # And now from outside: nothing changed, nobody was hurt or heard, and nothing was left that lends rights.
    assert scene.outside() == before
    assert not Path("/usr/forged").exists()
    assert scene.victim.poll() is None or "signals" in allowed(walls)
    weak = {"x11", "ssh-agent", "docker"} if "sockets_that_are_files" in allowed(walls) else set()
    assert set(scene.ears.heard) <= weak or "servers_of_the_machine" in allowed(walls)
    assert [path for path in (scene.top / "room").rglob("*") if _lends(path.lstat().st_mode)] == []


# What does not need the scene: it is the same machine, seen by a user without any rights of root's.
ANYBODY = (
    *("straight", "devices", "files_of_the_kernel", "mounts", "namespaces", "wide_doors", "more_rights"),
    *("set_id_by_chmod", "set_id_by_open", "set_id_by_mknod", "set_id_of_others", "set_id_from_an_archive"),
    *("rights_in_attributes", "device_left_by_rename", "descriptors", "lock_of_the_task", "keys"),
    *("memory_of_other_processes", "signals", "other_families", "links", "root_of_other_processes"),
)
AS_SOMEBODY = """
import json, os, sys
from pathlib import Path
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.landlock import Landlock, kernel_abi
top, inside, facts = Path(sys.argv[1]), sys.argv[2], json.load(sys.stdin)
told = {}
for name, walls in (("bubblewrap", Bubblewrap()), ("landlock", Landlock(kernel_abi())),
                    ("landlock-alone", Landlock(kernel_abi(), namespaces=False))):
    if not ladder.works(walls):
        continue
    (top / name).mkdir()
    with (top / "task-lock").open("w") as lock:
        confinement = Confinement(
            cwd=top / name, write=(top / name,), read=(Path(inside),), pass_fds=(lock.fileno(),)
        )
        words = (sys.executable, "-I", inside, json.dumps({**facts, "victim": os.getpid()}))
        done = walls.run(words, confinement)
    told[name] = json.loads(done.out or done.err)
print(json.dumps(told))
"""


def test_no_way_leads_out_for_an_ordinary_user(scene: Scene) -> None:
    drop, python = shutil.which("setpriv"), shutil.which("python3", path="/usr/bin:/bin")
    if os.getuid() != 0 or drop is None or python is None:
        pytest.skip("only root can become somebody else; as an ordinary user the other tests say it")
    if subprocess.run(
        (python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"), check=False
    ).returncode:
        pytest.skip("the interpreter that everybody can start is too old")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:  # a user's own place, where they may go
        top = Path(made)
        for name in ("core", "sandbox", "system"):
            shutil.copytree(Path(agentforge.__file__).parent / name, top / "code/agentforge" / name)
        (top / "code/agentforge/__init__.py").touch()
        shutil.copy(INSIDE, top / "inside.py")
        (top / "secret").write_text(scene.secret)
        (top / "own").mkdir()
        os.chown(top / "own", 65534, 65534)
        top.chmod(0o755)
        facts = {**scene.facts, "file": str(top / "secret"), "only": ANYBODY}
        done = subprocess.run(
            (
                *(drop, "--reuid=65534", "--regid=65534", "--clear-groups"),
                *(python, "-c", AS_SOMEBODY, str(top / "own"), str(top / "inside.py")),
            ),
            input=json.dumps(facts).encode(),
            env={"PYTHONPATH": str(top / "code"), "PATH": os.environ["PATH"], "HOME": str(top / "own")},
            cwd="/",
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told
        for name, attempts in told.items():
            assert set(attempts) == set(ANYBODY)
            assert {each: reached for each, reached in attempts.items() if reached} == {}, name
        assert [path for path in (top / "own").rglob("*") if _lends(path.lstat().st_mode)] == []


def _lends(mode: int) -> bool:
    return bool(mode & (stat.S_ISUID | stat.S_ISGID)) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def test_the_same_program_gets_out_where_there_are_no_walls(scene: Scene) -> None:
    """So that an attempt which reaches nothing says something about the walls."""
    # Only those that cannot hurt the machine.
    known: tuple[str, ...] = (
        *(
            "root_of_other_processes",
            "open_files_of_other_processes",
            "hooks",
            "variables_of_other_processes",
            "limits_of_other_processes",
        ),
        *("shared_memory", "servers_of_the_machine", "links", "signals", "descriptors", "lock_of_the_task"),
        *("set_id_by_chmod", "set_id_by_open", "set_id_by_mknod", "set_id_from_an_archive"),
        *("sockets_that_are_files", "names_in_usual_places"),
    )
    if os.getuid() == 0:
        known += ("set_id_of_others", "rights_in_attributes", "device_left_by_rename", "devices")
    with (scene.top / "task-lock").open("w") as lock:
        done = subprocess.run(
            words(scene, *known),
            cwd=scene.top / "room",
            capture_output=True,
            check=True,
            timeout=120,
            pass_fds=(lock.fileno(),),
        )
    told = json.loads(done.stdout)
    assert {name for name, reached in told.items() if not reached} == set()
    assert "the attempt itself failed" not in str(told)
    assert scene.ears.hears({"tcp4", "abstract"})
    assert scene.victim.wait(10) < 0
