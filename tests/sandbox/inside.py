"""The program that wants out: run inside of walls, it tries every probe it is given, and prints as JSON what each
of them reached.

Standard library only, and not imported by what runs it: its text is handed to the interpreter inside. Its input,
or the file that its argument names, is JSON with the facts about the outside and the lines of `probes.py`. Each
has a process and a directory of its own; one that the kernel ends has reached nothing.
"""

# ruff: noqa: PTH102, PTH103, PTH104, PTH106, PTH108, PTH109, PTH112, PTH115, PTH116, PTH118, PTH120, PTH123, PTH207, PTH208, PTH211, T201
# Plain calls of the system, as close to the kernel as can be.

import contextlib
import ctypes
import errno
import fcntl
import glob
import io
import json
import mmap
import os
import resource
import signal
import site  # noqa: F401 - a line of the table asks it
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator

with open(sys.argv[1]) if sys.argv[1:] else sys.stdin as _given:
    OUTSIDE = json.load(_given)
SECRET, FILE, VICTIM, HOME = OUTSIDE["secret"], OUTSIDE["file"], OUTSIDE["victim"], OUTSIDE["home"]
FOREIGN, IN_TMP, POSIX, KEY = OUTSIDE["foreign"], OUTSIDE["in tmp"], OUTSIDE["posix"], OUTSIDE["key"]
GIT, TESTS, PACKAGES, PROGRAM = OUTSIDE["git"], OUTSIDE["tests"], OUTSIDE["packages"], OUTSIDE["program"]
DISK, TERMINAL, DRIVER, SERVERS = OUTSIDE["disk"], OUTSIDE["terminal"], OUTSIDE["driver"], OUTSIDE["servers"]
FOLDER = os.path.dirname(FILE)
NAME = SPARE = ""
"""Of the probe that is tried now."""
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
DENIED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
# By name: the numbers on x86_64 and aarch64; None where the call does not exist.
CALLS: dict[str, tuple[int | None, int | None]] = {
    **{name: tuple(numbers) for name, numbers in OUTSIDE["calls"].items()},
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "creat": (85, None),
    "mkdirat": (258, 34),
    "linkat": (265, 37),
    "renameat2": (316, 276),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "name_to_handle_at": (303, 264),
    "clone": (56, 220),
    "clone3": (435, 435),
    "personality": (135, 92),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "process_madvise": (440, 440),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
}


NOTHING = "reached nothing: "
ENDED = 0
"""The last error of a probe: without walls it tells why one reached nothing."""


def noted(error: int) -> int:
    global ENDED  # noqa: PLW0603 - of this process alone, which tries one probe
    ENDED = error
    return error


def call(name: str | int, *words: int | ctypes.c_void_p | bytes | None) -> int:
    """A raw system call; its error is negative. One that this machine does not have fails."""
    number = name if isinstance(name, int) else CALLS[name][0 if X86 else 1]
    if number is None:
        return -noted(errno.ENOSYS)
    given = [ctypes.c_ulong(word & 0xFFFFFFFFFFFFFFFF) if isinstance(word, int) else word for word in words]
    result = int(LIBC.syscall(ctypes.c_long(number), *given))
    return result if result >= 0 else -noted(ctypes.get_errno())


def passes(name: str, *words: int | bytes | None) -> str:
    """Whether a call gets past the door: what is then wrong with its words does not matter."""
    result = call(name, *words)
    return f"{name} answered {result}" if result >= 0 or -result not in DENIED else ""


def look(path: str) -> Iterator[str]:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if SECRET in file.read(1 << 20).decode("utf-8", "replace"):
            yield f"read {path}"


