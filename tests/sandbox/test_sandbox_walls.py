"""What every sandbox must hold, tried from the inside by a program that wants out."""

import ast
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TextIO

import pytest

from agentforge.core.errors import PolicyError, Unusable
from agentforge.sandbox.base import Confinement, Sandbox, not_started, shielded
from agentforge.sandbox.network.destinations import destination
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed
from tests.rows import every
from tests.sandbox.rungs import INTERPRETER, RUNGS, label, usable

BEAT = "while true; do echo beat >> beats; sleep 0.05; done"


@pytest.fixture(params=RUNGS, ids=label)
def walls(request: pytest.FixtureRequest) -> Sandbox:
    return usable(request.param)


@pytest.fixture(params=[*RUNGS, NoSandbox()], ids=label)
def any_rung(request: pytest.FixtureRequest) -> Sandbox:
    """The one without walls among them: that a run comes to its end, and holds no lock, is true there too."""
    return request.param if isinstance(request.param, NoSandbox) else usable(request.param)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)


def _stops(beats: Path) -> bool:
    """Whether what writes there comes to its end."""
    sizes = [beats.stat().st_size]
    while len(sizes) < 60 and sizes[-3:] != [sizes[-1]] * 3:
        time.sleep(0.15)
        sizes.append(beats.stat().st_size)
    return sizes[0] > 0 and len(sizes) < 60


def sh(sandbox: Sandbox, script: str, confinement: Confinement) -> Completed:
    return sandbox.run(("/bin/sh", "-c", script), confinement)


def py(sandbox: Sandbox, script: str, confinement: Confinement) -> Completed:
    return sandbox.run((INTERPRETER, "-I", "-c", script), confinement)


def test_the_named_directory_can_be_written_and_what_is_written_belongs_to_the_caller(
    walls: Sandbox, room: Path
) -> None:
    done = sh(
        walls,
        "echo hello > made && mkdir d && mv made d/made && cat d/made",
        Confinement(cwd=room, write=(room,)),
    )
    assert (done.code, done.out) == (0, b"hello\n")
    assert (room / "d/made").stat().st_uid == os.getuid()


def test_a_program_finds_what_it_was_given_on_its_standard_input_and_then_the_end(
    walls: Sandbox, room: Path
) -> None:
    given = Confinement(cwd=room, write=(room,), input=b"one\n" * 50_000)
    assert sh(walls, "wc -l; wc -c", given).out.split() == [b"50000", b"0"]
    assert sh(walls, "wc -c", Confinement(cwd=room, write=(room,))).out.split() == [b"0"]


def test_the_result_names_the_program_and_not_the_walls(walls: Sandbox, room: Path) -> None:
    assert walls.run(("/bin/echo", "x"), Confinement(cwd=room, write=(room,))).argv == ("/bin/echo", "x")


