"""The filter of system calls, tried for real in every rung: refused calls fail, ordinary ones do not, other
doors are shut.
"""

import json
import os
import struct
from pathlib import Path

import pytest

from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.network.destinations import destination
from agentforge.sandbox.walls import seccomp
from tests.sandbox.rungs import INTERPRETER, RUNGS, has_namespaces, label, py, usable

MACHINE = os.uname().machine

pytestmark = pytest.mark.skipif(
    not seccomp.is_available(), reason="this kernel takes no filters, or its calls are not known to us"
)

CALL = """
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *map(ctypes.c_ulong, arguments))
    return result, errno.errorcode.get(ctypes.get_errno(), "")
"""


@pytest.fixture(params=RUNGS, ids=label)
def walls(request: pytest.FixtureRequest) -> Sandbox:
    return usable(request.param)


def test_each_refused_call_fails_for_want_of_rights(walls: Sandbox, tmp_path: Path) -> None:
    numbers = seccomp.refused_calls(seccomp.MACHINES[MACHINE])
    script = CALL + (
        f"print(json.dumps({{name: call(number, 0, 0, 0, 0, 0, 0) for name, number in {numbers!r}.items()}}))"
    )
    answers = json.loads(py(walls, script, tmp_path).out)
    assert {name for name, (_, error) in answers.items() if error != "EPERM"} == set()
    assert len(answers) == len(numbers)


def test_calls_are_judged_by_their_arguments(walls: Sandbox, tmp_path: Path) -> None:
    known = seccomp.MACHINES[MACHINE]
    script = (
        CALL
        + f"""
told = {{}}
for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    told[f"unshare {{flag:#x}}"] = call({known.unshare}, flag)[1]
    told[f"clone {{flag:#x}}"] = call({known.clone}, flag | 17, 0, 0, 0, 0)[1]
for upper in (0, 1 << 32, 0xFFFFFFFF << 32):
    told[f"type {{upper:#x}}"] = call({known.ioctl}, 0, upper | 0x5412, 0)[1]
    told[f"select {{upper:#x}}"] = call({known.ioctl}, 0, upper | 0x541C, 0)[1]
told["layout"], told["emulation"] = call({known.personality}, 0x0040000)[1], call({known.personality}, 0x0400000)[1]
# The flags of this one cannot be read, so it does not exist. The personality may be asked for.
print(json.dumps([told, call({known.clone3}, 0, 0)[1], call({known.personality}, 0xFFFFFFFF)[0]]))
"""
    )
    told, clone3, personality = json.loads(py(walls, script, tmp_path).out)
    assert {name for name, error in told.items() if error != "EPERM"} == set()
    assert len(told) == 22
    assert (clone3, personality) == ("ENOSYS", 0)


SHARING = (
    CALL
    + """
import os, resource
libc.shmat.restype = ctypes.c_void_p
other = os.fork()
if other == 0:
    import time; time.sleep(20); os._exit(0)
shared = libc.shmget(0, 4096, 0o1600) >= 0
try:
    resource.prlimit(other, resource.RLIMIT_CORE, (0, 0)); others = True
except PermissionError: others = False
os.kill(other, 9)
resource.prlimit(0, resource.RLIMIT_CORE, (0, 0)); os.setpriority(os.PRIO_PROCESS, 0, 19)
print(json.dumps([shared, others]))
"""
)


def test_memory_and_limits_of_others_can_be_had_only_where_they_are_the_runs_own(
    walls: Sandbox, tmp_path: Path
) -> None:
    assert json.loads(py(walls, SHARING, tmp_path).out) == [has_namespaces(walls)] * 2


FAMILIES = (
    CALL
    + """
import socket
made = []
for family in range(1, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(family, kind).close(); made.append(family)
        except OSError: pass
print(json.dumps(sorted(set(made))))
"""
)


def test_sockets_of_no_other_family_can_be_made(walls: Sandbox, tmp_path: Path) -> None:
    made = set(json.loads(py(walls, FAMILIES, tmp_path).out))
    assert made <= set(seccomp.ORDINARY_FAMILIES if has_namespaces(walls) else seccomp.LOCAL_FAMILIES)
    assert seccomp.AF_UNIX in made


