"""Carries bytes between two sockets in buffers of fixed size: one way, or both ways at once."""

import select
import socket
from contextlib import suppress
from dataclasses import dataclass

CHUNK = 65_536


@dataclass(slots=True)
class Flow:
    """The bytes on their way from one socket to another."""

    source: socket.socket
    sink: socket.socket
    held: bytes = b""
    """Read and not yet written: never more than a chunk, so a slow reader slows the writer and fills no
    memory.
    """
    ended: bool = False
    announced: bool = False
    """Whether the sink was told that nothing more comes."""

    @property
    def is_reading(self) -> bool:
        """Whether there is room for more."""
        return not self.ended and not self.held

    @property
    def is_over(self) -> bool:
        """Whether the source has ended and all of it was written."""
        return self.ended and not self.held

    def read(self) -> None:
        """Reads at most a chunk from the source, without waiting."""
        with suppress(BlockingIOError):
            self.held = self.source.recv(CHUNK)
            self.ended = not self.held

    def write(self) -> None:
        """Writes as much of what is held as the sink takes, without waiting."""
        with suppress(BlockingIOError):
            self.held = self.held[self.sink.send(self.held) :]

    def settle(self) -> None:
        """Pass the end on, when all was written."""
        if self.is_over and not self.announced:
            self.announced = True
            self.sink.shutdown(socket.SHUT_WR)


def relay(there: Flow, back: Flow, idle_s: float) -> None:
    """Carry both flows to their end; also over when either breaks, or when nothing moved for `idle_s`."""
    for each in (there.source, there.sink):
        each.settimeout(0)
    # An error means that one of the two has gone: what the other still had to say has nobody to hear it.
    with suppress(OSError):
        while not (there.is_over and back.is_over):
            there.settle()
            back.settle()
            if not _step((there, back), idle_s):
                return


def pour(source: socket.socket, sink: socket.socket, length: int | None, idle_s: float) -> None:
    """Carry `length` bytes one way, or all there are. No pause may be longer than `idle_s`."""
    source.settimeout(idle_s)
    sink.settimeout(idle_s)
    while length is None or length > 0:
        chunk = source.recv(CHUNK if length is None else min(CHUNK, length))
        if not chunk:
            return
        sink.sendall(chunk)
        length = None if length is None else length - len(chunk)


def _step(flows: tuple[Flow, Flow], idle_s: float) -> bool:
    """Move what can be moved now; False if nothing could for too long."""
    readers = {flow.source: flow for flow in flows if flow.is_reading}
    writers = {flow.sink: flow for flow in flows if flow.held}
    poll = select.poll()
    for each in {*readers, *writers}:
        poll.register(
            each, (select.POLLIN if each in readers else 0) | (select.POLLOUT if each in writers else 0)
        )
    ready = poll.poll(idle_s * 1000)
    by_number = {each.fileno(): each for each in {*readers, *writers}}
    for number, event in ready:
        each = by_number[number]
        if each in writers and event & (select.POLLOUT | select.POLLERR | select.POLLHUP):
            writers[each].write()
        if each in readers and event & (select.POLLIN | select.POLLERR | select.POLLHUP):
            readers[each].read()
    return bool(ready)
