"""A model server that answers badly, late or not at all: each is on record and on the bill, and a person can
go on.
"""

import json
import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.testing import Fault, OpenAIServer, Scripted
from tests.whole.plays import HIDDEN_TEST, OLD_TEST, SOURCE, Play, ask, asked, read, say

KEY = "sk-" + "aB3dE6gH9jK2" * 4
ASK: Mapping[str, Json] = ask("frame")["reply"]


def reading(path: str) -> Mapping[str, Json]:
    reply: Mapping[str, Json] = say("frame", read(path))["reply"]
    return reply


def telling(pattern: str, reply: Scripted, seen: list[str]) -> Callable[[str], Scripted]:
    """The reply, once the context has been looked at."""

    def answer(context: str) -> Scripted:
        if pattern not in context:
            seen.append(f"{pattern!r} is not in the context")
        return reply

    return answer


def talk(text: str) -> Mapping[str, Json]:
    """A completion of plain text, without any tool call."""
    message: Json = {"role": "assistant", "content": text}
    choice: Json = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "any", "choices": [choice]}


def over(play: Play, server: OpenAIServer, **more: str) -> None:
    play.person.variables |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, **more}


@pytest.mark.slow
def test_every_trouble_of_the_wire_is_an_outcome(play: Play) -> None:
    missed: list[str] = []
    script: list[Scripted | Callable[[str], Scripted]] = [
        Fault(status=500),
        reading(SOURCE),
        Fault(delay_s=3.5, reply=reading(SOURCE)),
        reading(OLD_TEST),
        Fault(status=429, headers={"retry-after": "1"}),
        Fault(body=json.dumps(talk("x" * 50_000_000)).encode()),
        telling("far longer than", talk("I would rather talk."), missed),
        telling(
            "The reply holds no action: call at least one tool",
            Fault(cut_off=True, reply=reading(HIDDEN_TEST)),
            missed,
        ),
        telling("cut off at the length limit", {"actions": [{"name": "run_shell", "args": {}}]}, missed),
        telling("there is no tool 'run_shell'", ASK, missed),
    ]
    turns = iter(script)

    def answer(body: Mapping[str, Json]) -> Scripted:
        turn = next(turns)
        return turn(json.dumps(body)) if callable(turn) else turn

    with OpenAIServer(answer) as server:
        over(play, server, AGENTFORGE_MODEL_TIMEOUT_S="3")
        done = play.with_model("openai:any")
    asked(done)
    assert missed == []
    assert len(server.requests) == len(script)
    assert done.data["cost"]["calls"] == 7
    # A server that failed or did not answer in time may have worked all the same: at most that is on the
    # bill.
    assert done.data["cost"]["unaccounted"]["calls"] == 2
    assert done.data["cost"]["micro_usd"] is None


def test_a_refused_key_is_asked_about_at_once_and_is_never_written_down(play: Play) -> None:
    script: list[Scripted] = [(401, {"error": {"message": f"bad key {KEY}"}}), ASK]
    with OpenAIServer(script) as server:
        over(play, server)
        done = play.with_model("openai:any")
        assert done.code == 3, done.said
        assert done.data["escalation"]["kind"] == "model"
        assert "does not accept the API key" in done.data["escalation"]["question"]["text"]
        assert len(server.requests) == 1
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        again = play.answer(done, "retry")
        asked(again)
    written = [path for path in play.top.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert written == []
    assert KEY not in done.said + again.said


@pytest.mark.slow
def test_a_server_that_is_not_there_is_tried_three_times_and_costs_nothing(play: Play) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, but nobody listens
        play.person.variables |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"}
        done = play.with_model("openai:any")
    assert done.code == 3, done.said
    assert "is the model server running?" in done.data["escalation"]["question"]["text"]
    assert done.err.count("the model did not answer") == 3
    spent: dict[str, Any] = done.data["cost"]
    assert (spent["calls"], spent["unaccounted"]["calls"]) == (0, 0)
