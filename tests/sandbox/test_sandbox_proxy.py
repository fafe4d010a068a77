"""The proxy of set-up: where it leads, what it refuses, and that nothing leads past it, tried for real in
every rung.
"""

import base64
import contextlib
import json
import os
import socket
import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import Unusable, UsageError
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.network.destinations import (
    Destination,
    destination,
    destinations,
    is_public,
    normal_host,
    of_address,
)
from agentforge.sandbox.network.gateway import way_out
from agentforge.sandbox.network.proxy import Proxy, Resolve
from agentforge.sandbox.network.request import LONGEST_HEAD, Asked, Bad, read_request
from agentforge.sandbox.network.upstream import Upstream, Upstreams, own_variables, read_upstreams
from agentforge.sandbox.walls.landlock import Landlock
from agentforge.sandbox.walls.none import NoSandbox
from tests.fuzzing import tries
from tests.rows import every
from tests.sandbox.loopback import BLOCK, ask, site
from tests.sandbox.rungs import INTERPRETER, RUNGS, has_namespaces, label, usable


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with site() as port:
        yield port


@contextlib.contextmanager
def serving(
    *allowed: Destination,
    resolver: Resolve | None = None,
    upstreams: Upstreams | None = None,
    secret: str | None = None,
    idle_s: float = 20,
) -> Iterator[tuple[Proxy, int]]:
    proxy = Proxy(allowed, upstreams=upstreams, secret=secret, resolver=resolver or names({}), idle_s=idle_s)
    door = socket.create_server(("127.0.0.1", 0))
    port = door.getsockname()[1]
    proxy.serve(door)
    try:
        yield proxy, port
    finally:
        proxy.close()


def names(known: dict[str, Sequence[str]]) -> Resolve:
    def look_up(host: str, _: int) -> Sequence[str]:
        if host not in known:
            raise OSError(f"{host} is not known")
        return known[host]

    return look_up


def mine(port: int, host: str = "127.0.0.1") -> Destination:
    return destination(f"{host}:{port}", private=True)


def connect(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


def get(address: str, *fields: str) -> bytes:
    return "\r\n".join((f"GET {address} HTTP/1.1", *fields, "", "")).encode("latin-1")


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("agentforge-")}


# What it carries


