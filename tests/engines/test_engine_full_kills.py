"""`kill -9` for real over the full line: at every kind of effect, and in every way where the panel sits."""

from collections import Counter
from pathlib import Path

import pytest

import agentforge
from agentforge.activities.ask import WITHDRAWN
from agentforge.activities.perform import perform
from agentforge.core.inputs import Abort
from agentforge.core.pending import pending, worst_case
from tests.depth import SOAK
from tests.engines.crash_site import Reference, Scene
from tests.engines.deaths import Order, When
from tests.engines.engines import BOTH_IF_SOAKED, Engine
from tests.engines.full_site import CALLS, JUDGED, PANEL, READINGS, UNDONE, effects

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def check(site: Reference, scene: Scene, *, lost: int) -> None:
    """The same end, nothing recorded twice, and every call that was sent in vain on the bill."""
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


def collect_garbage(scene: Scene) -> None:
    scene.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    scene.git("gc", "-q", "--prune=now")


def ways(key: str, order: list[str]) -> tuple[When, ...]:
    """How drivers die at this effect."""
    if key.startswith(PANEL):
        return ("before", "after", "torn") if SOAK else ("after",)
    if key.startswith("refactor/arbiter") or key.endswith("/review"):
        return ("after", "torn") if SOAK else ("torn",)
    alike = [other for other in order if kind(other) == kind(key) and not other.startswith(PANEL)]
    return ("after",) if key == alike[-1] else ()


def kind(key: str) -> str:
    return key.rstrip("/0123456789").rpartition("/")[2]


@BOTH_IF_SOAKED
def test_killed_at_every_kind_of_effect_and_all_over_the_panel_the_full_line_ends_the_same(
    full_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene, order, lost = full_site.copy(tmp_path, moment="create"), effects(full_site), 0
    with engine.drivers(scene) as drivers:
        for number, key in enumerate(order):
            for way in ways(key, order):
                drivers.die(way, key, order[:number])
                lost += key.endswith("/ask") and way != "before"
        drivers.finish()
    check(full_site, scene, lost=lost)


@BOTH_IF_SOAKED
def test_calls_of_both_reviewers_that_were_in_flight_are_both_billed(
    full_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = full_site.copy(tmp_path, moment=JUDGED)
    with engine.drivers(scene) as drivers:
        drivers.die_of(CALLS, READINGS)
        state = scene.site().read(scene.files).state
        assert sorted(flight.run for flight in state.flights) == [
            "worker/reviewer",
            "worker/security_architect",
        ]
        first, second = (worst_case(state, state.run_of(flight.run)) for flight in state.flights)
        # While nobody drives, everything is swept up: the tree under review is in no commit yet.
        collect_garbage(scene)
        drivers.finish()
    assert scene.unaccounted() == first.plus(second)
    check(full_site, scene, lost=2)


@BOTH_IF_SOAKED
def test_after_git_clean_under_a_sitting_panel_the_task_goes_on_from_its_last_accepted_stage(
    full_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = full_site.copy(tmp_path, moment=JUDGED, trees=False)
    scene.git("clean", "-qfdx")
    assert not scene.files.root.exists()
    collect_garbage(scene)
    engine.drive(scene)
    check(full_site, scene, lost=0)


@BOTH_IF_SOAKED
def test_an_undone_edit_that_still_stands_in_the_worktree_is_no_part_of_the_work(
    full_site: Reference, tmp_path: Path, engine: Engine
) -> None:
    scene = full_site.copy(tmp_path, moment=UNDONE)
    assert "{text}!" in (scene.trees / "worktree" / "shout.py").read_text()
    with engine.drivers(scene) as drivers:
        for step in range(6) if SOAK else (0, 3):
            drivers.obey(Order("time", milliseconds=150 + 170 * step))
        drivers.finish()
    check(
        full_site,
        scene,
        lost=sum(key.endswith("/sent") for key in scene.recorded()) - full_site.finished.end().spent.calls,
    )


def test_a_call_that_is_no_longer_owed_does_not_leave(full_site: Reference, tmp_path: Path) -> None:
    scene = full_site.copy(tmp_path, moment=JUDGED)
    with agentforge.open_driver(agentforge.OpenTask.open(scene.site(), scene.files)) as driver:
        world, journal = driver.world(), driver.journal
        for effect in pending(journal.state):
            journal.advance(effect.key, perform(world, effect, journal.state))
        before = journal.state
        first, _ = pending(before)
        driver.tell("person/1", Abort("ada"))
        assert perform(world, first, before) == WITHDRAWN
        assert (journal.state.flights, journal.state.spent) == ((), before.spent)
