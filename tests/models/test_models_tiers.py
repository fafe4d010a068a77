"""Tiers from configuration: the person's before the project's, and nothing that cannot be meant."""

from typing import Any

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS
from agentforge.models.known.tiers import read_tiers, single
from tests.rows import every

PROVIDERS = ("anthropic", "openai", "ollama")


def read(user: Any = None, project: Any = None, model: tuple[str, str] | None = None) -> Any:  # noqa: ANN401 - as YAML gives it
    return read_tiers(user or {}, project or {}, model=model, providers=PROVIDERS)


def test_the_persons_list_wins_tier_by_tier() -> None:
    found = read(
        {"tiers": {"reasoning": ["anthropic:a"]}},
        {"tiers": {"reasoning": ["openai:r"], "generation": ["openai:g", "ollama:g:7b"]}},
    )
    assert found.models["reasoning"] == ("anthropic:a",)
    assert found.models["generation"] == ("openai:g", "ollama:g:7b")
    assert (found.source["reasoning"], found.source["generation"]) == (
        "config.yaml",
        "the project's settings",
    )


def test_a_tier_without_a_list_takes_the_next_higher_else_the_next_lower() -> None:
    found = read({"tiers": {"generation": ["openai:g"]}})
    assert dict.fromkeys(TIERS, ("openai:g",)) == found.models
    assert found.source["classification"] == found.source["reasoning"] == "config.yaml, of generation"


def test_one_model_is_every_tier_and_before_everything() -> None:
    given = read(
        {"tiers": {"reasoning": ["anthropic:a"]}, "delivery": "batch"}, model=("ollama:x:7b", "--model")
    )
    assert (given.specs, given.source["reasoning"], given.delivery["reasoning"]) == (
        ("ollama:x:7b",),
        "--model",
        "batch",
    )
    usual = read(
        {"model": "openai:u", "tiers": {"reasoning": ["anthropic:a"]}},
        {"tiers": {"generation": ["ollama:p"]}},
    )
    assert (usual.models["reasoning"], usual.models["generation"]) == (("anthropic:a",), ("openai:u",))
    assert single("scripted:file").models["generation"] == ("scripted:file",)


def test_delivery_is_one_word_or_a_word_for_each_tier() -> None:
    found = read({"delivery": {"summarization": "live"}}, {"delivery": "auto"})
    assert (found.delivery["summarization"], found.delivery["reasoning"]) == ("live", "auto")
    assert read().delivery["reasoning"] == "live"


def test_nothing_configured_is_empty_and_no_error_yet() -> None:
    found = read()
    assert (found.specs, found.source["generation"]) == ((), "nothing")


@every(
    ("document", "words"),
    [
        ({"tiers": {"reasoning": ["gpt-5"]}}, "'gpt-5' is not a model"),
        ({"tiers": {"reasoning": ["openai:a\x1b[2J"]}}, "is not a model"),
        ({"tiers": {"reasoning": ["elsewhere:x"]}}, "there is no provider 'elsewhere'"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(document: Any, words: str) -> None:  # noqa: ANN401 - as YAML gives it
    with pytest.raises(UsageError) as caught:
        read(document)
    assert caught.value.sentence.startswith("config.yaml: ")
    assert words in caught.value.sentence
    with pytest.raises(UsageError, match="the project's settings"):
        read(None, document)
