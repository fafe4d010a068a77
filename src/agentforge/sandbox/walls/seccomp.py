"""The filter of system calls: a small program for the kernel, built here, that refuses what no build and no
test needs.

Refused calls fail as they fail for a user without rights, so programs take their ordinary way around. A call
that enters through another architecture's door (32 bit, x32) ends the process: there the numbers mean other
calls, and no list would hold.
"""

import ctypes
import functools
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where they stand in the kernel's description of a call
_X32 = 0x40000000

NEW_NAMESPACES = 0x7E020000
"""The flags of `clone` and `unshare` that ask for a namespace: mounts, control groups, names, ipc, users,
processes, network.
"""
_NEW_TIME = 0x80  # a flag of `unshare` alone; for `clone` these bits are a signal
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
# such a file, left in a writable directory, would lend the rights of its owner or group to whoever starts it
# outside
_SET_ID = 0o6000
_CREATING = 0o100 | 0o20000000  # the flags of `open` that make its mode count: O_CREAT, and O_TMPFILE's own
_FILE_KIND, _CHARACTERS, _BLOCKS = 0o170000, 0o020000, 0o060000
_LEAVE_DEVICE = 4  # a flag of `renameat2` that leaves a device in the old place
_OPENAT2, _RENAMEAT2_FLAGS = 437, 4
_SAME_PERSONALITY = 0xFFFFFFFF

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
ORDINARY_FAMILIES = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK)
"""Those that a network namespace confines. Others, such as the one between a virtual machine and its host, it
does not.
"""
LOCAL_FAMILIES = (AF_UNIX,)
_KIND, _STREAM = 0xF, 1  # the bits of a socket's type that say its kind, and the kind that TCP is
_TCP = (
    0,
    6,
)  # the protocols of a stream that are TCP; others would be streams that Landlock does not look at
_FAST_OPEN = (
    0x20000000  # a flag that sends without connecting first, so that no rule about connecting is asked
)

# By name: the numbers on x86_64 and aarch64; None where the call does not exist.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # the tree of mounts
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "fanotify_init": (300, 262),
    # other processes, and namespaces of others
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "setns": (308, 268),
    # keys of the user, which no namespace holds
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # wide doors into the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
}

