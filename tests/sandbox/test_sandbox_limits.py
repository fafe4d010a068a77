"""A run gets so much of the machine and no more, in every rung; and when its time is up nothing of it is
left.
"""

import json
import os
import resource
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import groups
from agentforge.sandbox.walls.groups import group_of_run, may_make_groups
from agentforge.sandbox.walls.limits import GIB, Limits, kernel_version, under_limits
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed
from tests.depth import SOAK
from tests.sandbox.rungs import RUNGS, label, py, sh, usable

# On a quiet machine all is over within two seconds. On a busy one a test may wait: the claim is that it ends,
# and leaves nothing.
PATIENCE_S = 20


@pytest.fixture(params=RUNGS, ids=label)
def walls(request: pytest.FixtureRequest) -> Sandbox:
    return usable(request.param)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


@pytest.fixture
def mark() -> str:
    """A time to sleep that no other test sleeps for, by which its processes can be told."""
    return f"61.{secrets.randbelow(10**9):09}"


def _with_mark(mark: str) -> Iterator[int]:
    """The processes whose command line holds `mark`."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    yield int(entry.name)
            except OSError:
                continue


def _gone(mark: str) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while left := [pid for pid in _with_mark(mark) if pid != os.getpid()]:
        if time.monotonic() > deadline:
            return not left
        time.sleep(0.02)
    return True


def test_memory_is_limited(walls: Sandbox, room: Path) -> None:
    limits = Limits(memory=256 << 20)
    done = py(
        walls,
        "x = bytearray(64 << 20); print('small', flush=True); y = bytearray(512 << 20); print('big')",
        room,
        limits=limits,
    )
    assert done.out == b"small\n"
    assert b"MemoryError" in done.err


def test_reserving_address_space_without_using_it_is_no_crime(walls: Sandbox, room: Path) -> None:
    reserve = (
        "import mmap; m = mmap.mmap(-1, 64 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, "
        "prot=0); print(len(m) >> 30)"
    )
    assert py(walls, reserve, room).out == b"64\n"


def test_a_file_cannot_grow_beyond_its_limit(walls: Sandbox, room: Path) -> None:
    done = sh(
        walls, "dd if=/dev/zero of=big bs=1M count=8 2>/dev/null", room, limits=Limits(file_size=2 << 20)
    )
    assert done.code != 0
    assert (room / "big").stat().st_size <= 2 << 20


def test_open_files_are_limited(walls: Sandbox, room: Path) -> None:
    script = (
        "import os\ntry:\n    [os.dup(0) for _ in range(300)]\nexcept OSError as error:\n    "
        "print(error.errno)"
    )
    assert py(walls, script, room, limits=Limits(open_files=100)).out == b"24\n"


def test_processor_time_is_limited(walls: Sandbox, room: Path) -> None:
    assert sh(walls, "ulimit -t", room, limits=Limits(cpu_s=1)).out == b"1\n"
    if SOAK or walls is RUNGS[0]:  # what the kernel does with this number is the same in each
        done = sh(walls, "while :; do :; done", room, timeout_s=30, limits=Limits(cpu_s=1))
        assert not done.timed_out
        assert done.code != 0


def test_no_limit_can_be_raised_from_inside(walls: Sandbox, room: Path) -> None:
    script = (
        "import resource as r\n"
        "for kind in (r.RLIMIT_DATA, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CPU):\n"
        "    soft, hard = r.getrlimit(kind)\n"
        "    try:\n"
        "        r.setrlimit(kind, (hard + 1024, hard + 1024)); print('raised', kind)\n"
        "    except (ValueError, PermissionError): pass"
    )
    assert py(walls, script, room, limits=Limits(memory=GIB, cpu_s=60, open_files=256)).out == b""


def test_no_core_is_left_behind(walls: Sandbox, room: Path) -> None:
    sh(walls, "sh -c 'kill -SEGV $$'; ulimit -c", room)
    assert not [path for path in room.iterdir() if "core" in path.name]


def test_processes_are_limited(walls: Sandbox, room: Path) -> None:
    if "their number" not in walls.guarantee()["processes"]:
        pytest.skip("these walls say that they do not count processes here")
    script = (
        "import os, signal\nmade = []\ntry:\n    for _ in range(700):\n"
        "        made.append(os.posix_spawn('/bin/sleep', ['sleep', '30'], {}))\n"
        "except BlockingIOError:\n    print('no more')\nfor pid in made: os.kill(pid, signal.SIGKILL)"
    )
    assert py(walls, script, room, timeout_s=30, limits=Limits(processes=300)).out == b"no more\n"


def test_the_limit_on_processes_leaves_the_rest_of_the_machine_alone(walls: Sandbox, room: Path) -> None:
    before = (
        Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"),
        resource.getrlimit(resource.RLIMIT_NPROC),
    )
    sh(walls, "true", room, limits=Limits(processes=600))
    assert (
        Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"),
        resource.getrlimit(resource.RLIMIT_NPROC),
    ) == before


# Each would go on for ever. The bomb is a bounded one, so that it may go off where processes are not counted.
ENDLESS = """
sleep MARK &
(while :; do cat; sleep 0.05; done; : MARK) &
(trap '' TERM INT HUP; while :; do sleep MARK; done) &
bomb() { if [ $1 -gt 0 ]; then bomb $(($1-1)) & bomb $(($1-1)) & fi; sleep MARK; }
bomb 5 &
wait
"""


def test_the_time_limit_ends_whatever_it_is_and_leaves_nothing(walls: Sandbox, room: Path, mark: str) -> None:
    started = time.monotonic()
    done = sh(walls, ENDLESS.replace("MARK", mark), room, timeout_s=1)
    assert done.timed_out
    assert time.monotonic() - started < PATIENCE_S
    assert _gone(mark)


@pytest.mark.slow
def test_the_time_limit_ends_a_fork_bomb_and_leaves_nothing(walls: Sandbox, room: Path, mark: str) -> None:
    if "their number" not in walls.guarantee()["processes"]:
        pytest.skip("these walls do not count processes here, and this machine is used by others")
    started = time.monotonic()
    done = sh(
        walls,
        f"bomb() {{ bomb | bomb & }}; bomb; sleep {mark}",
        room,
        timeout_s=0.5,
        limits=Limits(processes=600),
    )
    assert done.timed_out or done.code != 0
    assert time.monotonic() - started < PATIENCE_S
    assert _gone(mark)


def test_stdin_is_empty(walls: Sandbox, room: Path) -> None:
    assert sh(walls, "cat; echo end", room).out == b"end\n"


@pytest.mark.slow
def test_output_without_end_does_not_grow_our_memory(walls: Sandbox, room: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = walls.run(
        ("/usr/bin/head", "-c", str(GIB if SOAK else GIB // 8), "/dev/zero"),
        Confinement(cwd=room, write=(room,), output_limit=100_000),
    )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert done.truncated
    assert len(done.out) < 110_000
    assert grown < 32 * 1024


def test_limits_never_exceed_what_the_driver_itself_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert Limits(open_files=hard + 5).numbers(10)["open_files"] == (
        hard if hard != resource.RLIM_INFINITY else hard + 5
    )


def test_processor_time_is_by_default_what_all_cores_can_give() -> None:
    assert Limits().numbers(600)["cpu"] >= 600 * (os.cpu_count() or 1)


def test_without_walls_the_limits_hold_too_and_a_missing_program_is_said(room: Path) -> None:
    done = sh(NoSandbox(), "ulimit -n; ulimit -c", room, limits=Limits(open_files=77))
    assert done.out == b"77\n0\n"
    assert done.argv[0] == "/bin/sh"
    with pytest.raises(Unusable, match="no-such-program"):
        NoSandbox().run(("no-such-program",), Confinement(cwd=room, write=(room,)))


def test_a_shell_that_may_not_set_a_limit_does_not_start_the_program(room: Path) -> None:
    words = under_limits("walls", ("/bin/echo", "ran"), Limits(), 1, count_processes=False)
    broken = [("nonsense" if word == str(Limits().open_files) else word) for word in words]
    done = NoSandbox().run(broken, Confinement(cwd=room, write=(room,)))
    assert done.code == 126
    assert done.out == b""


def test_the_version_of_the_kernel_is_two_numbers() -> None:
    assert kernel_version() >= (2, 6)


# Each stays within what one process may have; together they do not.
HUNGRY_WORKERS = """
import os, time
for _ in range(4):
    if not os.fork():
        os.setsid(); kept = b"x" * (40 << 20); time.sleep(30)
