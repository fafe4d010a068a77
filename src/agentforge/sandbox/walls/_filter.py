"""The launcher inside of a container: opens the door to the proxy, filters its own system calls, then becomes
the program.

Started as a file with an isolated interpreter: `python -I -S _filter.py FILTER DOOR PORT PROGRAM
ARGUMENT...`. FILTER is in base 64: engines filter calls too, each in its own way, and this one makes the same
walls on every rung. DOOR is a socket of the driver's, to hand a server on PORT of the container's own
loopback to; both FILTER and DOOR may be empty. Standard library only, and it is not imported. It loads
little: every command in a container begins here.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from binascii import a2b_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import NoReturn
else:
    import _socket as socket

NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
CANNOT = 126


class FilterProgram(ctypes.Structure):
    """The filter of system calls in the form that `prctl` takes."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def hand_out(door: str, port: int) -> None:
    """A socket stays in the network that it was made in, whoever holds it: the driver answers there without
    being there.
    """
    way, server = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.bind(("127.0.0.1", port))
    server.listen(128)
    way.connect(door)
    way.sendmsg([b"door"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", server.fileno()))])
    server.close()
    way.close()


def filter_calls(steps: bytes) -> None:
    """From here on, for this process and all that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = FilterProgram(len(steps) // 8, steps)
    nothing = ctypes.c_ulong(0)
    libc.prctl(NO_NEW_PRIVS, ctypes.c_ulong(1), nothing, nothing, nothing)
    if libc.prctl(SECCOMP, ctypes.c_ulong(FILTER), ctypes.byref(program), nothing, nothing) != 0:
        raise OSError(ctypes.get_errno(), "system calls cannot be filtered")


def main(steps: bytes, door: str, port: int, argv: list[str]) -> NoReturn:
    """Become the program, or say why not."""
    try:
        if door:
            hand_out(door, port)
        if steps:
            filter_calls(steps)
        os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - becoming the program is the point
    except OSError as problem:
        sys.stderr.write(f"container: {argv[0]}: {problem.strerror}\n")
        sys.exit(CANNOT)


if __name__ == "__main__":
    main(a2b_base64(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:])
