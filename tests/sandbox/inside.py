"""The program that wants out: run inside of walls, it tries every way it knows, and prints as JSON what each
of them reached.

Standard library only, and not imported by what runs it: its text is handed to the interpreter inside. The
first argument is JSON with the facts about the outside. Each attempt has a process and a directory of its
own; one that the kernel ends has reached nothing.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH106, PTH108, PTH109, PTH115, PTH118, PTH119, PTH120, PTH123, PTH207, PTH208, PTH211, T201
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
import site
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator

OUTSIDE = json.loads(sys.argv[1])
SECRET, FILE, VICTIM = OUTSIDE["secret"], OUTSIDE["file"], OUTSIDE["victim"]
FOLDER = os.path.dirname(FILE)
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
ATTEMPTS: dict[str, Callable[[], Iterator[str]]] = {}


def attempt(function: Callable[[], Iterator[str]]) -> Callable[[], Iterator[str]]:
    ATTEMPTS[function.__name__] = function
    return function


def call(number: int | None, *words: int | ctypes.c_void_p | bytes | None) -> int:
    """A raw system call; its error is negative. One that this machine does not have fails."""
    if number is None:
        return -errno.ENOSYS
    given = [ctypes.c_ulong(word & 0xFFFFFFFFFFFFFFFF) if isinstance(word, int) else word for word in words]
    result = int(LIBC.syscall(ctypes.c_long(number), *given))
    return result if result >= 0 else -ctypes.get_errno()


def look(path: str) -> Iterator[str]:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if SECRET in file.read(1 << 20).decode("utf-8", "replace"):
            yield f"read {path}"


def change(path: str) -> None:
    """What it changes is looked at from outside: a run may have a private place of the same name."""
    with contextlib.suppress(OSError), open(path, "a") as file:
        file.write("changed")


def forge(path: str) -> Iterator[str]:
    """For what must not be writable even in private."""
    with contextlib.suppress(OSError), open(path, "a") as file:
        file.write("changed")
        yield f"wrote {path}"


def both(path: str) -> Iterator[str]:
    yield from look(path)
    change(path)


def processes() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


# Files.


@attempt
def straight() -> Iterator[str]:
    yield from both(FILE)
    change(f"{FOLDER}/made")
    yield from forge("/usr/forged")
    for home in OUTSIDE["homes"]:
        for name in (
            ".bashrc",
            ".profile",
            ".ssh/authorized_keys",
            ".config/autostart/x.desktop",
            ".local/lib/python3/site-packages/x.pth",
        ):
            change(f"{home}/{name}")


@attempt
def root_of_other_processes() -> Iterator[str]:
    for pid in {"1", "self", str(VICTIM), str(os.getppid()), *processes()}:
        for door in ("root", "cwd", f"task/{pid}/root"):
            for base in (f"/proc/{pid}/{door}", f"/proc/{pid}/{door}" + "/.." * 20):
                yield from look(base + FILE)
        if pid in {"1", str(VICTIM)}:
            change(f"/proc/{pid}/root{FILE}")


@attempt
def open_files_of_other_processes() -> Iterator[str]:
    for pid in processes():
        for fd in glob.glob(f"/proc/{pid}/fd/*") + glob.glob(f"/proc/{pid}/map_files/*"):
            with contextlib.suppress(OSError):
                if os.readlink(fd).startswith(FOLDER) and "room" not in os.readlink(fd):
                    yield from both(fd)


@attempt
def links() -> Iterator[str]:
    os.symlink(FILE, "link")
    os.symlink(FOLDER, "folder")
    os.symlink("/proc/1/root", "root")
    yield from both("link")
    yield from both(f"folder/{os.path.basename(FILE)}")
    change("folder/made-by-link")
    yield from look(f"root{FILE}")
    with contextlib.suppress(OSError):
        os.link(FILE, "hard")
        yield from both("hard")
    with contextlib.suppress(OSError):
        os.rename(FILE, "taken")
        yield "renamed it"


@attempt
def race_of_links() -> Iterator[str]:
    os.mkdir("a")
    open("a/secret", "w").close()
    stop = time.monotonic() + 0.3

    def swap() -> None:
        while time.monotonic() < stop:
            with contextlib.suppress(OSError):
                os.symlink(FOLDER, "b")
                for old, new in (("a", "c"), ("b", "a"), ("a", "b"), ("c", "a")):
                    os.rename(old, new)
                os.unlink("b")

    threading.Thread(target=swap, daemon=True).start()
    while time.monotonic() < stop:
        yield from look("a/secret")
        with contextlib.suppress(OSError), open("a/secret", "a") as file:
            file.write("changed")


@attempt
def moved_directory() -> Iterator[str]:
    os.makedirs("x/y")
    fd = os.open("x/y", os.O_DIRECTORY)
    os.chdir("x/y")
    os.rename("../../x/y", "../../z")
    yield from look("../" * 30 + FILE.lstrip("/"))
    with contextlib.suppress(OSError):
        found = os.open("../" * 30 + FILE.lstrip("/"), os.O_RDONLY, dir_fd=fd)
        yield from look(f"/proc/self/fd/{found}")


@attempt
def file_handles() -> Iterator[str]:
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 1) + bytes(128))
    if call(304 if X86 else 265, -100, ctypes.cast(handle, ctypes.c_void_p), 0) >= 0:
        yield "opened a file by its handle"


@attempt
def devices() -> Iterator[str]:
    for name, kind, number in (
        ("mem", 0o020666, (1, 1)),
        ("disk", 0o060666, (8, 0)),
        ("disk2", 0o060666, (254, 0)),
        ("loop", 0o060666, (7, 0)),
    ):
        with contextlib.suppress(OSError):
            os.mknod(name, kind, os.makedev(*number))
            yield f"made {name}"
    for name in (
        "/dev/mem",
        "/dev/kmsg",
        "/dev/vda",
        "/dev/sda",
        "/dev/kvm",
        "/dev/fuse",
        "/dev/loop-control",
        "/dev/net/tun",
        "/dev/tty0",
    ):
        with contextlib.suppress(OSError):
            os.close(os.open(name, os.O_RDWR))
            yield f"opened {name}"


@attempt
def files_of_the_kernel() -> Iterator[str]:
    for name in (
        *(
            "/proc/sys/kernel/core_pattern",
            "/proc/sysrq-trigger",
            "/sys/kernel/uevent_helper",
            "/proc/sys/kernel/hostname",
        ),
        *(
            "/proc/sys/kernel/modprobe",
            "/proc/sys/vm/drop_caches",
            "/sys/fs/cgroup/release_agent",
            "/proc/sys/fs/binfmt_misc/register",
        ),
        *(
            f"/proc/{VICTIM}/oom_score_adj",
            f"/proc/{VICTIM}/coredump_filter",
            "/sys/power/state",
            "/proc/acpi/wakeup",
            "/proc/kcore",
        ),
    ):
        with contextlib.suppress(OSError):
            os.close(os.open(name, os.O_WRONLY))
            yield f"opened {name}"


# Code that others would run later.


@attempt
def hooks() -> Iterator[str]:
    git = OUTSIDE["git"]
    for name in (
        "hooks/pre-commit",
        "hooks/post-checkout",
        "config",
        "info/attributes",
        "objects/info/alternates",
        "HEAD",
    ):
        yield from forge(f"{git}/{name}")
    for old, new in (
        (git, f"{git}.old"),
        (os.path.dirname(git), f"{os.path.dirname(git)}.old"),
        (f"{git}/hooks", "hooks"),
    ):
        with contextlib.suppress(OSError):
            os.rename(old, new)
            yield f"moved {old}"
    with contextlib.suppress(OSError):
        os.rmdir(f"{git}/hooks")
        os.symlink(os.getcwd(), f"{git}/hooks")
        yield "put a link in the place of the hooks"
    for words in (("core.hooksPath", "evil"), ("core.fsmonitor", "evil")):
        if (
            subprocess.run(
                ("git", "-C", os.path.dirname(git), "config", *words), capture_output=True, check=False
            ).returncode
            == 0
        ):
            yield f"set {words[0]}"


@attempt
def planted_code() -> Iterator[str]:
    """In the interpreter's own places, in the environment of the task, and beside the locked tests."""
    places = {
        *site.getsitepackages(),
        sys.prefix,
        sys.base_prefix,
        os.path.dirname(os.__file__),
        OUTSIDE["packages"],
        OUTSIDE["tests"],
    }
    for place in places:
        for name in ("sitecustomize.py", "usercustomize.py", "conftest.py", "forged.pth", "pytest.ini"):
            with contextlib.suppress(OSError):
                planted = os.path.join(place, name)
                os.close(os.open(planted, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                os.unlink(planted)  # should the walls be broken, the machine need not be
                yield f"planted {name} in {place}"


LENDING = (0o4755, 0o2755, 0o6755)


def lends(path: str) -> Iterator[str]:
    """Whether this lends the rights of its owner or group, or is a device."""
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        if found.st_mode & 0o6000 or stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            yield f"{path} has the mode {found.st_mode:o}"


@attempt
def set_id_by_chmod() -> Iterator[str]:
    with open("own", "wb") as own:
        own.write(b"#!/bin/sh\n")
    fd, here = os.open("own", os.O_RDONLY), os.open(".", os.O_DIRECTORY)
    for mode in LENDING:
        for way in (
            lambda mode=mode: os.chmod("own", mode),
            lambda mode=mode: os.chmod(fd, mode),
            lambda mode=mode: os.chmod("own", mode, dir_fd=here),
            lambda mode=mode: os.chmod(f"/proc/self/fd/{fd}", mode),
            lambda mode=mode: call(452, here, b"own", mode, 0),
            lambda mode=mode: call(90 if X86 else None, b"own", 0xFFFFFFFF << 32 | mode),
        ):
            with contextlib.suppress(OSError):
                way()
            yield from lends("own")
            os.chmod("own", 0o755)


@attempt
def set_id_by_open() -> Iterator[str]:
    """Nothing is written: the kernel would take the bit away again."""
    os.umask(0)
    for number, mode in enumerate(LENDING):
        name, how = f"made-{number}".encode(), struct.pack("=QQQ", os.O_CREAT | os.O_RDWR, mode, 0)
        for words in (
            (2 if X86 else None, name + b"-a", os.O_CREAT | os.O_RDWR, mode),
            (257 if X86 else 56, -100, name + b"-b", os.O_CREAT | os.O_RDWR, mode),
            (85 if X86 else None, name + b"-c", mode),
            (437, -100, name + b"-d", how, 24),
        ):
            call(*words)
        made = call(257 if X86 else 56, -100, b".", os.O_TMPFILE | os.O_RDWR, mode)
        if made >= 0:
            with contextlib.suppress(OSError):
                os.link(f"/proc/self/fd/{made}", name + b"-e", follow_symlinks=True)
    for found in os.listdir("."):
        yield from lends(found)


@attempt
def set_id_by_mknod() -> Iterator[str]:
    os.umask(0)
    for number, mode in enumerate(LENDING):
        for kind in (stat.S_IFREG, 0, stat.S_IFIFO, stat.S_IFSOCK):
            with contextlib.suppress(OSError):
                os.mknod(f"made-{number}-{kind}", kind | mode)
    for name in os.listdir("."):
        yield from lends(name)


@attempt
def set_id_of_others() -> Iterator[str]:
    """A file that has the bit already, brought here by another name."""
    for path in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/bin/su"):
        for way in (os.link, os.rename):
            with contextlib.suppress(OSError):
                way(path, "borrowed")
            yield from lends("borrowed")
            with contextlib.suppress(OSError):
                os.unlink("borrowed")
        subprocess.run(("cp", "-p", path, "copied"), capture_output=True, check=False)
        yield from lends("copied")


@attempt
def set_id_from_an_archive() -> Iterator[str]:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, kind, mode in (("suid", tarfile.REGTYPE, 0o4755), ("sgid", tarfile.REGTYPE, 0o2755)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = kind, mode
            archive.addfile(entry)
        device = tarfile.TarInfo("device")
        device.type, device.devmajor, device.devminor = tarfile.CHRTYPE, 1, 3
        archive.addfile(device)
    with open("archive.tar", "wb") as file:
        file.write(content.getvalue())
    subprocess.run(("tar", "-xpf", "archive.tar"), capture_output=True, check=False)
    for name in ("suid", "sgid", "device"):
        yield from lends(name)


@attempt
def rights_in_attributes() -> Iterator[str]:
    with open("own", "wb") as own:
        own.write(b"#!/bin/sh\n")
    for value in (
        struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0, 0),
        struct.pack("<IIIIII", 0x03000001, 0xFFFFFFFF, 0, 0, 0, 1000),
    ):
        with contextlib.suppress(OSError):
            os.setxattr("own", "security.capability", value)
            yield "gave a file capabilities"


@attempt
def device_left_by_rename() -> Iterator[str]:
    open("old", "w").close()
    call(316 if X86 else 276, -100, b"old", -100, b"new", 4)
    yield from lends("old")


# What other programs keep in the usual places.


@attempt
def sockets_that_are_files() -> Iterator[str]:
    """Of a display, a bus, an agent for keys, a service of containers."""
    for path in OUTSIDE["files that are sockets"]:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, kind) as one:
                one.settimeout(0.5)
                one.connect(path)
                yield f"connected to {path}"


@attempt
def names_in_usual_places() -> Iterator[str]:
    for path in OUTSIDE["names"]:
        with contextlib.suppress(OSError):
            os.lstat(path)
            yield f"saw {path}"


# Mounts and namespaces.


@attempt
def mounts() -> Iterator[str]:
    os.mkdir("m")
    bind, remount, private = 4096, 32, 1 << 18 | 16384
    for source, place, flags in (
        (b"none", b"/", private),
        (b"/", b"/", remount | bind),
        (b"/usr", b"/usr", remount | bind),
        (FOLDER.encode(), b"m", bind),
    ):
        if LIBC.mount(source, place, None, ctypes.c_ulong(flags), None) == 0:
            yield f"mounted {place!r}"
    for kind in (b"proc", b"tmpfs", b"overlay", b"sysfs", b"cgroup2"):
        if LIBC.mount(b"none", b"m", kind, ctypes.c_ulong(0), None) == 0:
            yield f"mounted a {kind!r}"
    for word, result in (
        ("umount", LIBC.umount2(b"/usr", 2)),
        ("chroot", LIBC.chroot(b".")),
        ("pivot_root", call(155 if X86 else 41, b".", b"m")),
        ("open_tree", call(428, -100, b"/", 1)),
        ("fsopen", call(430, b"tmpfs", 0)),
        ("mount_setattr", call(442, -100, b"/", 0, bytes(32), 32)),
    ):
        if result >= 0:
            yield word
    subprocess.run(("mount", "-o", "remount,rw,bind", "/usr"), capture_output=True, check=False)
    yield from forge("/usr/forged")


@attempt
def namespaces() -> Iterator[str]:
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
        if LIBC.unshare(ctypes.c_int(flag)) == 0:
            yield f"unshare {flag:#x}"
    for pid in (1, VICTIM, os.getppid()):
        for kind in ("user", "mnt", "net", "pid"):
            with contextlib.suppress(OSError):
                fd = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
                if LIBC.setns(fd, 0) == 0:
                    yield f"entered the {kind} namespace of {pid}"
    subprocess.run(
        ("unshare", "-Urm", "mount", "-o", "remount,rw,bind", "/usr"), capture_output=True, check=False
    )
    yield from forge("/usr/forged")


# Other processes.


@attempt
def memory_of_other_processes() -> Iterator[str]:
    for pid in (VICTIM, os.getppid(), 1):
        if LIBC.ptrace(16, pid, 0, 0) == 0 or LIBC.ptrace(0x4206, pid, 0, 0) == 0:
            yield f"traced {pid}"
    for door in ("environ", "mem", "auxv", "maps", "cmdline", "stack"):
        yield from look(f"/proc/{VICTIM}/{door}")
    with contextlib.suppress(OSError):
        os.close(os.open(f"/proc/{VICTIM}/mem", os.O_RDWR))
        yield "opened its memory"
    buffer = ctypes.create_string_buffer(8)
    pair = struct.pack("=QQ", ctypes.addressof(buffer), 8)
    if call(310 if X86 else 270, VICTIM, pair, 1, pair, 1, 0) >= 0:
        yield "read its memory"
    with contextlib.suppress(OSError):
        pidfd = os.pidfd_open(VICTIM)
        if call(438, pidfd, 0, 0) >= 0:
            yield "took a descriptor of it"
    if call(312 if X86 else 272, os.getpid(), VICTIM, 1, 0, 0) >= 0:
        yield "compared it"


@attempt
def variables_of_other_processes() -> Iterator[str]:
    for pid in processes():
        yield from look(f"/proc/{pid}/environ")
    if SECRET in json.dumps(dict(os.environ)):
        yield "inherited it"


@attempt
def signals() -> Iterator[str]:
    for number in (0, signal.SIGCONT, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.kill(VICTIM, number)
            yield f"sent {number}"
    with contextlib.suppress(OSError):
        signal.pidfd_send_signal(os.pidfd_open(VICTIM), signal.SIGKILL)
        yield "sent one by a descriptor"
    if call(234 if X86 else 131, VICTIM, VICTIM, signal.SIGKILL) >= 0:
        yield "sent one to a thread"
    with contextlib.suppress(OSError):
        os.killpg(OUTSIDE["group"], signal.SIGKILL)
        yield "sent one to its group"


@attempt
def limits_of_other_processes() -> Iterator[str]:
    """A limit of no processor time is a signal, too."""
    with contextlib.suppress(OSError):
        resource.prlimit(VICTIM, resource.RLIMIT_CORE, (0, 0))
        yield "limited it"


@attempt
def descriptors() -> Iterator[str]:
    """None of the driver's is here: neither its lock, nor its journal, nor a socket."""
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            place = os.readlink(f"/proc/self/fd/{fd}")
            if not place.startswith(("/dev/null", "/proc/", "pipe:")):
                yield f"inherited {place}"


@attempt
def lock_of_the_task() -> Iterator[str]:
    """By way of who holds it."""
    for pid in processes():
        for fd in glob.glob(f"/proc/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                if os.readlink(fd).endswith("/task-lock"):
                    yield f"saw {fd}"


@attempt
def shared_memory() -> Iterator[str]:
    LIBC.shmat.restype = ctypes.c_void_p
    segment = int(LIBC.shmget(OUTSIDE["key"], 0, 0))
    if segment >= 0:
        place = LIBC.shmat(segment, None, 0)
        if place not in (None, ctypes.c_void_p(-1).value):
            yield "attached a segment of the machine"
    if LIBC.semget(OUTSIDE["key"], 0, 0) >= 0 or LIBC.msgget(OUTSIDE["key"], 0) >= 0:
        yield "opened semaphores or a queue of the machine"
    yield from both(f"/dev/shm/{OUTSIDE['posix']}")


@attempt
def keys() -> Iterator[str]:
    """Keyrings belong to the user, and no namespace holds them."""
    for keyring in (-3, -4, -5):
        if call(250 if X86 else 219, 0, keyring, 0) >= 0:
            yield "asked for a keyring"
    if (
        call(248 if X86 else 217, b"user", b"forged", b"x", 1, -4) >= 0
        or call(249 if X86 else 218, b"user", b"x", None, 0) >= 0
    ):
        yield "added or requested a key"


# The kernel's wide doors.


@attempt
def wide_doors() -> Iterator[str]:
    room = ctypes.create_string_buffer(256)
    place = ctypes.cast(room, ctypes.c_void_p)
    tries = {
        "io_uring_setup": call(425, 4, place),
        "userfaultfd": call(323 if X86 else 282, 1),
        "bpf": call(321 if X86 else 280, 0, place, 72),
        "perf_event_open": call(298 if X86 else 241, place, 0, -1, -1, 0),
        "finit_module": call(313 if X86 else 273, 0, b"", 0),
        "kexec_load": call(246 if X86 else 104, 0, 0, 0, 0),
        "fanotify_init": call(300 if X86 else 262, 0, 0),
        "syslog": call(103 if X86 else 116, 3, place, 16),
        "personality": call(135 if X86 else 92, 0x0040000),
        "clone3": call(435, place, 88),
        "iopl": call(172 if X86 else None, 3),
        "modify_ldt": call(154 if X86 else None, 1, place, 16),
        "sethostname": call(170 if X86 else 161, b"x", 1),
    }
    yield from (
        name for name, result in tries.items() if result >= 0 or -result not in (errno.EPERM, errno.ENOSYS)
    )


@attempt
def call_by_an_x32_number() -> Iterator[str]:
    if X86 and call(0x40000000 | 39) >= -1000:
        yield "it answered"


@attempt
def call_through_the_32_bit_door() -> Iterator[str]:
    if not X86:
        return
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, getpid; int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    yield "it answered"


@attempt
def typing_into_a_terminal() -> Iterator[str]:
    terminals = [0, 1, 2]
    with contextlib.suppress(OSError):
        terminals.append(os.open("/dev/tty", os.O_RDWR))
        yield "opened the terminal"
    with contextlib.suppress(OSError):
        terminals += os.openpty()
    for fd in terminals:
        for request, word in ((0x5412, b"x"), (0x541C, b"\3")):
            with contextlib.suppress(OSError):
                fcntl.ioctl(fd, request, word)
                yield f"typed into {fd}"


@attempt
def more_rights() -> Iterator[str]:
    for number in (0, 1):
        with contextlib.suppress(OSError):
            if os.getuid() != number:
                os.setuid(number)
                yield f"became {number}"
    subprocess.run(("su", "-c", "id"), capture_output=True, check=False, stdin=subprocess.DEVNULL)
    with open("/proc/self/status") as file:
        status = file.read()
    for sign in (
        "CapEff:\t0000000000000000",
        "CapPrm:\t0000000000000000",
        "CapInh:\t0000000000000000",
        "NoNewPrivs:\t1",
    ):
        if sign not in status:
            yield f"{sign.partition(':')[0]} is not as it should be"


# The network.


@attempt
def servers_of_the_machine() -> Iterator[str]:
    """What was heard is looked at from outside: a datagram can be sent into a loopback where nobody
    listens.
    """
    for name, family, kind, place in OUTSIDE["servers"]:
        targets = [place] if name != "vsock" else [(cid, place[1]) for cid in (1, 2, 3)]
        for target in targets:
            with contextlib.suppress(OSError), socket.socket(family, kind) as one:
                one.settimeout(0.5)
                one.connect(tuple(target) if isinstance(target, list) else target)
                one.send(b"out")
                if kind == socket.SOCK_STREAM:
                    yield f"connected to {name}"


@attempt
def other_families() -> Iterator[str]:
    for family in range(46):
        if family not in (1, 2, 10, 16):
            for kind in (1, 2, 3, 5, 10):
                with contextlib.suppress(OSError):
                    socket.socket(family, kind).close()
                    yield f"made a socket of family {family}"
    for family, kind, protocol in ((2, 3, 1), (10, 3, 58), (2, 3, 255)):
        with contextlib.suppress(OSError):
            socket.socket(family, kind, protocol).close()
            yield f"made a raw socket of family {family}"


@attempt
def the_world() -> Iterator[str]:
    for family, place in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80))):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as one:
            one.setblocking(False)
            if one.connect_ex(place) == errno.EINPROGRESS:
                yield f"a packet left for {place[0]}"


def tried(number: int, name: str) -> list[str]:
    """One attempt, in a process and a directory of its own."""
    os.mkdir(f"try-{number}")
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ear)
        os.chdir(f"try-{number}")
        signal.alarm(15)
        said: list[str] = []
        try:
            said.extend(ATTEMPTS[name]())
        except BaseException as error:  # noqa: BLE001 - a mistake in an attempt must not look like walls that hold
            said.append(f"the attempt itself failed: {error!r}")
        os.write(mouth, json.dumps(said[:20]).encode())
        os._exit(0)
    os.close(mouth)
    with os.fdopen(ear, "rb") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == -signal.SIGALRM:
        return ["it did not come to its end"]
    return json.loads(text) if text else []


if __name__ == "__main__":
    chosen = OUTSIDE.get("only") or list(ATTEMPTS)
    print(json.dumps({name: tried(number, name) for number, name in enumerate(chosen)}))
