"""One driver per task."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.core.errors import PolicyError
from agentforge.store.task.lock import DriverLock


def test_a_second_driver_is_refused_and_told_who_works(tmp_path: Path) -> None:
    path = tmp_path / "task-1" / "lock"
    with DriverLock(path):
        with (
            pytest.raises(
                PolicyError, match=rf"Another driver works on task-1 \(process {os.getpid()}, since 20\d\d-"
            ) as caught,
            DriverLock(path),
        ):
            pass
        assert caught.value.exit_code == 4
    with DriverLock(path):
        pass


@pytest.mark.slow
def test_a_child_that_inherits_the_lock_holds_it_after_its_parent_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from agentforge.store.task.lock import DriverLock\n"
        "with DriverLock(Path(sys.argv[1])) as lock:\n"
        "    child = subprocess.Popen(['sleep', '60'], pass_fds=(lock.fd,), stdout=subprocess.DEVNULL, "
        "stderr=subprocess.DEVNULL)\n"
        "    print(child.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    parent = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    child = int(parent.stdout)
    try:
        with pytest.raises(PolicyError, match="Another driver"), DriverLock(path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
    _wait_until_gone(child)
    with DriverLock(path):
        pass


def test_a_child_that_does_not_inherit_it_frees_the_lock_with_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from agentforge.store.task.lock import DriverLock\n"
        "with DriverLock(Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    assert (
        subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == -signal.SIGKILL
    )
    with DriverLock(path):
        pass


def test_a_removed_lock_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with DriverLock(path):
        path.unlink()
        with DriverLock(path) as again:
            assert os.path.samestat(os.fstat(again.fd), path.stat())


def _wait_until_gone(pid: int) -> None:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        os.sched_yield()
