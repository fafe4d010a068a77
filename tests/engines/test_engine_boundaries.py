"""`continue` from every line of a run, with real tools, while everything but the journal is from the end of that run."""

from pathlib import Path

import pytest

from agentforge import wiring
from tests.engines.crash_site import LINES, Reference

pytestmark = pytest.mark.slow


def test_the_reference_run_has_a_failing_gate_and_as_many_lines_as_the_matrix(site: Reference) -> None:
    keys = site.finished.recorded()
    assert len(keys) == LINES
    assert [key for key in keys if key.endswith("/red")] == ["red/1/2/judge/1/0/red", "red/1/3/judge/1/1/red"]


@pytest.mark.parametrize("lines", range(1, LINES + 1))
def test_continue_from_any_line_ends_the_same(site: Reference, tmp_path: Path, lines: int) -> None:
    # Every other time the checkouts are gone; else the worktree, too, is ahead of the journal.
    trees = lines % 2 == 0
    scene = site.cut(tmp_path, lines, trees=trees)
    recorded, known = scene.files.journal.read_bytes(), scene.recorded()
    lost = {key.removesuffix("/sent") for key in known if key.endswith("/sent")} - set(known)

    scene.drive()

    assert scene.end() == site.finished.end()
    assert scene.files.journal.read_bytes().startswith(recorded)
    assert len(set(scene.recorded())) == len(scene.recorded())
    assert scene.unaccounted().calls == len(lost)
    assert bool(scene.salvaged()) == (trees and "prepare/1" in known and "green/1/4/act" not in known)
    assert [finding for finding in wiring.verify_task(scene.site(), scene.files, rerun=False) if not finding.ok] == []
