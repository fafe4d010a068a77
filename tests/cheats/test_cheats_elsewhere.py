"""The same cheats, and an honest change, where tests run in other ways: with other versions of pytest, with workers,
with another way to import, and behind each of the walls.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.sandbox.base import Sandbox
from tests.cheats.on_new_tests import NEW_TESTS
from tests.cheats.on_old_tests import OLD_TESTS
from tests.cheats.on_the_judge import JUDGE
from tests.cheats.on_the_rest import REST
from tests.cheats.on_the_way import WAYS
from tests.cheats.stage import Cheat, Stage
from tests.depth import SOAK, telling
from tests.gates.bench_of_judges import QUICK
from tests.sandbox.rungs import RUNGS, label, usable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TOLD = (
    "a conftest that swaps the function of one test",
    "code that replaces how pytest runs a test",
    "code that breaks an old test, and nothing else",
    "a stand-in is asked, not the code",
    "nothing is asserted",
    "the judge's memory is changed",
    "a base class of the new code that replaces tests",
    "the variable of the running test",
)
KNOWN = {cheat.name: cheat for cheat in (*JUDGE, *OLD_TESTS, *NEW_TESTS, *REST, *WAYS)}
PLAYED = [KNOWN[name] for name in TOLD]
PLAIN = ("python", "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis") if SOAK else QUICK
"""In a soak with every plugin that is installed here: each takes longer to load than the tests take."""
WAYS_TO_RUN = {
    "plain": PLAIN,
    "with workers": (*PLAIN, "-n", "auto"),
    "importlib": (*PLAIN, "--import-mode=importlib"),
}


def expect_caught(stage: Stage, cheats: list[Cheat], command: tuple[str, ...]) -> None:
    """Each is caught by its mechanism, and what is honest is delivered without a flag."""
    missed = []
    for cheat in cheats:
        played = replace(cheat, command=command)
        ended = stage.play(played)
        missed += (
            [] if ended.is_caught(played) else [f"{cheat.name}: {ended.gate or 'delivered'}: {ended.said}"]
        )
    assert missed == []
    honest = stage.play(Cheat("honest", "", command=command))
    assert (honest.gate, honest.reasons, honest.flags) == ("", (), ())


@pytest.mark.parametrize("way", telling([*reversed(WAYS_TO_RUN)], 1))
def test_cheats_are_caught_however_the_tests_are_started(way: str, tmp_path: Path) -> None:
    expect_caught(Stage(tmp_path), PLAYED if SOAK else PLAYED[5:6], WAYS_TO_RUN[way])


@pytest.mark.parametrize("walls", telling(RUNGS, 1), ids=label)
def test_cheats_are_caught_behind_every_wall(walls: Sandbox, tmp_path: Path) -> None:
    expect_caught(Stage(tmp_path, sandbox=usable(walls)), PLAYED if SOAK else PLAYED[5:6], PLAIN)


@pytest.mark.skipif(not SOAK, reason="installs other versions of pytest")
@pytest.mark.network
@pytest.mark.parametrize("version", ["7.0.1", "7.4.4", "8.0.2", "8.3.5", "9.0.0"])
@pytest.mark.parametrize("way", WAYS_TO_RUN)
def test_cheats_are_caught_with_other_versions_of_pytest(version: str, way: str, tmp_path: Path) -> None:
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    words = [
        str(environment / "bin/python"),
        "-m",
        "pip",
        "install",
        "-q",
        f"pytest=={version}",
        "pytest-xdist",
    ]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip(f"pytest {version} cannot be installed here")
    expect_caught(Stage(tmp_path, environment), PLAYED, WAYS_TO_RUN[way])
