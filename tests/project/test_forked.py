"""What is forked for tests is what an interpreter would have made of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import ForkedCommand


@pytest.mark.slow
@pytest.mark.parametrize("given", ['{"a": [1]}', "{"])
def test_a_forked_module_reads_writes_and_ends_as_a_started_one(tmp_path: Path, given: str) -> None:
    words, pipe, said = (sys.executable, "-m", "json.tool", "--compact"), subprocess.PIPE, []
    for kind in (subprocess.Popen, ForkedCommand):
        with kind(
            words, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        ) as child:
            out, _ = child.communicate(given, timeout=60)
            said.append((out, child.returncode))
    assert said[0] == said[1]
    assert said[0] == (('{"a":[1]}\n', 0) if given.endswith("}") else ("", 1))


def test_what_is_compiled_for_tests_is_kept_whatever_the_shell_asks_for() -> None:
    assert not sys.dont_write_bytecode
