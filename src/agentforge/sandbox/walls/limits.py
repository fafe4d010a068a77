"""How much of the machine one run may use, and the words that make a shell hold it to that before it becomes
the program.
"""

import functools
import math
import os
import re
import resource
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from agentforge.system.programs import find_program

GIB = 1 << 30

# Each word sets the soft and the hard limit, so nothing inside can raise it again. Units are POSIX's: blocks
# of 512, kibibytes, seconds.
# Shells do not agree on the letter for processes. `exec` says why it failed under the name in `$0`.
_SET = (
    'ulimit -c 0 && ulimit -t "$1" && ulimit -d "$2" && ulimit -f "$3" && ulimit -n "$4" '
    '&& if [ "$5" != - ]; then ulimit -u "$5" 2>/dev/null || ulimit -p "$5"; fi '
    '|| { echo "$0: the limits of the run were refused" >&2; exit 126; }; shift 5; exec "$@"'
)
_FENCE = 'echo "$1" >/proc/sys/kernel/pid_max && shift && exec "$@"'
FIRST_WITH_OWN_PROCESS_COUNT = (5, 14)
"""From here on the kernel counts processes per user namespace, not per user of the machine."""
FIRST_WITH_OWN_PID_MAX = (6, 14)
"""From here on `pid_max` belongs to the process namespace. Before, it is the machine's and must not be
touched.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Generous: a real suite of tests never meets them, a runaway program does."""

    cpu_s: int | None = None
    """Seconds of processor time for one process; None: as much as all cores can give until the time limit."""
    memory: int = 8 * GIB
    """Bytes of private writable memory for one process. Not address space: runtimes reserve terabytes of that
    and use nothing of it.
    """
    file_size: int = 4 * GIB
    """Bytes of the longest file that can be written."""
    processes: int = 4096
    """Processes and threads at one time."""
    open_files: int = 4096
    total_memory: int = 4 * GIB
    """Bytes of memory of all processes of the run together, without what programs and files take."""
    total_disk: int = 10 * GIB
    """Bytes of all files that the run writes."""
    total_processes: int = 512
    """Processes of the run at one time; each may have more than one thread."""

    def numbers(self, timeout_s: float) -> dict[str, int]:
        """The values to set, by what they limit; never above what this process itself may have."""
        cores = os.cpu_count() or 1
        cpu = self.cpu_s if self.cpu_s is not None else math.ceil(timeout_s * cores) + 60
        wanted = {
            "cpu": (resource.RLIMIT_CPU, cpu),
            "data": (resource.RLIMIT_DATA, self.memory),
            "file_size": (resource.RLIMIT_FSIZE, self.file_size),
            "open_files": (resource.RLIMIT_NOFILE, self.open_files),
            "processes": (resource.RLIMIT_NPROC, self.processes),
        }
        return {name: _within(kind, value) for name, (kind, value) in wanted.items()}


def _within(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def under_limits(
    name: str, argv: Sequence[str], limits: Limits, timeout_s: float, *, count_processes: bool
) -> tuple[str, ...]:
    """`argv`, started by a shell that limits itself first. `name` opens the line on stderr if that, or the
    start, fails.
    """
    values = limits.numbers(timeout_s)
    words = (values["cpu"], values["data"] // 1024, values["file_size"] // 512, values["open_files"])
    processes = str(values["processes"]) if count_processes else "-"
    return ("/bin/sh", "-c", _SET, name, *map(str, words), processes, *argv)


def limits_in_words(*, counted: bool, grouped: bool) -> str:
    """The limits that every run has, as a part of a guarantee's sentence."""
    by = "; what all use together is kept by a control group" if grouped else ""
    return (
        f"{'their number, ' if counted else ''}memory, processor time, open files and file size are limited"
        f"{by}"
    )


def size_in_words(count: int) -> str:
    """So many bytes, for a sentence."""
    return f"{count / GIB:g} GiB" if count >= GIB else f"{count >> 20} MiB"


def kernel_version() -> tuple[int, int]:
    """The first two numbers of the kernel's version."""
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def counts_per_namespace() -> bool:
    """Whether a limit on processes, set within a user namespace, counts only those within."""
    return kernel_version() >= FIRST_WITH_OWN_PROCESS_COUNT


def process_fence(limit: int) -> tuple[str, ...]:
    """For root, whom the kernel exempts from the limit on processes: words that start a program in a process
    space of that size.

    Empty where it is not needed, or not to be had.
    """
    if os.getuid() != 0 or kernel_version() < FIRST_WITH_OWN_PID_MAX:
        return ()
    program = find_program("unshare")
    if program is None:
        return ()
    words = (program, "--pid", "--fork", "--kill-child", "--", "/bin/sh", "-c", _FENCE, "fence")
    return (*words, str(max(limit, 512))) if _fence_works(words) else ()


@functools.cache
def _fence_works(words: tuple[str, ...]) -> bool:
    done = subprocess.run(
        (*words, "512", "/bin/true"), capture_output=True, check=False, timeout=10, stdin=subprocess.DEVNULL
    )
    return done.returncode == 0
