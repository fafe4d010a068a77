"""Who gets into the dashboard and who does not: each way in that is not the person's own is tried, and refused."""

import contextlib
import http.client
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.surfaces.cli.main import main
from agentforge.surfaces.dashboard import connections
from agentforge.surfaces.dashboard.door import MOST_BYTES, DoorKey
from agentforge.surfaces.dashboard.page import static_files
from agentforge.surfaces.dashboard.sockets import MOST_SOCKETS
from tests.forked import COMMAND
from tests.rows import every
from tests.surfaces.dashboards import Visitor, dashboard
from tests.surfaces.test_dashboard_api import TASK, put_task
from tests.whole.checkouts import make_repository

READS = (
    "/api/status",
    "/api/tasks",
    f"/api/tasks/{TASK}",
    f"/api/tasks/{TASK}/phases/patch",
    f"/api/tasks/{TASK}/steps",
    f"/api/tasks/{TASK}/steps/1",
    f"/api/tasks/{TASK}/diff",
    f"/api/tasks/{TASK}/evidence",
    f"/api/tasks/{TASK}/escalations",
    f"/api/tasks/{TASK}/audit",
    "/api/metrics",
    "/api/repositories",
    "/api/openapi.json",
)
ACTS = (
    "/api/tasks",
    *(
        f"/api/tasks/{TASK}/{deed}"
        for deed in (
            "abort",
            "approve",
            "budget",
            "continue",
            "exit",
            "extend",
            "feedback",
            "permissions",
            "reject",
        )
    ),
    f"/api/tasks/{TASK}/escalations/ESC-001/resolve",
    f"/api/tasks/{TASK}/escalations/ESC-001/shown",
)
SOCKETS = ("/ws/updates", f"/ws/tasks/{TASK}", "/ws/conversations/conv-1")


