"""Children end when they should, and take theirs with them."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.core.errors import Unusable
from agentforge.system import processes
from agentforge.system.processes import Completed, kill_all, run


def sh(
    script: str, tmp_path: Path, *, timeout_s: float | None = 20, data: bytes = b"", limit: int = 4_000_000
) -> Completed:
    return run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env=dict(os.environ),
        timeout_s=timeout_s,
        input=data,
        output_limit=limit,
    )


def eventually(claim: Callable[[], bool], seconds: float = 5) -> bool:
    until = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_output_code_and_directory_are_told(tmp_path: Path) -> None:
    done = sh("pwd; echo oops >&2; exit 3", tmp_path)
    assert (done.code, done.out.decode().strip(), done.err, done.timed_out, done.truncated) == (
        3,
        str(tmp_path.resolve()),
        b"oops\n",
        False,
        False,
    )


@pytest.mark.parametrize("by_starter", [False, True])
def test_the_environment_is_only_what_was_given(tmp_path: Path, *, by_starter: bool) -> None:
    done = run(["/usr/bin/env"], cwd=tmp_path, env={"A": "b"}, timeout_s=10, by_starter=by_starter)
    assert (done.argv, done.out) == (("/usr/bin/env",), b"A=b\n")


def test_a_signal_is_a_negative_code(tmp_path: Path) -> None:
    assert sh("kill -TERM $$", tmp_path).code == -signal.SIGTERM


def test_a_timeout_kills_the_whole_group_and_keeps_what_was_said(tmp_path: Path) -> None:
    done = sh("echo started; sleep 100 & echo $! >child; sleep 100", tmp_path, timeout_s=0.5)
    assert (done.timed_out, done.code, done.out) == (True, -signal.SIGKILL, b"started\n")
    assert done.seconds_ms < 5000
    assert eventually(lambda: not is_running(int((tmp_path / "child").read_text())))


def test_what_a_child_leaves_running_is_killed_and_does_not_delay(tmp_path: Path) -> None:
    done = sh("sleep 100 & echo $! >child; echo done", tmp_path)
    assert (done.code, done.out) == (0, b"done\n")
    assert done.seconds_ms < 5000
    assert eventually(lambda: not is_running(int((tmp_path / "child").read_text())))


def test_one_who_left_the_group_cannot_hold_us_up(tmp_path: Path) -> None:
    done = sh("setsid sleep 8 & echo done", tmp_path)
    assert done.out == b"done\n"
    assert done.seconds_ms < 5000


def test_a_child_that_closes_its_pipes_is_still_timed(tmp_path: Path) -> None:
    assert sh("exec >&- 2>&-; sleep 100", tmp_path, timeout_s=0.3).timed_out
    assert sh("exec >&- 2>&-; sleep 0.2; exit 5", tmp_path).code == 5


def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    done = sh("echo first; head -c 3000000 /dev/zero; echo last", tmp_path, limit=1000)
    assert done.truncated
    assert done.out.startswith(b"first\n")
    assert done.out.endswith(b"last\n")
    assert b"[... 2999011 bytes cut ...]" in done.out
    assert len(done.out) < 1100


def test_output_up_to_the_limit_is_whole(tmp_path: Path) -> None:
    done = sh("head -c 1001 /dev/zero", tmp_path, limit=1001)
    assert (len(done.out), done.truncated) == (1001, False)


def test_input_is_fed_while_output_is_read(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    assert run(["cat"], cwd=tmp_path, env=dict(os.environ), timeout_s=20, input=data).out == data


def test_a_child_may_ignore_its_input(tmp_path: Path) -> None:
    assert sh("exit 0", tmp_path, data=b"x" * 1_000_000).code == 0


@pytest.mark.parametrize("by_starter", [False, True])
def test_a_missing_program_is_one_sentence(tmp_path: Path, *, by_starter: bool) -> None:
    with pytest.raises(Unusable) as caught:
        run(["no-such-program"], cwd=tmp_path, env=dict(os.environ), timeout_s=1, by_starter=by_starter)
    assert caught.value.sentence == "`no-such-program` is not installed."


@pytest.mark.parametrize("by_starter", [False, True])
def test_a_missing_directory_is_not_taken_for_a_missing_program(tmp_path: Path, *, by_starter: bool) -> None:
    with pytest.raises(Unusable, match="does not exist"):
        run(["true"], cwd=tmp_path / "gone", env=dict(os.environ), timeout_s=1, by_starter=by_starter)


@pytest.mark.parametrize("by_starter", [False, True])
def test_no_shell_reads_the_arguments(tmp_path: Path, *, by_starter: bool) -> None:
    words = ["echo", "$HOME; ls"]
    done = run(words, cwd=tmp_path, env=dict(os.environ), timeout_s=5, by_starter=by_starter)
    assert done.out == b"$HOME; ls\n"


def test_a_starter_has_its_program_join_what_is_named_and_starts_nothing_for_a_parent_that_is_gone(
    tmp_path: Path,
) -> None:
    group = tmp_path / "cgroup.procs"
    fd = os.open(group, os.O_WRONLY | os.O_CREAT)
    try:
        run(["true"], cwd=tmp_path, env=dict(os.environ), timeout_s=5, joins=[fd], by_starter=True)
    finally:
        os.close(fd)
    starter = processes._starter()
    assert starter == () or group.read_text() == "0\n"
    if starter:
        late = subprocess.run(
            [*starter, str(os.getpid() + 1), "0", "touch", "begun"], cwd=tmp_path, check=False
        )
        assert (late.returncode, (tmp_path / "begun").exists()) == (1, False)


def test_kill_all_ends_every_run(tmp_path: Path) -> None:
    results: list[Completed] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(sh(f"touch up{n}; sleep 100", tmp_path)))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    assert eventually(lambda: len(list(tmp_path.glob("up*"))) == 3)
    kill_all()
    for thread in threads:
        thread.join(120)
    assert [done.code for done in results] == [-signal.SIGKILL] * 3


_DRIVER = """
import os, sys
from pathlib import Path
from agentforge.system.processes import run
fd = os.open("lock", os.O_RDWR | os.O_CREAT)
import fcntl; fcntl.flock(fd, fcntl.LOCK_EX)
words, by_starter = ["sh", "-c", sys.argv[1]], bool(sys.argv[2:])
run(words, cwd=Path.cwd(), env=dict(os.environ), timeout_s=None, pass_fds=[fd], by_starter=by_starter)
"""


@pytest.mark.parametrize("how", [(), ("by its starter",)])
def test_a_child_dies_with_its_parent(tmp_path: Path, how: tuple[str, ...]) -> None:
    words = [sys.executable, "-c", _DRIVER, "echo $$ >child; exec sleep 100", *how]
    driver = subprocess.Popen(words, cwd=tmp_path)
    assert eventually(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text() != "")
    child = int((tmp_path / "child").read_text())
    assert is_running(child)
    driver.kill()
    driver.wait()
    assert eventually(lambda: not is_running(child))


def test_an_inherited_lock_stays_taken_until_the_last_grandchild_is_gone(tmp_path: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", _DRIVER, "sleep 100 & echo $! >child; wait"], cwd=tmp_path
    )
    assert eventually(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text() != "")
    driver.kill()
    driver.wait()
    fd = os.open(tmp_path / "lock", os.O_RDWR)
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)

        def is_free() -> bool:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        assert eventually(is_free)
    finally:
        os.close(fd)
