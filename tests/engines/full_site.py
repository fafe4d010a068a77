"""The full line on the site of the crash tests: a panel that disagrees, a revision, an undone edit, a stage
nobody works on.
"""

from pathlib import Path

from tests.engines.crash_site import PROJECT, Plan, Reference
from tests.engines.deaths import plain
from tests.whole.full_plays import EVERY_ROLE

LINES = 91
"""Decisions of the whole run, its creation included."""
JUDGED = "refactor/1/10/judge/1/0/contracts"
"""The result has passed its gates: the panel sits, and nobody has read anything."""
UNDONE = "refactor/1/9/check/1"
"""A refactoring was undone on record, and still stands in the worktree."""
FULL = Plan(
    "full-site",
    "full",
    Path(__file__).with_name("full_script.yaml"),
    (JUDGED, UNDONE),
    {**PROJECT, **EVERY_ROLE},
)

PANEL = ("refactor/security_architect/1/11", "refactor/reviewer/1/12")
"""Two seats, side by side."""
READINGS = tuple(f"{seat}/assemble" for seat in PANEL)
CALLS = tuple(f"{seat}/ask" for seat in PANEL)


def effects(site: Reference) -> list[str]:
    """Every effect of the run, in an order that one driver after another can be led along.

    The baseline, which runs beside the first stages, comes when it is first owed. Which reviewer is first is
    chance: both read, then the first one is asked and acts, then the second.
    """
    keys = [plain(key) for key in site.finished.recorded() if key != "create" and not key.endswith("/sent")]
    keys.remove("baseline/1")
    side_by_side = {key for key in keys if key.startswith(PANEL)}
    at = min(keys.index(key) for key in side_by_side)
    rest = [key for key in keys if key not in side_by_side]
    seated = [f"{seat}/assemble" for seat in PANEL] + [
        f"{seat}/{verb}" for seat in PANEL for verb in ("ask", "act")
    ]
    assert set(seated) == side_by_side
    return [rest[0], "baseline/1", *rest[1:at], *seated, *rest[at:]]