@pytest.fixture
def top(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(made)
    put_task(made)
    return made


@pytest.fixture
def visitor(top: Path) -> Iterator[Visitor]:
    with dashboard(top) as found:
        yield found.enter()


def test_every_route_of_the_api_is_tried_here(visitor: Visitor) -> None:
    described = visitor.get("/api/openapi.json")["paths"]
    spelled = {
        path.replace("{task_id}", TASK).replace("{escalation_id}", "ESC-001"): path for path in described
    }
    spelled = {
        path.replace("{phase}", "patch").replace("{step}", "1"): each for path, each in spelled.items()
    }
    reads = {path for path, each in spelled.items() if "get" in described[each]}
    acts = {path for path, each in spelled.items() if "post" in described[each]}
    assert (reads, acts) == ({*READS} - {"/api/openapi.json"}, {*ACTS})


def refusals(visitor: Visitor, **headers: str) -> set[int]:
    """The answers to everything that can be asked and done."""
    found = {visitor.ask("GET", path, headers=headers).status for path in READS}
    return found | {visitor.ask("POST", path, b"{}", headers=headers).status for path in ACTS}


def test_a_foreign_origin_gets_nothing_even_with_the_key(visitor: Visitor) -> None:
    port = visitor.address.partition(":")[2]
    for origin in (
        "https://evil.example",
        f"http://evil.example:{port}",
        "http://127.0.0.1:3000",
        f"https://{visitor.address}",
        f"http://{visitor.address}.evil.example",
        "null",
    ):
        assert visitor.ask("GET", "/api/status", headers={"Origin": origin}).status == 403, origin
        assert visitor.ask("POST", ACTS[1], b"{}", headers={"Origin": origin}).status == 403, origin
    assert refusals(visitor, Origin="https://evil.example") == {403}
    assert visitor.ask("POST", ACTS[1], b"{}", headers={"Origin": ""}).status == 403
    assert visitor.ask("GET", "/api/status", headers={"Sec-Fetch-Site": "cross-site"}).status == 403


def test_a_name_that_was_made_to_mean_this_machine_gets_nothing(visitor: Visitor) -> None:
    port = visitor.address.partition(":")[2]
    for host in (
        f"evil.example:{port}",
        "evil.example",
        f"127.0.0.1.evil.example:{port}",
        f"localhost.:{port}",
        f"a@127.0.0.1:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        "0.0.0.0",
        "",
    ):
        for path in ("/", "/static/app.js", "/api/status"):
            assert visitor.ask("GET", path, headers={"Host": host}).status in (400, 421), (host, path)
    assert refusals(visitor, Host=f"evil.example:{port}") == {421}
    for name in ("localhost", "LOCALHOST", "127.0.0.1", "[::1]"):
        assert visitor.ask("GET", "/api/status", headers={"Host": f"{name}:{port}"}).status == 200, name


def test_without_the_key_nothing_is_told_and_nothing_done(visitor: Visitor) -> None:
    good = visitor.key
    for wrong in ("", good[:-1], f"{good}0", "0" * 40, "key", "\x7f;=;", "\xff"):
        visitor.key = wrong
        assert refusals(visitor) == {401}, wrong
    for kind in ("Basic", "Bearer key", ""):
        assert refusals(visitor, Authorization=f"{kind} {good}") == {401}, kind
    assert visitor.ask("GET", "/").status == 200, "the page itself says how to come in"


@pytest.mark.slow
def test_what_a_browser_sends_by_itself_opens_nothing_so_a_neighbour_on_another_port_learns_nothing(
    visitor: Visitor,
) -> None:
    """Cookies go to every port of a machine, so none is set, and none counts, in any spelling of the key."""
    for path in ("/", "/static/app.js", *READS):
        assert "set-cookie" not in visitor.ask("GET", path).headers, path
    key, visitor.key = visitor.key, ""
    for name in (
        "key",
        "token",
        "agentforge",
        f"agentforge_{visitor.address.partition(':')[2]}",
        "Authorization",
    ):
        for value in (key, f"Bearer {key}", f"key.{key}"):
            sent = {"Cookie": f"{name}={value}"}
            found = {visitor.ask("GET", path, headers=sent).status for path in READS[:3]}
            assert found | {visitor.ask("POST", ACTS[1], b"{}", headers=sent).status} == {401}, (name, value)
    assert {visitor.ask("GET", f"{path}?key={key}&token={key}").status for path in READS} == {401}
    with pytest.raises(InvalidStatus), visitor.listen("/ws/updates", {"Cookie": f"key={key}"}):
        pass


def test_a_browser_gets_the_key_where_no_server_and_no_other_site_is_told_of_it(visitor: Visitor) -> None:
    path = visitor.link.removeprefix(visitor.origin)
    came = visitor.ask("GET", path, headers={"Sec-Fetch-Mode": "navigate"})
    assert (came.status, came.headers["location"]) == (303, f"/#key={visitor.key}")
    assert (came.headers["cache-control"], "set-cookie" in came.headers) == ("no-store", False)
    script = visitor.ask("GET", "/static/api.js").body.decode()
    assert 'history.replaceState(null, "", location.pathname)' in script, "nor does it stay in the address"


def test_a_program_that_opens_the_link_is_let_in_by_a_cookie(visitor: Visitor) -> None:
    program = Visitor(visitor.link)
    path = visitor.link.removeprefix(visitor.origin)
    came = program.ask("GET", path)
    assert (came.status, came.headers["location"]) == (303, "/")
    cookie, _, rules = came.headers["set-cookie"].partition(";")
    assert [part for part in ("HttpOnly", "SameSite=Strict", "Path=/") if part not in rules] == []
    assert path.partition("token=")[2] not in cookie
    for sent, status in ((cookie, 200), (f"a=b; {cookie};c", 200), (cookie[:-1], 401), (f"x{cookie}", 401)):
        assert program.ask("GET", "/api/status", headers={"Cookie": sent}).status == status, sent
    with program.listen("/ws/updates", {"Cookie": cookie}):
        pass
    for wrong in (f"{path}0", path[:-1], "/enter", "/enter?token=", "/enter?token=%00", "/enter?token=%ff"):
        for more in ({}, {"Sec-Fetch-Mode": "navigate"}):
            assert program.ask("GET", wrong, headers=more).status == 403, wrong


def test_headers_forbid_scripts_from_elsewhere_frames_and_guessing(visitor: Visitor) -> None:
    for path in ("/", "/static/app.js", "/api/status", "/api/tasks/no", "/nothing"):
        headers = visitor.ask("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "script-src 'self';" in policy, path
        assert "unsafe" not in policy, path
        assert "frame-ancestors 'none'" in policy, path
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "server" not in headers
    assert visitor.ask("GET", "/api/status").headers["cache-control"] == "no-store"


TRICKS = (
    "..",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5cwindows",
    "/etc/passwd",
    "%00",
    "task-20300131-tidy-the-pantry%00",
    "%ff%fe",
    "a" * 5000,
    "-rf",
    "--help",
    "@1",
    "task",
    ".",
    "$(id)",
    "<script>",
    "%0d%0aSet-Cookie:%20a=b",
)


@pytest.mark.slow
def test_no_parameter_is_a_way_to_another_file(visitor: Visitor, top: Path) -> None:
    for trick in TRICKS:
        for path in (
            f"/static/{trick}",
            f"/api/tasks/{trick}",
            f"/api/tasks/{TASK}/phases/{trick}",
            f"/api/tasks/{TASK}/steps/{trick}",
            f"/api/tasks/{trick}/audit",
            f"/api/tasks/{TASK}?repo={trick}",
            f"/api/tasks/{TASK}/audit?kind={trick}",
            f"/api/metrics?since={trick}",
        ):
            came = visitor.ask("GET", path)
            assert came.status in (303, 307, 400, 404, 422), (path, came.status)
            assert b"root:" not in came.body
            assert "set-cookie" not in came.headers
        for path in (f"/api/tasks/{trick}/abort", f"/api/tasks/{TASK}/escalations/{trick}/resolve"):
            came = visitor.ask("POST", path, b'{"answer": "yes"}')
            assert came.status in (307, 400, 404, 405, 422), (path, came.status)
    link = top.parent / "link"
    link.symlink_to(top)
    assert visitor.ask("GET", f"/api/tasks/{TASK}?repo={quote(str(link))}").status == 404
    assert all(not name.startswith((".", "/")) for name in static_files())


def test_a_body_is_bounded_whether_it_says_its_length_or_not(visitor: Visitor) -> None:
    large = b'{"answer": "' + b"a" * 10_000_000 + b'"}'
    path = f"/api/tasks/{TASK}/escalations/ESC-001/resolve"
    assert visitor.ask("POST", path, b"{}", {"Content-Length": str(len(large))}).status == 413
    with contextlib.suppress(
        ConnectionResetError, http.client.IncompleteRead
    ):  # it need not listen to the end
        assert visitor.ask("POST", path, large).status == 413
    assert visitor.ask("POST", path, b"{}", {"Content-Length": "99999999999999999999"}).status in (400, 413)
    assert visitor.ask("POST", path, b"{}", {"Content-Length": "-1"}).status in (400, 413)
    half = MOST_BYTES // 2
    chunk = b"%x\r\n" % half + b"a" * half + b"\r\n"
    came = visitor.ask("POST", path, chunk * 6 + b"0\r\n\r\n", {"Transfer-Encoding": "chunked"})
    assert came.status == 422
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert visitor.ask("POST", path, b"{}", {"Content-Type": kind}).status == 415, kind


def test_sockets_are_for_our_own_page_with_its_key(visitor: Visitor) -> None:
    port = visitor.address.partition(":")[2]
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": ""},
        {"Origin": f"http://localhost:{port}"},
        {"Authorization": f"Bearer {visitor.key}", "key": "none"},
        {"key": visitor.key[:-1]},
    ):
        visitor.key = headers.pop("key", visitor.key).removeprefix("none")
        for path in SOCKETS:
            with pytest.raises(InvalidStatus) as refused, visitor.listen(path, headers):
                pass
            assert refused.value.response.status_code == 403, (path, headers)


@every("name", ["conv-1", "conv-a-b-2", "conv-" + "a" * 64])
def test_conversations_are_none_yet(visitor: Visitor, name: str) -> None:
    with visitor.listen(f"/ws/conversations/{name}") as line:
        assert "No conversations yet" in str(line.recv())
        with pytest.raises(ConnectionClosed):
            line.recv(timeout=120)


@every("name", ["..", "conv-", "conv-%2e%2e", "conv-A", "conv-1%00", "1", "conv-" + "a" * 65])
def test_what_is_no_name_of_a_conversation_is_refused(visitor: Visitor, name: str) -> None:
    with pytest.raises((ConnectionClosed, InvalidStatus)):  # noqa: SIM117 - refused at the door, or told
        with visitor.listen(f"/ws/conversations/{name}") as line:
            line.recv(timeout=120)


def test_the_key_is_the_owners_alone_and_a_tab_stays_at_home_when_the_server_is_started_again(
    top: Path,
) -> None:
    with dashboard(top) as first:
        key, port = first.enter().key, int(first.address.partition(":")[2])
    assert stat.S_IMODE((home_path() / "dashboard.key").stat().st_mode) == 0o600
    said = {"authorization": f"Bearer {key}", "sec-websocket-protocol": f"agentforge, key.{key}"}
    for socket_ in (True, False):
        assert DoorKey.of(Home(home_path()), port).opens(said, socket=socket_)
        assert not DoorKey.of(Home(home_path()), port + 1).opens(said, socket=socket_)


def test_a_key_that_others_could_read_is_made_anew_and_one_that_is_no_file_is_named(home: Path) -> None:
    word = DoorKey.of(Home(home), 8420).word
    assert DoorKey.of(Home(home), 8420).word == word
    key = home / "dashboard.key"
    key.chmod(0o644)
    assert DoorKey.of(Home(home), 8420).word != word
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.unlink()
    key.symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match=r"dashboard\.key cannot be used: "):
        DoorKey.of(Home(home), 8420)
    key.unlink()
    key.mkdir()
    with pytest.raises(UsageError, match=r"dashboard\.key cannot be used: is a directory"):
        DoorKey.of(Home(home), 8420)


