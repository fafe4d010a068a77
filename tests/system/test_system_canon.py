"""The canonical spelling is JSON, is YAML, and is one line."""

import json
from typing import cast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.reply import Json
from agentforge.system.canon import canonical, digest, digest_value

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["\x7f", "\x85a", "\u2028", "\ufeff", "\uffff", "😀", "a: b", "#", "- x"]
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_one_line_reads_back_equal_as_json_and_as_yaml(value: Json) -> None:
    line = canonical(value)
    assert len(line.splitlines()) == 1
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == value
    document = f"actions:\n- {line.decode()}\n"
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert yaml.load(document, Loader=loader) == {"actions": [value]}


def test_the_order_of_keys_does_not_matter() -> None:
    assert (
        canonical({"b": 1, "a": [True, None]})
        == canonical({"a": [True, None], "b": 1})
        == b'{"a":[true,null],"b":1}'
    )


def test_text_stays_readable() -> None:
    assert canonical("grün 😀") == '"grün 😀"'.encode()
    assert canonical("\u2028") == b'"\\u2028"'


def test_a_lone_surrogate_survives_as_json() -> None:
    assert json.loads(canonical("\ud800x")) == "\ud800x"


def test_a_float_is_refused_with_its_path() -> None:
    with pytest.raises(TypeError, match=r"\$\.a\[1\]\.b: a float"):
        canonical(cast("Json", {"a": [1, {"b": 1.5}]}))


def test_a_key_that_is_not_text_is_refused_with_its_path() -> None:
    with pytest.raises(TypeError, match=r"\$\.a: the key 1 is int"):
        canonical(cast("Json", {"a": {1: 2}}))


def test_a_digest_is_sha256_of_the_canonical_form() -> None:
    assert (
        digest("abc") == digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert digest_value({"b": 1, "a": 2}) == digest(b'{"a":2,"b":1}')
