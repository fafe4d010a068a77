"""The way from a run to the proxy: a door in the run's own network, or where it has none, one on this machine
that asks for a secret.
"""

import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.sandbox.base import Confinement
from agentforge.sandbox.network.proxy import USER, Proxy
from agentforge.sandbox.network.upstream import read_upstreams

PORT = 3128
"""In a network of its own nothing else is there to have it."""
LISTEN = Path(__file__).with_name("_listen.py")


@dataclass(frozen=True, slots=True)
class Way:
    """What a launcher needs to give a run its way out. Of a run without network it is empty."""

    channel: int | None = None
    """Where to send the door to, once it is made; None where it is made already."""
    port: int | None = None
    env: dict[str, str] = field(default_factory=dict)

    @property
    def fds(self) -> tuple[int, ...]:
        """The file descriptors that the launcher must inherit."""
        return () if self.channel is None else (self.channel,)

    def through(self, argv: Sequence[str]) -> tuple[str, ...]:
        """`argv`, started by a program that makes the door first: for walls that have no launcher of ours
        inside.
        """
        if self.channel is None:
            return tuple(argv)
        # The interpreter beneath a virtual environment: that is the one a run can see.
        interpreter = os.path.realpath(sys.executable)
        return (
            interpreter,
            "-I",
            "-S",
            "-c",
            LISTEN.read_text(encoding="utf-8"),
            str(self.channel),
            str(PORT),
            *argv,
        )


@contextmanager
def way_out(confinement: Confinement, *, own_network: bool) -> Iterator[Way]:
    """The way out of a run, open while the context is."""
    if not confinement.network:
        yield Way()
        return
    secret = None if own_network else secrets.token_urlsafe(24)
    proxy = Proxy(confinement.network, upstreams=read_upstreams(os.environ), secret=secret)
    try:
        with _inside(proxy) if own_network else _outside(proxy, secret or "") as way:
            yield way
    finally:
        proxy.close()
        for place in proxy.refused:
            confinement.on_refusal(place)


@contextmanager
def _inside(proxy: Proxy) -> Iterator[Way]:
    """The door is made by the run's launcher, in the run's network, and handed to us."""
    ours, theirs = socket.socketpair()
    waiting = threading.Thread(target=_receive, args=(ours, proxy), name="agentforge-door", daemon=True)
    with ours, theirs:
        waiting.start()
        try:
            yield Way(theirs.fileno(), PORT, _variables(f"http://127.0.0.1:{PORT}"))
        finally:
            with suppress(OSError):
                ours.shutdown(socket.SHUT_RDWR)  # a launcher that failed sent nothing
            waiting.join()


def _receive(ours: socket.socket, proxy: Proxy) -> None:
    with suppress(OSError):
        _, fds, _, _ = socket.recv_fds(ours, 16, 1)
        for fd in fds:
            proxy.serve(socket.socket(fileno=fd))


@contextmanager
def _outside(proxy: Proxy, secret: str) -> Iterator[Way]:
    """The door is on this machine's own loopback, where other users could knock too."""
    door = socket.create_server(("127.0.0.1", 0), backlog=128)
    port = int(door.getsockname()[1])
    proxy.serve(door)
    yield Way(None, port, _variables(f"http://{USER}:{secret}@127.0.0.1:{port}"))


def _variables(address: str) -> dict[str, str]:
    """What programs read to find a proxy, and that it is meant for every host. Yarn, from its second version
    on, reads its own alone.
    """
    names = ("http_proxy", "https_proxy", "all_proxy")
    return {spelling: address for name in names for spelling in (name, name.upper())} | {
        "no_proxy": "",
        "NO_PROXY": "",
        "YARN_HTTP_PROXY": address,
        "YARN_HTTPS_PROXY": address,
    }
