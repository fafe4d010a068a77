"""Durations as a person writes them."""

import pytest

from agentforge.core.errors import UsageError
from agentforge.surfaces.cli.durations import seconds


@pytest.mark.parametrize(
    ("text", "count"), [("90s", 90), ("45m", 2700), ("2h", 7200), ("1d", 86_400), ("1h30m", 5400)]
)
def test_a_duration_is_a_number_of_seconds(text: str, count: int) -> None:
    assert seconds(text) == count


@pytest.mark.parametrize("text", ["", "0s", "90", "h", "1.5h", "-1h", "1w", "1h 30m", "9999999s"])
def test_what_is_no_duration_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="not a duration"):
        seconds(text)