def put(path: str) -> None:
    """What it changes is looked at from outside: a run may have a private place of the same name."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "a") as file:
        file.write(f"<{NAME}>")


def forge(path: str) -> str:
    """For what must not be writable even in private."""
    with open(path, "a") as file:
        size = file.tell()
        file.write("changed")
        file.flush()
        file.truncate(size)
    return f"wrote {path}"


def opens(path: str, flags: int = os.O_RDWR, *, undo: bool = False) -> str:
    os.close(os.open(path, flags | os.O_NOCTTY, 0o600))
    if undo:
        os.unlink(path)
    return f"opened {path}"


def planted(place: str, name: str) -> str:
    return opens(os.path.join(place, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, undo=True)


def moved_and_back(path: str, other: str) -> str:
    os.rename(path, other)
    os.rename(other, path)
    return f"moved {path}"


def linked_instead(path: str) -> str:
    os.rename(path, "aside")
    os.symlink(os.getcwd(), path)
    os.unlink(path)
    os.rename("aside", path)
    return f"put a link in the place of {path}"


def own() -> bool:
    with open("own", "wb") as file:
        file.write(b"#!/bin/sh\n")
    return True


def path_only(path: str) -> int:
    return os.open(path, os.O_PATH)


def mapped(path: str) -> bool:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as seen:
        return SECRET.encode() in bytes(seen)


def bound(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path)
    return False


def by_handle() -> str:
    """A file by the number that the disk knows it by: no path is walked."""
    handle, mount = bytes.fromhex(OUTSIDE["handle"]), os.open("/", os.O_RDONLY)
    found = call("open_by_handle_at", mount, handle, os.O_RDONLY)
    return "opened it" if found >= 0 and SECRET.encode() in os.read(found, 200) else ""


def link_to_a_key() -> Iterator[str]:
    os.symlink(f"{HOME}/.ssh", "keys")
    yield from look("keys/id")


def watched(path: str, name: str) -> bool:
    """A watch on a private place sees nothing of the machine's."""
    fd = int(LIBC.inotify_init1(os.O_CLOEXEC))
    return int(LIBC.inotify_add_watch(fd, path.encode(), 0xFFF)) >= 0 and name in os.listdir(path)


def processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


def as_nobody() -> None:
    """For what is about all processes of a user. Where the others cannot be seen, they cannot be meant."""
    os.stat(f"/proc/{VICTIM}/cmdline")
    with contextlib.suppress(OSError):
        os.setresuid(54321, 54321, 54321)


def open_files_of_other_processes() -> Iterator[str]:
    for pid in processes():
        for fd in glob.glob(f"/proc/{pid}/fd/*") + glob.glob(f"/proc/{pid}/map_files/*"):
            with contextlib.suppress(OSError):
                if os.readlink(fd) == FILE:
                    yield from look(fd)


def race_of_links() -> Iterator[str]:
    os.mkdir("a")
    open("a/secret", "w").close()
    stop = time.monotonic() + 0.2
    if os.fork() == 0:
        while time.monotonic() < stop:
            with contextlib.suppress(OSError):
                os.symlink(FOLDER, "b")
                for old, new in (("a", "c"), ("b", "a"), ("a", "b"), ("c", "a")):
                    os.rename(old, new)
                    time.sleep(0.0005)
                os.unlink("b")
        os._exit(0)
    while time.monotonic() < stop:
        yield from look("a/secret")


def moved_directory() -> Iterator[str]:
    os.makedirs("x/y")
    fd = os.open("x/y", os.O_DIRECTORY)
    os.chdir("x/y")
    os.rename("../../x/y", "../../z")
    yield from look("../" * 30 + FILE.lstrip("/"))
    with contextlib.suppress(OSError):
        found = os.open("../" * 30 + FILE.lstrip("/"), os.O_RDONLY, dir_fd=fd)
        yield from look(f"/proc/self/fd/{found}")


def program(*words: str) -> bool:
    return subprocess.run(words, capture_output=True, check=False, stdin=subprocess.DEVNULL).returncode == 0


def git(*words: str) -> bool:
    return program("git", "-C", os.path.dirname(GIT), *words)


# Rights that a file lends.


def lends(path: str) -> str:
    """Whether this lends the rights of its owner or group, or is a device."""
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        if found.st_mode & 0o6000 or stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            return f"{path} has the mode {found.st_mode:o}"
    return ""


