"""The launcher behind the Landlock sandbox: builds the walls around itself, then becomes the program.

Started as a file with an isolated interpreter: `python -I -S _confine.py SPEC PROGRAM ARGUMENT...`, where
SPEC is marshalled, in hexadecimal: `{"abi", "write", "read", "links", "system", "devices", "namespaces",
"own", "cwd", "limits", "own_count", "own_pid_max", "calls", "channel", "port"}`; or `{"cwd"}` alone, for a
run without walls, which has a caretaker and nothing else. Standard library only, nothing of ours: it is not
imported. A separate process, because code between fork and exec of a threaded parent may not do this safely.

Every command that a task runs begins here, so it loads little: what is written in Python itself (`pathlib`,
`json`, `socket`, `typing`, `contextlib`) would take twice as long to load as all the rest takes.
"""

from __future__ import annotations

import ctypes
import fcntl
import marshal
import os
import resource
import select
import stat
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from collections.abc import Iterator
    from typing import Any, NoReturn
else:
    import _signal as signal
    import _socket as socket

CANNOT = 125  # the exit status of a launcher that could not build its walls

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
RULE_PATH_BENEATH, RULE_NET_PORT = 1, 2
CONNECT_TCP = 1 << 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
MAKE_DEVICES = 1 << 6 | 1 << 11
READING = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
FILTER = 2
NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MS_NOSUID, MS_NODEV = 2, 4
MOUNT_SETATTR, AT_RECURSIVE, RDONLY = 442, 0x8000, 1
OWN_PLACE_BYTES = 8 << 30
KEPT_FLAGS = {
    os.ST_NOSUID: 2,
    os.ST_NODEV: 4,
    os.ST_NOEXEC: 8,
    os.ST_NOATIME: 1024,
    os.ST_NODIRATIME: 2048,
    os.ST_RELATIME: 1 << 21,
}

LIBC = ctypes.CDLL(None, use_errno=True)


class CannotConfineError(Exception):
    """A wall could not be built."""


def checked(what: str, result: int) -> int:
    """The result of a system call, or the reason it failed."""
    if result < 0:
        raise CannotConfineError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def call(what: str, number: int, *arguments: object) -> int:
    """Makes a system call by its number; its result, or an error that names `what`."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return checked(what, int(LIBC.syscall(ctypes.c_long(number), *words)))


def all_rights(abi: int) -> int:
    """Every right over files that a kernel of this version can take away."""
    newer = (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL_DEV if abi >= 5 else 0)
    return (1 << 13) - 1 | newer


def landlock(abi: int, rules: list[tuple[str, int]], *, refuse_tcp: bool, port: int | None) -> None:
    """Take away every right over files but those of `rules`, and TCP but to `port`, for this process and all
    that it starts.
    """
    handled = all_rights(abi)
    tcp = 0b11 if refuse_tcp and abi >= 4 else 0
    scoped = 0b11 if abi >= 6 else 0  # no signals and no abstract sockets across the wall
    words = (handled, tcp, scoped) if abi >= 6 else (handled, tcp) if abi >= 4 else (handled,)
    attributes = struct.pack(f"={len(words)}Q", *words)
    ruleset = call("landlock_create_ruleset", CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)
    for path, rights in rules:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        allowed = handled & (rights if os.path.isdir(path) else rights & OF_FILES)
        rule = struct.pack("=Qi", allowed, fd)
        call(f"landlock_add_rule {path}", ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.c_char_p(rule), 0)
        os.close(fd)
    if tcp and port is not None:
        rule = struct.pack("=QQ", CONNECT_TCP, port)
        call("landlock_add_rule for the proxy", ADD_RULE, ruleset, RULE_NET_PORT, ctypes.c_char_p(rule), 0)
    call("landlock_restrict_self", RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def carve(top: str, forbidden: list[str]) -> Iterator[tuple[str, int]]:
    """Rights below `top` that leave out `forbidden`: Landlock can only add, so its neighbours are granted one
    by one.
    """
    inner = [path for path in forbidden if path == top or path.startswith(top + "/")]
    if not inner:
        yield top, ~MAKE_DEVICES
    elif top not in inner:
        yield top, READING
        for entry in os.scandir(top):
            if not entry.is_symlink():
                yield from carve(entry.path, inner)


def mount(source: str, place: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """One mount, or the reason it was refused."""
    words = [None if word is None else word.encode() for word in (source, place, kind, data)]
    checked(f"mount {place}", int(LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])))


def enter_namespaces() -> None:
    """Own users, mounts, processes and an own network with nothing but loopback."""
    uid, gid = os.getuid(), os.getgid()
    checked("unshare", int(LIBC.unshare(NEW_USER | NEW_MOUNTS | NEW_PID | NEW_IPC | NEW_NET)))
    write_whole("/proc/self/setgroups", "deny")
    write_whole("/proc/self/uid_map", f"1000 {uid} 1")
    write_whole("/proc/self/gid_map", f"1000 {gid} 1")
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    fcntl.ioctl(
        control.fileno(), 0x8914, struct.pack("16sH22x", b"lo", 0x1 | 0x40)
    )  # SIOCSIFFLAGS: up, running
    control.close()


def write_whole(path: str, text: str) -> None:
    """A file of the kernel's, which is there."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)


