"""A server on the loopback that lists models, as ollama and the others do, or misbehaves."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agentforge.models.known.providers import Provider, known


@dataclass
class Listing:
    """What it says to a GET, by path; anything else is a 404."""

    pages: dict[str, object]
    delay_s: float = 0
    port: int = 0
    seen: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def provider(self, name: str) -> Provider:
        return known({}, {name: {"base_url": f"http://{self.host}/v1"}})[name]


@contextmanager
def listing(*models: str, pages: Mapping[str, object] | None = None, delay_s: float = 0) -> Iterator[Listing]:
    """With `models` it lists them as everybody does; `pages` says it in bytes, JSON or a place to be sent
    to.
    """
    page = Listing(
        dict(pages or {"/v1/models": {"object": "list", "data": [{"id": model} for model in models]}}),
        delay_s,
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            time.sleep(page.delay_s)
            said = page.pages.get(self.path)
            if isinstance(said, str):
                self.send_response(302)
                self.send_header("location", said)
            else:
                self.send_response(404 if said is None else 200)
            self.end_headers()
            body = (
                said
                if isinstance(said, bytes)
                else b""
                if said is None or isinstance(said, str)
                else json.dumps(said).encode()
            )
            with suppress(BrokenPipeError, ConnectionResetError):  # who does not wait is part of a test
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """A test reads `seen` instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    page.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield page
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