def lent(way: Callable[[int], object]) -> Iterator[str]:
    os.umask(0)
    for mode in (0o4755, 0o2755, 0o6755):
        own()
        with contextlib.suppress(OSError):
            way(mode)
        for name in ("own", "made", "suid", "sgid"):
            yield from filter(None, [lends(name)])
            with contextlib.suppress(OSError):
                os.rmdir(name) if os.path.isdir(name) else os.unlink(name)


def by_openat2(mode: int) -> None:
    call("openat2", -100, b"made", struct.pack("=QQQ", os.O_CREAT | os.O_RDWR, mode, 0), 24)


def by_temporary_file(mode: int) -> None:
    made = call("openat", -100, b".", os.O_TMPFILE | os.O_RDWR, mode)
    if made >= 0:
        call("linkat", -100, f"/proc/self/fd/{made}".encode(), -100, b"made", 0x400)


def unpacked(_mode: int) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, mode in (("suid", 0o4755), ("sgid", 0o2755)):
            entry = tarfile.TarInfo(name)
            entry.mode = mode
            archive.addfile(entry)
        device = tarfile.TarInfo("device")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 3
        archive.addfile(device)
    with open("archive.tar", "wb") as file:
        file.write(content.getvalue())
    program("tar", "-xpf", "archive.tar")


def gives_capability(revision: int) -> bool:
    value = struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0, 0)
    if revision == 3:
        value = struct.pack("<IIIIII", 0x03000001, 0xFFFFFFFF, 0, 0, 0, 1000)
    os.setxattr("own", "security.capability", value)
    return True


# The kernel, mounts and namespaces.


def made_and_removed(path: str) -> bool:
    os.mkdir(path)
    os.rmdir(path)
    return True


def lowered_score() -> bool:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-900")
    return True


def mounts(source: bytes, place: bytes, kind: bytes | None, flags: int) -> str:
    os.makedirs("m", exist_ok=True)
    ctypes.set_errno(0)
    if LIBC.mount(source, place, kind, ctypes.c_ulong(flags), None) == 0 or ctypes.get_errno() not in DENIED:
        return f"mounted {place!r}"
    return ""


def cloned(flag: int) -> str:
    made = call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    if made == 0:
        os._exit(0)
    return f"a child in a new namespace, {made}" if made > 0 else ""


# Other processes.


def vm(name: str) -> str:
    buffer = ctypes.create_string_buffer(8)
    pair = struct.pack("=QQ", ctypes.addressof(buffer), 8)
    return passes(name, VICTIM, pair, 1, pair, 1, 0)


def region() -> bytes:
    return struct.pack("=QQ", 0x1000, 0x1000)


def queued() -> bytes:
    return struct.pack("=iii", 18, 0, -1).ljust(128, b"\0")


def signalled_by_input() -> None:
    """A socket that has something to say signals whom its owner names; that one notes it."""
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETSIG, signal.SIGUSR1)
    fcntl.fcntl(one, fcntl.F_SETOWN, VICTIM)
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    other.send(b"x")


def inherited() -> Iterator[str]:
    """None of the driver's is here: neither its lock, nor its journal, nor a socket."""
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            place = os.readlink(f"/proc/self/fd/{fd}")
            if not place.startswith(("/dev/null", "/proc/", "pipe:", os.path.dirname(os.getcwd()))):
                yield f"inherited {place}"


