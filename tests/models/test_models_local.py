"""What a local server has: asked within a second, never through a proxy, never sent elsewhere; a choice-in is
said once.
"""

import socket

import pytest

from agentforge.models.known.local import (
    InstalledModels,
    LocalModels,
    installed,
    installed_all,
    lists,
    propose,
)
from agentforge.models.known.providers import known
from agentforge.models.probe import probe_all
from tests.models.doubles import FakeClock
from tests.models.listing import listing

PATIENT_S = 20.0
"""A loaded machine is no reason to fail."""
TAGS = {
    "models": [
        {"name": "qwen2.5-coder:7b", "details": {"family": "qwen2"}},
        {"name": "minilm:latest", "details": {"family": "bert"}},
        {"name": "bad\nname"},
        {"nothing": 1},
        "text",
    ]
}


def test_ollama_is_asked_its_own_way_and_others_as_everybody_is() -> None:
    with listing(pages={"/api/tags": TAGS}) as server:
        assert installed(server.provider("ollama"), timeout_s=PATIENT_S).names == ("qwen2.5-coder:7b",)
    with listing("a", "b") as server:
        assert installed(server.provider("ollama"), timeout_s=PATIENT_S).names == ("a", "b")
        assert installed(server.provider("vllm"), "a-key", PATIENT_S).names == ("a", "b")
        assert [path for path, _ in server.seen] == ["/api/tags", "/v1/models", "/v1/models"]
        assert server.seen[-1][1]["authorization"] == "Bearer a-key"


def test_a_window_that_the_server_tells_is_known() -> None:
    with listing(
        pages={
            "/v1/models": {"data": [{"id": "m", "max_model_len": 8192}, {"id": "n", "max_model_len": "x"}]}
        }
    ) as server:
        assert [
            (found.name, found.window)
            for found in installed(server.provider("vllm"), timeout_s=PATIENT_S).models
        ] == [
            ("m", 8192),
            ("n", None),
        ]


def test_nobody_there_is_down_and_whoever_does_not_list_is_not() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nobody = installed(known({"VLLM_BASE_URL": f"http://127.0.0.1:{port}/v1"})["vllm"])
    assert (nobody.down, nobody.trouble) == (True, f"nothing answers at 127.0.0.1:{port}")
    for page, words in (
        (b"<html>", "is no model server"),
        ([1], "is no model server"),
        (b"[" * 100_000, "is no model server"),
    ):
        with listing(pages={"/v1/models": page}) as server:
            seen = installed(server.provider("vllm"), timeout_s=PATIENT_S)
            assert (seen.down, words in seen.trouble) == (False, True)
    with listing(pages={"/other": {}}) as server:
        assert "answers 404" in installed(server.provider("vllm"), timeout_s=PATIENT_S).trouble


def test_a_server_that_takes_its_time_is_not_waited_for() -> None:
    with listing("a", delay_s=1.0) as server:
        seen = installed_all([server.provider("vllm"), server.provider("lmstudio")], timeout_s=0.2)
        assert [(each.down, "within 0.2 s" in each.trouble) for each in seen.values()] == [(False, True)] * 2


def test_neither_a_redirect_nor_a_proxy_leads_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")
    with (
        listing("b") as other,
        listing(pages={"/v1/models": f"http://127.0.0.1:{other.port}/v1/models"}) as server,
    ):
        seen = installed(server.provider("vllm"), "a-key", PATIENT_S)
        assert ("answers 302" in seen.trouble, other.seen) == (True, [])


def test_what_is_not_on_this_machine_is_not_asked() -> None:
    seen = installed(known({"VLLM_BASE_URL": "http://192.0.2.1:8000/v1"})["vllm"])
    assert seen == InstalledModels("vllm", trouble="192.0.2.1:8000 is not this machine")


def test_a_gateway_to_a_hosted_provider_has_no_list_that_counts() -> None:
    providers = known(
        {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, {"mine": {"base_url": "http://localhost:9/v1"}}
    )
    assert [lists(providers[name]) for name in ("openai", "ollama", "mine", "anthropic")] == [
        False,
        True,
        True,
        False,
    ]


def test_a_stand_in_is_said_once_and_the_server_asked_now_and_then() -> None:
    said, clock = list[str](), FakeClock()
    with listing("nomic-embed-text", "qwen2.5-coder:7b") as server:
        models, provider = (
            LocalModels(said.append, clock=clock, timeout_s=PATIENT_S),
            server.provider("lmstudio"),
        )
        choices = [models.choice(provider, "qwen2.5-coder:14b", "generation") for _ in range(3)]
        assert [choice.model for choice in choices] == ["qwen2.5-coder:7b"] * 3
        assert said == ["lmstudio does not have qwen2.5-coder:14b; using qwen2.5-coder:7b instead."]
        assert models.choice(provider, "qwen2.5-coder:7b", "generation").why == ""
        assert len(server.seen) == 1
        clock.pass_(61)
        models.look(provider)
        models.forget(provider)
        models.look(provider)
        assert len(server.seen) == 3


def test_without_any_chat_model_the_next_step_is_said() -> None:
    with listing("nomic-embed-text") as server:
        choice = LocalModels(timeout_s=PATIENT_S).choice(
            server.provider("ollama"), "llama3.1:8b", "generation"
        )
    assert choice.model is None
    assert (
        choice.why == "ollama has no chat model that we know installed, and not llama3.1:8b; `ollama pull "
        "llama3.1:8b` gets it"
    )


def test_llamacpp_has_one_model_whatever_it_is_called() -> None:
    with listing("/models/some-file.gguf") as server:
        choice = LocalModels(timeout_s=PATIENT_S).choice(server.provider("llamacpp"), "any", "generation")
    assert (choice.model, choice.why) == ("any", "")


def test_a_running_server_is_proposed() -> None:
    with listing("qwen2.5-coder:7b") as server:
        assert (
            propose([server.provider("lmstudio")])
            == "lmstudio runs on this machine: try `--model lmstudio:qwen2.5-coder:7b`."
        )
    assert propose([]) == ""


def test_where_localhost_is_looked_for_elsewhere_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with listing("a") as server:
        port = server.provider("vllm").host.rpartition(":")[2]
        provider = known({"VLLM_BASE_URL": f"http://localhost:{port}/v1"})["vllm"]
        elsewhere = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", int(port)))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [elsewhere])
        seen = installed(provider, "a-key", PATIENT_S)
        assert (seen.down, seen.trouble) == (True, f"localhost:{port} is not on this machine")
        (probed,) = probe_all([provider], lambda _: "a-key", PATIENT_S)
        assert (probed.state, probed.detail) == ("unreachable", f"localhost:{port} is not on this machine")
        assert server.seen == []
