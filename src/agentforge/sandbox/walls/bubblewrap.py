"""The first choice of walls: bubblewrap, which builds a file system, a network and a process tree per run."""

import functools
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
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
    links_to,
    not_started,
    shielded,
    toolchain_roots,
    variables,
)
from agentforge.sandbox.network.gateway import way_out
from agentforge.sandbox.walls import seccomp
from agentforge.sandbox.walls.bounds import kept_within
from agentforge.sandbox.walls.groups import may_make_groups
from agentforge.sandbox.walls.limits import (
    Limits,
    counts_per_namespace,
    limits_in_words,
    process_fence,
    under_limits,
)
from agentforge.system.processes import Completed, run
from agentforge.system.programs import find_program

STAND_INS = {
    "/etc/passwd": f"root:x:0:0:root:/:/bin/sh\nagent:x:{INSIDE_ID}:{INSIDE_ID}:agent:/tmp/home:/bin/sh\n"
    "nobody:x:65534:65534::/:/bin/false\n",
    "/etc/group": f"root:x:0:\nagent:x:{INSIDE_ID}:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
KERNEL_FILES = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/mtrr",
)
NAME = "bwrap"
COULD_NOT_START = (1, 126, 127)
# Beyond what all processes of a run may have in memory: it ends there, and not as a failure of its own.
TEMPORARY_BYTES = 8 << 30


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """The sandbox that runs programs through `bwrap`."""

    executable: str = "bwrap"
    name: Literal["bubblewrap"] = "bubblewrap"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` where only the paths of `confinement` and the system's programs exist."""
        cwd = check_inside(confinement)
        with ExitStack() as stack:
            way = stack.enter_context(way_out(confinement, own_network=True))
            bounds = stack.enter_context(kept_within(confinement.limits, confinement.write))
            fds = {place: _memory_file(stack, text.encode()) for place, text in STAND_INS.items()}
            calls = (_memory_file(stack, seccomp.build()),) if seccomp.is_available() else ()
            ended, alive = _life_line(stack, confinement.pass_fds)
            arguments = (
                *_walls(self.executable),
                *_filter(calls),
                *_system(self.executable, network=bool(confinement.network)),
                *_stand_ins(fds),
                *_mounts(confinement),
                "--chdir",
                str(cwd),
                "--",
            )
            done = run(
                (
                    *process_fence(confinement.limits.processes),
                    self.executable,
                    *arguments,
                    *way.through(_limited(argv, confinement)),
                ),
                cwd=Path("/"),
                # Handed over as environment, not as arguments: other users can read arguments, and an index
                # may have a password.
                env=variables(confinement, "/tmp") | way.env,  # noqa: S108 - the private one inside
                timeout_s=confinement.timeout_s,
                input=confinement.input,
                pass_fds=(*fds.values(), *calls, *way.fds, alive),
                marks=confinement.pass_fds,
                output_limit=confinement.output_limit,
                tee=confinement.tee,
                watch=bounds.look,
                joins=bounds.doors,
                by_starter=True,
            )
            _await_end(ended, alive)
            done = bounds.judged(done)
        if done.code in COULD_NOT_START and done.err.startswith(b"bwrap: "):
            raise not_started(argv[0], done.err.decode(errors="replace").strip().removeprefix("bwrap: "))
        return replace(done, argv=tuple(argv))

    def guarantee(self) -> dict[str, str]:
        """What the namespaces of the kernel hold."""
        limited = limits_in_words(counted=_counts(), grouped=may_make_groups())
        return {
            "files": (
                "only the system's programs and the paths named for the run exist; only the named "
                "ones can be changed"
            ),
            "network": (
                "none; set-up reaches the places on its list, through a proxy of ours; the "
                "machine's own loopback is out of reach"
            ),
            "processes": f"no other process is visible; {limited}; "
            "all of them end with the run, and with the driver",
            "capabilities": "all dropped; an ordinary user inside, who cannot make namespaces of their own"
            + (
                "; dangerous system calls are refused"
                if seccomp.is_available()
                else "; system calls are not filtered here"
            ),
        }


def _limited(argv: Sequence[str], confinement: Confinement) -> tuple[str, ...]:
    return under_limits(
        NAME, argv, confinement.limits, confinement.timeout_s, count_processes=counts_per_namespace()
    )


def _counts() -> bool:
    """Whether the number of processes is limited: the kernel does not count root's."""
    return bool(process_fence(Limits().processes)) or (os.getuid() != 0 and counts_per_namespace())


def _filter(calls: tuple[int, ...]) -> Iterator[str]:
    for fd in calls:
        yield from ("--seccomp", str(fd))


_HELP_S = 5


@functools.cache
def knows(executable: str, option: str) -> bool:
    """Whether this `bwrap` has an option that older ones lack."""
    listing = _listing(executable)
    if listing is None:
        raise Unusable(f"`{executable} --help` did not answer within {_HELP_S} seconds.")
    return option.encode() in listing


@functools.cache
def _listing(executable: str) -> bytes | None:
    """What it says of its options; None if it says nothing in time. Asked once: nobody waits twice."""
    done = run((executable, "--help"), cwd=Path("/"), env={}, timeout_s=_HELP_S)
    return None if done.timed_out else done.out + done.err


def _walls(executable: str) -> tuple[str, ...]:
    identity = ("--unshare-user", "--uid", str(INSIDE_ID), "--gid", str(INSIDE_ID))
    return (
        "--unshare-all",
        *identity,
        *(("--disable-userns",) if knows(executable, "--disable-userns") else ()),
        # Started by root, bwrap keeps root's capabilities, and with them a remount undoes every wall.
        *("--cap-drop", "ALL"),
        "--new-session",
        "--die-with-parent",
    )


def _system(executable: str, *, network: bool) -> Iterator[str]:
    """The machine's programs read-only, and private /proc, /dev and /tmp."""
    for root in SYSTEM_ROOTS:
        path = Path(root)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), root)
        elif path.exists():
            yield from ("--ro-bind", root, root)
    for place in (*ETC_ALWAYS, *(ETC_NETWORK if network else ())):
        yield from ("--ro-bind-try", place, place)
    size = ("--size", str(TEMPORARY_BYTES)) if knows(executable, "--size") else ()
    yield from ("--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/tmp", "--dir", "/tmp/home")  # noqa: S108 - inside
    # Root inside is still the machine's root to the kernel's own files, and one of them names a program to be
    # run outside.
    for place in KERNEL_FILES if os.getuid() == 0 else ():
        if Path(place).exists():
            yield from ("--ro-bind", place, place)


def _stand_ins(fds: dict[str, int]) -> Iterator[str]:
    for place, fd in fds.items():
        yield from ("--ro-bind-data", str(fd), place)


def _mounts(confinement: Confinement) -> Iterator[str]:
    """The run's own paths, each at its real place, outer before inner, so that the inner one wins; named
    twice, read-only wins.
    """
    given = (*toolchain_roots(), *confinement.read)
    read = {path.resolve() for path in given}
    write = {path.resolve() for path in confinement.write} - read
    ways = dict.fromkeys(shielded(write, read) | write, "--bind") | dict.fromkeys(read, "--ro-bind")
    for link, target in links_to((*given, *confinement.write), ways.keys()):
        yield from ("--symlink", target, link)
    for path in sorted(ways, key=lambda path: len(path.parts)):
        yield from (ways[path], str(path), str(path))


def _memory_file(stack: ExitStack, data: bytes) -> int:
    fd = os.memfd_create("stand-in")
    stack.callback(os.close, fd)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _life_line(stack: ExitStack, held: Sequence[int]) -> tuple[int, int]:
    """A pipe whose writing end every process inside has: it comes to its end with the last of them.

    So does a process outside that reads it, and keeps `held`, the lock of the task, meanwhile. Inside nobody
    has the lock, not even the first process, into whose descriptors the others can look.
    """
    ended, alive = os.pipe()
    if held:
        keeper = subprocess.Popen(
            (find_program("cat") or "/bin/cat",),
            cwd="/",
            env={},
            stdin=ended,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=tuple(held),
            start_new_session=True,
        )
        stack.callback(_let_end, keeper)
    stack.callback(os.close, ended)
    stack.callback(os.close, alive)
    return ended, alive


def _let_end(keeper: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):  # it ends with what still runs inside, whenever that is
        keeper.wait(1)


def _await_end(ended: int, alive: int) -> None:
    """Wait until nothing inside is left: `bwrap` returns a moment before the kernel has ended what the
    program left behind.

    Every process inside holds the writing end, so the reading end comes to its end with the last of them.
    """
    os.dup2(ended, alive)  # our own writing end goes; the number stays valid for the one who closes it
    watch = select.poll()
    watch.register(ended, 0)  # its end alone: what is written to it says nothing
    if watch.poll(10_000):
        return
    raise Unusable(
        "What ran in the sandbox does not end.",
        "Look for a process that hangs in the kernel, for example on a dead network disk.",
    )
