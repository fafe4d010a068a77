"""The dashboard: how soon a board is there, how soon everybody knows, and what it takes to be left open."""

import contextlib
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from agentforge.core.inputs import Abort, Resume
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.store.user.repositories import Repository, save_repository
from agentforge.surfaces.dashboard.door import PROTOCOL
from agentforge.surfaces.dashboard.page import static_files
from bench.commands import make_tasks
from bench.report import Row
from bench.scene import make_repository
from bench.timed import without_syncs

COLD, MANY = 1_200, 10_000
TABS, UPDATES, SECONDS = 50, 200, 2
MEMORY_MB, COLD_S, SCRIPT_KB = 60.0, 2.0, 60.0
_ROUNDS = 5


class Served(NamedTuple):
    """A dashboard that runs as a process, and how a browser gets in."""

    process: "subprocess.Popen[str]"
    address: str
    browser: urllib.request.OpenerDirector
    key: str
    """What the link that it prints has at its end."""

    def get(self, path: str) -> bytes:
        """What it answers."""
        with self.browser.open(f"http://{self.address}{path}") as answer:
            data: bytes = answer.read()
            return data

    @property
    def memory_mb(self) -> float:
        """What it holds of the machine's memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024

    @property
    def cpu_s(self) -> float:
        """What it has taken of a processor so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_dashboard(place: Path) -> Iterator[Row]:
    """Everything that a person who leaves it open would notice."""
    repository, home = place / "repository", place / "home"
    make_repository(repository)
    home.mkdir(parents=True, mode=0o700)
    save_repository(Home(home), Repository("repository", str(repository.resolve())))
    make_tasks(repository, COLD)
    started = time.perf_counter()
    with _served(repository, home) as server:
        begun = time.perf_counter()
        server.get("/api/status")
        name = f"the first board of {COLD:,} tasks, no index"
        yield Row(name, "takes", time.perf_counter() - begun, "s", COLD_S)
        yield Row(name, "with the start", time.perf_counter() - started, "s")
    more = place / "more"
    make_repository(more)
    make_tasks(more, MANY - COLD)
    with _served(more, home) as server:
        server.get("/api/status")
        yield Row(f"/api/tasks of {MANY:,}", "takes", statistics.median(_timed(server, "/api/tasks")), "ms")
    for each in (more, repository):
        shutil.rmtree(ProjectFiles(each.resolve()).tasks)
    make_tasks(repository, 20)
    with _served(repository, home) as server:
        server.get("/api/status")
        yield from _updates(server, ProjectFiles(repository.resolve()))
    with _served(repository, home) as server:
        server.get("/api/status")
        time.sleep(1)
        yield Row("idle, with a board", "memory", server.memory_mb, "MB", MEMORY_MB)
    scripts = [file.data for name, file in static_files().items() if name.endswith(".js")]
    size = sum(len(gzip.compress(data, 9)) for data in scripts) / 1000
    yield Row("all scripts, compressed", "size", size, "kB", SCRIPT_KB)


def _timed(server: Served, path: str) -> Iterator[float]:
    for _ in range(_ROUNDS):
        time.sleep(0.3)  # what was read this moment counts as new
        begun = time.perf_counter()
        server.get(path)
        yield (time.perf_counter() - begun) * 1000


def _updates(server: Served, project: ProjectFiles) -> Iterator[Row]:
    """Journals grow, and every tab hears of it: how long after the last line the last tab knows."""
    files = [TaskFiles(path) for path in sorted(project.tasks.iterdir())]
    wanted = {each.task_id: -1 for each in files}
    heard_at: list[float] = []
    over = threading.Event()
    tabs = [threading.Thread(target=_tab, args=(server, wanted, over, heard_at)) for _ in range(TABS)]
    for tab in tabs:
        tab.start()
    time.sleep(2)
    before = server.cpu_s
    with without_syncs(), contextlib.ExitStack() as open_:
        journals = [open_.enter_context(Journal.open(each, utc_now, write=True)) for each in files]
        begun = time.perf_counter()
        for number in range(UPDATES * SECONDS):
            journal = journals[number % len(journals)]
            told = Abort("Ada") if (number // len(journals)) % 2 == 0 else Resume("Ada")
            journal.advance(f"bench/{number}", told)
            time.sleep(max(0.0, begun + number / UPDATES - time.perf_counter()))
    wanted.update({each.task_id: each.journal.stat().st_size for each in files})
    ended = time.perf_counter()
    over.set()
    for tab in tabs:
        tab.join()
    name = f"{UPDATES} updates a second to {TABS} tabs"
    yield Row(name, "last tab knows after", max(heard_at) - ended, "s", 1.0)
    yield Row(name, "processor", (server.cpu_s - before) / SECONDS, "of one")
    yield Row(name, "memory", server.memory_mb, "MB")


def _tab(server: Served, wanted: dict[str, int], over: threading.Event, heard_at: list[float]) -> None:
    """Listens until it knows how far every journal is."""
    known: dict[str, int] = {}
    with connect(
        f"ws://{server.address}/ws/updates",
        origin=Origin(f"http://{server.address}"),
        subprotocols=[Subprotocol(PROTOCOL), Subprotocol(f"key.{server.key}")],
        compression=None,
        proxy=None,
    ) as line:
        while not over.is_set() or known != wanted:
            with contextlib.suppress(TimeoutError):
                said = json.loads(line.recv(timeout=0.2))
                known[said["task_id"]] = said["offset"]
    heard_at.append(time.perf_counter())


@contextlib.contextmanager
def _served(repository: Path, home: Path) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentforge", "dashboard", "--port", "0"],
        cwd=repository,
        env={**os.environ, "AGENTFORGE_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        key = link.rpartition("=")[2]
        browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        browser.addheaders = [("Authorization", f"Bearer {key}")]
        yield Served(process, link.split("/")[2], browser, key)
    finally:
        process.terminate()
        process.communicate()
