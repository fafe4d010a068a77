"""Whatever text a model writes, reading it ends in a reply, a sentence, or both."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.reply import Action, Json, Reply, reply_to_json
from agentforge.models.base import MAX_REPLY_BYTES, parse_reply_text
from agentforge.models.reply.text import recorded
from tests.depth import SOAK
from tests.fuzzing import tries
from tests.rows import every

FULL: dict[str, Json] = {
    "thought": 'Write it, then "run" it.',
    "notes": "the file ends with a }",
    "actions": [
        {"name": "create_file", "args": {"path": "a.py", "content": 'x = {"a": [1, 2]}\n'}},
        {"name": "edit_file", "args": {"path": "b.py", "old": "}\\", "new": "]"}},
        {"action": "run_tests", "paths": ["tests"]},
    ],
    "artifacts": {"test_suite": {"tests": []}, "analysis": {"facts": [1]}},
    "signal": "success",
    "summary": "done",
}
BLOCKED = """I will write two files.

```json
{"thought": "two files", "actions": [
  {"name": "create_file", "args": {"path": "a.py", "content": {"$block": "a.py"}}},
  {"name": "create_file", "args": {"path": "b.md", "content": {"$block": "b.md"}}}
], "signal": "success"}
```

```a.py
x = "{"
```

