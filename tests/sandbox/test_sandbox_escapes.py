"""Ways out, each tried for real inside each rung, against a real process beside it. None may read, change or
reach anything outside; and without walls every one of them does.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import agentforge
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.walls import seccomp
from tests.depth import SOAK
from tests.sandbox.outside import INSIDE, Scene, elsewhere, lends, scene_of
from tests.sandbox.probes import PROBES
from tests.sandbox.rungs import INTERPRETER, RUNGS, has_namespaces, label, usable

pytestmark = pytest.mark.skipif(not seccomp.is_available(), reason="this kernel takes no filters")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with elsewhere(tmp_path) as top, scene_of(top) as made:
        monkeypatch.setenv("HOME", str(top / "home"))
        monkeypatch.setenv("AGENTFORGE_PROBED", "x")
        yield made


@pytest.mark.parametrize("sandbox", RUNGS, ids=label)
def test_no_way_leads_out(sandbox: Sandbox, scene: Scene, tmp_path: Path) -> None:
    walls = usable(sandbox)
    os.set_inheritable(kept := os.open(str(scene.facts["file"]), os.O_RDONLY), True)
    with (tmp_path / "task-lock").open("w") as lock:
        scene.look()
        confinement = replace(scene.confinement(), pass_fds=(lock.fileno(),))
        done = walls.run((INTERPRETER, "-I", str(INSIDE)), confinement)
    os.close(kept)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    weak = {each.full_name for each in PROBES if each.weak}
    reached = scene.reached(told)
    assert {name: what for name, what in reached.items() if has_namespaces(walls) or name not in weak} == {}
    assert told.keys() == {each.full_name for each in PROBES}
    assert scene.victim.poll() is None
    assert [path for path in scene.room.rglob("*") if lends(path.lstat().st_mode)] == []


AS_SOMEBODY = """
import json, os, sys
from dataclasses import replace
from pathlib import Path
from agentforge.sandbox.walls import ladder
from tests.sandbox.outside import INSIDE, scene_of
from tests.sandbox.probes import PROBES
from tests.sandbox.rungs import RUNGS, has_namespaces, label
top, told = Path(sys.argv[1]), {}
for walls in RUNGS if sys.argv[2] else RUNGS[-1:]:
    if not ladder.works(walls):
        continue
    (top / label(walls)).mkdir(parents=True)
    with scene_of(top / label(walls)) as scene, (top / "task-lock").open("w") as lock:
        os.environ["HOME"] = str(scene.top / "home")
        scene.look()
        confinement = replace(scene.confinement(), pass_fds=(lock.fileno(),))
        done = walls.run((sys.executable, "-I", str(INSIDE)), confinement)
        assert done.code == 0, done.err
        weak = set() if has_namespaces(walls) else {each.full_name for each in PROBES if each.weak}
        found = scene.reached(json.loads(done.out))
        told[label(walls)] = {name: what for name, what in found.items() if name not in weak}