# Refused where a run has no namespaces: what is shared by all programs of a user, and would be the machine's
# own.
_SHARED: dict[str, tuple[int, int]] = {
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
# The same, but for a process itself: the numbers, and the place of the other's number among the arguments. A
# limit on another's processor
# time is a signal by another name.
_OF_OTHERS: dict[str, tuple[int, int, int]] = {
    "prlimit64": (302, 261, 0),
    "setpriority": (141, 140, 1),
    "ioprio_set": (251, 30, 1),
    "sched_setaffinity": (203, 122, 0),
    "sched_setparam": (142, 118, 0),
    "sched_setscheduler": (144, 119, 0),
    "sched_setattr": (314, 274, 0),
}


# With this first word they are about all processes of the user, and the number of none means oneself.
_OF_ALL = {"setpriority": 2, "ioprio_set": 3}


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the filter must know of an architecture."""

    audit: int
    """How the kernel names it in the description of a call."""
    column: int
    """Of the table of calls."""
    clone: int
    clone3: int
    unshare: int
    ioctl: int
    personality: int
    socket: tuple[int, int]
    """`socket` and `socketpair`."""
    chmod: tuple[tuple[int, int], ...]
    """The calls that set the mode of a file, each with the place of the mode among its arguments."""
    open: tuple[tuple[int, int | None, int], ...]
    """The calls that open, each with the places of flags and mode; without flags it always makes a file."""
    make: tuple[tuple[int, int], ...]
    """The calls that make a file of any kind, each with the place of the mode."""
    renameat2: int
    listen: int
    send: tuple[tuple[int, int], ...]
    """The calls that send, each with the place of the flags among its arguments."""
    x32: bool = False
    """Whether a second set of numbers exists behind the same door."""


MACHINES = {
    "x86_64": Architecture(
        0xC000003E,
        0,
        56,
        435,
        272,
        16,
        135,
        (41, 53),
        ((90, 1), (91, 1), (268, 2), (452, 2)),
        ((2, 1, 2), (257, 2, 3), (85, None, 1)),
        ((133, 1), (259, 2)),
        316,
        50,
        ((44, 3), (46, 2), (307, 3)),
        x32=True,
    ),
    "aarch64": Architecture(
        0xC00000B7,
        1,
        220,
        435,
        97,
        29,
        92,
        (198, 199),
        ((52, 1), (53, 2), (452, 2)),
        ((56, 2, 3),),
        ((33, 2),),
        276,
        201,
        ((206, 3), (211, 2), (269, 3)),
    ),
}


def refused_calls(known: Architecture) -> dict[str, int]:
    """The calls that always fail on a machine, with their numbers."""
    return {
        name: number for name, columns in _REFUSED.items() if (number := columns[known.column]) is not None
    }


@functools.cache
def is_available(machine: str | None = None) -> bool:
    """Whether this kernel takes filters, and we know its calls."""
    if (machine or os.uname().machine) not in MACHINES or struct.calcsize(
        "P"
    ) != 8:  # a 32 bit program has the wrong door itself
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    number = 317 if os.uname().machine == "x86_64" else 277  # the call `seccomp`
    action = ctypes.c_uint32(_KILL)
    return (
        int(libc.syscall(ctypes.c_long(number), ctypes.c_ulong(2), ctypes.c_ulong(0), ctypes.byref(action)))
        == 0
    )


@functools.cache
def build(
    families: tuple[int, ...] = ORDINARY_FAMILIES,
    machine: str | None = None,
    *,
    tcp_only: bool = False,
    alone: bool = False,
) -> bytes:
    """The filter as the kernel and `bwrap --seccomp` take it; only sockets of `families` can be made.

    `tcp_only` adds those of TCP over IPv4, that can connect and not listen: where a rule about connecting
    keeps them in. `alone` is for runs without namespaces: shared memory and the limits of other processes are
    refused, too.
    """
    known = MACHINES[machine or os.uname().machine]
    return b"".join(
        (*_opening(known), *(_alone(known) if alone else ()), *_program(known, families, tcp_only=tcp_only))
    )


def _opening(known: Architecture) -> Iterator[bytes]:
    """Other doors are shut; then the number of the call is at hand."""
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUAL, known.audit, 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    if known.x32:
        yield _step(_AT_LEAST, _X32, 0, 1)
        yield _step(_RETURN, _KILL)


def _alone(known: Architecture) -> Iterator[bytes]:
    for columns in _SHARED.values():
        yield from _for_call(columns[known.column], _fail(_EPERM))
    for name, (*numbers, place) in _OF_OTHERS.items():
        of_all = (_argument(0), *_except((_OF_ALL[name],), _fail(_EPERM))) if name in _OF_ALL else ()
        itself = (_argument(place), *_except((0,), _pass()))
        yield from _for_call(numbers[known.column], *of_all, *itself, _fail(_EPERM))


def _program(known: Architecture, families: tuple[int, ...], *, tcp_only: bool) -> Iterator[bytes]:
    for number in sorted(set(refused_calls(known).values())):
        yield from _for_call(number, _fail(_EPERM))
    # Its flags lie in memory, which a filter cannot read; without it the C library falls back to `clone`.
    yield from _for_call(known.clone3, _fail(_ENOSYS))
    yield from _for_call(
        known.clone, _argument(0), _step(_ANY_BIT, NEW_NAMESPACES, 0, 1), _fail(_EPERM), _pass()
    )
    yield from _for_call(
        known.unshare, _argument(0), _step(_ANY_BIT, NEW_NAMESPACES | _NEW_TIME, 0, 1), _fail(_EPERM), _pass()
    )
    yield from _for_call(known.ioctl, _argument(1), *_except((_TIOCSTI, _TIOCLINUX), _fail(_EPERM)), _pass())
    yield from _for_call(
        known.personality, _argument(0), *_except((0, _SAME_PERSONALITY), _pass()), _fail(_EPERM)
    )
    yield from _lending_calls(known)
    if tcp_only:
        yield from _tcp_calls(known, families)
    for number in known.socket:
        yield from _for_call(number, _argument(0), *_except(families, _pass()), _fail(_EAFNOSUPPORT))
    yield _pass()


def _lending_calls(known: Architecture) -> Iterator[bytes]:
    """No file with a set-id bit and no device is made, by whatever call makes files or sets their modes."""
    lends = (_step(_ANY_BIT, _SET_ID, 0, 1), _fail(_EPERM))
    for number, place in known.chmod:
        yield from _for_call(number, _argument(place), *lends, _pass())
    for number, flags, place in known.open:
        # Where nothing is made, the mode is whatever happens to stand there.
        opened = () if flags is None else (_argument(flags), _step(_ANY_BIT, _CREATING, 1, 0), _pass())
        yield from _for_call(number, *opened, _argument(place), *lends, _pass())
    for number, place in known.make:
        devices = _except((_CHARACTERS, _BLOCKS), _fail(_EPERM))
        yield from _for_call(number, _argument(place), *lends, _step(_AND, _FILE_KIND), *devices, _pass())
    yield from _for_call(
        known.renameat2,
        _argument(_RENAMEAT2_FLAGS),
        _step(_ANY_BIT, _LEAVE_DEVICE, 0, 1),
        _fail(_EPERM),
        _pass(),
    )
    # Its mode lies in memory, which a filter cannot read; without it programs take `openat`.
    yield from _for_call(_OPENAT2, _fail(_ENOSYS))


def _tcp_calls(known: Architecture, families: tuple[int, ...]) -> Iterator[bytes]:
    """A socket of TCP that takes no way around the rules about connecting."""
    yield from _for_call(known.listen, _fail(_EPERM))
    for number, place in known.send:
        yield from _for_call(
            number, _argument(place), _step(_ANY_BIT, _FAST_OPEN, 0, 1), _fail(_EPERM), _pass()
        )
    wrong = _fail(_EAFNOSUPPORT)
    local = (_argument(0), *_except(families, _pass()), _step(_EQUAL, AF_INET, 1, 0), wrong)
    stream = (
        _argument(1),
        _step(_AND, _KIND),
        _step(_EQUAL, _STREAM, 1, 0),
        wrong,
        _argument(2),
        *_except(_TCP, _pass()),
        wrong,
    )
    yield from _for_call(known.socket[0], *local, *stream)


def _for_call(number: int, *body: bytes) -> Iterator[bytes]:
    """`body`, which must return, if it is this call; else on behind it."""
    yield _step(_EQUAL, number, 0, len(body))
    yield from body


def _except(values: tuple[int, ...], outcome: bytes) -> Iterator[bytes]:
    for value in values:
        yield _step(_EQUAL, value, 0, 1)
        yield outcome


def _argument(index: int) -> bytes:
    """The lower half of an argument: the kernel itself looks at no more of these, whatever the upper half
    says.
    """
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _fail(error: int) -> bytes:
    return _step(_RETURN, _ERROR | error)


def _pass() -> bytes:
    return _step(_RETURN, _ALLOW)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