def open_door(channel: int, port: int) -> None:
    """Make the door to the proxy in the own network and hand it out to the driver, who answers there."""
    way, door = socket.socket(fileno=channel), socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.bind(("127.0.0.1", port))
    door.listen(128)
    way.sendmsg([b"door"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", door.fileno()))])
    door.close()
    way.close()


def private_mounts(
    places: list[str], read: list[str], write: list[str], links: list[tuple[str, str]]
) -> list[str]:
    """Private places for temporary files and the home, no sockets of the machine's services, read-only paths
    beneath writable ones. Those of `places` that are private now.
    """
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    taken = [*read, *write]
    own = own_places(places, read, write)
    for link, target in links:
        if below(link, own):  # gone with the machine's own; elsewhere it is still there
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(target, link)
    if not any(path == "/run" or path.startswith("/run/") for path in taken):
        mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for path in sorted(write, key=len):
        lends_nothing(path)
    keep_the_rest(own, write)
    guarded = sorted((path for path in read if below(path, write)), key=len)
    # Directories on the way are pinned: a mount point cannot be renamed, so no forged copy can take the
    # place.
    pins = {parent for path in guarded for parent in parents(path) if below(parent, write)}
    for path in sorted({*guarded, *pins}, key=len):
        mount(path, path, None, MS_BIND | MS_REC)
        if path in guarded:
            read_only(path)
    return own


def parents(path: str) -> Iterator[str]:
    """The directories that an absolute path goes through, the nearest first."""
    while (path := os.path.dirname(path)) != "/":
        yield path


def own_places(places: list[str], read: list[str], write: list[str]) -> list[str]:
    """Empty ones in the places of the machine's, but for what the run may see of them: somebody may well work
    there. Landlock opens all of it, so what is only read is mounted so. A place that was given to the run as
    a whole stays as it is.
    """
    given = [*read, *write]
    open_to_all = [place for place in places if place in given or below(place, given)]
    wanted = [place for place in places if place not in open_to_all and os.path.isdir(place)]
    own = [place for place in wanted if not below(place, wanted)]
    kept = sorted({path for path in given if below(path, own)}, key=len)
    held = [(path, os.open(path, os.O_PATH)) for path in kept]
    for top in own:
        mount("tmpfs", top, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={OWN_PLACE_BYTES}")
    for place, handle in held:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.makedirs(place, exist_ok=True)
        elif not os.path.exists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.close(os.open(place, os.O_WRONLY | os.O_CREAT, 0o666))
        mount(f"/proc/self/fd/{handle}", place, None, MS_BIND | MS_REC)
        os.close(handle)
        if place in read:
            read_only(place)
    return own


def lends_nothing(path: str) -> None:
    """No file beneath lends the rights of its owner, and none is a device."""
    mount(path, path, None, MS_BIND | MS_REC)
    mount("none", path, None, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | kept_flags(path))


def keep_the_rest(own: list[str], write: list[str]) -> None:
    """Everything is mounted read-only but what the run may change: Landlock does not look at who changes the
    mode, the times or the attributes of a file.
    """
    if not mark_mounts("/", RDONLY, 0, below=True):
        raise CannotConfineError("mount_setattr: the machine's files could not be kept as they are")
    for path in own:
        mark_mounts(path, 0, RDONLY, below=False)
    for path in sorted(write, key=len):
        # One below that was read-only before stays so, and then the kernel wants to be asked for each alone.
        if not mark_mounts(path, 0, RDONLY, below=True):
            mark_mounts(path, 0, RDONLY, below=False)


def mark_mounts(path: str, on: int, off: int, *, below: bool) -> bool:
    """Sets and clears flags of the mount at `path`, and of all below it at once."""
    attributes = struct.pack("=4Q", on, off, 0, 0)
    flags = AT_RECURSIVE if below else 0
    words = (-1, path.encode(), flags, attributes, len(attributes))
    given = [ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word) for word in words]
    return int(LIBC.syscall(ctypes.c_long(MOUNT_SETATTR), *given)) == 0


def read_only(path: str) -> None:
    """What is mounted here can be read and not changed from now on."""
    mount("none", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept_flags(path))


def below(path: str, roots: list[str]) -> bool:
    """Whether `path` lies beneath one of `roots`."""
    return any(path.startswith(root + "/") for root in roots)


def kept_flags(path: str) -> int:
    """The flags a mount already has: a remount may not drop them."""
    present = os.statvfs(path).f_flag
    return sum(flag for seen, flag in KEPT_FLAGS.items() if present & seen)


def drop_capabilities() -> None:
    """No capability now, and none to be had by starting a program."""
    last = int(read_whole("/proc/sys/kernel/cap_last_cap"))
    for capability in range(last + 1):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused to an ordinary user, who has none to drop
    header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    checked("capset", int(LIBC.capset(header, nothing)))


def read_whole(path: str) -> bytes:
    """A file of the kernel's: a few words."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 65536)
    finally:
        os.close(fd)


class SeccompProgram(ctypes.Structure):
    """The filter of system calls in the form that `prctl` takes."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def filter_calls(steps: bytes) -> None:
    """Refuse system calls from here on, for this process and all that it starts."""
    program = SeccompProgram(len(steps) // 8, steps)
    checked(
        "seccomp",
        int(
            LIBC.prctl(
                PR_SET_SECCOMP,
                ctypes.c_ulong(FILTER),
                ctypes.byref(program),
                ctypes.c_ulong(0),
                ctypes.c_ulong(0),
            )
        ),
    )


def hold_limits(limits: dict[str, int], *, own_count: bool) -> None:
    """Bounds that nothing started from here can raise again."""
    processes = limits["processes"] if own_count else limits["processes"] + threads_of_user()
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits["cpu"]),
        (resource.RLIMIT_DATA, limits["data"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_NPROC, processes),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def threads_of_user() -> int:
    """How many there are now: where the kernel counts all of a user's, the run's own come on top of these."""
    count = 0
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += sum(1 for _ in os.scandir(f"/proc/{entry.name}/task"))
        except OSError:
            pass
    return count


def become_first_process(most: int | None) -> None:
    """Let a child go on as the first process of the namespace and as its caretaker; returns only in the
    program's own process.

    When the first process ends the kernel ends all others, and it ends with this launcher.
    """
    alive, held = os.pipe()
    outer = os.fork()
    if outer:
        os.close(alive)
        leave(outer)
    os.close(held)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if select.select([alive], [], [], 0)[
        0
    ]:  # the pipe has no writer any more: the launcher died before the line above
        os._exit(CANNOT)
    try:
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV)
    except CannotConfineError:  # refused inside some containers; then the outer one stays
        pass
    if most is not None:
        try:
            # Root is exempt from the limit on processes, but not from the end of the numbers.
            write_whole("/proc/sys/kernel/pid_max", str(max(most, 512)))
        except OSError:
            pass
    program = os.fork()
    if program:
        while True:
            pid, status = os.wait()
            if pid == program:
                os._exit(exit_code(status))


def stay_outside() -> None:
    """Where there are no namespaces: a caretaker in a session of its own, who adopts what the program leaves
    behind, and ends it with the run, with this launcher, and so with the driver. Returns only in the
    program's own process.
    """
    alive, held = os.pipe()
    caretaker = os.fork()
    if caretaker:
        os.close(alive)
        leave(caretaker)
    os.close(held)
    os.setsid()
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, end_descendants)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if select.select([alive], [], [], 0)[0]:
        os._exit(CANNOT)
    program = os.fork()
    if program:
        for stream in (0, 1, 2):  # the driver reads until the last who could write has gone
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        while (ended := os.wait())[0] != program:
            pass
        end_descendants(exit_code(ended[1]))
    os.setsid()  # what it says to its group is not said to the caretaker
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_descendants(code: int = CANNOT, _frame: object = None) -> NoReturn:
    """Ends all that is below this process, whatever session it is in, then this process."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break
        for pid in children():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.002)
    os._exit(code)


def children() -> Iterator[int]:
    """The processes whose parent this one is."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                words = read_whole(f"{entry.path}/stat").rpartition(b")")[2].split()
                ours = int(words[1]) == os.getpid()
            except (OSError, ValueError, IndexError):
                continue
            if ours:
                yield int(entry.name)


