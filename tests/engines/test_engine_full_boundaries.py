"""`continue` from the lines of a full run, while everything but the journal is from the end of that run.

Of the panel every line is tried in a soak, else some; of the others enough that each kind of effect is met.
"""

from pathlib import Path

import pytest

import agentforge
from agentforge.store.task.journal import read_lines
from tests.depth import SOAK, telling
from tests.engines.crash_site import Reference
from tests.engines.engines import Engine, both
from tests.engines.full_site import LINES
from tests.engines.lines_ahead import plain

pytestmark = pytest.mark.slow

PANEL_SITS = range(67, 82)
"""From the line that convenes the panel to the one before its commit."""
ENDS = (PANEL_SITS[3], PANEL_SITS[8], 84, LINES)
NEXT = tuple(line for line in (*range(5, 67, 6), 30, *PANEL_SITS, 86) if line not in ENDS)
SIDE_BY_SIDE = 8
"""So many lines of two reviewers may stand in any order."""


def test_the_reference_run_has_all_that_the_matrix_is_about(full_site: Reference) -> None:
    scene = full_site.finished
    state = scene.site().read(scene.files).state
    assert len(scene.recorded()) == LINES
    assert [item.stage for item in state.accepted if item.skipped] == ["clarify"]
    assert (dict(state.revised), state.blocks, len(state.reverts)) == ({"spec": 1}, 1, 1)
    assert [key for key in scene.recorded() if key.endswith("/review")] == [
        "spec/1/4/judge/1/0/review",
        "spec/1/6/judge/1/0/review",
        "refactor/1/12/judge/1/0/review",
        "refactor/1/13/judge/1/1/review",
    ]
    assert {key.split("/")[1] for key in scene.recorded()[PANEL_SITS[0] : PANEL_SITS[-1]]} >= {
        "security_architect",
        "reviewer",
        "arbiter",
    }


@both("lines", ENDS if SOAK else ENDS[:2], telling=())
def test_continue_from_a_line_of_the_full_run_ends_the_same(
    full_site: Reference, tmp_path: Path, engine: Engine, lines: int
) -> None:
    # Every other time the checkouts are gone; else the worktree, too, is ahead of the journal.
    scene = full_site.cut(tmp_path, lines, trees=lines % 2 == 0)
    recorded, known = scene.files.journal.read_bytes(), scene.recorded()
    lost = {key.removesuffix("/sent") for key in known if key.endswith("/sent")} - set(known)

    engine.drive(scene)

    assert scene.end() == full_site.finished.end()
    assert scene.files.journal.read_bytes().startswith(recorded)
    assert len(set(scene.recorded())) == len(scene.recorded())
    assert scene.unaccounted().calls == len(lost)
    assert [
        finding
        for finding in agentforge.verify(agentforge.OpenTask.open(scene.site(), scene.files), rerun=False)
        if not finding.ok
    ] == []


@both("lines", telling(NEXT, 11), telling=())
def test_continue_from_a_line_of_the_full_run_records_what_the_whole_run_did(
    full_site: Reference, tmp_path: Path, engine: Engine, lines: int
) -> None:
    scene = full_site.cut(tmp_path, lines, trees=lines % 2 == 0)
    recorded = scene.files.journal.read_bytes()
    expected = [
        plain(line.key, line.body["events"]) for line in read_lines(full_site.finished.files.journal)[lines:]
    ]

    found = engine.next_line(scene)

    assert found in expected[:SIDE_BY_SIDE] or found[0].endswith("/sent") or found[0] == "baseline/1"
    assert scene.files.journal.read_bytes().startswith(recorded)