print(json.dumps(told))
"""


@pytest.mark.slow
def test_no_way_leads_out_for_an_ordinary_user() -> None:
    drop, python = shutil.which("setpriv"), shutil.which("python3", path="/usr/bin:/bin")
    if os.getuid() != 0 or drop is None or python is None:
        pytest.skip("only root can become somebody else; as an ordinary user the other tests say it")
    if subprocess.run(
        (python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"), check=False
    ).returncode:
        pytest.skip("the interpreter that everybody can start is too old")
    with tempfile.TemporaryDirectory(dir="/srv") as made:
        top = Path(made)
        for name in ("core", "sandbox", "system"):
            shutil.copytree(Path(agentforge.__file__).parent / name, top / "code/agentforge" / name)
        (top / "code/tests/sandbox").mkdir(parents=True)
        for name in ("outside.py", "probes.py", "inside.py", "rungs.py"):
            shutil.copy(INSIDE.with_name(name), top / "code/tests/sandbox")
        (top / "code/agentforge/__init__.py").touch()
        (top / "code/pytest.py").write_text("def skip(why): raise SystemExit(why)\n")
        (top / "own").mkdir()
        os.chown(top / "own", 65534, 65534)
        top.chmod(0o755)
        done = subprocess.run(
            (
                *(drop, "--reuid=65534", "--regid=65534", "--clear-groups"),
                *(python, "-c", AS_SOMEBODY, str(top / "own"), "all" if SOAK else ""),
            ),
            env={"PYTHONPATH": str(top / "code"), "PATH": os.environ["PATH"], "HOME": str(top / "own/home")},
            cwd="/",
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told
        assert all(reached == {} for reached in told.values()), told
        assert [path for path in (top / "own").rglob("room/**/*") if lends(path.lstat().st_mode)] == []


# Mounts of their own, in which everything may be mounted, and a layer over the system's programs, so that what
# root can do without walls does no harm.
HARMLESS = """
set -e
mount -t tmpfs none "$1"; mkdir "$1/up" "$1/work"
mount -t overlay none -o "lowerdir=/usr,upperdir=$1/up,workdir=$1/work" /usr
exec "$2" -I "$3"
"""
# What may be missing without walls, too, and what the kernel then says: it was built without it, the machine has
# no such device, or its root was given fewer rights. Only for such an answer is a probe let off: one that reaches
# nothing for another reason proves nothing. The walls are tried with it all the same.
NOT_HERE = frozenset(
    (
        "ENOSYS",
        "ENOENT",
        "ENODEV",
        "ENXIO",
        "EIO",
        "ENOTTY",
        "EAFNOSUPPORT",
        "EPROTONOSUPPORT",
        "ESOCKTNOSUPPORT",
        "EOPNOTSUPP",
        "ENETUNREACH",
        "EHOSTUNREACH",
        "EADDRNOTAVAIL",
    )
)
FEWER_RIGHTS = frozenset(("EPERM", "EACCES", "0"))
"""`0`: a limit that may not be raised."""
OF_ITS_OWN = {
    "network.without_connecting": "EINPROGRESS",  # a kernel that sends nothing before the other side has answered
    "network.host_of_the_machine": "the probe itself failed: TimeoutError('timed out')",  # no machine around it
}
MAY_BE_MISSING = re.compile(
    r"network\.(family_\w+|host_of_the_machine|without_connecting|tcp6|udp6|mapped_address|many_paths|own_name|world\w*|"
    r"keys_of_the_cloud)|no-devices\.\w+|kernel-files\.\w+|limits\.open_files|capabilities\.raw_memory_lock|"
    r"system-calls\.(\w+_module|iopl|ioperm|kexec\w+|modify_ldt|userfaultfd|io_uring\w+|quotactl\w*|bpf)|files\.handle|"
    r"file-modes\.attribute|namespaces\.unshare_time|terminal\.\w+|shared-memory\.queue_with_a_name"
)


NOTHING = "reached nothing: "


def is_missing(name: str, said: list[str]) -> bool:
    """Whether what a probe ended with says that this machine has no such thing."""
    answer = said[0].removeprefix(NOTHING) if said else ""
    rights = Path("/proc/self/status").read_text().partition("CapEff:")[2].split()[0]
    known = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    fewer = int(rights, 16) != (1 << known + 1) - 1
    return answer in NOT_HERE or OF_ITS_OWN.get(name) == answer or (fewer and answer in FEWER_RIGHTS)


def test_a_probe_that_is_let_off_says_that_there_is_no_such_thing() -> None:
    assert is_missing("kernel-files.sleep", [NOTHING + "ENOENT"])
    assert not is_missing("kernel-files.sleep", [NOTHING + "EINVAL"])
    assert not is_missing("network.tcp6", ["the probe itself failed: NameError('reach')"])
    assert not is_missing("network.tcp6", [NOTHING + "EINPROGRESS"])


def test_without_walls_every_one_of_them_leads_out(scene: Scene, tmp_path: Path) -> None:
    """So that a probe which reaches nothing says something about the walls."""
    root = os.getuid() == 0
    chosen = [each for each in PROBES if root or not each.root]
    (tmp_path / "layer").mkdir()
    words: tuple[str, ...] = (INTERPRETER, "-I", str(INSIDE))
    if root:
        layered = (str(tmp_path / "layer"), INTERPRETER, str(INSIDE))
        words = ("unshare", "-mu", "/bin/sh", "-c", HARMLESS, "harmless", *layered)
    scene.look()
    with (tmp_path / "task-lock").open("w") as lock:
        done = subprocess.run(
            words,
            cwd=scene.room,
            input=json.dumps({**json.loads(scene.text(chosen)), "without walls": True}).encode(),
            capture_output=True,
            check=False,
            timeout=120,
            pass_fds=(lock.fileno(),),
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    excused = {
        name for name, said in told.items() if MAY_BE_MISSING.fullmatch(name) and is_missing(name, said)
    }
    nothing = {name for name, said in told.items() if said and said[0].startswith(NOTHING)}
    reached = scene.reached({name: said for name, said in told.items() if name not in nothing | excused})
    assert "the probe itself failed" not in str(reached)
    assert {each.full_name for each in chosen} - reached.keys() - excused == set()
    assert len(reached) >= (250 if root else 100)
