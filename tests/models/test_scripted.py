"""A scripted model says what its file says, and nothing depends on the process that asks."""

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.reply import Action
from agentforge.models.base import Block, Model, ModelTrouble, Request, Reservation, Usage
from agentforge.models.scripted import load_script, read_script
from tests.rows import every

SCRIPT = """\
replies:
  - stage: red
    expects: ["REQ-00\\\\d", {not: "secret"}, '^role: tester$']
    reply:
      thought: first
      actions: [{name: run_tests, args: {}}]
  - stage: green
    reply: '{"thought": "raw", "actions": [{"name": "read_file", "args": {"path": "a.py"}}]}'
    usage: {input_tokens: 900, output_tokens: 80, cached_tokens: 100}
  - stage: red
    stop: length
    reply: '{"actions": [{"name": "a", "args": {}}, {"name": "b"'
  - stage: red
    stop: refused
    reply: I would rather not.
"""
REQUEST = Request("red/1/1/ask/1", "red", "role: tester", (Block("task_frame", "REQ-001: sort"),), (), 500)


def model() -> Model:
    return read_script(SCRIPT, "demo.yaml")


def test_replies_come_in_order_for_each_stage() -> None:
    answers = [model().ask(replace(REQUEST, ordinal=at)) for at in range(3)]
    assert [answer.stop for answer in answers] == ["end", "length", "refused"]
    first, second, third = (answer.reply for answer in answers)
    assert first is not None
    assert first.thought == "first"
    assert second is not None
    assert second.actions == (Action("a", {}),)
    assert third is None
    assert answers[1].mistake is not None
    assert "Lost: b" in answers[1].mistake


def test_the_same_request_gets_the_same_answer_from_a_fresh_process(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    once, again = load_script(path), load_script(path)
    once.ask(REQUEST)
    assert once.ask(REQUEST) == again.ask(REQUEST)


def test_usage_is_the_given_one_or_a_rough_count_and_costs_nothing() -> None:
    given = model().ask(replace(REQUEST, stage="green"))
    assert given.usage == Usage(900, 80, 100)
    counted = model().ask(REQUEST)
    assert counted.usage.input_tokens > 0 < counted.usage.output_tokens
    assert (given.micro_usd, counted.micro_usd) == (0, 0)
    assert model().worst_case(REQUEST, 100) == Reservation(600, 0)


@every(
    ("request_", "says"),
    [
        (
            replace(REQUEST, blocks=()),
            "Reply 1 of demo.yaml (stage red): the pattern 'REQ-00\\\\d' is not in the context",
        ),
        (
            replace(REQUEST, system="role: tester\nsecret"),
            "the pattern 'secret' is in the context, and must not be",
        ),
        (
            replace(REQUEST, ordinal=3),
            "out of replies: it has 3 for stage red, and one more was asked for (red/1/1/ask/1)",
        ),
        (
            replace(REQUEST, stage="deliver"),
            "has none for stage deliver (red/1/1/ask/1); its stages: red, green",
        ),
    ],
)
def test_what_the_script_did_not_foresee_is_named(request_: Request, says: str) -> None:
    with pytest.raises(ModelTrouble) as caught:
        model().ask(request_)
    assert says in caught.value.user_sentence
    assert (caught.value.kind, caught.value.retryable, caught.value.maybe_billed) == ("script", False, False)


@every(
    ("text", "says"),
    [
        ("- a", "one key, `replies`"),
        ("replies: {}", "one key, `replies`"),
        ("replies: []\nmore: 1", "one key, `replies`"),
        ("replies:\n- 1", "s.yaml: reply 1: it is not a mapping"),
        (
            "replies:\n- stage: a\n  reply: b\n  expect: [c]",
            "s.yaml:4: reply 1: unknown key 'expect'; known: expects, reply, role, stage, stop, usage",
        ),
        ("replies:\n- reply: b", "reply 1: `stage` is missing"),
        ("replies:\n- stage: a", "reply 1: `reply` is missing"),
        ("replies:\n- stage: a\n  reply: b\n  stop: never", "s.yaml:4: reply 1: `stop` is 'never'"),
        ("replies:\n- stage: a\n  reply: b\n  expects: c", "`expects` is a list"),
        ("replies:\n- stage: a\n  reply: b\n  expects: [{never: c}]", "`{not: pattern}`"),
        ("replies:\n- stage: a\n  reply: b\n  expects: ['(']", "the pattern '(' is not a regular expression"),
        ("replies:\n- stage: a\n  reply: b\n  usage: {tokens: 1}", "`usage` is a mapping of"),
        (
            "replies:\n- stage: a\n  reply: b\n  usage: {input_tokens: -1}",
            "`usage.input_tokens` is not a whole number",
        ),
        ("replies:\n- stage: a\n  reply: b\n  reply: c", "s.yaml:4"),
        ("replies: [", "s.yaml:"),
    ],
)
def test_a_faulty_script_names_the_place(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_script(text, "s.yaml")
    assert says in str(caught.value)


def test_a_script_that_is_not_there_or_not_text_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no script"):
        load_script(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load_script(tmp_path / "bad.yaml")


def test_artifacts_of_a_scripted_reply_keep_their_order() -> None:
    script = read_script("replies:\n- stage: red\n  reply: {artifacts: {b: {}, a: {}}}", "s.yaml")
    reply = script.ask(REQUEST).reply
    assert reply is not None
    assert [action.args["contract"] for action in reply.actions] == ["b", "a"]
