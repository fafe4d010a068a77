"""Claims about how sure an answer is: taken in, recorded and written."""

import pytest

from agentforge.core.reply import Json
from agentforge.store.task.confidence import as_read, as_written, taken_in
from agentforge.system import strict_yaml


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


def test_a_file_has_it_as_people_write_it_and_reads_back_as_it_is_recorded() -> None:
    for percent in range(101):
        kept: dict[str, Json] = {"questions": [{"question": "Up?", "confidence": percent}], "confidence": 3}
        text = strict_yaml.dump(as_written(kept))
        read = strict_yaml.load(text, "clarification", floats="text")
        assert isinstance(read, dict)
        assert as_read(read) == kept
    assert "confidence: 0.92\n" in strict_yaml.dump(as_written({"questions": [{"confidence": 92}]}))
    assert as_written({"questions": "none"}) == {"questions": "none"}
    odd: dict[str, Json] = {"questions": [{"confidence": 250}, {"confidence": True}, "none"]}
    assert as_written(odd) == odd
