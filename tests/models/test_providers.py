"""Providers: where they are, what a person may change, and what is no way to write them."""

import pytest

from agentforge.core.errors import UsageError
from agentforge.models.known.providers import BUILT_IN, is_loopback, known
from tests.rows import every

HOSTED = ("anthropic", "openai", "openai-responses", "mistral", "google")
OWN = ("ollama", "lmstudio", "vllm", "llamacpp")


def test_hosted_ones_are_elsewhere_and_need_a_key_and_ones_own_are_here_and_need_none() -> None:
    found = known({})
    assert tuple(found) == (*HOSTED, *OWN) == tuple(provider.name for provider in BUILT_IN)
    assert [(found[name].local, found[name].needs_key) for name in HOSTED] == [(False, True)] * 5
    assert [(found[name].local, found[name].needs_key) for name in OWN] == [(True, False)] * 4
    assert [found[name].host for name in OWN] == [
        "127.0.0.1:11434",
        "127.0.0.1:1234",
        "127.0.0.1:8000",
        "127.0.0.1:8080",
    ]
    assert [found[name].extra for name in HOSTED] == ["anthropic", "openai", "openai", "mistral", "google"]


def test_the_environment_moves_a_provider_which_then_may_need_no_key() -> None:
    found = known(
        {
            "OPENAI_BASE_URL": "http://127.0.0.1:9/v1/",
            "VLLM_BASE_URL": "https://gpu.example.org/v1",
            "MISTRAL_BASE_URL": " ",
        }
    )
    assert (found["openai"].base_url, found["openai"].local, found["openai"].needs_key) == (
        "http://127.0.0.1:9/v1",
        True,
        False,
    )
    assert found["openai-responses"].base_url == "http://127.0.0.1:9/v1"
    assert (found["vllm"].local, found["vllm"].host) == (False, "gpu.example.org")
    assert found["mistral"] == known({})["mistral"]


@every(
    ("given", "address"),
    [
        ("127.0.0.1:11500", "http://127.0.0.1:11500/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:80", "http://127.0.0.1:80/v1"),
        (":11500", "http://127.0.0.1:11500/v1"),
        ("[::1]:11500", "http://[::1]:11500/v1"),
        ("box", "http://box:11434/v1"),
        ("https://box.example.org", "https://box.example.org:443/v1"),
        ("http://box:1/v1/", "http://box:1/v1"),
        ("http://box:1/behind/", "http://box:1/behind/v1"),
    ],
)
def test_what_ollama_itself_understands_is_understood(given: str, address: str) -> None:
    assert known({"OLLAMA_HOST": given})["ollama"].base_url == address


@every(
    ("host", "here"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("127.0.0.1.example.org", False),
        ("127.example.org", False),
        ("localhost.example.org", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("2130706433", False),
        ("", False),
        (None, False),
    ],
)
def test_this_machine_is_known_by_its_address_and_not_by_its_looks(host: str | None, here: bool) -> None:
    assert is_loopback(host) is here


def test_a_person_may_add_a_server_and_change_a_known_one() -> None:
    found = known(
        {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
        {
            "work": {
                "wire": "anthropic",
                "base_url": "https://models.example.org",
                "key_env": "WORK_KEY",
                "requests_per_minute": 60,
            },
            "lab": {
                "base_url": "http://user:secret@lab:9/v1",
                "reply": "text",
                "tokens_per_minute": 1000,
                "timeout_s": 30,
            },
            "openai": {"base_url": "http://127.0.0.1:2/v1"},
            "mistral": {"timeout_s": 60},
        },
    )
    assert (
        found["work"].wire,
        found["work"].key_env,
        found["work"].needs_key,
        found["work"].requests_per_minute,
    ) == (
        "anthropic",
        "WORK_KEY",
        False,
        60,
    )
    assert (found["lab"].wire, found["lab"].reply, found["lab"].timeout_s, found["lab"].host) == (
        "openai",
        "text",
        30,
        "lab:9",
    )
    assert "secret" not in repr(found["lab"])
    assert found["openai"].base_url == "http://127.0.0.1:2/v1"
    assert (found["mistral"].timeout_s, found["mistral"].needs_key) == (60, True)


def test_the_time_limit_of_the_environment_holds_where_a_provider_has_none_of_its_own() -> None:
    found = known(
        {"AGENTFORGE_MODEL_TIMEOUT_S": "3"},
        {"a": {"base_url": "http://a"}, "b": {"base_url": "http://b", "timeout_s": 9}},
    )
    assert [found[name].timeout_s for name in ("openai", "ollama", "a", "b")] == [3, 3, 3, 9]
    for text in ("0", "-1", "1.5", "soon"):
        with pytest.raises(UsageError, match="no number of seconds"):
            known({"AGENTFORGE_MODEL_TIMEOUT_S": text})


@every(
    ("configured", "says"),
    [
        ({"Work": {}}, "a short word of small letters"),
        ({"scripted": {"base_url": "http://a/v1"}}, "a short word"),
        ({"work": {}}, "has no `base_url`"),
        ({"work": {"base_url": "a/v1"}}, "is no address"),
        ({"work": {"base_url": "ftp://a/v1"}}, "is no address"),
        ({"work": {"base_url": "http://a:99999/v1"}}, "is no address"),
        ({"work": {"base_url": "http://a b/v1"}}, "is no address"),
    ],
)
def test_what_is_no_provider_is_said_with_its_place(
    configured: dict[str, dict[str, object]], says: str
) -> None:
    with pytest.raises(UsageError) as caught:
        known({}, configured)
    assert says in str(caught.value)
    assert f"providers.{next(iter(configured))}" in str(caught.value)


def test_an_address_of_the_environment_that_is_none_names_its_variable_and_not_itself() -> None:
    with pytest.raises(UsageError, match="ANTHROPIC_BASE_URL is no address") as caught:
        known({"ANTHROPIC_BASE_URL": "user:secret@nowhere"})
    assert "secret" not in str(caught.value)
