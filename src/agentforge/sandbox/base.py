"""The port of every sandbox: what a run may see and touch, and how the walls describe themselves."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from agentforge.core.errors import Unusable
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.walls.limits import Limits
from agentforge.system.processes import Completed, Tee

SandboxName = Literal["bubblewrap", "landlock", "container", "none"]

# The programs and libraries of the machine. Anything else must be named by the run that needs it.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - nothing is written here
"""The one part of `/dev` that holds people's own directories."""
SYSTEM_ROOTS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")

# Of /etc only what programs cannot do without, and nothing that is private to the machine.
ETC_ALWAYS = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/openssl.cnf",  # where it is there and cannot be read, Node does not start
    "/etc/timezone",
)
# Whom to believe. Names are looked up by the proxy, so nothing else of a machine's network is needed inside.
ETC_NETWORK = (
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
)

# Who runs inside, whoever runs outside: a test must not depend on the account of the person who started the
# task.
INSIDE_ID = 1000


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one run may see and touch. What is not named here does not exist for it."""

    cwd: Path
    """Where the program starts: at or below one of `write` or `read`."""
    write: tuple[Path, ...] = ()
    """May be read and changed."""
    read: tuple[Path, ...] = ()
    """May be read only, also where it lies beneath a path of `write`."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the few variables every run gets. Nothing is inherited."""
    network: tuple[Destination, ...] = ()
    """Where it may go, through a proxy of ours; nothing else of the network exists for it. Only set-up asks
    for any.
    """
    on_refusal: Callable[[str], None] = lambda _: None
    """Told afterwards of each place that it asked for and that is not in `network`."""
    input: bytes = b""
    """What the program finds on its standard input; else there is nothing on it."""
    timeout_s: float = 600
    output_limit: int = 4_000_000
    tee: Tee | None = None
    """Sees all of the output, as it comes."""
    limits: Limits = Limits()
    """Of the machine's means."""
    pass_fds: tuple[int, ...] = ()
    """Kept open for as long as the run lives: the lock of the task."""


class Sandbox(Protocol):
    """A way to run programs so that they reach only the files and hosts that are named for the run."""

    @property
    def name(self) -> SandboxName:
        """The kind of walls; evidence records it."""
        ...

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Runs `argv` to its end."""
        ...

    def guarantee(self) -> dict[str, str]:
        """What holds, in plain words, for: files, network, processes, capabilities."""
        ...


WEAK = "weak: "
"""How the sentence of a guarantee begins where a wall has gaps that a person must know of first."""


def is_weak(sandbox: Sandbox) -> bool:
    """Whether programs inside can reach what other programs of the machine offer to this user."""
    return any(said.startswith(WEAK) for said in sandbox.guarantee().values())


def variables(confinement: Confinement, temporary: str) -> dict[str, str]:
    """The whole environment of a run: a fixed base, then what the run was given."""
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{temporary}/home",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONNOUSERSITE": "1",
    }
    return base | dict(confinement.env)


def toolchain_roots(prefix: str = sys.base_prefix) -> tuple[Path, ...]:
    """Where the interpreter itself lives, if that is outside the system directories."""
    path = Path(os.path.abspath(prefix))  # noqa: PTH100 - keeps symbolic links: virtual environments name them
    if path == Path("/") or any(path.is_relative_to(root) for root in SYSTEM_ROOTS):
        return ()
    return (path,)


def not_started(program: str, said: str) -> Unusable:
    """What the walls said when the program did not begin: without the place in a shell's own script, and
    without its name twice.
    """
    reason = (
        re.sub(r"^\d+: (exec: )?|^\[Errno \d+\] |: b?'[^']*'$", "", said)
        .removeprefix(f"{program}: ")
        .rstrip(".")
    )
    return Unusable(
        f"The sandbox could not start `{program}`: {reason}.",
        "Check that it is installed where the run can see it.",
    )


def check_inside(confinement: Confinement) -> Path:
    """The real working directory, which must be one the run can see. A path that is missing is a mistake of
    the caller.
    """
    for path in (*confinement.write, *confinement.read):
        if not path.exists():
            raise ValueError(f"{path} does not exist, so a run cannot be given it")
    cwd = confinement.cwd.resolve()
    if not any(cwd.is_relative_to(path.resolve()) for path in (*confinement.write, *confinement.read)):
        raise ValueError(f"{cwd} is neither in the writable nor in the readable paths of the run")
    return cwd


def links_to(paths: Iterable[Path], mounted: AbstractSet[Path]) -> Iterator[tuple[str, str]]:
    """Symbolic links on the way to a path: inside, the name by which a path was given must work too."""
    present = (*mounted, *map(Path, SYSTEM_ROOTS))
    real = {Path("/"): Path("/")}  # every step is looked at once, however many paths lead over it
    waiting = [path.absolute() for path in paths]
    while waiting:
        path = waiting.pop()
        for step in (*reversed(path.parents), path):
            if step in real:
                continue
            place = real[step.parent].parent if step.name == ".." else real[step.parent] / step.name
            real[step] = place
            if not place.is_symlink():
                continue
            real[step] = place.resolve()
            if not any(place.is_relative_to(root) for root in present):
                target = place.readlink()
                waiting.append(place.parent / target)
                yield str(place), str(target)


def shielded(write: AbstractSet[Path], read: AbstractSet[Path]) -> frozenset[Path]:
    """The directories between a writable path and a read-only path beneath it.

    Each must be pinned: were one renamed, a forged copy could take the place of the read-only path.
    """
    between: set[Path] = set()
    for inner in read:
        climbed: list[Path] = []
        for parent in inner.parents:
            if parent in read:
                break
            if parent in write:
                between.update(climbed)
                break
            climbed.append(parent)
    return frozenset(between)
