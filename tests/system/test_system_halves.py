"""Work that is shared with a second process comes out whole and in order, however that process ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.system.halves import FEW, made_of_each

PLAY = """
import json, os, signal, sys
from agentforge.system.halves import made_of_each
first, way = os.getpid(), sys.argv[1]
if way == "is not told of": signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if way == "cannot be": os.fork = lambda: open("/proc/self/mem/none")

def make(number):
    if os.getpid() != first and number > 20:
        if way == "dies": os.kill(os.getpid(), 9)
        if way == "raises": raise ValueError(number)
        if way == "exits": sys.exit(0)
    return f"{number} \\u00fc\\n {os.getpid() == first}"

print(json.dumps(made_of_each(range(200), make)))
"""


@pytest.mark.parametrize("way", ["ends well", "dies", "raises", "exits", "is not told of", "cannot be"])
def test_every_text_is_there_in_order_however_the_second_process_ends(way: str) -> None:
    if os.cpu_count() == 1:
        pytest.skip("there is one processor")
    done = subprocess.run([sys.executable, "-c", PLAY, way], capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert [text.split()[0] for text in found] == [str(number) for number in range(200)]
    others = [text for text in found if text.endswith("False")]
    assert len(others) == (100 if way == "ends well" else 0)


def test_few_things_start_no_process(tmp_path: Path) -> None:
    told = made_of_each([tmp_path] * (FEW - 1), lambda _: str(os.getpid()))
    assert {*told} == {str(os.getpid())}
