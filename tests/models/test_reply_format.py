"""The reply in each format: the same value, whichever wire and format it came in."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.core.reply import SIGNALS, Action, Json, Reply, reply_to_json
from agentforge.models.known.providers import Provider, ReplyFormat, Wire
from agentforge.models.reply.format import POSSIBLE, choose, guide, parse, reply_schema
from agentforge.models.reply.native_calls import ToolCall
from agentforge.testing import SERVERS, Scripted
from tests.fuzzing import tries
from tests.models.wire_talk import HAND_IN, READ, REQUEST, WIRES, ask, model_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["```json\n{}\n```", "````", '{"$block": "x"}', "\x00\\u0000"]
)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXT.filter(lambda key: key != "$block"), inner, max_size=3)
    ),
    max_leaves=6,
)
ACTIONS = st.builds(
    Action,
    st.sampled_from([READ.name, HAND_IN.name]),
    st.dictionaries(st.sampled_from(["path", "paper", "ü"]), JSON, max_size=3),
)
REPLIES = st.builds(
    Reply,
    thought=TEXT.map(str.strip),
    notes=st.none() | TEXT,
    actions=st.lists(ACTIONS, min_size=1, max_size=3).map(tuple),
    signal=st.none() | st.sampled_from(SIGNALS),
    summary=TEXT,
)
CODE = "def f():\n    return '```'\n"


@tries(8)
@example(
    Reply(
        "",
        "",
        (Action("hand_in", {"paper": {"text": CODE, "n": 2**53, "deep": [[{"a": None}]]}}),),
        "success",
        "done",
    )
)
@given(REPLIES)
def test_the_same_reply_in_each_format_on_each_wire_is_the_same_value(reply: Reply) -> None:
    said = reply_to_json(reply)

    def answer(_: Mapping[str, Json]) -> Scripted:
        return said

    with ExitStack() as stack:
        for wire in WIRES:
            server = stack.enter_context(SERVERS[wire](answer))
            for reply_format in POSSIBLE[wire]:
                came = model_of(server, reply_format=reply_format).ask(REQUEST)
                assert (came.reply, came.mistake) == (reply, None), (wire, reply_format)


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_declares_the_tools_or_holds_the_reply_to_a_schema_or_tells_how_to_write(
    wire: Wire,
) -> None:
    for reply_format in POSSIBLE[wire]:
        _, server = ask(wire, {"signal": "success"}, reply_format=reply_format)
        (seen,) = server.requests
        assert bool(seen.tools) is (reply_format == "calls")
        assert (seen.dialect.schema(seen.body) is not None) is (reply_format == "schema")
        assert ("## How to answer" in seen.system) is (reply_format != "calls")
        assert ("```json" in seen.system) is (reply_format == "text")
        if reply_format != "calls":
            assert json.dumps(dict(READ.schema)) in seen.system
            assert seen.system.startswith(REQUEST.system)


def test_the_schema_holds_each_action_to_its_own_arguments_and_leaves_free_objects_free() -> None:
    schema: Any = reply_schema((READ, HAND_IN))
    kinds = schema["properties"]["actions"]["items"]["anyOf"]
    assert [kind["properties"]["name"]["enum"] for kind in kinds] == [["read_file"], ["hand_in"]]
    assert kinds[0]["properties"]["args"] == READ.schema
    assert kinds[1]["properties"]["args"]["properties"]["paper"] == {
        "type": "object",
        "additionalProperties": True,
    }
    only: Any = reply_schema((READ,))
    assert only["properties"]["actions"]["items"] == kinds[0]


def test_the_guide_is_the_same_bytes_for_the_same_tools_and_empty_without_any() -> None:
    assert guide("text", (READ, HAND_IN)) == guide("text", (READ, HAND_IN))
    assert guide("calls", (READ,)) == guide("text", ()) == ""
    assert "$block" in guide("text", (READ,))
    assert "$block" not in guide("schema", (READ,))


@pytest.mark.parametrize(
    ("provider", "tools", "family", "reply_format"),
    [
        (Provider("a", "openai", "http://127.0.0.1:1/v1"), None, None, "calls"),
        (Provider("a", "openai", "http://127.0.0.1:1/v1"), None, "text", "text"),
        (Provider("a", "openai", "http://127.0.0.1:1/v1"), False, None, "schema"),
        (Provider("a", "anthropic", "http://127.0.0.1:1/v1"), False, None, "text"),
        (Provider("a", "mistral", "http://127.0.0.1:1/v1"), True, "schema", "calls"),
        (Provider("a", "openai", "http://127.0.0.1:1/v1", reply="schema"), False, "text", "schema"),
    ],
)
def test_what_a_person_said_comes_first_then_what_is_known_of_the_model(
    provider: Provider, tools: bool | None, family: ReplyFormat | None, reply_format: ReplyFormat
) -> None:
    assert choose(provider, tools=tools, family=family) == reply_format


def test_a_model_may_call_though_it_was_asked_to_write_and_write_though_it_may_call() -> None:
    action = Action("read_file", {"path": "a"})
    text = json.dumps({"actions": [{"name": "read_file", "args": {"path": "a"}}]})
    for reply_format in get_args(ReplyFormat):
        for came in ((text, ()), ("", (ToolCall("read_file", '{"path": "a"}'),))):
            reply, mistake = parse(reply_format, came[0], came[1], cut_off=False)
            assert reply is not None
            assert (reply.actions, mistake) == ((action,), None)
    assert "answer with one JSON object" in (parse("text", "I am done.", (), cut_off=False).mistake or "")
    assert "call at least one tool" in (parse("calls", "I am done.", (), cut_off=False).mistake or "")


def test_contents_in_blocks_arrive_by_way_of_text() -> None:
    text = (
        '```json\n{"actions": [{"name": "write", "args": {"content": {"$block": '
        f'"new.py"}}}}}}]}}\n```\n\n````new.py\n{CODE}````\n'
    )
    answer, _ = ask(
        "openai",
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [_choice(text)]},
        reply_format="text",
    )
    assert answer.reply is not None
    assert answer.reply.actions == (Action("write", {"content": CODE}),)


def _choice(text: str) -> Json:
    return {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