time.sleep(30)
"""
MANY_FILES = "import time\nfor n in range(24): open(f'f{n}', 'wb').write(b'x' * (4 << 20))\ntime.sleep(30)"
MANY_PROCESSES = """
import os, time
for _ in range(40):
    if not os.fork():
        os.setsid(); time.sleep(30)
time.sleep(30)
"""
FILES_IN_MEMORY = """
import os, time
for n in range(8):
    with open(f"/dev/shm/{n}", "wb") as file: file.write(b"x" * (20 << 20))
time.sleep(30)
"""
HUNGRY = {
    "of memory together": (HUNGRY_WORKERS, Limits(total_memory=100 << 20)),
    "of files": (MANY_FILES, Limits(total_disk=64 << 20)),
    "at one time": (MANY_PROCESSES, Limits(total_processes=30)),
}
# Workers that share what they were forked with.
CONTENT = """
import os, time
kept = b"x" * (60 << 20)
for _ in range(4):
    if not os.fork():
        time.sleep(0.6); os._exit(0)
time.sleep(0.6); print("content")
"""


def test_a_run_ends_at_what_its_processes_use_together_and_says_so(walls: Sandbox, room: Path) -> None:
    (room / "old").write_bytes(bytes(8 << 20))

    def tried(script: str, limits: Limits, place: str) -> Completed:
        (room / place).mkdir()
        return py(walls, script, room / place, timeout_s=PATIENCE_S, limits=limits)

    with ThreadPoolExecutor(2) as pool:
        over = {name: pool.submit(tried, *row, name.replace(" ", "-")) for name, row in HUNGRY.items()}
        within = pool.submit(
            tried, CONTENT, Limits(total_memory=120 << 20, total_disk=4 << 20, total_processes=30), "content"
        ).result()
        if label(walls) != "landlock-alone":  # whose private place is on the disk
            over["among it"] = pool.submit(tried, FILES_IN_MEMORY, Limits(total_memory=100 << 20), "among-it")
    for name, done in over.items():
        # What the kernel stopped is gone, and with it what lay in its private places.
        ends = (name, "of memory together") if may_make_groups() and name == "among it" else (name,)
        assert done.result().beyond.endswith(ends), name
        assert not done.result().timed_out
    assert (within.out, within.beyond) == (b"content\n", "")


# Over before anybody looks for the first time.
QUICK = "kept = bytearray(%d << 20)\nfor at in range(0, len(kept), 4096): kept[at] = 1\nprint('had it')"
THREADS = """
import threading, time
waiting = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(60)]
for each in waiting: each.start()
print("had it")
"""


def test_in_a_control_group_the_kernel_stops_a_run_between_two_looks(walls: Sandbox, room: Path) -> None:
    if not may_make_groups():
        pytest.skip("this user may make no control groups here")
    limits = Limits(total_memory=60 << 20, processes=40)
    done = py(walls, QUICK % 150, room, limits=limits)
    assert (done.out, done.beyond) == (b"", "its processes used more than 60 MiB of memory together")
    assert py(walls, QUICK % 20, room, limits=limits).out == b"had it\n"
    if label(walls) != "landlock-alone":  # where the limit of the user's own processes comes first
        assert py(walls, THREADS, room, limits=limits).beyond.endswith("40 processes and threads at one time")
    left = [
        path
        for parent in (groups._parents() or {}).values()
        for path in parent.glob(f"agentforge-{os.getpid()}-*")
    ]
    assert left == []


def _as_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> Path:
    """What a session of systemd's looks like: a scope in a slice that may be the user's own."""
    slice_ = tmp_path / "user@7.service" / "app.slice"
    (slice_ / "shell.scope").mkdir(parents=True)
    (slice_ / "cgroup.subtree_control").write_text(given)
    (slice_ / "shell.scope" / "cgroup.subtree_control").write_text("")
    for place in (slice_, slice_ / "shell.scope"):
        (place / "cgroup.procs").write_text("")
    for name, text in (
        ("mounts", f"30 23 0:26 / {tmp_path} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"),
        ("own", "0::/user@7.service/app.slice/shell.scope\n"),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(groups, "_MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(groups, "_OWN", tmp_path / "own")
    return slice_


def test_a_group_is_made_beside_our_own_where_both_controllers_were_handed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = _as_of_version_2(tmp_path, monkeypatch, "cpu memory pids\n")
    assert groups._parents() == {"memory": parent, "pids": parent}
    (parent / "cgroup.subtree_control").write_text("cpu pids\n")
    assert not may_make_groups()
    with group_of_run(Limits()) as (group, doors):
        assert (group, doors) == (None, ())


# In a process of its own, since a process cannot leave the group that it was moved into.
READY = """
import json, os, subprocess, sys
from pathlib import Path
from agentforge.sandbox.walls.groups import _made_ready
place, controllers, stranger = Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3]
(place / "cgroup.procs").write_text(str(os.getpid()))
own = subprocess.Popen(["sleep", "60"])
if stranger:
    (place / "cgroup.procs").write_text(stranger)
