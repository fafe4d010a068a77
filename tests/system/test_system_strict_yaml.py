"""YAML that means what it shows, and mistakes that say where they are."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system.strict_yaml import YamlValue, dump, load, load_file
from agentforge.system.yaml_places import line_of, places, spell
from tests.rows import every

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.lists(
    st.sampled_from(
        ["a", " ", "\n", "\t", "#", ": ", "- ", "é", "😀", "---", "...", "\r", "|", "'", '"', "\x85"]
    ),
    max_size=10,
).map("".join)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
@example("a\n  ")
@example({"a": ["x\n\n\n", "\n", " x\ny", "x\n---\ny"], "k" * 1200: {"": [[], {}]}})
@example({"no": "no", "012": "012", "0o17": "0o17", "1e3": "1e3", "d": "2024-01-01", "~": "~", "<<": "<<"})
@example(["\x7f\n", "\x85x\ny", "\ufeff\nz", "\u2028\n"])
def test_what_is_dumped_reads_back_equal(value: Json) -> None:
    assert load(dump(value), "f") == value


@given(VALUES)
def test_other_readers_read_the_same(value: Json) -> None:
    assert yaml.safe_load(dump(value)) == value


def test_floats_survive_when_asked_for() -> None:
    value: YamlValue = {"a": 1.5, "b": [1e300, -math.inf]}
    assert load(dump(value), "f", floats=True) == value


def test_dump_keeps_the_order_and_writes_several_lines_as_a_literal_block() -> None:
    assert (
        dump({"z": "one\ntwo\n", "a": [{"b": 1, "c": []}, "x y"]})
        == "z: |\n  one\n  two\na:\n  - b: 1\n    c: []\n  - x y\n"
    )


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert load(dump("a\ud800"), "f") == "a\ufffd"


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = (
        "a: no\nb: on\nc: 012\nd: 2024-01-01\ne: 0o17\nf: !!str 12\ng:\nh: 1:30\ni: 'true'\nj: "
        "True\nk: 0x1F\n"
    )
    expected = {
        "a": "no",
        "b": "on",
        "c": 12,
        "d": "2024-01-01",
        "e": 15,
        "f": "12",
        "g": None,
        "h": "1:30",
        "i": "true",
        "j": True,
        "k": 31,
    }
    assert load(text, "f") == expected


def test_an_empty_document_is_none() -> None:
    assert load("# nothing\n", "f") is None


@every(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: the key `a` is there twice (first in line 1)."),
        ("a: &x [1]\nb: *x", "f.yaml:2:4: the alias `*x` is not allowed; write the value out."),
        ("<<: {a: 1}", "f.yaml:1:1: the merge key `<<` is not allowed; write the keys out."),
        (
            "a:\n  b: 1.10",
            "f.yaml:2:6: `1.10` is a fraction, which is not allowed here; put it in quotes if it is text.",
        ),
        ("1: 2", "f.yaml:1:1: the key `1` is not text; put it in quotes."),
        ("? [a]\n: b", "f.yaml:1:3: a key must be text."),
        ("a: !!binary abc", "f.yaml:1:4: the tag `tag:yaml.org,2002:binary` is not allowed."),
        ("!foo {a: b}", "f.yaml:1:1: the tag `!foo` is not allowed."),
        ("a\n---\nb", "f.yaml:2:1: a second document starts here; one file holds one."),
        ("é: 1\nb: \x01", "f.yaml:2:4: the character U+0001 is not allowed here."),
        ("é: \ud800", "f.yaml:1:4: half of a surrogate pair is not text."),
        ("[" * 200_000, "f.yaml:1:101: nested deeper than 100 levels."),
        (
            "a: " + "1" * 5000,
            "f.yaml:1:4: a number of 5000 digits is too long; put it in quotes if it is text.",
        ),
        ("a: [1", "f.yaml:2:1: "),
        ("a:\n\t- b", "f.yaml:2:1: "),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(text, "f.yaml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)
    )
    with pytest.raises(UsageError, match="alias"):
        load(bomb, "f")


PLACES = """\
# a comment
agent:
  role: developer

  tools: [read, {name: edit}]
+rules:
  - one
  -
    deep:
      key: |
        text
last: ~
"""


@every(
    ("path", "line"),
    [
        (("agent",), 2),
        (("agent", "role"), 3),
        (("agent", "tools", 0), 5),
        (("agent", "tools", 1, "name"), 5),
        (("+rules", 0), 7),
        (("+rules", 1), 9),
        (("+rules", 1, "deep", "key"), 10),
        (("last",), 12),
        (("nowhere",), None),
        (("agent", "tools", 2), None),
        ((), None),
    ],
)
def test_every_key_and_entry_has_its_line(path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(PLACES, path) == line


def test_places_carry_scalars_as_written_and_are_spelled_like_paths() -> None:
    found = {spell(place.path): place.text for place in places(PLACES)}
    assert found["agent.role"] == "developer"
    assert found["agent.tools[1].name"] == "edit"
    assert found["agent.tools"] == ""
    assert list(places("")) == list(places("just text")) == []


@given(VALUES)
def test_every_value_that_can_be_written_has_places(value: Json) -> None:
    def count(part: Json) -> int:
        below = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return sum(1 + count(child) for child in below)

    assert len(list(places(dump(value)))) == count(value)


def test_a_line_that_is_indented_with_a_tab_is_told_so() -> None:
    for text in ("model:\tx\n\ty: 1\n", "python:\n\ttests: x\n"):
        with pytest.raises(UsageError, match=r"f:2:1: the line is indented with a tab; YAML wants spaces"):
            load(text, "f")


def test_a_file_below_a_file_names_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"/file is no directory.*Set HOME or AGENTFORGE_HOME"):
        load_file(tmp_path / "file/.agentforge/config.yaml")
