"""`kill -9` for real over a debate: at every effect, and when three calls are in flight at once."""

import json
from collections import Counter
from pathlib import Path

import pytest

import agentforge
from agentforge.app.workflow.debating import DebateQuestion, start_debate
from agentforge.core.pending import worst_case
from agentforge.core.values import Amount
from tests.depth import telling
from tests.engines.crash_site import Reference, Scene, copy_scene, found, reference_of, share_cache
from tests.engines.deaths import When, plain
from tests.engines.engines import BOTH_IF_SOAKED, Engine
from tests.whole.debates import OPTIONS, QUESTION, argued, decided

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

THREE = ("debate/advocate/1/1", "debate/skeptic/1/2", "debate/operator/1/3")
READINGS = tuple(f"{run}/assemble" for run in THREE)
CALLS = tuple(f"{run}/ask" for run in THREE)


@pytest.fixture
def debate_site(shared: Path, home: Path, network: None) -> Reference:
    """A debate that was held to its end, once."""
    return reference_of(shared, "debate-site", _make)


def _make(root: Path) -> str:
    scene = found(root / "finished", {"roses.txt": "red\n"})
    share_cache(root.parent, scene)
    script = root / "script.yaml"
    script.write_text(json.dumps({"replies": [*argued(), decided()]}))
    wanted = agentforge.StartOptions("", model=f"scripted:{script}")
    task_id = start_debate(scene.site(), DebateQuestion(QUESTION, OPTIONS), wanted).task_id
    scene = Scene(scene.root, task_id)
    copy_scene(scene, Scene(root / "moments" / "create", task_id), trees=True)
    assert scene.drive().status == "completed"
    return task_id


def check(site: Reference, scene: Scene, *, lost: int) -> None:
    """The same end, nothing recorded twice, nobody answered twice, and the bill is whole."""
    assert scene.end() == site.finished.end()
    assert max(Counter(scene.recorded()).values()) == 1
    assert scene.unaccounted().calls == lost
    answered = [key for key in scene.recorded() if "/ask/" in key and not key.endswith("/sent")]
    assert sorted(Counter(map(plain, answered)).values()) == [1, 1, 1, 1]


def effects(site: Reference) -> list[str]:
    """Every effect, in an order that one driver after another can be led along: all three read, then each is
    asked and acts.
    """
    keys = [plain(key) for key in site.finished.recorded() if key != "create" and not key.endswith("/sent")]
    beside = {key for key in keys if key.startswith(THREE)}
    at = min(keys.index(key) for key in beside)
    rest = [key for key in keys if key not in beside]
    seated = [*READINGS, *(f"{run}/{verb}" for run in THREE for verb in ("ask", "act"))]
    assert set(seated) == beside
    return [*rest[:at], *seated, *rest[at:]]


@BOTH_IF_SOAKED
def test_killed_at_every_effect_a_debate_ends_the_same_and_nobody_is_asked_twice(
    debate_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene, order, lost = debate_site.copy(tmp_path, moment="create"), effects(debate_site), 0
    every: tuple[When, ...] = ("after", "torn", "before")
    ways = telling(every, 1)
    with engine.drivers(scene) as drivers:
        for number, key in enumerate(order):
            for way in ways:
                drivers.die(way, key, order[:number])
                lost += key.endswith("/ask") and way != "before"
        drivers.finish()
    check(debate_site, scene, lost=lost)


@BOTH_IF_SOAKED
def test_three_calls_are_in_flight_at_once_and_all_are_billed_when_their_driver_dies(
    debate_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene, order = debate_site.copy(tmp_path, moment="create"), effects(debate_site)
    with engine.drivers(scene) as drivers:
        drivers.die_of(CALLS, order[: order.index(CALLS[0])])
        state = scene.site().read(scene.files).state
        assert sorted(flight.run for flight in state.flights) == [
            "worker/advocate",
            "worker/operator",
            "worker/skeptic",
        ]
        worst = Amount()
        for flight in state.flights:
            worst = worst.plus(worst_case(state, state.run_of(flight.run)))
        drivers.finish()
    assert scene.unaccounted() == worst
    check(debate_site, scene, lost=3)
