"""What all processes of one run may use together: looked at while it runs, because the limits that the kernel
keeps are those of each process alone. Where this user may make a control group, the kernel keeps memory and
the number of processes by that, too, between two looks.

What is looked at first is cheap and may count too much; what would end a run is measured again, exactly.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.sandbox.walls.groups import TOGETHER, ControlGroup, group_of_run
from agentforge.sandbox.walls.limits import Limits, size_in_words
from agentforge.system.processes import Completed

_PRIVATE = ("/tmp", "/var/tmp", "/dev/shm", str(Path.home()))  # noqa: S108 - as a run sees them
_BLOCK = 512
_PAUSE = 10
"""So many times as long as an exact look took, the next one waits."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one run, while it runs."""

    watched: "_Watch"
    group: ControlGroup | None
    doors: tuple[int, ...]
    """Where its first process joins the group."""

    def look(self, first: int) -> str:
        """Beyond which bound the run is now, in words; empty while it is within all."""
        return self.watched.look(first) or self._stopped()

    def judged(self, done: Completed) -> Completed:
        """A run that the kernel stopped at a bound ended there, however it looks from outside."""
        return done if done.beyond or done.timed_out else replace(done, beyond=self._stopped())

    def _stopped(self) -> str:
        said = self.group.beyond() if self.group else ""
        return self.watched.with_files(said) if said.endswith(TOGETHER) else said


@contextmanager
def kept_within(limits: Limits, write: Sequence[Path]) -> Iterator[Bounds]:
    """The bounds of a run that begins now, and may write these paths."""
    with group_of_run(limits) as (group, doors):
        yield Bounds(_Watch(limits, _Disk(limits.total_disk, tuple(write))), group, doors)


@dataclass(slots=True)
class _Watch:
    """Is asked now and then with the number of the run's first process."""

    limits: Limits
    disk: "_Disk"
    private: int = 0
    """Bytes in places of its own, when it was last looked at."""

    def look(self, first: int) -> str:
        """Beyond which bound the run is, in words; empty while it is within all."""
        limits, pids = self.limits, _descendants(first, most=self.limits.total_processes + 1)
        if len(pids) > limits.total_processes:
            return f"it had more than {limits.total_processes} processes at one time"
        self.private = _private(pids[-1])
        room = limits.total_memory - self.private
        if sum(map(_rough_memory, pids)) > room < sum(map(_memory, pids)):
            used = size_in_words(limits.total_memory)
            return self.with_files(f"its processes used more than {used} {TOGETHER}")
        if self.disk.is_full(pids):
            return f"it wrote more than {size_in_words(limits.total_disk)} of files"
        return ""

    def with_files(self, said: str) -> str:
        """With a word on files that lie in memory, if those are most of it."""
        most = self.private > self.limits.total_memory // 2
        return f"{said}, files in its private places among it" if most else said


def _descendants(first: int, most: int) -> list[int]:
    """A process and all that it and its children started; no more than are asked for."""
    found, waiting = [first], [first]
    while waiting and len(found) <= most:
        for child in _children(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in os.scandir(f"/proc/{pid}/task"):
            with suppress(OSError):
                yield from map(int, Path(task.path, "children").read_bytes().split())


def _fields(path: str, names: tuple[str, ...]) -> int:
    """The sum of what the kernel says under these names, in bytes."""
    with suppress(OSError):
        lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(names))
    return 0


def _rough_memory(pid: int) -> int:
    return _fields(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:", "VmSwap:"))


def _memory(pid: int) -> int:
    """With what is shared counted once, as workers share what they were forked with."""
    shared = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return _fields(f"/proc/{pid}/smaps_rollup", shared) or _rough_memory(pid)


class _Disk:
    """What a run has written. Trees are walked only when a file system has lost much room since the start."""

    def __init__(self, bound: int, roots: tuple[Path, ...]) -> None:
        self.bound, self.roots = bound, roots
        self.started, self.not_before = time.time(), 0.0
        self.before = {root: _used(str(root)) for root in roots}

    def is_full(self, pids: Sequence[int]) -> bool:
        nameless, private = _nameless(pids), _private(pids[-1])
        grown = sum({_device(root): _used(str(root)) - self.before[root] for root in self.roots}.values())
        now = time.monotonic()
        if nameless + private + max(grown, 0) <= self.bound // 2 or now < self.not_before:
            return nameless + private > self.bound
        written = sum(map(self._written, self.roots))
        self.not_before = time.monotonic() + _PAUSE * (time.monotonic() - now)
        return nameless + private + written > self.bound

    def _written(self, root: Path) -> int:
        total, waiting = 0, [str(root)]
        while waiting:
            with suppress(OSError):
                for entry in os.scandir(waiting.pop()):
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
                    elif found.st_ctime >= self.started - 1:
                        total += found.st_blocks * _BLOCK
        return total


def _device(root: Path) -> int:
    with suppress(OSError):
        return root.stat().st_dev
    return 0


def _used(path: str) -> int:
    with suppress(OSError):
        room = os.statvfs(path)
        return (room.f_blocks - room.f_bfree) * room.f_frsize
    return 0


def _private(pid: int) -> int:
    """What lies in places of a run's own, which are in memory."""
    total, seen = 0, set()
    for place in _PRIVATE:
        with suppress(OSError):
            inside = f"/proc/{pid}/root{place}"
            device = os.stat(inside).st_dev  # noqa: PTH116 - a text of the kernel's, not a path of ours
            if device not in seen and device != Path(place).stat().st_dev:
                seen.add(device)
                total += _used(inside)
    return total


def _nameless(pids: Sequence[int]) -> int:
    """Files that are open and have no name any more, or never had one."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    found = entry.stat()
                    if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                        sizes[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
    return sum(sizes.values())
