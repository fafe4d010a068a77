"""Several models, in their order; what a day may cost; and one sentence for everything that can be wrong with
a model.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.testing import AnthropicServer, Fault, OpenAIServer, Scripted
from tests.whole.plays import REQUEST, SOURCE, Play, ask, read, say

KEY = "key-" + "qR7tY2uW9z" * 3
ASK: Mapping[str, Json] = ask("frame")["reply"]
READ: Mapping[str, Json] = say("frame", read(SOURCE))["reply"]


def configure(play: Play, **settings: object) -> None:
    home = Path(play.person.environment()["AGENTFORGE_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")


def start(play: Play, *words: str) -> Any:  # noqa: ANN401 - a finished command
    return play.person.run("start", REQUEST, "--lane", "small", "--json", *words)


def journal(play: Play) -> list[dict[str, Any]]:
    lines = [
        json.loads(line[2:]) for line in play.file("actions.yaml").splitlines() if line.startswith("- {")
    ]
    return [event for line in lines for event in line["events"]]


@pytest.mark.slow
def test_the_next_model_of_the_tier_is_asked_when_the_first_fails_and_the_record_says_so(play: Play) -> None:
    refusal: list[Scripted] = [Fault(status=401)]
    with OpenAIServer(refusal) as first, AnthropicServer([READ, ASK]) as second:
        providers = {
            "one": {"wire": "openai", "base_url": first.base_url},
            "two": {"wire": "anthropic", "base_url": second.base_url},
        }
        configure(
            play,
            providers=providers,
            tiers={"reasoning": ["one:any", "two:any"], "generation": ["one:any", "two:any"]},
        )
        done = start(play)
        assert done.code == 3, done.said
        assert done.data["escalation"]["kind"] == "question", done.said
        assert (len(first.requests), len(second.requests)) == (1, 2)
    sent = [event for event in journal(play) if event["type"] == "ask_sent"]
    assert [event["model"] for event in sent] == ["one:any", "two:any", "two:any"]
    assert "does not accept the API key" in sent[1]["why"]
    created = next(event["spec"] for event in journal(play) if event["type"] == "task_created")
    assert (created["model"], {price["tier"] for price in created["prices"]}) == (
        "tiers",
        {"reasoning", "generation", "summarization", "classification"},
    )


@pytest.mark.slow
def test_the_cap_of_a_day_stops_a_task_with_its_work_kept_and_a_higher_one_lets_it_go_on(play: Play) -> None:
    with OpenAIServer([{**READ, "thought": "so many words " * 4000}, ASK]) as server:
        mine = {"providers": {"mine": {"wire": "openai", "base_url": server.base_url}}, "model": "mine:any"}
        configure(play, **mine, day_cap={"tokens": 35_000})
        done = start(play)
        assert done.code == 3, done.said
        assert "The cap of the day is 35,000 tokens" in done.data["escalation"]["question"]["text"]
        assert "day_cap" in done.data["escalation"]["question"]["text"]
        assert len(server.requests) == 1
        configure(play, **mine, day_cap={"tokens": 300_000})
        again = play.person.run("continue", done.data["task_id"], "--json")
        assert again.data["escalation"]["kind"] == "question", again.said
        cost = play.person.run("cost", "--json")
    assert cost.code == 0, cost.said
    assert cost.data["total"]["calls"] == 2, cost.data


@pytest.mark.slow
def test_a_recorded_task_is_played_again_without_a_server_a_key_or_the_name_it_had(
    play: Play, tmp_path: Path
) -> None:
    recording = tmp_path / "recording.jsonl"
    with OpenAIServer([READ, ASK], models=["qwen3:8b"]) as server:
        play.person.variables |= {
            "OLLAMA_HOST": server.base_url,
            "OLLAMA_API_KEY": KEY,
            "AGENTFORGE_RECORD": str(recording),
        }
        first = start(play, "--model", "ollama:qwen3:8b")
        assert first.data["escalation"]["kind"] == "question", first.said
    assert KEY not in recording.read_text()
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY", "AGENTFORGE_RECORD"):
        del play.person.variables[name]
    play.person.variables["AGENTFORGE_REPLAY"] = str(recording)
    again = start(play, "--model", "ollama:qwen3:8b")
    assert again.data["escalation"]["question"] == first.data["escalation"]["question"], again.said
    assert again.data["task_id"] != first.data["task_id"]


@pytest.mark.slow
def test_a_mode_that_stays_on_this_machine_asks_nobody_else_whatever_is_configured(play: Play) -> None:
    with OpenAIServer([ASK]) as server:
        providers = {
            "mine": {"wire": "openai", "base_url": server.base_url},
            "far": {"wire": "openai", "base_url": "http://192.0.2.1/v1"},
        }
        configure(
            play, providers=providers, tiers={"reasoning": ["far:any"], "generation": ["far:any", "mine:any"]}
        )
        done = start(play, "--mode", "offline-safe")
        assert done.data["escalation"]["kind"] == "question", done.said
        refused = start(play, "--mode", "offline-safe", "--model", "far:any")
        assert (refused.code, "only models on this machine" in refused.err) == (4, True), refused.said


def test_what_is_wrong_with_a_model_is_said_before_anything_is_written(play: Play) -> None:
    cases = {
        "nothing:any": "there is no provider 'nothing'",
        "anthropic:": "is not a model",
        "anthropic:any": "ANTHROPIC_API_KEY is not set",
        "mistral:any": "MISTRAL_API_KEY is not set",
        "google:any": "is not set",
        "openai:any": "OPENAI_API_KEY is not set",
    }
    for spec, words in cases.items():
        done = start(play, "--model", spec)
        assert (done.code, words in done.err, done.err.count("\n") <= 2) == (2, True, True), (spec, done.said)
    assert not (play.top / ".agentforge/tasks").exists()


@pytest.mark.slow
def test_what_goes_wrong_on_the_way_is_one_sentence_and_a_question(play: Play) -> None:
    page = b"<html><body>Please log in</body></html>"
    html = [Fault(body=page, headers={"content-type": "text/html"})] * 3
    unknown: list[Scripted] = [Fault(status=404, message="model: any")]
    play.person.variables["MINE"] = KEY
    cases = (
        ("openai", OpenAIServer(html), "web page"),
        ("anthropic", AnthropicServer(unknown), "knows no model"),
    )
    done = None
    for wire, server, words in cases:
        with server:
            configure(
                play, providers={"mine": {"wire": wire, "base_url": server.base_url, "key_env": "MINE"}}
            )
            done = play.answer(done, "retry") if done else start(play, "--model", "mine:any")
        text = done.data["escalation"]["question"]["text"]
        assert (done.code, words in text, KEY in done.said, "\n" in text) == (3, True, False, False), (
            done.said
        )
