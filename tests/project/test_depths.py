"""What runs in a soak alone is shown with other data by a test that always runs."""

import re
from pathlib import Path

from tests.depth import leaves_out
from tests.rows import every

TOP = Path(__file__).parents[2]
SHOWN = re.compile(r'@shown_by\(\s*"([^"]+)"\s*,?\s*\)\n(?:@.*\n)*def (test_\w+)')


def test_whoever_shows_it_instead_is_there_and_runs_always() -> None:
    moved = {
        f"{path.relative_to(TOP)}::{name}": instead
        for path in (TOP / "tests").rglob("test_*.py")
        for instead, name in SHOWN.findall(path.read_text(encoding="utf-8"))
    }
    assert moved
    for name, instead in moved.items():
        path, _, function = instead.partition("::")
        assert f"\ndef {function}(" in (TOP / path).read_text(encoding="utf-8"), (name, instead)
        assert instead not in moved, (name, instead)


@every(
    ("chosen", "left_out"),
    [
        ("not slow and not wide", True),
        ("not slow", True),
        ("not wide", False),
        ("network or not slow", False),
        ("network or wide and not slow", False),
        ("", False),
    ],
)
def test_only_what_the_marks_leave_out_for_certain_is_not_loaded(chosen: str, *, left_out: bool) -> None:
    assert leaves_out("slow", chosen) is left_out
