"""What fails around a task is told as what it is, in one sentence, and nothing is lost: an output that cannot
be written, a limit on open files, a disk that is full or read-only, a file of the record that is gone, test
runs that somebody kills.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.sharing import share_here
from tests.whole.checkouts import COMMAND, FIX, PROJECT, Done, Person, make_repository, patch, review


@pytest.fixture
def person(tmp_path: Path, agentforge_home: Path) -> Person:
    someone = Person(make_repository(tmp_path / "checkout", PROJECT), tmp_path / "script.yaml")
    someone.scripted(patch(*FIX), review())
    return someone


def run(
    person: Person,
    *words: str,
    out: int | IO[bytes] = subprocess.PIPE,
    closed: tuple[int, ...] = (),
    files: int = 0,
    **variables: str,
) -> Done:
    """The installed command in a process of its own, with streams and limits of the caller's choice."""
    share_here(person.checkout)

    def prepare() -> None:
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        for stream in closed:
            os.close(stream)

    done = subprocess.run(
        [COMMAND, *words],
        cwd=person.checkout,
        env={**person.environment(), **variables},
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,
        check=False,
        timeout=120,
    )
    told = Done(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())
    assert "Traceback" not in told.said, told.said
    assert "internal error" not in told.said, told.said
    return told


def wait_for(found: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


@pytest.mark.parametrize("words", [("--help",), ("status",), ("status", "--json")], ids=" ".join)
def test_an_output_that_cannot_be_written_is_one_sentence(person: Person, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run(person, *words, out=full)
    assert (done.code, done.err.splitlines()[0]) == (
        1,
        "error: The output cannot be written: no space left on device.",
    )
    done = run(person, *words, closed=(1,))
    assert (done.code, done.err.splitlines()[0]) == (1, "error: The output cannot be written: it is closed.")


@pytest.mark.slow
def test_a_task_goes_through_few_files_and_closed_streams_and_is_told_again(person: Person) -> None:
    begun, driven = (run(person, *person._start(), files=files) for files in (12, 24))
    for done in (begun, driven):
        assert done.code == 1
        assert "error: This process may not open more files." in done.err
        assert "`ulimit -n 1024`" in done.err
    task = person.only_task()
    assert f"`agentforge continue {task}` resumes it." in driven.err

    done = run(person, "continue", task, closed=(0, 1, 2))
    assert (done.code, done.said.strip()) == (0, "")
    with Path("/dev/full").open("wb") as full:
        done = run(person, "continue", task, "--json", out=full)
    assert done.code == 0, "the exit code is that of the task"
    (again,) = re.findall(r"no space left on device. `agentforge (.*)` prints it again.", done.err)
    assert person.run(*again.split()).data["status"] == "completed"
    assert person.run("verify", task).code == 0, "no stream was taken for a file of the record"


def test_a_pack_that_is_gone_comes_back_from_git_or_is_named_and_its_calls_stay_on_the_bill(
    person: Person,
) -> None:
    assert person.start().code == 0
    task = person.only_task()
    pack = person.checkout / ".agentforge/tasks" / task / "steps.pack"
    before, bill = pack.read_bytes(), person.run("cost", "--json").data["total"]
    pack.unlink()
    assert person.run("verify", task).code == 0
    assert pack.read_bytes() == before

    pack.unlink()
    person.git("update-ref", "-d", f"refs/agentforge/{task}/state")
    for command in (("verify", task), ("report", task), ("inspect", task, "--step", "1"), ("merge", task)):
        done = person.run(*command)
        assert done.code == 1
        assert f"error: {pack} is missing" in done.err
        assert f"`agentforge abort {task}`" in done.err
    assert person.run("diff", task).code == 0
    assert person.run("status", task).code == 0

    person.git("clean", "-xfdq")
    done = person.run("cost", "--json")
    assert done.data["total"] == bill
    assert [row["task"] for row in done.data["rows"]] == [task]
    assert f"from the ledger, since the record is gone: {task}" in done.err


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    tried = subprocess.run(["mount", *options, place], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=False)


def test_a_read_only_repository_is_named(person: Person) -> None:
    with mounted(person.checkout, "--bind", str(person.checkout)):
        subprocess.run(["mount", "-o", "remount,ro,bind", person.checkout], check=True)
        for command in (person._start(), ("init",)):
            done = person.run(*command)
            assert done.code == 1
            assert f"The disk is read-only: {person.checkout}/.agentforge" in done.err
            assert "Make it writable, and try again." in done.err
        assert person.run("status").code == 0


def test_a_disk_that_fills_up_stops_the_task_and_with_room_it_goes_on(person: Person, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with mounted(small, "-t", "tmpfs", "-o", "size=420k", "tmpfs"):
        shutil.copytree(person.checkout, small / "checkout", symlinks=True)
        person.checkout = small / "checkout"
        done = person.start()
        assert done.code == 1, done.said
        assert re.search(r"error: The disk is full: .*\nFree some space, and try again.", done.err), done.err
        task = person.only_task()
        (person.checkout / "filled").write_bytes(b"x" * os.statvfs(small).f_bavail * 4096)
        done = person.run("continue", task)
        assert (done.code, "error: The disk is full" in done.err) == (1, True), done.said
        assert not list((person.checkout / ".agentforge/escalations").glob("*")), "nobody is asked about it"
        subprocess.run(["mount", "-o", "remount,size=8m", small], check=True)
        (person.checkout / "filled").unlink()
        assert person.run("continue", task).code == 0
        assert person.run("verify", task).code == 0


def test_a_runner_that_refuses_its_options_is_asked_about_with_its_own_words(person: Person) -> None:
    person.write({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    person.commit_all()
    done = person.start()
    assert done.code == 3
    question = done.data["escalation"]["question"]["text"]
    assert "pytest refuses the options that it is given" in question
    assert question.endswith("unrecognized arguments: --no-such-option.")


@pytest.mark.slow
def test_a_test_process_that_is_killed_from_outside_is_run_once_more(person: Person) -> None:
    """By hand, or by the system for lack of memory. The model's work has nothing to do with it."""
    share_here(person.checkout)
    person.write({"tests/test_slow.py": "import time\n\n\ndef test_slow() -> None:\n    time.sleep(0.4)\n"})
    person.commit_all()
    killed: list[int] = []

    def kill(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if "running the whole suite" in line and not killed:
                wait_for(lambda: bool(judges(process.pid)))
                for judge in judges(process.pid):
                    killed.append(judge)
                    os.kill(judge, signal.SIGKILL)

    with subprocess.Popen(
        [COMMAND, *person._start()],
        cwd=person.checkout,
        env=person.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        killer = threading.Thread(target=kill, args=(process,))
        killer.start()
        killer.join()
        assert process.wait(60) == 0
    assert killed
    journal = (person.checkout / ".agentforge/tasks" / person.only_task() / "actions.yaml").read_text()
    assert journal.count('"ask_sent"') == 2, "the model was not asked again"
    assert person.run("verify", person.only_task(), "--rerun").code == 0


def judges(driver: int) -> list[int]:
    """The innermost processes below a driver that run the judge: those that nothing else was started by."""
    parents: dict[int, int] = {}
    running: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            number = int(place.name)
            parents[number] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if (place / "exe").resolve().name.startswith("python") and "agentforge_judge.py" in (
                place / "cmdline"
            ).read_text().replace("\0", " "):
                running.add(number)
        except (OSError, ValueError):
            continue

    def is_below(number: int) -> bool:
        while number in parents and number != driver:
            number = parents[number]
        return number == driver

    return [number for number in running if is_below(number) and number not in parents.values()]


@pytest.mark.slow
def test_a_bubblewrap_that_does_not_answer_is_left_out_by_name(person: Person, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    bwrap = tmp_path / "bin/bwrap"
    bwrap.write_text("#!/bin/sh\nexec sleep 300\n")
    bwrap.chmod(0o755)
    path = f"{bwrap.parent}:{os.environ['PATH']}"
    done = run(person, "sandbox", "run", "--sandbox", "bubblewrap", "--", "true", PATH=path)
    assert done.code == 4
    assert f"{bwrap} does not work here: `{bwrap} --help` did not answer within 5 seconds." in done.err


def test_no_warning_of_a_library_reaches_the_screen(person: Person, tmp_path: Path) -> None:
    """Only who asks Python for warnings sees them."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(
        "import atexit, warnings\n\natexit.register(lambda: warnings.warn('a library warns', UserWarning))\n"
    )
    place = str(tmp_path / "site")
    assert "a library warns" not in run(person, "status", PYTHONPATH=place).err
    assert "a library warns" in run(person, "status", PYTHONPATH=place, PYTHONWARNINGS="default").err