def lock_of_the_task() -> Iterator[str]:
    """By way of who holds it."""
    for pid in processes():
        for fd in glob.glob(f"/proc/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                if os.readlink(fd).endswith("/task-lock"):
                    yield f"saw {fd}"


def terminals(request: int, word: bytes) -> str:
    """Typing for another, into any terminal that can be had."""
    own_ends = os.openpty()
    for fd in (0, 1, 2, *own_ends):
        ctypes.set_errno(0)
        room = ctypes.create_string_buffer(word)
        if LIBC.ioctl(fd, ctypes.c_ulong(request), room) == 0 or noted(ctypes.get_errno()) not in DENIED:
            return f"asked {fd} for {request:#x}"
    return ""


# Calls and rights.


def through_the_32_bit_door() -> bool:
    if not X86:
        return False
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, getpid; int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    return True


def status() -> str:
    with open("/proc/self/status") as file:
        return file.read()


def gains_by_set_id() -> bool:
    """Whether a program that lends root's rights lends them here."""
    os.setresuid(12345, 12345, 0)
    return True


def raised(kind: int) -> str:
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        return "there is no limit"
    resource.setrlimit(kind, (hard + 1024, hard + 1024))
    return "raised it"


# The network.


def reach(family: int, kind: int, place: list[object] | tuple[object, ...] | str, protocol: int = 0) -> str:
    """What was heard is looked at from outside: a datagram can be sent into a loopback where nobody listens."""
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(0.5)
        one.connect(tuple(place) if isinstance(place, list) else place)
        one.send(f"<{NAME}>".encode())
        return f"connected to {place}" if kind == socket.SOCK_STREAM else ""


def fast_open(place: list[object]) -> str:
    with socket.socket() as one:
        one.settimeout(0.5)
        one.sendto(f"<{NAME}>".encode(), 0x20000000, tuple(place))
        return f"sent to {place}"


def made_socket(family: int, kind: int, protocol: int = 0) -> str:
    socket.socket(family, kind, protocol).close()
    return f"made a socket of family {family}"


def leaves(family: int, place: tuple[str, int], kind: int = socket.SOCK_STREAM) -> str:
    """Whether a packet would leave; nothing is sent to anybody: these addresses are nobody's."""
    with socket.socket(family, kind) as one:
        one.setblocking(False)
        found = noted(one.connect_ex(place))
        return f"a packet left for {place[0]}" if found in (0, errno.EINPROGRESS) else ""


# What walls answer, beside that something may not be done, is not there or cannot be written. Anything else is a
# mistake of the probe.
REFUSALS = {
    "files": (errno.EXDEV,),
    "code-that-runs-later": (errno.EXDEV, errno.EBUSY),
    "processes": (errno.ESRCH,),
    "capabilities": (errno.EINVAL,),  # a user, a group or a capability that does not exist inside
    "network": (
        errno.EAFNOSUPPORT,
        errno.ECONNREFUSED,
        errno.EINPROGRESS,
        errno.ENETUNREACH,
        socket.EAI_NONAME,
    ),
}


def refused(name: str, error: BaseException) -> bool:
    """Whether an error is what the wall of this probe answers with."""
    if isinstance(error, ValueError):
        return str(error) == "not allowed to raise maximum limit"
    usual = (errno.EPERM, errno.EACCES, errno.ENOENT, errno.EROFS, errno.ENOSYS)
    return isinstance(error, OSError) and error.errno in (*usual, *REFUSALS.get(name.partition(".")[0], ()))


def tried(name: str, line: str) -> list[str]:
    """One probe, in a process and a directory of its own."""
    global NAME, SPARE
    NAME, SPARE = name, f"{FOLDER}/spares/{name}"
    os.mkdir(f"try-{name}")
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ear)
        os.chdir(f"try-{name}")
        signal.alarm(15)
        said: list[str] = []
        try:
            value = eval(line)
            found = list(value) if isinstance(value, Iterator | list) else [value]
            said.extend(str(each) for each in found if each)
        except BaseException as error:  # noqa: BLE001 - a mistake in a probe must not look like walls that hold
            if not refused(name, error):
                said.append(f"the probe itself failed: {error!r}")
            noted(getattr(error, "errno", None) or 0)
        if not said and OUTSIDE.get("without walls"):
            said.append(f"{NOTHING}{errno.errorcode.get(ENDED, ENDED)}")
        os.write(mouth, json.dumps(said[:5]).encode())
        os._exit(0)
    os.close(mouth)
    with os.fdopen(ear, "rb") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == -signal.SIGALRM:
        return ["it did not come to its end"]
    return json.loads(text) if text else ["ran a program"] if os.waitstatus_to_exitcode(status) == 77 else []


if __name__ == "__main__":
    signal.signal(signal.SIGURG, signal.SIG_IGN)
    print(json.dumps({name: tried(name, line) for name, line in OUTSIDE["probes"].items()}))
