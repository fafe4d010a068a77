"""`agentforge models`: what is configured, whether it answers, and who would be asked. In process, but for
one look at the whole.
"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.store.layout import Home
from agentforge.store.user.ledger import Ledger, ledger_file
from agentforge.surfaces.cli.main import main
from agentforge.testing import Fault, OpenAIServer
from tests.surfaces.scene import make_scene
from tests.surfaces.shapes import conform

READY: dict[str, Json] = {"actions": [{"name": "ready", "args": {"word": "ready"}}]}
KEY = "not-a-usual-key-77"


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own file; no server of this machine is where they usually are."""
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    (home / ".agentforge").mkdir()
    return home / ".agentforge" / "config.yaml"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["models", *words])
    out, err = capsys.readouterr()
    return code, out, err


def data(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - whatever a command prints
    return conform(f"models {words[0]}", printed(capsys, *words, "--json")[1])


def test_nothing_configured_is_said_with_the_ways_out_and_a_running_server(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = printed(capsys, "list")
    assert code == 0
    assert out.startswith("No model is configured. Run `agentforge setup`; or name one with `--model")
    assert "not set: OPENAI_API_KEY" in out
    assert printed(capsys, "test")[0] == 1
    assert (
        "used now: none. No model is configured for generation" in printed(capsys, "explain", "reviewer")[1]
    )
    with OpenAIServer(models=["qwen2.5-coder:7b", "nomic-embed-text"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.base_url)
        assert (
            "ollama runs on this machine: try `--model ollama:qwen2.5-coder:7b`" in printed(capsys, "list")[1]
        )


def test_the_list_shows_tiers_prices_windows_and_what_stands_in(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(
        "tiers: {reasoning: [openai:gpt-5, anthropic:claude-opus-4-1], generation: [ollama:codestral:22b]}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Ledger(ledger_file(Home(config.parent)), lambda: (), lambda _: None) as ledger:
        for ok in (True, True, False):
            ledger.record("reasoning", "openai:gpt-5", ok)
    with OpenAIServer(models=["qwen2.5-coder:7b", "nomic-embed-text"]) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.base_url)
        code, out, _ = printed(capsys, "list")
        found = data(capsys, "list")
        assert [request.method for request in server.others] == ["GET"] * len(server.others)
    assert code == 0
    assert KEY not in out
    assert "classification  as generation" in out
    assert "2 of 3" in out
    assert "ollama does not have codestral:22b; using qwen2.5-coder:7b instead." in out
    assert "not set: ANTHROPIC_API_KEY" in out
    gpt, opus = found["tiers"]["reasoning"]["models"]
    assert (gpt["usable"], gpt["window"], gpt["micro_usd_per_million"]["input"]) == (True, 400_000, 1_250_000)
    assert (opus["usable"], opus["calls"]) == (False, 0)
    (local,) = found["tiers"]["classification"]["models"]
    assert (local["model"], local["asks"]) == ("ollama:codestral:22b", "ollama:qwen2.5-coder:7b")
    assert (local["micro_usd_per_million"]["output"], local["window"]) == (0, 32_768)
    rows = {row["name"]: row for row in found["providers"]}
    assert (rows["ollama"]["state"], rows["ollama"]["key_env"]) == ("ready", None)
    assert rows["ollama"]["models"] == ["qwen2.5-coder:7b", "nomic-embed-text"]
    assert "has qwen2.5-coder:7b, nomic-embed-text" in out
    assert (rows["openai"]["key_source"], rows["anthropic"]["key_source"]) == ("environment", None)
    assert (opus["state"], local["state"]) == ("skipped", "replaced")


def test_explain_names_who_would_be_asked_and_why_the_others_would_not(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(
        "tiers: {generation: [vllm:m, openai:gpt-4, openai:gpt-5], reasoning: [anthropic:claude-opus-4-1]}\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    code, out, _ = printed(capsys, "explain", "software_developer")
    assert code == 0
    assert "software_developer asks for generation (from config.yaml)" in out
    lines = [line.split()[:3] for line in out.splitlines() if ":" in line and "generation" in line]
    assert ["→", "3", "openai:gpt-5"] in lines
    assert "nothing answers at 127.0.0.1" in out
    assert "the request needs 24,000 tokens, and it reads 8,192" in out
    assert data(capsys, "explain", "generation", "--tokens", "2000")["picked"] == "openai:gpt-4"
    assert data(capsys, "explain", "reasoning", "--mode", "offline-safe")["candidates"][0]["spec"] == "vllm:m"
    assert printed(capsys, "explain", "reasoning", "--mode", "offline-safe")[0] == 1
    code, _, err = printed(capsys, "explain", "nobody")
    assert (code, "There is no role 'nobody'" in err, "software_architect" in err) == (2, True, True)


def test_a_model_is_tried_with_one_request_and_each_failure_is_one_sentence(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    html = Fault(body=b"<html>", headers={"content-type": "text/html"})
    with (
        OpenAIServer([READY], key=KEY) as good,
        OpenAIServer(key="another") as wrong,
        OpenAIServer([html] * 9) as page,
    ):
        config.write_text(
            f"""
tiers: {{reasoning: [good:any], generation: [wrong:any, page:any, vllm:any, openai:any, "scripted:x.yaml"]}}
providers:
  good: {{base_url: "{good.base_url}", key_env: THE_KEY}}
  wrong: {{base_url: "{wrong.base_url}", key_env: THE_KEY}}
  page: {{base_url: "{page.base_url}"}}
""",
            encoding="utf-8",
        )
        monkeypatch.setenv("THE_KEY", KEY)
        code, out, err = printed(capsys, "test")
        # Never sent as a retry, nor by another means: a refused key stays refused.
        assert (len(good.requests), len(wrong.others)) == (1, 1)
    assert code == 1
    assert KEY not in out + err
    lines = dict(line[8:].split(": ", 1) for line in out.splitlines())
    assert list(lines) == ["good:any", "wrong:any", "page:any", "vllm:any", "openai:any", "scripted:x.yaml"]
    assert lines["good:any"].startswith("replies by calls, ")
    assert "does not accept the API key" in lines["wrong:any"]
    assert "answers with a web page" in lines["page:any"]
    assert "Nothing answers at" in lines["vllm:any"]
    assert lines["openai:any"].startswith("OPENAI_API_KEY is not set.")
    assert "Trying again in" in err


def test_the_models_of_one_tier_alone_can_be_tried(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(
        'tiers: {reasoning: ["scripted:a.yaml"], generation: ["scripted:b.yaml"]}\n', encoding="utf-8"
    )
    assert [row["model"] for row in data(capsys, "test", "--tier", "reasoning")] == ["scripted:a.yaml"]
    assert [row["model"] for row in data(capsys, "test")] == ["scripted:a.yaml", "scripted:b.yaml"]


@pytest.mark.slow
def test_a_model_that_cannot_call_tools_is_found_another_way(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: Any) -> Any:  # noqa: ANN401 - the server's own types
        return (
            Fault(status=400, message="tools are not supported by this model") if body.get("tools") else READY
        )

    with OpenAIServer(answer, models=["any"]) as server:
        monkeypatch.setenv("LMSTUDIO_BASE_URL", server.base_url)
        code, out, _ = printed(capsys, "test", "lmstudio:any")
        config.write_text("providers: {lmstudio: {reply: schema}}\n", encoding="utf-8")
        told = data(capsys, "test", "lmstudio:any")
    assert code == 1
    assert f"set `providers: {{lmstudio: {{reply: schema}}}}` in {config}" in out
    assert (told[0]["ok"], told[0]["means"], told[0]["micro_usd"]) == (True, "schema", 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tiers: {thinking: [openai:x]}\n", "thinking"),
        ("tiers: {reasoning: [nowhere:x]}\n", "there is no provider 'nowhere'"),
        ("providers: {mine: {wire: openai}}\n", "providers.mine has no `base_url`"),
        ("- a\n", "config.yaml"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_sentence(
    config: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    config.write_text(text, encoding="utf-8")
    code, out, err = printed(capsys, "list")
    assert (code, out, words in err) == (2, "", True)


def test_a_project_that_says_where_a_provider_is_is_refused(tmp_path: Path) -> None:
    settings = "tiers: {generation: [ollama:any]}\nproviders: {ollama: {base_url: 'http://192.0.2.1/v1'}}\n"
    scene = make_scene(tmp_path, {"a.txt": "a\n", ".agentforge/config/settings.yaml": settings})
    done = scene.run("models", "list")
    assert (done.returncode, "providers" in done.stderr) == (2, True)


def test_the_installed_command_reads_the_projects_tiers(tmp_path: Path) -> None:
    settings = "tiers: {generation: [ollama:any]}\n"
    scene = make_scene(tmp_path, {"a.txt": "a\n", ".agentforge/config/settings.yaml": settings})
    with OpenAIServer(models=["any"]) as server:
        done = scene.run("models", "list", "--json", OLLAMA_HOST=server.base_url)
    assert (done.returncode, done.stderr) == (0, "")
    (found,) = json.loads(done.stdout)["tiers"]["generation"]["models"]
    assert (found["model"], found["asks"], found["usable"]) == ("ollama:any", "ollama:any", True)


def test_where_a_recording_answers_neither_a_key_nor_a_server_is_needed(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(
        "tiers: {reasoning: [anthropic:any], generation: [ollama:qwen3:8b]}\n", encoding="utf-8"
    )
    assert [data(capsys, "explain", tier)["picked"] for tier in ("reasoning", "generation")] == [None, None]
    recording = config.with_name("recording.jsonl")
    recording.touch()
    monkeypatch.setenv("AGENTFORGE_REPLAY", str(recording))
    assert [data(capsys, "explain", tier)["picked"] for tier in ("reasoning", "generation")] == [
        "anthropic:any",
        "ollama:qwen3:8b",
    ]
