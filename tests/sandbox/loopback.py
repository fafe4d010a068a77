"""A web server and a client on this machine's loopback, for the tests of the proxy."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BLOCK = bytes(65_536)


class Site(BaseHTTPRequestHandler):
    """Says what it was asked; `/big/N` answers with N blocks, `/silent` not at all."""

    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        kind, _, count = self.path.strip("/").partition("/")
        if kind == "silent":
            self.rfile.read(1)
            return
        told = f"{self.command} {self.path} {self.headers}".encode()
        blocks = [BLOCK] * int(count) if kind == "big" else [told]
        self.send_response(200)
        self.send_header("Content-Length", str(sum(map(len, blocks))))
        self.end_headers()
        for block in blocks:
            self.wfile.write(block)

    def do_POST(self) -> None:
        left = length = int(self.headers["Content-Length"])
        while left:
            left -= len(self.rfile.read(min(left, 65_536)))
        text = f"{length} bytes".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the library
        """Nobody reads it."""


@contextmanager
def _running(answering: Callable[[Any, Any, ThreadingHTTPServer], BaseHTTPRequestHandler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), answering) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


class Folder(SimpleHTTPRequestHandler):
    """The files of a folder."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the library
        """Nobody reads it."""


@contextmanager
def folder(top: Path) -> Iterator[int]:
    """The port of a server of the files below `top`."""
    with _running(partial(Folder, directory=str(top))) as port:
        yield port


@contextmanager
def site() -> Iterator[int]:
    """The port of a running server."""
    with _running(Site) as port:
        yield port


def ask(port: int, request: bytes) -> bytes:
    """The whole answer to raw bytes."""
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(request)
        answer = b""
        while chunk := client.recv(65_536):
            answer += chunk
        return answer
