"""JSON of other people is changed in place, and comes back to the byte."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.system.json_text import with_added, without

VALUE: dict[str, Any] = {"matcher": "Write", "hooks": [{"type": "command", "n": 1}]}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=4).filter(lambda name: name != "new"), values, max_size=4),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["", "\n", " \n\n"]),
    st.booleans(),
    st.booleans(),
)
@example({}, None, "", False, False)
def test_what_is_added_is_there_and_taking_it_out_gives_the_bytes_back(
    data: dict[str, Any], indent: int | str | None, end: str, windows: bool, ascii_only: bool
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only) + end
    text = text.replace("\n", "\r\n") if windows else text
    added = with_added(text, (), VALUE, "new")
    assert json.loads(added) == {**data, "new": VALUE}
    assert list(json.loads(added))[-1] == "new"
    assert without(added, ("new",)) == text
    for name, inner in data.items():
        if isinstance(inner, list):
            longer = with_added(text, (name,), VALUE)
            assert json.loads(longer)[name] == [*inner, VALUE]
            assert without(longer, (name, len(inner))) == text


@pytest.mark.parametrize(
    "text", ["{}", "{ }", "{\n}", "{\r\n\r\n}\r\n", ' {"a" :1 , "b":[ 1 ,2 ] } ', '{"a":1.0e3}\n', '{"a":[]}']
)
def test_odd_spelling_of_the_rest_stays(text: str) -> None:
    added = with_added(text, (), [1], "new")
    assert json.loads(added) == {**json.loads(text), "new": [1]}
    assert without(added, ("new",)) == text


def test_neighbours_show_how_it_is_written() -> None:
    assert (
        with_added('{\n    "a": 1\n}\n', (), {"b": []}, "new")
        == '{\n    "a": 1,\n    "new": {\n        "b": []\n    }\n}\n'
    )
    assert with_added('{"a": [1, 2]}', ("a",), 3) == '{"a": [1, 2, 3]}'
    assert with_added("{}\n", (), [1], "new") == '{\n  "new": [\n    1\n  ]\n}\n'


def test_somebody_elses_later_additions_survive() -> None:
    added = with_added('{\n  "a": [\n    1\n  ]\n}', ("a",), 2)
    later = with_added(added, ("a",), 3)
    assert json.loads(without(later, ("a", 1))) == {"a": [1, 3]}
    assert without(with_added("{}", (), 1, "x"), ("x",)) == "{}"
    assert json.loads(without('{"x": 1, "y": 2}', ("x",))) == {"y": 2}


def test_of_two_members_with_one_name_the_last_is_used() -> None:
    assert with_added('{"a": [], "a": [1]}', ("a",), 2) == '{"a": [], "a": [1, 2]}'
