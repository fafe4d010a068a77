"""What may not happen on any wire: a key where it does not belong, a byte to somewhere else, a proxy in
between.
"""

import json
import logging
import socket
import traceback
from dataclasses import replace

import pytest

from agentforge.models.base import ModelTrouble
from agentforge.models.known.providers import Wire
from agentforge.testing import SERVERS, Fault, OpenAIServer, Scripted
from tests.models.wire_talk import KEY, REPLY, REQUEST, WIRES, elsewhere, model_of

FOREIGN = {
    "OPENAI_API_KEY": "foreign-openai-key",
    "OPENAI_ORG_ID": "foreign-org",
    "OPENAI_PROJECT_ID": "foreign-project",
    "ANTHROPIC_API_KEY": "foreign-anthropic-key",
    "ANTHROPIC_AUTH_TOKEN": "foreign-anthropic-token",
    "MISTRAL_API_KEY": "foreign-mistral-key",
    "GOOGLE_API_KEY": "foreign-google-key",
    "GEMINI_API_KEY": "foreign-gemini-key",
}


@pytest.mark.parametrize("wire", WIRES)
def test_the_key_is_in_no_error_no_repr_and_no_log(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    faults: list[Scripted] = [
        Fault(status=400, message=f"bad key {KEY} for you"),
        Fault(status=500, message=KEY),
        Fault(body=KEY.encode()),
        REPLY,
    ]
    with SERVERS[wire](faults) as server:
        model = model_of(server)
        for fault in faults[:-1]:
            with pytest.raises(ModelTrouble) as caught:
                model.ask(REQUEST)
            assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(
                caught.value.__dict__
            ), fault
        answer = model.ask(REQUEST)
    assert "[key]" in str(fail_sentence(wire))
    assert KEY not in repr(model) + repr(model.endpoint) + repr(answer)
    assert KEY not in caplog.text
    assert all(seen.key == KEY for seen in server.requests)


def fail_sentence(wire: Wire) -> ModelTrouble:
    with (
        SERVERS[wire]([Fault(status=400, message=f"bad key {KEY} for you")]) as server,
        pytest.raises(ModelTrouble) as caught,
    ):
        model_of(server).ask(REQUEST)
    return caught.value


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_gets_the_key_that_is_meant_for_it_and_nothing_else_of_the_environment(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in FOREIGN.items():
        monkeypatch.setenv(name, value)
    for key in (KEY, None):
        with SERVERS[wire]([REPLY]) as server:
            model_of(server, key=key).ask(REQUEST)
        (seen,) = server.requests
        assert seen.key == key
        assert "foreign" not in json.dumps({**seen.headers}) + seen.path + json.dumps({**seen.body})


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_on_this_machine_is_never_asked_through_a_proxy(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as proxy, SERVERS[wire]([REPLY]) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert model_of(server).ask(REQUEST).reply is not None
    assert (proxy.requests, proxy.others) == ([], [])


def test_a_server_elsewhere_is_asked_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with OpenAIServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        with pytest.raises(ModelTrouble):
            elsewhere("openai", "http://models.invalid/v1").ask(REQUEST)
    assert [each.path for each in proxy.others] == ["http://models.invalid/v1/chat/completions"]


@pytest.mark.parametrize("wire", WIRES)
def test_a_redirect_is_not_followed_and_the_key_does_not_travel(wire: Wire) -> None:
    with SERVERS[wire]([REPLY]) as other:
        for status in (301, 302, 307, 308):
            away = Fault(status=status, headers={"location": other.base_url + "/v1/messages"})
            with (
                SERVERS[wire]([away]) as server,
                pytest.raises(ModelTrouble, match="sends us to another address"),
            ):
                model_of(server).ask(REQUEST)
    assert (other.requests, other.others) == ([], [])


@pytest.mark.parametrize("wire", WIRES)
def test_offline_nothing_but_this_machine_is_connected_to(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = replace(elsewhere(wire, "http://10.0.0.1:9/v1"), local_only=True)
    with pytest.raises(ModelTrouble, match=r"10\.0\.0\.1:9 is not on this machine") as caught:
        away.ask(REQUEST)
    assert (caught.value.kind, caught.value.retryable, caught.value.maybe_billed) == (
        "unreachable",
        False,
        False,
    )
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 9))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: found)
    with pytest.raises(ModelTrouble, match="localhost:9 is not on this machine"):
        elsewhere(wire, "http://localhost:9/v1").ask(REQUEST)


def test_a_server_may_be_called_localhost() -> None:
    with OpenAIServer([REPLY]) as server:
        port = server.base_url.split(":")[2]
        assert elsewhere("openai", f"http://localhost:{port}").ask(REQUEST).reply is not None
