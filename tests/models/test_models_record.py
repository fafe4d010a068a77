"""Exchanges recorded and replayed: no key in the file, no network when it answers."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.models.base import Answer, ModelTrouble
from agentforge.models.known.providers import known
from agentforge.models.open import open_spec
from agentforge.models.provider_model import ProviderModel
from agentforge.models.wrap.record import Wrap, recording, replaying
from agentforge.models.wrap.stack import recorded
from agentforge.testing import Fault, OpenAIServer, Scripted
from tests.models.doubles import request

KEY = "weird key 1x"
REPLY: Mapping[str, Json] = {"thought": "Look.", "actions": [{"name": "read_file", "args": {"path": "a.py"}}]}


def model(base_url: str, wrap: Wrap | None) -> ProviderModel:
    opened = open_spec("openai:any", known({"OPENAI_BASE_URL": base_url}), lambda _: KEY)
    assert isinstance(opened, ProviderModel)
    return replace(opened, wrap=wrap)


def asked(over: ProviderModel, *texts: str) -> list[Answer | str]:
    found: list[Answer | str] = []
    for text in texts:
        try:
            found.append(over.ask(request(text)))
        except ModelTrouble as trouble:
            found.append(trouble.kind)
    return found


def test_what_was_recorded_is_answered_again_without_a_server_and_no_key_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    script: list[Scripted] = [
        REPLY,
        Fault(status=429, headers={"retry-after": "7"}, message=f"slow down, {KEY}"),
        {**REPLY, "thought": f"The key is {KEY}."},
        Fault(status=200, body=b"<html>"),
        Fault(drop=True),
    ]
    texts = ("one", "two", "two", "three", "four")
    with OpenAIServer(script) as server:
        first = asked(model(server.base_url, recording(path)), *texts)
    kept = path.read_text(encoding="utf-8")
    assert KEY not in kept
    assert "authorization" not in kept.lower()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line)["response"].get("status") for line in kept.splitlines()] == [
        200,
        429,
        200,
        200,
        None,
    ]
    # Another address: the recording does not care, and nothing listens there.
    again = asked(model("http://127.0.0.1:9/v1", replaying(path)), *texts)
    assert [each if isinstance(each, str) else each.reply and each.reply.actions for each in again] == [
        each if isinstance(each, str) else each.reply and each.reply.actions for each in first
    ]
    assert first[1] == "rate_limit"
    assert isinstance(again[0], Answer)
    assert isinstance(first[0], Answer)
    assert again[0].usage == first[0].usage


def test_what_was_not_recorded_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    with OpenAIServer([REPLY]) as server:
        asked(model(server.base_url, recording(path)), "one")
    replayed = model("http://127.0.0.1:9/v1", replaying(path))
    assert isinstance(asked(replayed, "one")[0], Answer)
    for text in ("one", "another"):
        with pytest.raises(ModelTrouble, match="holds no further answer to this request") as caught:
            replayed.ask(request(text))
        assert (caught.value.kind, caught.value.retryable) == ("bad_request", False)


def test_threads_may_share_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    with OpenAIServer(lambda _: REPLY) as server:
        over = model(server.base_url, recording(path))
        threads = [
            threading.Thread(target=over.ask, args=(request(f"text {number}"),)) for number in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert len({json.loads(line)["hash"] for line in path.read_text(encoding="utf-8").splitlines()}) == 6


def test_a_file_that_is_no_recording_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    path.write_text('{"version": 1}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"exchanges.jsonl:1: this is no recorded exchange"):
        replaying(path)
    with pytest.raises(UsageError, match="cannot be read"):
        replaying(tmp_path / "missing")


def test_the_environment_asks_for_one_of_the_two(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.jsonl"
    bare = model("http://127.0.0.1:9/v1", None)
    assert recorded(bare, {}) is bare
    with OpenAIServer([REPLY]) as server:
        recorded(model(server.base_url, None), {"AGENTFORGE_RECORD": str(path)}).ask(request("one"))
    both = {"AGENTFORGE_REPLAY": str(path), "AGENTFORGE_RECORD": str(tmp_path / "unused")}
    assert recorded(bare, both).ask(request("one")).reply is not None
    assert [each.name for each in tmp_path.iterdir()] == ["exchanges.jsonl"]


def test_the_same_work_is_answered_again_though_its_numbers_are_others(tmp_path: Path) -> None:
    def context(task: str, marker: str, at: str) -> str:
        return f"id: {task}\n<<<{marker} data\nran at {at}\n{marker}>>>"

    first = context("task-20300131-add-it", "79ac088922b15558", "2030-01-31T05:21:05.760Z")
    later = context("task-20310704-add-it-2", "b4d88c78824383c8", "2031-07-04T23:59:00.001Z")
    path = tmp_path / "exchanges.jsonl"
    script: list[Scripted] = [{**REPLY, "thought": word} for word in ("one", "two", "three")]
    with OpenAIServer(script) as server:
        asked(model(server.base_url, recording(path)), first, first, "something else")
    # The very same request comes first; then what only looks like it; each answer is given once.
    said = asked(
        model("http://127.0.0.1:9/v1", replaying(path)), later, first, first, "something else", later
    )
    assert [each if isinstance(each, str) else each.reply and each.reply.thought for each in said] == [
        "one",
        "two",
        "bad_request",
        "three",
        "bad_request",
    ]
