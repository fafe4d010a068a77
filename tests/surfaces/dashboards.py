"""A dashboard that really listens, in a thread of this process; and a browser's view of it without a browser."""

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.surfaces.dashboard.serve import Dashboard, open_dashboard


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:  # noqa: ANN401 - whatever the server says
        return json.loads(self.body)


@dataclass
class Visitor:
    """Somebody with a link."""

    link: str
    key: str = ""
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return urlsplit(self.link).netloc

    @property
    def origin(self) -> str:
        return f"http://{self.address}"

    def enter(self) -> "Visitor":
        """Opens the link as a browser does, and keeps its key as the page does."""
        path = self.link.removeprefix(self.origin)
        came = self.ask("GET", path, headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"})
        assert (came.status, "set-cookie" in came.headers) == (303, False), came
        self.key = urlsplit(came.headers["location"]).fragment.removeprefix("key=")
        return self

    @property
    def protocols(self) -> list[str]:
        """What a page of this server names when it opens a socket."""
        return ["agentforge", *([f"key.{self.key}"] if self.key else [])]

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request, with the headers that a page of this server would send unless they are given. As a
        browser does, it asks once more where a connection was closed before anything was answered to a reader.
        """
        with contextlib.suppress(http.client.RemoteDisconnected):
            return self._ask_once(method, path, body, headers)
        assert method in ("GET", "HEAD"), f"the server hung up on {method} {path}"
        return self._ask_once(method, path, body, headers)

    def _ask_once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str] | None
    ) -> Answer:
        sent = {"Host": self.address, **self.extra}
        if self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        if method not in ("GET", "HEAD"):
            sent |= {"Origin": self.origin, "Content-Type": "application/json"}
        sent |= headers or {}
        host, _, port = self.address.partition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in sent and "Transfer-Encoding" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                if body:
                    connection.send(body)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the server says
        came = self.ask("GET", path)
        assert came.status == 200, came
        return came.data

    def post(self, path: str, **said: Any) -> Answer:  # noqa: ANN401 - whatever is said
        return self.ask("POST", path, json.dumps(said).encode())

    @contextlib.contextmanager
    def listen(
        self, path: str, headers: Mapping[str, str] | None = None, max_size: int = 1 << 20
    ) -> Iterator[ClientConnection]:
        """A socket, as a page of this server would open it unless other headers are given."""
        more = {"Origin": self.origin, **(headers or {})}
        origin = more.pop("Origin")
        with connect(
            f"ws://{self.address}{path}",
            origin=Origin(origin) if origin else None,
            subprotocols=[Subprotocol(each) for each in self.protocols],
            additional_headers={name: value for name, value in more.items() if value},
            compression=None,
            max_size=max_size,
            open_timeout=120,
            proxy=None,
        ) as line:
            yield line


@contextlib.contextmanager
def dashboard(here: Path) -> Iterator[Visitor]:
    """A running server of the home of this test, for somebody who has not come in yet."""
    made = open_dashboard(Home(home_path()), here, 0)
    with running(made):
        yield Visitor(made.link)


@contextlib.contextmanager
def running(made: Dashboard) -> Iterator[None]:
    """The server, until the end of the block."""
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        deadline = time.monotonic() + 120
        while not made.server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        yield
    finally:
        made.server.should_exit = True
        thread.join(120)
        assert not thread.is_alive()
