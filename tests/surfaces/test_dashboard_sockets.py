"""News on sockets: as it happens, once for everybody, from where a listener stopped; and no listener can hold
up the others.
"""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from agentforge.core.inputs import Abort
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.surfaces.dashboard import sockets, watcher
from agentforge.surfaces.dashboard.reader import TaskReader
from agentforge.surfaces.dashboard.serve import open_dashboard
from agentforge.surfaces.dashboard.watcher import RELOAD, Listener, TaskWatcher
from tests.app.test_app_answers import Desk, command
from tests.surfaces.dashboards import Visitor, dashboard, running
from tests.surfaces.test_dashboard_api import TASK, put_task
from tests.whole.checkouts import make_repository


@pytest.fixture
def top(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def visitor(top: Path) -> Iterator[Visitor]:
    with dashboard(top) as found:
        yield found.enter()


def heard(line: ClientConnection, wanted: str = "task_updated") -> dict[str, Any]:
    while True:
        said: dict[str, Any] = json.loads(line.recv(timeout=120))
        if said["type"] == wanted:
            return said


def end(desk: Desk) -> None:
    with Journal.open(desk.files, utc_now, write=True) as journal:
        journal.advance("abort/1", Abort("Ada"))


def test_every_tab_hears_of_a_question_an_end_and_a_new_task_at_once(top: Path, visitor: Visitor) -> None:
    desk = put_task(top)
    with visitor.listen("/ws/updates") as one, visitor.listen("/ws/updates") as two:
        time.sleep(0.5)  # the watching begins with the first listener
        desk.ask(command("git", "push"))
        for line in (one, two):
            said = heard(line)
            while said["summary"]["status"]["state"] != "awaiting_decision":
                said = heard(line)
            assert said["summary"]["waiting"]["kind"] == "permission"
            assert said["offset"] == desk.files.journal.stat().st_size
        end(desk)
        assert heard(one)["summary"]["status"]["state"] == "aborted"
        put_task(top, "task-20300131-second", "Second")
        while (said := heard(one))["task_id"] != "task-20300131-second":
            pass
        assert said["summary"]["request"] == "Second"


def test_a_tab_that_slept_is_told_what_it_missed_from_where_it_stopped(top: Path, visitor: Visitor) -> None:
    desk = put_task(top)
    mark = visitor.get("/api/status")["mark"]
    offset = visitor.get(f"/api/tasks/{TASK}")["offset"]
    desk.ask(command("git", "push"))
    end_of = desk.files.journal.stat().st_size
    with visitor.listen(f"/ws/updates?since={mark}") as line:
        assert heard(line)["offset"] == end_of
    with visitor.listen(f"/ws/tasks/{TASK}?since={offset}") as line:
        said = heard(line)
        assert (said["since"], said["offset"]) == (offset, end_of)
        assert [entry["seq"] for entry in said["entries"]] == [*range(2, 2 + len(said["entries"]))]
        assert "escalated" in said["entries"][-1]["events"]
    with visitor.listen(f"/ws/tasks/{TASK}?since={end_of}") as line:
        assert heard(line)["entries"] == []
        end(desk)
        assert [entry["events"][-1] for entry in heard(line)["entries"]] == ["moved"]
    for strange in (offset + 1, end_of * 2):
        with visitor.listen(f"/ws/tasks/{TASK}?since={strange}") as line:
            assert heard(line)["entries"][0]["seq"] == 1, "an offset of another journal: all is new"


def test_a_server_that_was_killed_has_lost_nothing(top: Path) -> None:
    desk = put_task(top)
    with dashboard(top) as first:
        mark = first.enter().get("/api/status")["mark"]
    desk.ask(command("git", "push"))
    with dashboard(top) as second, second.enter().listen(f"/ws/updates?since={mark}") as line:
        assert heard(line)["summary"]["waiting"]["id"] == "ESC-001"


def test_a_task_of_nobody_is_no_socket(visitor: Visitor) -> None:
    for name in ("task-of-nobody", "..%2f..%2fetc", "%00"):
        with pytest.raises((ConnectionClosed, InvalidStatus)):  # noqa: SIM117 - refused, or told and closed
            with visitor.listen(f"/ws/tasks/{name}") as line:
                line.recv(timeout=120)


def test_what_a_listener_says_is_of_no_interest(top: Path, visitor: Visitor) -> None:
    desk = put_task(top)
    with visitor.listen("/ws/updates") as line:
        for said in ("text", b"bytes", "{}", "a" * 60_000):
            line.send(said)
        end(desk)
        assert heard(line)["summary"]["status"]["state"] == "aborted"
    with visitor.listen("/ws/updates") as line:
        line.send("a" * 100_000)
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(timeout=120)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009, "too long"


def test_one_watcher_however_many_listen_and_none_when_nobody_does(top: Path) -> None:
    put_task(top)

    async def play() -> tuple[int, int]:
        one = TaskWatcher(TaskReader(Home(home_path()), top))
        async with one.listen(), one.listen(), one.listen():
            busy = len(one._tasks)
        return busy, len(one._tasks)

    assert asyncio.run(play()) == (3, 0)


def test_sockets_are_bounded(top: Path, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MOST_SOCKETS", 5)
    with contextlib.ExitStack() as lines:
        for _ in range(5):
            lines.enter_context(visitor.listen("/ws/updates"))
        for _ in range(20):
            with pytest.raises(InvalidStatus), visitor.listen("/ws/updates"):
                pass
        assert visitor.get("/api/status")["total"] == 0
    deadline = time.monotonic() + 120
    while True:
        with contextlib.suppress(InvalidStatus), visitor.listen("/ws/updates"):
            break
        assert time.monotonic() < deadline


@pytest.mark.slow
def test_a_thousand_connections_without_a_word_leave_the_rest_alone(visitor: Visitor) -> None:
    host, _, port = visitor.address.partition(":")
    held: list[socket.socket] = []
    try:
        for _ in range(1_000):
            line = socket.create_connection((host, int(port)), 10)
            held.append(line)
            line.sendall(b"GET /ws/updates HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        refused = visitor.ask("GET", "/api/status").status
        assert refused in (200, 503)
    finally:
        for line in held:
            line.close()
    deadline = time.monotonic() + 120
    while visitor.ask("GET", "/api/status").status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_listener_that_takes_nothing_keeps_only_the_newest_word_of_each_task() -> None:
    async def play() -> tuple[int, list[str], list[str]]:
        slow = Listener()
        for number in range(10_000):
            slow.tell(("repo", f"task-{number % 7}"), str(number))
        few = len(slow.waiting)
        told = await slow.next()
        for number in range(10_000):
            slow.tell(("repo", f"task-{number}"), str(number))
        assert len(slow.waiting) <= watcher._MOST_WAITING
        return few, told, (await slow.next())[:1]

    few, told, after = asyncio.run(play())
    assert few == 7
    assert told == [str(number) for number in range(9_993, 10_000)]
    assert after == [RELOAD], "too much was missed: everything is read anew"


@pytest.mark.slow
def test_a_reader_that_never_reads_is_let_go_and_others_hear_on(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "_PATIENCE_S", 0.5)
    made = open_dashboard(Home(home_path()), top, 0)
    visitor = Visitor(made.link)
    with running(made), socket.socket() as slow:
        visitor.enter()
        _listen_and_never_read(slow, visitor)
        app: Any = made.server.config.loaded_app
        while not hasattr(app, "_inner"):
            app = app.app  # uvicorn may have wrapped it
        one: TaskWatcher = app._inner.state.watcher
        with visitor.listen("/ws/updates", max_size=1 << 26) as line:
            _wait(lambda: one.listeners == 2 and bool(one._tasks))
            for number in range(3):
                for listener in [*one._listeners]:
                    one._tasks[0].get_loop().call_soon_threadsafe(
                        listener.tell, ("repo", "task"), f"{number}" * (1 << 24)
                    )
                assert str(line.recv(timeout=120))[0] == str(number)
            _wait(lambda: one.listeners == 1)
        assert visitor.get("/api/status")["total"] == 0


def _wait(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _listen_and_never_read(slow: socket.socket, visitor: Visitor) -> None:
    host, _, port = visitor.address.partition(":")
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect((host, int(port)))
    words = (
        "GET /ws/updates HTTP/1.1",
        f"Host: {visitor.address}",
        f"Origin: {visitor.origin}",
        f"Sec-WebSocket-Protocol: {', '.join(visitor.protocols)}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "",
        "",
    )
    slow.sendall("\r\n".join(words).encode())