def leave(child: int) -> NoReturn:
    """Ends this process with the exit code or signal of `child`."""
    _, status = os.waitpid(child, 0)
    os._exit(exit_code(status))


def exit_code(status: int) -> int:
    """As a shell says it: 128 and the signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def main(arguments: list[str]) -> NoReturn:
    """Build the walls, then become the program."""
    spec, argv = marshal.loads(bytes.fromhex(arguments[0])), arguments[1:]  # noqa: S302 - of our own, a moment ago
    if "abi" not in spec:
        stay_outside()
        os.chdir(spec["cwd"])
    else:
        build_walls(spec)
    os.closerange(3, 1 << 16)  # the lock stays with those who wait outside
    os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - becoming the program is the point


def build_walls(spec: dict[str, Any]) -> None:
    """All of them around this process; those who wait for it stay outside."""
    abi, read, write = spec["abi"], spec["read"], spec["write"]
    if spec["namespaces"]:
        enter_namespaces()
        if spec["channel"] is not None:
            open_door(spec["channel"], spec["port"])
        own = private_mounts(spec["own"], read, write, spec["links"])
        become_first_process(spec["limits"]["processes"] if spec["own_pid_max"] else None)
        rules = [(path, ~MAKE_DEVICES) for path in [*write, *own]]
    else:
        stay_outside()
        rules = [rule for path in write for rule in carve(path, read)]
    rules += [(path, READING) for path in [*read, *spec["system"]]]
    rules += [(path, READ_FILE | WRITE_FILE) for path in spec["devices"]]
    os.chdir(spec["cwd"])
    checked("prctl", int(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
    drop_capabilities()
    landlock(abi, rules, refuse_tcp=not spec["namespaces"], port=spec["port"])
    hold_limits(spec["limits"], own_count=spec["own_count"])
    if spec["calls"]:
        filter_calls(spec["calls"])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (CannotConfineError, OSError) as problem:
        sys.stderr.write(f"confine: {problem}\n")
        sys.stderr.flush()
        os._exit(CANNOT)
