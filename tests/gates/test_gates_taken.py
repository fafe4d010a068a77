"""Claims about artifacts as they are taken in."""

import pytest

from agentforge.core.reply import Json
from agentforge.gates.taken import taken_in


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("0.92", 92),
        (".8", 80),
        ("1.0", 100),
        ("0.0", 0),
        ("0.799", 79),  # rounding never makes an answer sure
        ("92.0", 92),
        (92, 92),
        (1, 1),
        ("92.5", "92.5"),
        ("-0.5", "-0.5"),
        ("high", "high"),
        ("1e3", "1e3"),
        (None, None),
        (True, True),
    ],
)
def test_a_confidence_is_kept_as_a_whole_percent_and_what_is_none_is_left_to_its_contract(
    said: Json, kept: Json
) -> None:
    assert taken_in({"questions": [{"confidence": said, "answer": "0.92"}]}) == {
        "questions": [{"confidence": kept, "answer": "0.92"}]
    }