@pytest.mark.parametrize("gives_way", [True, False], ids=["with", "control"])
def test_whoever_only_holds_connections_keeps_nobody_out(
    top: Path, monkeypatch: pytest.MonkeyPatch, gives_way: bool
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 40)
    if not gives_way:
        monkeypatch.setattr(connections.PatientProtocol, "give_way", lambda _: None)
    with dashboard(top) as visitor, contextlib.ExitStack() as kept:
        host, _, port = visitor.enter().address.partition(":")
        for at in range(60):
            one = kept.enter_context(socket.create_connection((host, int(port)), 10))
            if at % 2:
                one.sendall(b"GET /api/status HTTP/1.1\r\nHost: ")
        found = {visitor.ask("GET", "/api/status").status for _ in range(3)}
        assert found == ({200} if gives_way else {503})


def test_a_connection_that_asks_nothing_is_let_go(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_S", 0.3)
    with dashboard(top) as visitor:
        host, _, port = visitor.address.partition(":")
        whole = f"GET / HTTP/1.1\r\nHost: {visitor.address}\r\n\r\n".encode()
        for begun in (b"", whole[:10], whole + whole[:10]):
            with socket.create_connection((host, int(port)), 10) as one:
                one.sendall(begun)
                while one.recv(65536):
                    pass  # what was asked is answered; then it is over, in time
    assert connections.MOST_CONNECTIONS > MOST_SOCKETS + 100, "listeners alone must not fill it"


@pytest.mark.slow
def test_the_command_listens_on_this_machine_alone_prints_its_link_and_logs_nothing(top: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, "dashboard", "--port", "0"],
        cwd=top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().split()[-1]
        visitor = Visitor(link)
        deadline = time.monotonic() + 120
        while not visitor.key:
            try:
                visitor.enter()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert visitor.get("/api/status")["total"] == 1
        assert visitor.ask("GET", "/api/status", headers={"Authorization": "Bearer wrong"}).status == 401
        with pytest.raises(OSError):  # noqa: PT011, SIM117 - nothing listens there
            with socket.create_connection((_other_address(), int(visitor.address.partition(":")[2])), 2):
                pass
        port = visitor.address.partition(":")[2]
        taken = subprocess.run(
            [COMMAND, "ui", "--port", port], cwd=top, capture_output=True, text=True, check=False
        )
        assert (taken.returncode, "Traceback" in taken.stderr) == (2, False)
        assert f"error: Port {port} cannot be used: address already in use." in taken.stderr
    finally:
        process.terminate()
        out, err = process.communicate(timeout=120)
    assert out == ""
    word = visitor.key
    assert word not in err
    assert "GET" not in err
    kept = [path for path in home_path().rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in kept if word.encode() in path.read_bytes()] == []


def _other_address() -> str:
    """Another address of the loopback: whoever listens on all of them would answer here, too."""
    return "127.0.0.2"


def test_without_the_extra_the_command_names_it(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("agentforge.surfaces.dashboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["dashboard", "--open"]) == 2
    said = capsys.readouterr().err
    assert "error: The dashboard needs uvicorn, which is not installed." in said
    assert "[dashboard]" in said