def test_with_network_the_ordinary_families_are_there(walls: Sandbox, tmp_path: Path) -> None:
    confinement = Confinement(cwd=tmp_path, write=(tmp_path,), network=(destination("index.test"),))
    done = walls.run((INTERPRETER, "-I", "-c", FAMILIES), confinement)
    assert {seccomp.AF_UNIX, seccomp.AF_INET} <= set(json.loads(done.out)) <= set(seccomp.ORDINARY_FAMILIES)


@pytest.mark.skipif(MACHINE != "x86_64", reason="only this machine has a second set of numbers")
def test_a_call_by_an_x32_number_ends_the_process(walls: Sandbox, tmp_path: Path) -> None:
    done = py(walls, CALL + "print('before', flush=True); call(0x40000000 | 39); print('after')", tmp_path)
    assert done.out == b"before\n"
    assert done.code in {128 + 31, -31}


INT80 = (
    CALL
    + """
import mmap
code = bytes.fromhex("b814000000cd80c3")  # mov eax, getpid; int 0x80; ret
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
place = ctypes.addressof(ctypes.c_char.from_buffer(page))
print("before", flush=True)
ctypes.CFUNCTYPE(ctypes.c_int)(place)()
print("after")
"""
)


@pytest.mark.skipif(MACHINE != "x86_64", reason="only this machine has a 32 bit door in a 64 bit program")
def test_a_call_through_the_32_bit_door_ends_the_process(walls: Sandbox, tmp_path: Path) -> None:
    done = py(walls, INT80, tmp_path)
    assert done.out == b"before\n"
    assert done.code not in {0, 1}


ORDINARY = """
import asyncio, ctypes, multiprocessing, os, select, signal, socket, subprocess, tempfile, threading, time, mmap
assert subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\\n"
thread = threading.Thread(target=time.sleep, args=(0.01,)); thread.start(); thread.join()
asyncio.run(asyncio.sleep(0.01))
async def child():
    process = await asyncio.create_subprocess_exec("/bin/true")
    return await process.wait()
assert asyncio.run(child()) == 0
left, right = socket.socketpair(); left.send(b"x"); assert right.recv(1) == b"x"
if os.access("/dev/shm", os.W_OK) and SHARED:
    with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
os.memfd_create("x"); os.pidfd_open(os.getpid()); os.sched_getaffinity(0); time.clock_gettime(time.CLOCK_MONOTONIC)
signal.setitimer(signal.ITIMER_REAL, 0)
with tempfile.TemporaryFile() as file: file.write(b"x")
print("fine")
"""


def test_what_ordinary_programs_do_goes_on_working(walls: Sandbox, tmp_path: Path) -> None:
    # Semaphores are files in shared memory, which is not private without namespaces, and so not to be had.
    done = py(walls, f"SHARED = {has_namespaces(walls)}\n{ORDINARY}", tmp_path)
    assert (done.out, done.err) == (b"fine\n", b"")


def test_a_server_on_the_private_loopback_works_where_there_is_one(walls: Sandbox, tmp_path: Path) -> None:
    if not has_namespaces(walls):
        pytest.skip("these walls have no loopback of their own")
    script = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); c = "
        "socket.create_connection(s.getsockname()); print('reached')"
    )
    assert py(walls, script, tmp_path).out == b"reached\n"


def test_every_machine_gets_a_whole_program_with_its_own_numbers() -> None:
    for machine, known in seccomp.MACHINES.items():
        program = seccomp.build(machine=machine)
        steps = [struct.unpack_from("=HBBI", program, place) for place in range(0, len(program), 8)]
        assert len(steps) < 4096
        assert steps[1] == (0x15, 1, 0, known.audit)
        assert steps[-1] == (0x06, 0, 0, 0x7FFF0000)
        for at, (code, if_true, if_false, _) in enumerate(steps):
            assert code == 0x06 or at + 1 + max(if_true, if_false) < len(steps)
    assert {"mount", "ptrace", "bpf"} <= set(seccomp.refused_calls(seccomp.MACHINES["aarch64"]))


def test_an_unknown_machine_has_no_filter() -> None:
    assert not seccomp.is_available("pdp11")