````b.md
# Title
```
code
```
````
"""


def whole(text: str) -> Reply:
    reply, mistake = parse_reply_text(text)
    assert reply is not None, mistake
    assert mistake is None
    return reply


def mistake_of(text: str, cut_off: bool = False) -> str:
    reply, mistake = parse_reply_text(text, cut_off)
    assert reply is None
    assert mistake is not None
    return mistake


@every(
    "text",
    [
        json.dumps(FULL),
        json.dumps(FULL, indent=2) + "\n",
        f"```json\n{json.dumps(FULL)}\n```",
        f"Here is what I do:\n\n```JSON\n{json.dumps(FULL, indent=1)}\n```\nThat is all.",
        f"Here is what I do:\n{json.dumps(FULL)}\nThat is all.",
        f"```json\r\n{json.dumps(FULL)}\r\n```\r\n",
    ],
)
def test_plain_and_fenced_json_are_the_same_reply(text: str) -> None:
    reply = whole(text)
    assert [action.name for action in reply.actions] == [
        "create_file",
        "edit_file",
        "run_tests",
        "submit_artifact",
        "submit_artifact",
    ]
    assert reply.signal == "success"


def test_a_block_stands_for_its_lines_exactly() -> None:
    contents = [action.args["content"] for action in whole(BLOCKED).actions]
    assert contents == ['x = "{"\n', "# Title\n```\ncode\n```\n"]


@every(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("I think the tests pass now.", "it holds no JSON object"),
        ('{"actions": [}', "expecting value (line 1 column 14)"),
        ('Sure:\n```json\n{"thought": "a"\n "b"}\n```', "line 4 column 2"),
        ('{"thought": "a", "thought": "b"}', "the key 'thought' appears twice"),
        ('{"thought": NaN}', "NaN is not a JSON number"),
        ('{"thought": "\\ud800"}', "surrogate"),
        ('{"thought": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 64 levels"),
        ('{"notes": ' + "9" * 5000 + "}", "too long"),
        ('{"thought": "a"}\n{"thought": "b"}', "a second JSON object"),
        ('{"actions": []}\nBetter:\n```json\n{"actions": [], "notes": "b"}\n```\n', "a second JSON object"),
        ('{"signal": "great"}', "unknown signal"),
        (
            '{"actions": [{"name": "x", "args": {"a": {"$block": "b"}}}]}\n```c\n1\n```',
            "the block 'b' is not there; usable blocks: c",
        ),
        (
            '{"actions": [{"name": "x", "args": {"a": {"$block": "b"}}}]}\n```b\n1',
            "the block 'b' is not closed",
        ),
        (
            '{"actions": [{"name": "x", "args": {"a": {"$block": "b"}}}]}\n```b\n1\n```\n```b\n2\n```',
            "is in the reply twice",
        ),
    ],
)
def test_an_unusable_reply_says_exactly_what_is_wrong(text: str, says: str) -> None:
    assert says in mistake_of(text)


def test_a_reply_of_fifty_megabytes_is_refused_unread() -> None:
    text = '{"thought": "' + "a" * 50_000_000 + '"}'
    started = time.process_time()
    assert f"at most {MAX_REPLY_BYTES:,}" in mistake_of(text)
    assert time.process_time() - started < 1
    assert len(recorded(text)) < 100_000


def test_one_block_in_a_thousand_places_cannot_grow_without_bound() -> None:
    actions: list[Json] = [{"name": "x", "args": {str(at): {"$block": "b"} for at in range(1000)}}]
    text = json.dumps({"actions": actions}) + "\n```b\n" + "a" * 100_000 + "\n```\n"
    assert "with its blocks filled in" in mistake_of(text)


def test_a_fraction_becomes_text_because_records_hold_no_floats() -> None:
    reply = whole('{"actions": [{"name": "x", "args": {"confidence": 0.90, "count": 3}}]}')
    assert reply.actions[0].args == {"confidence": "0.90", "count": 3}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_cut_at_any_place_keeps_only_complete_leading_actions(indent: int | None) -> None:
    text = json.dumps(FULL, indent=indent)
    everything = whole(text).actions
    kept_counts = set()
    for cut in range(len(text)):
        reply, mistake = parse_reply_text(text[:cut], cut_off=True)
        assert mistake is not None
        if reply is not None:
            assert reply.actions == everything[: len(reply.actions)] != ()
            assert (reply.signal, reply.summary) == (None, "")
            assert f"{len(reply.actions)}. " in mistake
            kept_counts.add(len(reply.actions))
    assert kept_counts == {1, 2, 3, 4, 5}
    assert parse_reply_text(text, cut_off=True) == (whole(text), None)


def test_a_cut_among_the_blocks_keeps_the_actions_whose_blocks_arrived() -> None:
    everything = whole(BLOCKED).actions
    for cut in range(len(BLOCKED) - 1):
        reply, mistake = parse_reply_text(BLOCKED[:cut], cut_off=True)
        if reply is not None and mistake is not None:
            assert reply.actions == everything[:1]
            assert "Kept, in order: 1. create_file. Lost: create_file" in mistake
    at = BLOCKED.index("````b.md")
    assert parse_reply_text(BLOCKED[:at], cut_off=True).reply is not None


def test_artifacts_before_lost_actions_are_lost_too() -> None:
    text = '{"artifacts": {"analysis": {}}, "actions": [{"name": "a", "args": {}}, {"name": "b", "ar'
    reply, mistake = parse_reply_text(text, cut_off=True)
    assert reply is not None
    assert reply.actions == (Action("a", {}),)
    assert mistake is not None
    assert "Lost: artifact analysis, b" in mistake


def test_a_cut_before_the_first_action_says_so() -> None:
    assert "before its first action was complete" in mistake_of('{"thought": "a long th', cut_off=True)
    assert "cut off at the length limit" in mistake_of("Let me think about", cut_off=True)


@given(st.text(), st.booleans())
def test_no_text_makes_it_raise(text: str, cut_off: bool) -> None:
    reply, mistake = parse_reply_text(text, cut_off)
    assert reply is not None or mistake


_ALMOST = st.lists(
    st.sampled_from(
        [
            '{"',
            '"}',
            "```json\n",
            "\n```\n",
            "```x\n",
            "~~~",
            '{"actions": [',
            '{"name": "a", "args": {',
            "}}",
            "]",
            ",",
            '"\\',
            '"$block": "x"',
            "1e9",
        ]
    ),
    max_size=30,
).map("".join)


@given(_ALMOST, st.booleans())
def test_no_almost_reply_makes_it_raise(text: str, cut_off: bool) -> None:
    reply, mistake = parse_reply_text(text, cut_off)
    assert reply is not None or mistake
    if reply is not None:
        json.dumps(reply_to_json(reply)).encode()


_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])).filter(lambda key: key != "$block"),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
_REPLIES = st.builds(
    Reply,
    thought=st.text(st.characters(exclude_categories=["Cs"])),
    actions=st.lists(
        st.builds(
            Action, st.text(st.characters(exclude_categories=["Cs"])), st.dictionaries(st.just("a"), _VALUES)
        ),
        max_size=4,
    ).map(tuple),
)


@given(_REPLIES, st.data())
@tries(60)
def test_any_reply_reads_back_and_survives_any_cut(reply: Reply, data: st.DataObject) -> None:
    text = json.dumps(reply_to_json(reply))
    assert whole(text) == reply
    part = parse_reply_text(text[: data.draw(st.integers(0, len(text) - 1))], cut_off=True).reply
    assert part is None or part.actions == reply.actions[: len(part.actions)]


PART = 1 if SOAK else 4
HOSTILE = {
    "an open string": '{"a": "' + '\\"' * (900_000 // PART),
    "backticks": "```" * (600_000 // PART),
    "braces": "{" * (1_900_000 // PART),
    "many actions": '{"actions": [' + "1," * (900_000 // PART),
    "half actions": '{"actions": [' + '{"name"      ' * (150_000 // PART),
    "fences": "~~~x\n" * (390_000 // PART),
    "many keys": "{" + ",".join(f'"{at}":1' for at in range(150_000 // PART)) + ',"0":1}',
    "blanks": " " * (1_900_000 // PART) + "{",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("cut_off", [False, True])
def test_the_work_is_linear_for_hostile_texts(name: str, cut_off: bool) -> None:
    started = time.process_time()
    parse_reply_text(HOSTILE[name], cut_off)
    assert time.process_time() - started < 4 / PART
