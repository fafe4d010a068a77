"""`kill -9` for real, at every effect of one task, on both engines: drivers die in a row, and the last one
ends as if none had.
"""

from collections import Counter
from pathlib import Path

import pytest

import agentforge
from agentforge.core.pending import worst_case
from agentforge.core.runs import WORKER
from tests.depth import SOAK, telling
from tests.engines.crash_site import Reference, Scene
from tests.engines.deaths import Order, plain
from tests.engines.engines import BOTH, BOTH_IF_SOAKED, Engine
from tests.judging import ASKED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def effects(site: Reference) -> list[str]:
    """Every effect of the run in order. The baseline, which runs beside the first stage, comes when it is
    first owed.
    """
    keys = [plain(key) for key in site.finished.recorded() if key != "create" and not key.endswith("/sent")]
    keys.remove("baseline/1")
    return [keys[0], "baseline/1", *keys[1:]]


HALFWAY = "red/1/3/commit/1"


def deadly(scene: Scene, order: list[str], *, every: bool) -> list[str]:
    """Effects that drivers die at: all that are still to come, or the last one of each kind."""
    known = set(map(plain, scene.recorded()))
    if every:
        return [key for key in order if key not in known]
    return [
        key
        for number, key in enumerate(order)
        if key not in known and kind(key) not in map(kind, order[number + 1 :])
    ]


def kind(key: str) -> str:
    return "judge" if "/judge/" in key else key.rstrip("/0123456789").rpartition("/")[2]


def check(site: Reference, scene: Scene, *, lost: int) -> None:
    """The same end, nothing recorded twice, and every call that was sent in vain on the bill at its worst
    case.
    """
    assert scene.end() == site.finished.end()
    assert max(Counter(scene.recorded()).values()) == 1
    assert [
        finding
        for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
        if not finding.ok
    ] == []
    sent = [key for key in scene.recorded() if key.endswith("/sent")]
    assert len(sent) == scene.end().spent.calls + lost
    assert scene.unaccounted().calls == lost


@BOTH
def test_killed_before_and_after_every_effect_a_task_ends_the_same(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene, order = site.copy(tmp_path, moment="create"), effects(site)
    places = deadly(scene, order, every=SOAK)
    if engine.name != "local":  # what a driver leaves is the same; here the workflow comes to know of it
        places = telling(places, 4)
    with engine.drivers(scene) as drivers:
        for number, key in enumerate(places):
            # Who died before an effect left what one left who died after the one before it.
            if SOAK or number % 4 == 0:
                drivers.die("before", key, order[: order.index(key)])
            drivers.die("after", key, order[: order.index(key)])
        drivers.finish()
    check(site, scene, lost=sum(key.endswith("/ask") for key in places))


@BOTH_IF_SOAKED
def test_killed_inside_every_append_and_behind_every_sent_call_a_task_ends_the_same(
    site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene, order = site.copy(tmp_path, moment="create" if SOAK else HALFWAY), effects(site)
    places = deadly(scene, order, every=SOAK)
    with engine.drivers(scene) as drivers:
        for key in places:
            passed = order[: order.index(key)]
            if key.endswith("/ask"):
                drivers.die("line", f"{key}/sent", (*passed, key))
            drivers.die("torn", key, passed)
            assert not scene.files.journal.read_bytes().endswith(b"\n")
        drivers.finish()
    check(site, scene, lost=2 * sum(key.endswith("/ask") for key in places))


@BOTH_IF_SOAKED
def test_killed_at_any_time_a_task_ends_the_same(
    site: Reference, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ASKED)  # also while judges run
    scene = site.copy(tmp_path, moment="create")
    with engine.drivers(scene) as drivers:
        for step in range(8) if SOAK else (0, 3, 6):
            drivers.obey(Order("time", milliseconds=90 + 110 * step))
        drivers.finish()
    lost = sum(key.endswith("/sent") for key in scene.recorded()) - site.finished.end().spent.calls
    check(site, scene, lost=lost)


@BOTH_IF_SOAKED
def test_a_lost_call_is_billed_at_its_worst_case(site: Reference, tmp_path: Path, engine: Engine) -> None:
    scene = site.copy(tmp_path, moment="review/1/5/ask/0/sent")
    state = scene.site().read(scene.files).state
    engine.drive(scene)
    assert scene.unaccounted() == worst_case(state, state.run_of(WORKER))
    check(site, scene, lost=1)
