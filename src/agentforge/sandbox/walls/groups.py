"""A control group of the kernel's around one run, where this user may make one: what its processes use
together is then kept by the kernel at every moment, and not looked at now and then.

One may be made below a group that was handed to this user (a session of systemd's does that), or by root.
Version 2 has all controllers in one tree; version 1 has a tree for each. In version 2 a group has processes
or gives controllers, not both: one that was handed over with nothing but this program in it (a unit with
`Delegate=yes`, a container) is made ready by a step down. Where there is none, or a step fails, the run has
the watcher of `bounds` alone.
"""

import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agentforge.sandbox.walls.limits import Limits, size_in_words

TOGETHER = "of memory together"
_NEEDED = ("memory", "pids")
_PREFIX = "agentforge-"
_ABOVE = 4
"""This part of the bound lies between it and the kernel's wall: what grows slowly is seen by the watcher,
which ends it with better words. To a program whose file cannot grow the kernel only says that there is no
memory.
"""
_ITSELF = "itself"
_TRIES, _PAUSE_S = 25, 0.02
"""A group can be removed a moment after the last of its processes has ended."""
_MOUNTS, _OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")


class _Tree(NamedTuple):
    """A tree of groups: where it is mounted, and which part of it."""

    mount: Path
    root: str
    controllers: frozenset[str]
    """Of version 1; those of version 2 are said in its files."""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The group of one run: one directory, or in version 1 one for each controller."""

    places: Mapping[str, Path]
    """By controller."""
    limits: Limits

    def beyond(self) -> str:
        """The bound at which the kernel stopped the run, in words; empty if it met none."""
        memory, pids = (self.places[name] for name in _NEEDED)
        if _count(memory / "memory.events", "oom_kill") or _count(memory / "memory.oom_control", "oom_kill"):
            return f"its processes used more than {size_in_words(self.limits.total_memory)} {TOGETHER}"
        if _count(pids / "pids.events", "max"):
            return f"it had more than {self.limits.processes} processes and threads at one time"
        return ""


@contextmanager
def group_of_run(limits: Limits) -> Iterator[tuple[ControlGroup | None, tuple[int, ...]]]:
    """A new group with these limits, and the descriptors to which a process writes in order to join it; none
    of both where this user may not make one.
    """
    group = _make(limits)
    doors: list[int] = []
    try:
        if group is not None:
            with suppress(OSError):
                doors += (_door(place) for place in dict.fromkeys(group.places.values()))
        yield group, tuple(doors)
    finally:
        for door in doors:
            os.close(door)
        if group is not None:
            _remove(group)


def _door(place: Path) -> int:
    return os.open(place / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)


def may_make_groups() -> bool:
    """Whether runs on this machine, of this user, get a group."""
    return _parents() is not None


def _make(limits: Limits) -> ControlGroup | None:
    parents = _parents()
    if parents is None:
        return None
    _sweep(parents)
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    group = ControlGroup({controller: parent / name for controller, parent in parents.items()}, limits)
    try:
        for place in dict.fromkeys(group.places.values()):
            place.mkdir()
        _set(group)
    except OSError:
        _remove(group)
        return None
    return group


def _set(group: ControlGroup) -> None:
    memory, pids = (group.places[name] for name in _NEEDED)
    most = str(group.limits.total_memory + group.limits.total_memory // _ABOVE)
    (pids / "pids.max").write_text(str(group.limits.processes), encoding="ascii")
    if (memory / "memory.max").exists():
        (memory / "memory.max").write_text(most, encoding="ascii")
        _if_there(memory / "memory.swap.max", "0")
        _if_there(memory / "memory.oom.group", "1")
    else:
        (memory / "memory.limit_in_bytes").write_text(most, encoding="ascii")
        _if_there(memory / "memory.memsw.limit_in_bytes", most)


def _if_there(path: Path, text: str) -> None:
    with suppress(OSError):
        if path.exists():
            path.write_text(text, encoding="ascii")


def _remove(group: ControlGroup) -> None:
    """Ends what is left in it, where the kernel can do that at once, and takes it away."""
    for place in dict.fromkeys(group.places.values()):
        _if_there(place / "cgroup.kill", "1")
        for _ in range(_TRIES):
            try:
                place.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(_PAUSE_S)
            else:
                break


def _sweep(parents: Mapping[str, Path]) -> None:
    """Takes away the empty groups of drivers that were killed; one with processes in it cannot be removed."""
    for parent in dict.fromkeys(parents.values()):
        with suppress(OSError):
            for entry in list(os.scandir(parent)):
                owner = entry.name.removeprefix(_PREFIX).partition("-")[0]
                if entry.name.startswith(_PREFIX) and owner.isdigit() and not Path("/proc", owner).exists():
                    with suppress(OSError):
                        Path(entry.path).rmdir()


def _parents() -> Mapping[str, Path] | None:
    """The groups below which one can be made, by controller."""
    try:
        trees, own = list(_trees(_MOUNTS.read_text(errors="replace"))), _OWN.read_text(errors="replace")
    except OSError:
        return None
    found: dict[str, Path] = {}
    for line in own.splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        controllers = frozenset(names.split(",")) if names else frozenset()
        for tree in trees:
            if tree.controllers == controllers or tree.controllers & controllers & set(_NEEDED):
                place = tree.mount / path.removeprefix(tree.root).lstrip("/")
                parent = place if controllers else _handed_over(place, tree.mount)
                if parent is not None and _is_ours(parent):
                    wanted = controllers & set(_NEEDED) if controllers else set(_NEEDED)
                    found |= {name: found.get(name, parent) for name in wanted}
    return found if found.keys() == set(_NEEDED) else None


def _handed_over(place: Path, top: Path) -> Path | None:
    """In version 2, the nearest group above that gives its children both controllers, and whose processes
    this user may move.
    """
    for parent in (place, *place.parents):
        with suppress(OSError):
            if set(_NEEDED) <= _words(parent / "cgroup.subtree_control"):
                return parent if os.access(parent / "cgroup.procs", os.W_OK) else None
        if parent == top:
            break
    return place if _made_ready(place, _NEEDED) else None


def _made_ready(place: Path, wanted: Sequence[str]) -> bool:
    """Whether this group, which holds this program and what it started alone, gives its children these
    controllers now: all that is in it has moved into one of them. Undone if it does not.
    """
    with suppress(OSError, ValueError):
        if not (place / "cgroup.type").exists() or not set(wanted) <= _words(place / "cgroup.controllers"):
            return False
        inside = [int(pid) for pid in _words(place / "cgroup.procs")]
        if not _is_ours(place) or any(pid != os.getpid() and not _started_by_us(pid) for pid in inside):
            return False
        own = place / f"{_PREFIX}{os.getpid()}-{_ITSELF}"
        own.mkdir(exist_ok=True)
        try:
            for pid in inside:
                with suppress(ProcessLookupError):
                    (own / "cgroup.procs").write_text(str(pid), encoding="ascii")
            (place / "cgroup.subtree_control").write_text(
                " ".join(f"+{name}" for name in wanted), encoding="ascii"
            )
        except OSError:
            for pid in inside:
                _if_there(place / "cgroup.procs", str(pid))
            own.rmdir()
            return False
        return True
    return False


def _started_by_us(pid: int) -> bool:
    """Whether this process is among its ancestors."""
    with suppress(OSError, ValueError, IndexError):
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            if pid == os.getpid():
                return True
    return False


def _words(path: Path) -> set[str]:
    return set(path.read_text(encoding="ascii").split())


def _is_ours(parent: Path) -> bool:
    return os.access(parent, os.W_OK | os.X_OK) and not os.statvfs(parent).f_flag & os.ST_RDONLY


def _trees(mounts: str) -> Iterator[_Tree]:
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) > 4 and len(kind) > 2 and kind[0] in ("cgroup", "cgroup2"):
            names = frozenset(kind[2].split(",")) & set(_NEEDED) if kind[0] == "cgroup" else frozenset()
            if names or kind[0] == "cgroup2":
                yield _Tree(Path(fields[4]), fields[3] if fields[3] != "/" else "", names)


def _count(path: Path, name: str) -> int:
    with suppress(OSError, ValueError):
        for line in path.read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
