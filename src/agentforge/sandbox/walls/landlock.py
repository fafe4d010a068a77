"""The second choice of walls: the kernel's own Landlock, which needs no program to be installed."""

import ctypes
import marshal
import os
import pwd
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.core.errors import Unusable
from agentforge.sandbox.base import (
    ETC_ALWAYS,
    ETC_NETWORK,
    SHARED_MEMORY,
    SYSTEM_ROOTS,
    WEAK,
    Confinement,
    check_inside,
    links_to,
    not_started,
    toolchain_roots,
    variables,
)
from agentforge.sandbox.network.gateway import Way, way_out
from agentforge.sandbox.walls import seccomp
from agentforge.sandbox.walls.bounds import kept_within
from agentforge.sandbox.walls.groups import may_make_groups
from agentforge.sandbox.walls.limits import (
    FIRST_WITH_OWN_PID_MAX,
    counts_per_namespace,
    kernel_version,
    limits_in_words,
)
from agentforge.system.processes import Completed, run

LAUNCHER = Path(__file__).with_name("_confine.py")
LAUNCHER_FAILED = 125
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Files stay where they are under Landlock, so there are no stand-ins: these are readable by every user
# anyway.
ETC_REAL = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf")

_CREATE_RULESET = 444
_ASK_VERSION = 1
FIRST_ABI_WITH_TCP = 4
FIRST_ABI_WITH_SCOPES = 6


def spell(spec: Mapping[str, object]) -> str:
    """What the launcher is told, as an argument that it reads without loading anything for it."""
    return marshal.dumps(dict(spec)).hex()


