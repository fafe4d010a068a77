"""Where the time of a step goes: waiting for git, waiting for the disk, and the rest, which is ours."""

import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.system.files import append_durable
from agentforge.system.git.repository import Git
from agentforge.system.processes import Completed

LINE = 600
"""Bytes of a usual line of a journal."""


@dataclass(slots=True)
class Spent:
    """How often something was waited for, and how long."""

    calls: int = 0
    seconds: float = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """One more wait."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.calls += 1
            self.seconds += time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class TimedGit(Git):
    """A repository that counts what it costs. Every call of git goes through `run`."""

    spent: Spent = field(default_factory=Spent)

    def run(
        self,
        *args: str,
        index: Path | None = None,
        work_tree: Path | None = None,
        input: bytes = b"",  # noqa: A002 - the name of the method it wraps
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        """One call, timed."""
        with self.spent.counted():
            return Git.run(self, *args, index=index, work_tree=work_tree, input=input, env=env, check=check)


@contextmanager
def timed_syncs() -> Iterator[Spent]:
    """Counts every wait for the disk while it is open."""
    spent, real = Spent(), os.fsync

    def sync(fd: int) -> None:
        with spent.counted():
            real(fd)

    os.fsync = sync  # type: ignore[assignment]  # the same call, with a clock beside it
    try:
        yield spent
    finally:
        os.fsync = real


@contextmanager
def without_syncs() -> Iterator[None]:
    """For what is only made to be measured later: nothing waits for the disk, until all of it does at the
    end.
    """
    real = os.fsync
    os.fsync = lambda _: None  # type: ignore[assignment]  # as above
    try:
        yield
    finally:
        os.fsync = real
        os.sync()


@dataclass(slots=True)
class Appends:
    """The unit of this bench: one line appended to a file and on the disk, as the journal does it."""

    path: Path
    times: list[float] = field(default_factory=list)

    def append(self) -> None:
        """One, timed."""
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            started = time.perf_counter()
            append_durable(fd, b"x" * LINE)
            self.times.append(time.perf_counter() - started)
        finally:
            os.close(fd)


def median_ms(seconds: Sequence[float]) -> float:
    """The middle one, in milliseconds."""
    return statistics.median(seconds) * 1000