def test_a_listed_place_is_reached_by_a_plain_request_and_through_a_tunnel(server: int) -> None:
    with serving(mine(server)) as (proxy, port):
        fields = (
            f"Host: 127.0.0.1:{server}",
            "Proxy-Connection: keep-alive",
            "Connection: x-hop",
            "X-Hop: 1",
            "X-End: 2",
        )
        plain = ask(port, get(f"http://127.0.0.1:{server}/a?b", *fields))
        tunnel = ask(
            port, connect(f"127.0.0.1:{server}") + b"GET /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        )
        assert proxy.refused == ()
    assert b"GET /a?b " in plain
    assert b"X-End: 2" in plain
    assert b"hop" not in plain.lower().replace(b"connection: close", b"")
    assert b"Connection: close" in plain.partition(b"\r\n\r\n")[0]
    assert tunnel.startswith(b"HTTP/1.1 200 ")
    assert b"GET /c " in tunnel


def test_a_name_is_looked_up_once_here_and_in_any_spelling(server: int) -> None:
    asked: list[str] = []

    def look_up(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ("127.0.0.1",)

    with serving(mine(server, "Index.Test"), resolver=look_up) as (_, port):
        assert b"GET /x " in ask(port, get(f"http://INDEX.test:{server}/x"))
    assert asked == ["index.test"]


def test_only_the_announced_body_is_sent_on(server: int) -> None:
    with serving(mine(server)) as (_, port):
        post = (
            f"POST http://127.0.0.1:{server}/p HTTP/1.1\r\nContent-Length: 200000\r\n\r\n".encode()
            + bytes(200_000)
        )
        second = get(f"http://127.0.0.1:{server}/smuggled")
        answer = ask(port, post + second)
    assert b"200000 bytes" in answer
    assert b"smuggled" not in answer


def test_a_huge_body_streams_with_flat_memory(server: int) -> None:
    with serving(mine(server)) as (_, port), socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(
            connect(f"127.0.0.1:{server}") + b"GET /big/512 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        )
        tracemalloc.start()
        total, buffer = 0, bytearray(65_536)
        while count := client.recv_into(buffer):
            total += count
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert total > 512 * len(BLOCK)
    assert peak < 4_000_000


def test_a_place_that_says_nothing_is_left(server: int) -> None:
    with serving(mine(server), idle_s=0.2) as (_, port):
        assert b" 502 " in ask(port, get(f"http://127.0.0.1:{server}/silent"))
        assert (
            ask(port, connect(f"127.0.0.1:{server}") + b"GET /silent HTTP/1.1\r\nHost: h\r\n\r\n").count(
                b"HTTP/1.1"
            )
            == 1
        )


def test_a_place_that_cannot_be_found_or_reached_is_no_refusal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port_of_nobody = gone.getsockname()[1]
    with serving(mine(port_of_nobody), mine(80, "nowhere.test")) as (proxy, port):
        assert b" 502 " in ask(port, connect(f"127.0.0.1:{port_of_nobody}"))
        assert b"nowhere.test cannot be found" in ask(port, get("http://nowhere.test/"))
        assert proxy.refused == ()


# What it refuses

TRICKS = [
    *(
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "index.test.",
        "[::1]",
    ),
    *(
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[::1%lo]",
        "0.0.0.0",
        "[::]",
        "user@index.test",
        "index.test@127.0.0.1",
        "index.test%00",
    ),
    *(
        "a" * 64 + ".test",
        "a." * 130 + "test",
        "evil-index.test",
        "index.test.evil.test",
        "xindex.test",
        ".index.test",
        "index..test",
    ),
    *(
        "127\u30020\u30020\u30021",
        "\uff49ndex.test",
        "index.test\\@127.0.0.1",
        "",
        "*",
        "*.test",
        "169.254.169.254",
        "\uff11\uff12\uff17.0.0.1",
    ),
]


@pytest.fixture(scope="module")
def strict(server: int) -> Iterator[tuple[Proxy, int]]:
    """One that would reach this machine by any name that gets past the list."""

    def here(_: str, __: int) -> Sequence[str]:
        return ("127.0.0.1",)

    with serving(mine(server, "index.test"), mine(443, "index.test"), resolver=here) as made:
        yield made


@every("host", TRICKS)
def test_no_other_spelling_of_a_host_gets_through(host: str, strict: tuple[Proxy, int], server: int) -> None:
    _, port = strict
    for request in (
        f"CONNECT {host}:{server} HTTP/1.1\r\n\r\n",
        f"GET http://{host}:{server}/ HTTP/1.1\r\n\r\n",
    ):
        answer = ask(port, request.encode())
        assert answer.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 ")), answer


def test_another_port_of_a_listed_host_is_refused_and_on_record(server: int) -> None:
    with serving(mine(443, "index.test"), resolver=names({"index.test": ["127.0.0.1"]})) as (proxy, port):
        for _ in range(2):
            assert b"403 Forbidden" in ask(port, connect(f"index.test:{server}"))
        answer = ask(port, get("http://index.test/"))
        assert proxy.refused == (f"index.test:{server}", "index.test:80")
    assert b"index.test:80 is not on the list of places that this run may reach." in answer


def test_what_is_remembered_of_refusals_is_bounded_and_printable() -> None:
    with serving(mine(1)) as (proxy, port):
        ask(port, connect("x" * 5000 + ":1"))
        for number in range(60):
            ask(port, connect(f"h{number}.test:443"))
        assert len(proxy.refused) == 50
        assert max(map(len, proxy.refused)) <= 100


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["8.8.8.8", "127.0.0.1"], ["::1"], ["fe80::1%2"]],
)
def test_a_name_that_nobody_here_vouched_for_may_not_lead_to_this_machine(
    addresses: list[str], server: int
) -> None:
    with serving(destination(f"index.test:{server}"), resolver=names({"index.test": addresses})) as (
        proxy,
        port,
    ):
        assert b"leads to this machine or its own network" in ask(port, connect(f"index.test:{server}"))
        assert proxy.refused == (f"index.test:{server}",)


@every(
    ("address", "expected"),
    [
        *(
            ("8.8.8.8", True),
            ("2606:4700::1111", True),
            ("127.0.0.1", False),
            ("100.64.0.1", False),
            ("224.0.0.1", False),
            ("0.0.0.0", False),
        ),
        *(
            ("::ffff:10.0.0.1", False),
            ("64:ff9b::7f00:1", False),
            ("64:ff9b::808:808", True),
            ("2002:7f00:1::", False),
            ("fd00::1", False),
        ),
    ],
)
def test_an_address_in_disguise_is_what_it_leads_to(address: str, expected: bool) -> None:
    assert is_public(address) is expected


@every(
    "request_text",
    [
        "CONNECT index.test:443 HTTP/1.1\nHost: x\n\n\r\n\r\n",
        "CONNECT index.test:443\r\nX: y HTTP/1.1\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nX: a\rb\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nX: a\nHost: b\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nX: a\r\n folded\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nX : a\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
        "CONNECT index.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "CONNECT index.test HTTP/1.1\r\n\r\n",
        "CONNECT index.test:0 HTTP/1.1\r\n\r\n",
        "CONNECT index.test:99999 HTTP/1.1\r\n\r\n",
        "connect index.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT http://index.test:443 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: index.test\r\n\r\n",
        "GET https://index.test/ HTTP/1.1\r\n\r\n",
        "GET ftp://index.test/ HTTP/1.1\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nHost: index.test\r\nHost: index.test\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "GET http://index.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "GET http://index.test#@127.0.0.1/ HTTP/1.1\r\n\r\n",
        "GET http://index.test/ HTTP/2.0\r\n\r\n",
        "GET  http://index.test/ HTTP/1.1\r\n\r\n",
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_not_carried(request_text: str) -> None:
    assert isinstance(read_request(request_text.encode().removesuffix(b"\r\n\r\n")), Bad)


def test_a_head_without_end_is_refused_before_it_fills_memory() -> None:
    with serving(mine(1)) as (_, port):
        assert b" 431 " in ask(
            port, b"GET http://index.test/ HTTP/1.1\r\nX: " + b"a" * (LONGEST_HEAD + 10_000)
        )
        many = "".join(f"X{number}: 1\r\n" for number in range(101))
        assert b" 400 " in ask(port, f"GET http://index.test/ HTTP/1.1\r\n{many}\r\n".encode())


def test_a_door_on_this_machine_serves_only_who_knows_the_secret(server: int) -> None:
    def with_key(secret: str) -> str:
        return "Proxy-Authorization: Basic " + base64.b64encode(f"run:{secret}".encode()).decode()

    with serving(mine(server), secret="of the run") as (proxy, port):
        address = f"http://127.0.0.1:{server}/x"
        for fields in ((), (with_key("guessed"),), ("Proxy-Authorization: Basic é",)):
            assert b" 407 " in ask(port, get(address, *fields))
        told = ask(port, get(address, with_key("of the run")))
        assert proxy.refused == ()
    assert b"GET /x " in told
    assert b"authorization" not in told.lower()


def test_nothing_is_served_after_the_end_and_no_thread_is_left(server: int) -> None:
    before = threads()
    with serving(mine(server)) as (_, port), socket.create_connection(("127.0.0.1", port), 20) as idle:
        idle.sendall(connect(f"127.0.0.1:{server}"))
        assert idle.recv(100).startswith(b"HTTP/1.1 200")
        assert len(threads() - before) == 2
    assert threads() <= before
    with pytest.raises(OSError, match=r"refused|reset"):
        ask(port, connect(f"127.0.0.1:{server}"))


# The user's own proxy


def test_the_way_leads_through_the_users_own_proxy_whose_password_stays_here(server: int) -> None:
    known = names({"index.test": ["127.0.0.1"]})
    with serving(mine(server, "index.test"), resolver=known, secret="hunter2") as (_, outer):
        key = "Basic " + base64.b64encode(b"run:hunter2").decode()
        own = Upstreams(Upstream("127.0.0.1", outer, key), Upstream("127.0.0.1", outer, key))
        with serving(mine(server, "index.test"), upstreams=own) as (_, port):
            plain = ask(port, get(f"http://index.test:{server}/x"))
            tunnel = ask(
                port,
                connect(f"index.test:{server}") + b"GET /y HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            )
            refused = ask(port, connect("other.test:443"))
        with serving(mine(server, "index.test"), upstreams=Upstreams(https=Upstream("127.0.0.1", outer))) as (
            _,
            port,
        ):
            assert b"The proxy of your environment did not open the way: 407." in ask(
                port, connect(f"index.test:{server}")
            )
    assert b"GET /x " in plain
    assert b"GET /y " in tunnel
    assert b" 403 " in refused
    assert b"authorization" not in (plain + tunnel).lower()
    assert "hunter2" not in repr(own)


def test_the_users_own_proxies_are_read_as_other_programs_read_them() -> None:
    found = read_upstreams(
        {
            "HTTPS_PROXY": "http://a%40b:p%3Aq@gate.test:3128",
            "ALL_PROXY": "other.test",
            "no_proxy": ".corp.test, 10.0.0.0/8,exact.test",
        }
    )
    assert found.for_host("https", "x.test") == Upstream(
        "gate.test", 3128, "Basic " + base64.b64encode(b"a@b:p:q").decode()
    )
    assert found.for_host("http", "x.test") == Upstream("other.test", 80)
    for direct in ("in.corp.test", "corp.test", "10.1.2.3", "exact.test", "127.0.0.1", "localhost", "::1"):
        assert found.for_host("https", direct) is None
    assert found.for_host("https", "notcorp.test") is not None
    assert read_upstreams({}) == Upstreams()
    assert own_variables({"http_proxy": "a", "PIP_PROXY": "b", "No_Proxy": "c"}) == {
        "http_proxy": "a",
        "No_Proxy": "c",
    }


@every("address", ["socks5://gate.test:1080", "https://gate.test", "http://", "http://gate.test:port"])
def test_a_proxy_that_we_cannot_go_through_is_said_plainly(address: str) -> None:
    with pytest.raises(Unusable, match="proxy"):
        read_upstreams({"ALL_PROXY": address})


# The words of the list


def test_places_are_written_as_host_port_suffix_or_address() -> None:
    plain, ported, below, six = destinations(["Index.Test", "index.test:8443", "*.corp.test", "[::1]:80"])
    assert (
        plain.admits("index.test", 443),
        plain.admits("index.test", 80),
        plain.admits("index.test", 8443),
    ) == (True, True, False)
    assert (ported.admits("index.test", 8443), ported.admits("index.test", 443)) == (True, False)
    assert (
        below.admits("a.b.corp.test", 443),
        below.admits("corp.test", 443),
        below.admits("evilcorp.test", 443),
    ) == (True, False, False)
    assert (six.admits("::1", 80), six.admits("::1", 443)) == (True, False)
    assert [str(place) for place in (plain, ported, below, six)] == [
        "index.test",
        "index.test:8443",
        "*.corp.test",
        "[::1]:80",
    ]
    for wrong in (
        "",
        "*",
        "*.",
        "*.127.0.0.1",
        "a b",
        "http://index.test",
        "index.test:",
        "index.test:x",
        "u@h",
        "h/p",
    ):
        with pytest.raises(UsageError, match="is not a place"):
            destination(wrong)


def test_an_address_of_an_index_leads_to_its_host_and_port() -> None:
    assert of_address("https://u:p@Index.test/simple", private=True) == Destination(
        "index.test", 443, private=True
    )
    assert of_address("http://127.0.0.1:8080/simple") == Destination("127.0.0.1", 8080)
    for nowhere in ("file:///srv/simple", "/srv/simple", "", "https://", "http://[", "http://127.1/"):
        assert of_address(nowhere) is None


@tries(300)
@given(st.text(max_size=40) | st.from_regex(r"[0-9a-fx.:\[\]%*@-]{0,40}", fullmatch=True))
def test_a_normal_host_is_its_own_normal_form(text: str) -> None:
    found = normal_host(text)
    assert found is None or normal_host(f"[{found}]" if ":" in found else found) == found


PIECES = st.sampled_from(
    [
        *(
            b"GET ",
            b"CONNECT ",
            b"POST ",
            b"http://",
            b"index.test",
            b":80",
            b":443",
            b"/a?b",
            b" HTTP/1.1",
            b"\r\n",
            b"\n",
            b"\r",
            b" ",
        ),
        *(
            b"Host: ",
            b"Content-Length: ",
            b"7",
            b"Transfer-Encoding: chunked",
            b"Connection: content-length",
            b"X: y",
            b"@",
            b"#",
            b"\xff",
        ),
        *(b"[::1]", b"\0", b"GET http://index.test/ HTTP/1.1\r\n", b"CONNECT index.test:443 HTTP/1.1\r\n"),
    ]
)


@tries(600)
@given(st.binary(max_size=200) | st.lists(PIECES, max_size=24).map(b"".join))
def test_whatever_is_carried_reads_the_same_to_the_next_reader(head: bytes) -> None:
    asked = read_request(head)
    if isinstance(asked, Bad):
        return
    assert isinstance(asked, Asked)
    assert normal_host(f"[{asked.host}]" if ":" in asked.host else asked.host) == asked.host
    assert 0 < asked.port < 65536
    if not asked.is_tunnel:
        sent = asked.head(absolute=True)
        assert sent.count(b"\r\n\r\n") == 1
        again = read_request(sent.removesuffix(b"\r\n\r\n"))
        assert isinstance(again, Asked)
        assert (again.host, again.port, again.path, again.length) == (
            asked.host,
            asked.port,
            asked.path,
            asked.length,
        )


# In the rungs

INSIDE = r"""
import json, os, socket, sys, urllib.error, urllib.request
server, other, udp, six, abstract, path = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6]
told = {}

def attempt(name, function):
    try:
        told[name] = function()
    except urllib.error.HTTPError as error:
        told[name] = f"{error.code} {error.read().decode()}"
    except Exception as error:
        told[name] = type(error).__name__

def connect(family, place, *kind):
    with socket.socket(family, *kind) as client:
        client.settimeout(2); client.connect(place)
    return "reached"

def send(data, flags, place, kind):
    with socket.socket(socket.AF_INET, kind) as client:
        client.settimeout(2); client.sendto(data, flags, place)
    return "reached"

def fetch(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()[:20]

HERE = "127.0.0.1"
attempt("allowed", lambda: fetch(f"http://{HERE}:{server}/x"))
attempt("refused", lambda: fetch(f"http://{HERE}:{other}/x"))
attempt("refused name", lambda: fetch("http://localhost/x"))
attempt("tcp", lambda: connect(socket.AF_INET, (HERE, server)))
attempt("tcp elsewhere", lambda: connect(socket.AF_INET, ("192.0.2.1", 80)))
attempt("fast open", lambda: send(b"x", socket.MSG_FASTOPEN, (HERE, other), socket.SOCK_STREAM))
attempt("multipath", lambda: connect(socket.AF_INET, (HERE, other), socket.SOCK_STREAM, 262))
attempt("udp", lambda: send(b"x", 0, (HERE, udp), socket.SOCK_DGRAM))
attempt("ipv6", lambda: connect(socket.AF_INET6, ("::1", six)))
attempt("abstract", lambda: connect(socket.AF_UNIX, "\0" + abstract))
attempt("file", lambda: connect(socket.AF_UNIX, path))
attempt("names", lambda: socket.getaddrinfo("index.example.com", 443) and "reached")
told["variables"] = {name: value for name, value in os.environ.items() if "proxy" in name.lower()}
print(json.dumps(told))
"""


@contextlib.contextmanager
def listening(family: int, kind: int, place: object) -> Iterator[socket.socket]:
    with socket.socket(family, kind) as door:
        door.bind(place)  # type: ignore[arg-type]  # an address of whatever family
        if kind == socket.SOCK_STREAM:
            door.listen()
        door.settimeout(0)
        yield door


def heard(door: socket.socket) -> bool:
    try:
        if door.type == socket.SOCK_STREAM:
            door.accept()[0].close()
        else:
            door.recv(9)
    except BlockingIOError:
        return False
    return True


@pytest.mark.parametrize("sandbox", RUNGS, ids=label)
def test_with_network_only_the_listed_place_is_reached_and_only_through_the_proxy(
    sandbox: Sandbox, tmp_path: Path, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls, before = usable(sandbox), threads()
    monkeypatch.setenv("HTTPS_PROXY", "http://somebody:hunter2@127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "room").mkdir()
    refused: list[str] = []
    confinement = Confinement(
        cwd=tmp_path / "room",
        write=(tmp_path / "room",),
        network=(mine(server),),
        on_refusal=refused.append,
        timeout_s=60,
    )
    abstract, path = f"agentforge-{os.getpid()}-{label(walls)}", tmp_path / "door"
    with (
        listening(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)) as tcp,
        listening(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)) as udp,
        listening(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)) as six,
        listening(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract) as unnamed,
        listening(socket.AF_UNIX, socket.SOCK_STREAM, str(path)) as named,
    ):
        ports = [
            str(port) for port in (server, tcp.getsockname()[1], udp.getsockname()[1], six.getsockname()[1])
        ]
        done = walls.run((INTERPRETER, "-I", "-c", INSIDE, *ports, abstract, str(path)), confinement)
        told = json.loads(done.out)
        reached = [door.getsockname() for door in (tcp, udp, six, unnamed) if heard(door)]
        if (
            walls.name == "bubblewrap"
        ):  # of the others the guarantee says that sockets that are files can be reached
            assert not heard(named)
            assert told["file"] != "reached"
    assert reached == []
    assert told["allowed"].startswith("GET /x ")
    assert (
        told["refused"] == f"403 127.0.0.1:{ports[1]} is not on the list of places that this run may reach.\n"
    )
    assert told["refused name"].startswith("403 ")
    assert "reached" not in {
        told[name] for name in ("tcp", "tcp elsewhere", "ipv6", "abstract", "names", "multipath")
    }
    assert refused == [f"127.0.0.1:{ports[1]}", "localhost:80"]
    assert "hunter2" not in str(told["variables"])
    assert {told["variables"][name] for name in ("no_proxy", "NO_PROXY")} == {""}
    if not has_namespaces(walls):
        assert (told["udp"], told["fast open"]) == ("OSError", "PermissionError")
    assert threads() <= before


def test_a_run_without_network_is_given_no_way_out(tmp_path: Path) -> None:
    with way_out(Confinement(cwd=tmp_path), own_network=True) as way:
        assert (way.fds, way.port, way.env, way.through(("x",))) == ((), None, {}, ("x",))


def test_a_kernel_that_cannot_keep_a_run_to_the_proxy_gives_it_no_network(tmp_path: Path) -> None:
    confinement = Confinement(cwd=tmp_path, write=(tmp_path,), network=(destination("index.test"),))
    with pytest.raises(Unusable, match="cannot keep a run with network"):
        Landlock(3, namespaces=False).run(("/bin/true",), confinement)


@pytest.mark.parametrize("sandbox", RUNGS, ids=label)
def test_with_network_a_missing_program_is_still_a_failure_of_the_run(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    walls = usable(sandbox)
    with pytest.raises(Unusable, match="no-such-program"):
        walls.run(
            ("no-such-program",),
            Confinement(cwd=tmp_path, write=(tmp_path,), network=(destination("index.test"),)),
        )


def test_without_walls_a_run_takes_the_way_of_the_users_own_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    for network, expected in (((), b""), ((destination("index.test"),), b"http://127.0.0.1:9")):
        confinement = Confinement(cwd=tmp_path, write=(tmp_path,), network=network)
        assert NoSandbox().run(("/bin/sh", "-c", 'printf %s "$https_proxy"'), confinement).out == expected