ready = _made_ready(place, controllers)
print(json.dumps([ready, (place / "cgroup.subtree_control").read_text().split(),
                  [path.name.rpartition("-")[2] for path in place.iterdir() if path.is_dir()]]))
own.kill()
own.wait()
"""


def test_a_group_that_holds_nothing_but_this_program_is_made_ready_and_one_with_strangers_is_left_alone(
    tmp_path: Path,
) -> None:
    """By whatever controller the tree of version 2 here has: which one it is does not matter to the step."""
    tops = [tree.mount for tree in groups._trees(groups._MOUNTS.read_text()) if not tree.controllers]
    controllers = next(
        ((top, name) for top in tops for name in (top / "cgroup.controllers").read_text().split()), None
    )
    if controllers is None or os.getuid():
        pytest.skip("no tree of version 2 with a controller that may be given here")
    top, name = controllers
    given = name in (top / "cgroup.subtree_control").read_text().split()
    try:
        (top / "cgroup.subtree_control").write_text(f"+{name}")
        place = top / f"agentforge-test-{secrets.token_hex(4)}"
        place.mkdir()
    except OSError:
        pytest.skip("this machine's own groups may not be changed")
    try:
        with subprocess.Popen(("sleep", "60")) as stranger:
            for other, expected in ((str(stranger.pid), [False, [], []]), ("", [True, [name], ["itself"]])):
                told = subprocess.check_output(
                    (sys.executable, "-c", READY, str(place), name, other), text=True
                )
                assert json.loads(told) == expected, other
                if other:
                    stranger.kill()
                    stranger.wait()
    finally:
        for path in (*place.iterdir(), place):
            if path.is_dir():
                path.rmdir()
        if not given:
            (top / "cgroup.subtree_control").write_text(f"-{name}")


def test_a_group_that_a_killed_driver_left_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = _as_of_version_2(tmp_path, monkeypatch, "memory pids\n")
    for name in ("agentforge-999999999-ab", f"agentforge-{os.getpid()}-ab", "somebody-else"):
        (parent / name).mkdir()
    with group_of_run(Limits()):
        names = {path.name for path in parent.iterdir() if path.is_dir()}
    assert "agentforge-999999999-ab" not in names
    assert {f"agentforge-{os.getpid()}-ab", "somebody-else", "shell.scope"} <= names
