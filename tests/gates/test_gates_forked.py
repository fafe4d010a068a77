"""A forked judge is the judge: it says of the same tree what one says that an interpreter was started for."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.outcomes import TestRun
from agentforge.languages.python.testrun import SCRIPT
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.system.processes import Completed
from tests.gates.bench_of_judges import make_site
from tests.judging import OFTEN, ForkedJudge, KeptDoors

FILES = {
    "shlex.py": "NAME = 'ours'\n",  # the judge has loaded another one by this name
    "socket.py": "NAME = 'ours'\n",  # so has the process that it is forked from
    "shop.py": "import sys\n\nSTARTED = sys.argv[0]\n",
    "tests/test_shop.py": """\
import os
import subprocess
import sys

import pytest


def test_modules_of_the_tree_come_first():
    import shlex, socket
    assert (shlex.NAME, socket.NAME) == ("ours", "ours")


def test_it_was_started_as_always():
    import shop
    assert shop.STARTED.endswith("pytest/__main__.py")
    assert sys.modules["__main__"].__spec__.name == "pytest.__main__"


def test_a_process_has_the_variables_of_the_run():
    said = subprocess.run([sys.executable, "-c", "import os; print(os.environ['HOME'])"], capture_output=True, text=True)
    assert said.stdout.strip() == os.environ["HOME"]


def test_fails():
    assert 1 == 2, "as it must"


@pytest.mark.parametrize("number", [1, 2])
def test_of_numbers(number, capsys):
    print(number)
    assert capsys.readouterr().out == f"{number}\\n"
""",
}


@pytest.mark.slow
def test_a_forked_judge_says_what_a_started_one_says(tmp_path: Path) -> None:
    site = make_site(tmp_path, FILES)

    def said(walls: Sandbox) -> TestRun:
        runner: PristineRunner = replace(site.runner, sandbox=walls)
        run = runner.run(site.base)
        return replace(run, output="", output_hash="", duration_ms=0, slowest_ms=0)

    started, forked = said(NoSandbox()), said(ForkedJudge())
    assert forked == started
    assert [result.outcome for result in started.results.values()].count("passed") == 5


@pytest.mark.slow
def test_a_judge_that_is_forked_behind_a_door_says_the_same_and_only_judges_go_there(tmp_path: Path) -> None:
    site, doors = make_site(tmp_path, FILES), KeptDoors()
    started: list[str] = []

    class Walls(NoSandbox):
        def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
            started.append(Path(argv[1]).name)
            return NoSandbox.run(self, argv, confinement)

    class Led(Walls):
        run = doors.around(Walls.run)  # as a command has it

    def said() -> TestRun:
        runner: PristineRunner = replace(site.runner, sandbox=Led())
        return replace(runner.run(site.base), output="", output_hash="", duration_ms=0, slowest_ms=0)

    try:
        first = [said() for _ in range(OFTEN)]
        assert started == [SCRIPT] * OFTEN
        assert [said(), said()] == [first[0]] * 2
        assert started == [SCRIPT] * OFTEN
        assert Led().run((sys.executable, "-c", "print(1)"), Confinement(tmp_path, (tmp_path,))).out == b"1\n"
        assert started == [SCRIPT] * OFTEN + ["-c"]
    finally:
        doors.close()
