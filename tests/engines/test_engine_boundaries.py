"""`continue` from every line of a run, with real tools, while everything but the journal is from the end of
that run.

From some lines, and the last ones, the task is driven to its end. From every other line it is driven until
its next line is recorded, which must be the one that the whole run recorded there: so each line leads to the
next, and the last to the end. (Every third line, that is, unless in a soak.)
"""

import json
from pathlib import Path

import pytest

import agentforge
from agentforge.activities.perform import perform
from agentforge.core.effects import Assemble, Effect, TakeBaseline
from agentforge.core.pending import pending
from agentforge.store.task.journal import read_lines
from tests.depth import SOAK, telling
from tests.engines.crash_site import LINES, Reference
from tests.engines.engines import Engine, both
from tests.engines.lines_ahead import plain

pytestmark = pytest.mark.slow

ENDS = (5, 10, 21, 30, LINES - 2, LINES - 1, LINES)


def test_the_reference_run_has_a_failing_gate_and_as_many_lines_as_the_matrix(site: Reference) -> None:
    keys = site.finished.recorded()
    assert len(keys) == LINES
    assert [key for key in keys if key.endswith("/red")] == ["red/1/2/judge/1/0/red", "red/1/3/judge/1/1/red"]


def test_red_is_proved_by_three_runs_that_agree(site: Reference) -> None:
    evidence = json.loads(site.finished.files.evidence.read_bytes())
    (row,) = [row for row in evidence["rows"] if row["gate"] == "red"]
    whole, *again = [run["outcomes"] for run in row["runs"]]
    assert len(again) == 2
    assert again[0] == again[1] == {name: whole[name] for name in again[0]}
    assert "failed" in again[0].values()


@pytest.mark.parametrize("first", [TakeBaseline, Assemble])
def test_what_the_first_stage_is_shown_does_not_hang_on_which_effect_was_quicker(
    site: Reference, tmp_path: Path, first: type[Effect]
) -> None:
    scene = site.copy(tmp_path, moment="prepare/1")
    with agentforge.open_driver(agentforge.OpenTask.open(scene.site(), scene.files)) as driver:
        world, journal = driver.world(), driver.journal
        owed = sorted(pending(journal.state), key=lambda effect: not isinstance(effect, first))
        assert {type(effect) for effect in owed} == {TakeBaseline, Assemble}
        for effect in owed:
            journal.advance(effect.key, perform(world, effect, journal.state))
    (shown,) = [
        line.body["events"] for line in read_lines(scene.files.journal) if line.key.endswith("/assemble")
    ]
    assert shown == next(
        line.body["events"]
        for line in read_lines(site.finished.files.journal)
        if line.key.endswith("/assemble")
    )


@both("lines", ENDS if SOAK else (5, 21, 30, LINES), telling=(30,))
def test_continue_from_any_line_ends_the_same(
    site: Reference, tmp_path: Path, engine: Engine, lines: int
) -> None:
    # Every other time the checkouts are gone; else the worktree, too, is ahead of the journal.
    trees = lines % 2 == 0
    scene = site.cut(tmp_path, lines, trees=trees)
    recorded, known = scene.files.journal.read_bytes(), scene.recorded()
    lost = {key.removesuffix("/sent") for key in known if key.endswith("/sent")} - set(known)

    engine.drive(scene)

    assert scene.end() == site.finished.end()
    assert scene.files.journal.read_bytes().startswith(recorded)
    assert len(set(scene.recorded())) == len(scene.recorded())
    assert scene.unaccounted().calls == len(lost)
    assert bool(scene.salvaged()) == (trees and "prepare/1" in known and "green/1/4/act" not in known)
    assert [
        finding
        for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
        if not finding.ok
    ] == []


@both("lines", telling(sorted(set(range(1, LINES)) - set(ENDS)), 14), telling=())
def test_continue_from_any_line_records_the_same_next_line(
    site: Reference, tmp_path: Path, engine: Engine, lines: int
) -> None:
    scene = site.cut(tmp_path, lines, trees=lines % 2 == 0)
    recorded = scene.files.journal.read_bytes()
    expected = [
        plain(line.key, line.body["events"]) for line in read_lines(site.finished.files.journal)[lines:]
    ]

    found = engine.next_line(scene)

    # Beside the first calls the environment is built: which of the two is first is chance, what is recorded
    # is not.
    assert found in expected[:4] or found[0].endswith("/sent")
    assert scene.files.journal.read_bytes().startswith(recorded)