def test_files_outside_cannot_be_read_or_changed(walls: Sandbox, room: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not read")
    script = (
        f"cat {secret} /etc/shadow; ls {Path.home()}/.ssh {tmp_path}; echo x >> {secret}; echo x > "
        f"/usr/forged; rm {secret}"
    )
    done = sh(walls, script, Confinement(cwd=room, write=(room,)))
    assert b"do not read" not in done.out
    assert b"root:" not in done.out
    assert secret.read_text() == "do not read"
    assert not Path("/usr/forged").exists()


def test_a_link_in_the_room_does_not_lead_out(walls: Sandbox, room: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("do not read")
    (room / "link").symlink_to(tmp_path / "secret")
    assert sh(walls, "cat link", Confinement(cwd=room, write=(room,))).out == b""


def test_a_read_only_path_beneath_a_writable_one_stays_read_only(walls: Sandbox, room: Path) -> None:
    (room / "tests/deep").mkdir(parents=True)
    locked = room / "tests/deep/test_it.py"
    locked.write_text("locked")
    script = (
        "cd tests; cat deep/test_it.py; echo forged > deep/test_it.py; rm -f deep/test_it.py; mv "
        "deep old; mv ../tests ../aside"
    )
    done = sh(walls, script, Confinement(cwd=room, write=(room,), read=(locked,)))
    assert done.out == b"locked"
    assert locked.read_text() == "locked"


def test_a_writable_path_beneath_a_read_only_one_can_be_written(walls: Sandbox, room: Path) -> None:
    (room / "cache").mkdir()
    done = sh(
        walls,
        "echo x > cache/f && ! echo x > g",
        Confinement(cwd=room, write=(room / "cache",), read=(room,)),
    )
    assert done.code == 0
    assert not (room / "g").exists()


def test_a_path_named_both_ways_is_read_only(walls: Sandbox, room: Path) -> None:
    assert sh(walls, "echo x > f", Confinement(cwd=room, write=(room,), read=(room,))).code != 0


def test_a_remount_does_not_open_the_walls(walls: Sandbox, room: Path) -> None:
    script = (
        "mount -o remount,rw,bind / ; mount -o remount,rw,bind /usr; umount -l /usr; unshare -Urm mount "
        "-o remount,rw,bind /usr;"
        "echo x > /usr/forged; grep CapEff /proc/self/status"
    )
    done = sh(walls, script, Confinement(cwd=room, write=(room,)))
    assert not Path("/usr/forged").exists()
    assert done.out.split()[-1] == b"0" * 16


def test_nothing_of_the_callers_environment_leaks(
    walls: Sandbox, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY_OF_THE_CALLER", "sk-secret")
    done = sh(
        walls,
        "env; cat /proc/*/environ | tr '\\0' '\\n'",
        Confinement(cwd=room, write=(room,), env={"GIVEN": "1"}),
    )
    assert b"sk-secret" not in done.out
    lines = done.out.decode().splitlines()
    assert "GIVEN=1" in lines
    assert f"HOME={Path.home()}" not in lines


def test_the_machines_own_loopback_is_out_of_reach(walls: Sandbox, room: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('reached')"
        assert py(walls, script, Confinement(cwd=room, write=(room,))).code != 0
        listed = (destination(f"127.0.0.1:{port}", private=True),)
        assert py(walls, script, Confinement(cwd=room, write=(room,), network=listed)).code != 0, (
            "only the proxy may reach it"
        )


def test_no_address_outside_can_be_reached(walls: Sandbox, room: Path) -> None:
    script = "import socket; s = socket.socket(); s.settimeout(2); s.connect(('192.0.2.1', 80))"
    done = py(walls, script, Confinement(cwd=room, write=(room,)))
    assert done.code != 0
    assert b"timed out" not in done.err


def test_a_private_temporary_directory_and_home_exist(walls: Sandbox, room: Path) -> None:
    assert (
        sh(walls, 'echo x > "$TMPDIR/t" && echo x > "$HOME/h"', Confinement(cwd=room, write=(room,))).code
        == 0
    )


def test_the_time_limit_ends_the_program_and_its_children(walls: Sandbox, room: Path) -> None:
    beats = room / "beats"
    started = time.monotonic()
    for limit in (0.3, 6):  # a machine under load may need the longer one to come to the first beat
        done = sh(walls, f"({BEAT}) & sleep 60", Confinement(cwd=room, write=(room,), timeout_s=limit))
        assert done.timed_out
        if beats.exists():
            break
    assert time.monotonic() - started < 50
    assert _stops(beats)


def test_the_exit_code_of_the_program_is_kept(walls: Sandbox, room: Path) -> None:
    confinement = Confinement(cwd=room, write=(room,))
    assert sh(walls, "exit 42", confinement).code == 42
    assert sh(walls, "kill -9 $$", confinement).code in {137, -9}


def test_a_missing_program_is_a_failure_of_the_run_and_not_a_result(walls: Sandbox, room: Path) -> None:
    with pytest.raises(Unusable, match="no-such-program"):
        walls.run(("no-such-program",), Confinement(cwd=room, write=(room,)))


def test_a_working_directory_that_is_not_visible_is_refused(
    walls: Sandbox, room: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="neither"):
        sh(walls, "true", Confinement(cwd=tmp_path, write=(room,)))


def test_a_path_that_does_not_exist_is_refused(walls: Sandbox, room: Path) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        sh(walls, "true", Confinement(cwd=room, write=(room,), read=(room / "missing",)))


def test_paths_given_through_a_link_work_by_both_names(walls: Sandbox, room: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(room)
    done = sh(walls, f"echo x > {other}/f && cat {room}/f", Confinement(cwd=other, write=(other,)))
    assert done.out == b"x\n"


def test_names_with_spaces_and_other_scripts_work(walls: Sandbox, tmp_path: Path) -> None:
    odd = tmp_path / "zwei Wörter 中"
    odd.mkdir()
    assert sh(walls, "echo x > f", Confinement(cwd=odd, write=(odd,))).code == 0
    assert (odd / "f").exists()


DRIVER = """
import sys
from pathlib import Path
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.network.destinations import destination
from agentforge.sandbox.walls.landlock import Landlock, kernel_abi
from agentforge.sandbox.walls.none import NoSandbox
room = Path(sys.argv[1])
walls = {"bubblewrap": Bubblewrap(), "none": NoSandbox()}.get(sys.argv[2]) or Landlock(
    kernel_abi(), sys.argv[2] == "landlock"
)
walls.run(("/bin/sh", "-c", sys.argv[3]), Confinement(cwd=room, write=(room,)))
"""


def test_everything_dies_with_a_killed_driver_even_in_a_session_of_its_own(
    any_rung: Sandbox, room: Path
) -> None:
    words = (sys.executable, "-c", DRIVER, str(room), label(any_rung), f"setsid sh -c '{BEAT}'")
    driver = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    beats = room / "beats"
    _wait_for(beats)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert _stops(beats), "it goes on beating"


def test_other_processes_cannot_be_signalled(walls: Sandbox, room: Path) -> None:
    if (
        "signalled" in walls.guarantee()["processes"]
        and "not signalled" not in walls.guarantee()["processes"]
    ):
        pytest.skip("these walls say that they cannot hold this")
    assert sh(walls, f"kill -0 {os.getpid()}", Confinement(cwd=room, write=(room,))).code != 0


def _wait_for_lock(file: TextIO) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            assert time.monotonic() < deadline, "the lock is still held"
            time.sleep(0.01)


def test_a_lock_is_held_for_as_long_as_the_run_lives(any_rung: Sandbox, room: Path) -> None:
    path = room.parent / "lock"
    mine = path.open("w")
    fcntl.flock(mine, fcntl.LOCK_EX)
    confinement = Confinement(cwd=room, write=(room,), pass_fds=(mine.fileno(),))
    with ThreadPoolExecutor(1) as pool, path.open("w") as other:
        running = pool.submit(
            sh, any_rung, "echo up > up; while ! test -e go; do sleep 0.02; done", confinement
        )
        _wait_for(room / "up")
        mine.close()
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (room / "go").touch()
        assert running.result().code == 0
        # The last process of the walls may be about to exit when the run's result is here: a new driver waits
        # that long, too.
        _wait_for_lock(other)


def test_a_program_gets_no_descriptor_but_its_pipes(any_rung: Sandbox, room: Path) -> None:
    script = (
        "import os; p = '/proc/self/fd/'; names = [n for n in os.listdir(p) if os.path.lexists(p + n)]\n"
        "print([os.readlink(p + n) for n in names])"
    )
    with (room.parent / "lock").open("w") as lock:
        given = Confinement(cwd=room, write=(room,), pass_fds=(lock.fileno(),))
        found = ast.literal_eval(py(any_rung, script, given).out.decode())
    assert [each for each in found if not each.startswith(("pipe:", "/dev/null"))] == []
    assert len(found) >= 3


def test_nothing_is_left_running_when_the_run_returns(any_rung: Sandbox, room: Path) -> None:
    script = (
        "setsid sh -c 'while true; do echo beat >> beats; done' & while ! test -s beats; do sleep 0.01; done"
    )
    sh(any_rung, script, Confinement(cwd=room, write=(room,)))
    size = (room / "beats").stat().st_size
    time.sleep(0.1)
    assert (room / "beats").stat().st_size == size


def test_every_sandbox_says_what_it_holds(walls: Sandbox) -> None:
    assert (
        set(walls.guarantee())
        == {"files", "network", "processes", "capabilities"}
        == set(NoSandbox().guarantee())
    )


def test_without_walls_the_environment_is_still_the_allowed_one(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY_OF_THE_CALLER", "sk-secret")
    done = sh(NoSandbox(), "env; pwd", Confinement(cwd=room, write=(room,), env={"GIVEN": "1"}))
    assert b"sk-secret" not in done.out
    assert b"GIVEN=1" in done.out
    assert done.out.decode().splitlines()[-1] == str(room.resolve())


def test_no_walls_are_never_chosen_without_being_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ladder.choose("none").name == "none"
    assert ladder.choose("auto").name != "none"


def test_a_sandbox_that_is_asked_for_and_missing_is_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PolicyError, match="bubblewrap is not installed") as caught:
        ladder.choose("bubblewrap")
    assert caught.value.exit_code == 4
    assert "--sandbox none" in caught.value.next_step


def test_a_bubblewrap_that_does_nothing_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert shutil.which("bwrap") == str(fake)
    with pytest.raises(PolicyError, match="does not work here"):
        ladder.choose("bubblewrap")


def test_directories_between_writable_and_read_only_are_pinned_and_none_beneath_a_read_only_one() -> None:
    top = Path("/w")
    assert shielded({top}, {top / "a/b/c"}) == {top / "a", top / "a/b"}
    assert shielded({top}, {top / "a", top / "a/b/c"}) == set()
    assert shielded(set(), {top / "a"}) == set()


@every(
    "said", ["1: exec: tool: not found", "[Errno 2] not found: b'/bin/tool'", "tool: not found", "not found."]
)
def test_a_program_that_is_not_there_is_named_once_in_plain_words(said: str) -> None:
    assert str(not_started("tool", said)).startswith("The sandbox could not start `tool`: not found. Check")
