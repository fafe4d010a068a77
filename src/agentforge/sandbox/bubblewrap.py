"""The first choice of walls: bubblewrap, which builds a file system, a network and a process tree per run."""

import functools
import os
import select
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import (
    ETC_ALWAYS,
    ETC_NETWORK,
    INSIDE_ID,
    SYSTEM_ROOTS,
    Confinement,
    check_inside,
    shielded,
    toolchain_roots,
    variables,
)
from agentforge.system.processes import Completed, run

STAND_INS = {
    "/etc/passwd": f"root:x:0:0:root:/:/bin/sh\nagent:x:{INSIDE_ID}:{INSIDE_ID}:agent:/tmp/home:/bin/sh\n"
    "nobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": f"root:x:0:\nagent:x:{INSIDE_ID}:\nnogroup:x:65534:\n",
}
STAND_INS_OFFLINE = {
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Runs programs through `bwrap`."""

    executable: str = "bwrap"
    name: Literal["bubblewrap"] = "bubblewrap"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` where only the paths of `confinement` and the system's programs exist."""
        cwd = check_inside(confinement)
        texts = STAND_INS if confinement.network else STAND_INS | STAND_INS_OFFLINE
        with ExitStack() as stack:
            fds = {place: _memory_file(stack, text) for place, text in texts.items()}
            ended, alive = _pipe(stack)
            # The first descriptor (the lock) is held by the walls themselves, so that the program inside cannot let go of it.
            held = ("--sync-fd", str(confinement.pass_fds[0])) if confinement.pass_fds else ()
            arguments = (
                *_walls(self.executable, network=confinement.network),
                *held,
                *_system(network=confinement.network),
                *_stand_ins(fds),
                *_mounts(confinement),
                "--chdir",
                str(cwd),
                "--",
            )
            done = run(
                (self.executable, *arguments, *argv),
                cwd=Path("/"),
                # Handed over as environment, not as arguments: other users can read arguments, and an index may have a password.
                env=variables(confinement, "/tmp"),  # noqa: S108 - the private one inside
                timeout_s=confinement.timeout_s,
                pass_fds=(*fds.values(), alive, *confinement.pass_fds),
                output_limit=confinement.output_limit,
            )
            _await_end(ended, alive)
        if done.code == 1 and done.err.startswith(b"bwrap: "):
            reason = done.err.decode(errors="replace").strip().removeprefix("bwrap: ")
            raise Unusable(f"The sandbox could not start `{argv[0]}`: {reason}.", "Check that it is installed where the run can see it.")
        return replace(done, argv=tuple(argv))

    def guarantee(self) -> dict[str, str]:
        """What the namespaces of the kernel hold."""
        return {
            "files": "only the system's programs and the paths named for the run exist; only the named ones can be changed",
            "network": "none, except for set-up; the machine's own loopback is out of reach",
            "processes": "no other process is visible; all of them end with the run, and with the driver",
            "capabilities": "all dropped; an ordinary user inside, who cannot make namespaces of their own",
        }


@functools.cache
def _can_disable_namespaces(executable: str) -> bool:
    """Whether this `bwrap` can forbid new user namespaces (0.8 and later)."""
    listing = subprocess.run((executable, "--help"), capture_output=True, check=False, timeout=10)
    return b"--disable-userns" in listing.stdout + listing.stderr


def _walls(executable: str, *, network: bool) -> tuple[str, ...]:
    identity = ("--unshare-user", "--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID))
    return (
        "--unshare-all",
        *(("--share-net",) if network else ()),
        *identity,
        *(("--disable-userns",) if _can_disable_namespaces(executable) else ()),
        # Started by root, bwrap keeps root's capabilities, and with them a remount undoes every wall.
        *("--cap-drop", "ALL"),
        "--new-session",
        "--die-with-parent",
    )


def _system(*, network: bool) -> Iterator[str]:
    """The machine's programs read-only, and private /proc, /dev and /tmp."""
    for root in SYSTEM_ROOTS:
        path = Path(root)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), root)
        elif path.exists():
            yield from ("--ro-bind", root, root)
    for place in (*ETC_ALWAYS, *(ETC_NETWORK if network else ())):
        yield from ("--ro-bind-try", place, place)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/tmp/home")  # noqa: S108 - inside


def _stand_ins(fds: dict[str, int]) -> Iterator[str]:
    for place, fd in fds.items():
        yield from ("--ro-bind-data", str(fd), place)


def _mounts(confinement: Confinement) -> Iterator[str]:
    """The run's own paths, each at its real place, outer before inner, so that the inner one wins; named twice, read-only wins."""
    given = (*toolchain_roots(), *confinement.read)
    read = {path.resolve() for path in given}
    write = {path.resolve() for path in confinement.write} - read
    ways = dict.fromkeys(shielded(write, read) | write, "--bind") | dict.fromkeys(read, "--ro-bind")
    for link, target in _links((*given, *confinement.write), ways.keys()):
        yield from ("--symlink", target, link)
    for path in sorted(ways, key=lambda path: len(path.parts)):
        yield from (ways[path], str(path), str(path))


def _links(paths: Iterable[Path], mounted: AbstractSet[Path]) -> Iterator[tuple[str, str]]:
    """Symbolic links on the way to a path: inside, the name by which a path was given must work too."""
    present = (*mounted, *map(Path, SYSTEM_ROOTS))
    seen: set[Path] = set()
    waiting = [path.absolute() for path in paths]
    while waiting:
        path = waiting.pop()
        for step in (*reversed(path.parents), path):
            place = step.parent.resolve() / step.name
            if place in seen or not place.is_symlink() or any(place.is_relative_to(root) for root in present):
                continue
            seen.add(place)
            target = place.readlink()
            waiting.append(place.parent / target)
            yield str(place), str(target)


def _memory_file(stack: ExitStack, text: str) -> int:
    fd = os.memfd_create("stand-in")
    stack.callback(os.close, fd)
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _pipe(stack: ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    stack.callback(os.close, reading)
    stack.callback(os.close, writing)
    return reading, writing


def _await_end(ended: int, alive: int) -> None:
    """Wait until nothing inside is left: `bwrap` returns a moment before the kernel has ended what the program left behind.

    Every process inside holds the writing end, so the reading end comes to its end with the last of them.
    """
    os.dup2(ended, alive)  # our own writing end goes; the number stays valid for the one who closes it
    deadline = time.monotonic() + 10
    while (left := deadline - time.monotonic()) > 0 and select.select([ended], [], [], left)[0]:
        if not os.read(ended, 4096):
            return
    raise Unusable(
        "What ran in the sandbox does not end.", "Look for a process that hangs in the kernel, for example on a dead network disk."
    )