def kernel_abi() -> int:
    """The version of Landlock that this kernel speaks; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(
        0,
        int(
            libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(_ASK_VERSION))
        ),
    )


@dataclass(frozen=True, slots=True)
class Landlock:
    """Runs programs through a launcher that gives up its own rights first."""

    abi: int
    namespaces: bool = True
    """Whether the kernel also gives this user a network and a process tree of their own."""
    name: Literal["landlock"] = "landlock"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` with rights over the paths of `confinement` alone, and a private temporary directory."""
        cwd = check_inside(confinement)
        self._check_network(confinement)
        with (
            way_out(confinement, own_network=self.namespaces) as way,
            tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary,
            kept_within(confinement.limits, confinement.write) as bounds,
        ):
            Path(temporary, "home").mkdir()
            done = run(
                (
                    sys.executable,
                    "-I",
                    "-S",
                    str(LAUNCHER),
                    self._spec(confinement, cwd, temporary, way),
                    *argv,
                ),
                cwd=Path("/"),
                env=variables(confinement, temporary) | way.env,
                timeout_s=confinement.timeout_s,
                input=confinement.input,
                pass_fds=(*way.fds, *confinement.pass_fds),
                output_limit=confinement.output_limit,
                tee=confinement.tee,
                watch=bounds.look,
                joins=bounds.doors,
                by_starter=True,
            )
            done = bounds.judged(done)
        if done.code == LAUNCHER_FAILED and done.err.startswith(b"confine: "):
            raise not_started(argv[0], done.err.decode(errors="replace").strip().removeprefix("confine: "))
        return replace(done, argv=tuple(argv))

    def _check_network(self, confinement: Confinement) -> None:
        """Without a network of its own, a run is kept to the proxy by two things of the kernel; if one is
        missing it gets none.
        """
        if (
            confinement.network
            and not self.namespaces
            and (self.abi < FIRST_ABI_WITH_TCP or not seccomp.is_available())
        ):
            raise Unusable(
                "This kernel's Landlock cannot keep a run with network to the places on its list.",
                "Install bubblewrap, or let users make namespaces, or run a kernel from 6.7 on.",
            )

    def _spec(self, confinement: Confinement, cwd: Path, temporary: str, way: Way) -> str:
        read = {str(path.resolve()) for path in (*toolchain_roots(), *confinement.read)}
        write = {str(path.resolve()) for path in confinement.write} - read
        links = links_to((*confinement.read, *confinement.write), {Path(path) for path in (*read, *write)})
        etc = (*ETC_ALWAYS, *ETC_REAL, *(ETC_NETWORK if confinement.network else ()))
        return spell(
            {
                "abi": self.abi,
                "write": [*sorted(write), str(Path(temporary).resolve())],
                "read": sorted(read),
                "links": list(links),
                "system": [*SYSTEM_ROOTS, *etc, "/proc"],
                "devices": DEVICES,
                "namespaces": self.namespaces,
                "own": _own_places(),
                "cwd": str(cwd),
                "limits": confinement.limits.numbers(confinement.timeout_s),
                "own_count": self.namespaces and counts_per_namespace(),
                "own_pid_max": self.namespaces and kernel_version() >= FIRST_WITH_OWN_PID_MAX,
                "calls": self._calls(network=bool(confinement.network)),
                "channel": way.channel,
                "port": way.port,
            }
        )

    def _calls(self, *, network: bool) -> bytes | None:
        """The filter of system calls. Without a network of its own a run gets no sockets but those of this
        machine's files.
        """
        if not seccomp.is_available():
            return None
        families = seccomp.ORDINARY_FAMILIES if self.namespaces else seccomp.LOCAL_FAMILIES
        alone = not self.namespaces
        return seccomp.build(families, tcp_only=network and alone, alone=alone)

    def guarantee(self) -> dict[str, str]:
        """What holds depends on the kernel, and this says which case it is."""
        filtered = seccomp.is_available()
        calls = (
            "all dropped; dangerous system calls are refused"
            if filtered
            else "all dropped; system calls are not filtered here"
        )
        files = (
            f"Landlock {self.abi}: only the system's programs and the paths named for the run can be "
            "read, only the named ones changed; "
        )
        limited = limits_in_words(counted=self._counts(), grouped=may_make_groups())
        if self.namespaces:
            return {
                "files": files + "home and places for temporary files are private; names of files elsewhere "
                "can still be seen",
                "network": "none; set-up reaches the places on its list, through a proxy of ours; the "
                "machine's own loopback is out of reach; so are sockets below /run, your home and places for "
                "temporary files; sockets that are files elsewhere can be reached",
                "processes": f"a process tree of its own; {limited}; "
                "all of it ends with the run, and with the driver",
                "capabilities": calls,
            }
        network = "TCP is refused, loopback included, for set-up too; UDP and sockets that are files are not"
        if filtered:
            network = (
                "every family is refused, loopback included; for set-up, TCP to one port is not, where a "
                "proxy of ours keeps it to its list; sockets that are files are not refused"
            )
        scoped = self.abi >= FIRST_ABI_WITH_SCOPES
        seen = "others can be seen" + (", not signalled" if scoped else " and, of the same user, signalled")
        return {
            "files": files
            + "names of other files can still be seen, and their modes and times changed; new files cannot "
            "be made next to a read-only path",
            "network": f"{WEAK}{network}",
            "processes": f"{seen}; {limited}; all of them end with the run, and with the driver",
            "capabilities": calls,
        }

    def _counts(self) -> bool:
        """Whether the number of processes is limited: the kernel does not count root's."""
        return os.getuid() != 0 or (self.namespaces and kernel_version() >= FIRST_WITH_OWN_PID_MAX)


def _own_places() -> list[str]:
    """What holds people's files and sockets by custom: private to a run that has namespaces."""
    homes = {str(Path.home().resolve()), str(Path(_home_on_record()).resolve())}
    usual = {str(Path(place).resolve()) for place in ("/tmp", "/var/tmp", str(SHARED_MEMORY))}  # noqa: S108 - hidden, not used
    return sorted(place for place in homes | usual if place != "/")


def _home_on_record() -> str:
    """The home directory of the account, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:
        return "/"
