"""The process that opens the doors of `tests/judging.py`: with the variables, limits and streams that the tests began
with, whichever command asks. It is given where it listens, and the folder of the doors; it ends with its standard
input, and whoever waits behind a door with it.
"""

import hashlib
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

READ_AT_THE_START = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "PYTHONNOUSERSITE": "1"}
FORKING = Path(__file__).with_name("loaded_judge.py")


def door_of(place: Path, program: str) -> Path:
    """Where the judges of an interpreter are asked for."""
    return place / hashlib.sha256(program.encode()).hexdigest()[:16]


def start_forking(
    program: str, given: socket.socket, script: Path, standard_input: int
) -> "subprocess.Popen[bytes]":
    """A process that loads the judge with this interpreter, and forks one for whoever asks."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.Popen(
        [program, FORKING, str(given.fileno()), str(script)],
        env=env | READ_AT_THE_START,
        pass_fds=[given.fileno()],
        stdin=standard_input,
        stdout=subprocess.DEVNULL,
    )


def _keep(listening: socket.socket, script: Path) -> None:
    behind: dict[str, subprocess.Popen[bytes]] = {}
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        asking, _ = listening.accept()
        with asking, asking.makefile("r", encoding="utf-8") as line:
            program = line.readline().rstrip("\n")
            if program not in behind:
                behind[program] = _open(program, script)
            asking.sendall(b"+")
    for process in behind.values():
        process.communicate()


def _open(program: str, script: Path) -> "subprocess.Popen[bytes]":
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(door_of(script.parent, program)))
        door.listen(16)
        return start_forking(program, door, script, subprocess.PIPE)


if __name__ == "__main__":
    _keep(socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2]))
