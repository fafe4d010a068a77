"""A driver that is killed takes its children with it, and only then can another one start."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import agentforge
from agentforge.activities.task_permissions import sandbox_name
from agentforge.core.errors import PolicyError, UserError
from agentforge.sandbox.walls.ladder import choose
from tests.engines.crash_site import REQUEST, SCRIPT, Reference, Scene, found, share_cache
from tests.engines.deaths import Order
from tests.engines.engines import BOTH_IF_SOAKED, Engine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes through /proc"),
]

MARK = "a-child-of-a-test-that-sleeps"
SLEEPING = {
    "shout.py": "def shout(text):\n    return text\n",
    "tests/test_shout.py": f"""
        import subprocess
        import sys


        def test_slowly():
            subprocess.run((sys.executable, "-c", "import time; time.sleep(60)", "{MARK}"))
        """,
}


def processes(scene: Scene) -> list[str]:
    """Command lines of what runs for this task: the test run itself, its walls, and what a test started."""
    found_lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
            here = (place.parent / "cwd").readlink()
        except OSError:
            continue
        line = b" ".join(words).decode(errors="replace")
        if "driver_child" not in line and (
            str(scene.trees) in line or (MARK in line and here.is_relative_to(scene.trees))
        ):
            found_lines.append(line)
    return found_lines


def wait(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@BOTH_IF_SOAKED
@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
def test_children_of_a_killed_driver_are_gone_and_another_one_can_start(
    site: Reference, tmp_path: Path, engine: Engine, sandbox: str
) -> None:
    try:
        choose(sandbox_name(sandbox))
    except UserError as error:
        pytest.skip(str(error))
    scene = found(tmp_path, SLEEPING)
    share_cache(site.root.parent, scene)
    options = agentforge.StartOptions(REQUEST, lane="small", model=f"scripted:{SCRIPT}", sandbox=sandbox)
    scene = Scene(tmp_path, agentforge.start(scene.site(), options).task_id)
    with engine.drivers(scene) as drivers:
        drivers.start(Order("never"))
        assert wait(lambda: any(MARK in line for line in processes(scene)), 240)
        with (
            pytest.raises(PolicyError, match="Another driver"),
            agentforge.open_driver(agentforge.OpenTask.open(scene.site(), scene.files)),
        ):
            pass

        os.kill(int(scene.files.lock.read_text().split()[1]), signal.SIGKILL)
        assert wait(lambda: not processes(scene), 60), processes(scene)
        with agentforge.open_driver(agentforge.OpenTask.open(scene.site(), scene.files)) as driver:
            assert driver.journal.state.status == "running"
