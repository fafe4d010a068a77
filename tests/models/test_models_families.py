"""Families and sizes from names, and the stand-in for a model that is missing."""

import string

from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.pipeline import TIERS, Tier
from agentforge.models.known.families import best, classify, installed_as, known, size_of
from tests.rows import every

# fmt: off
NO_CHAT = [
    "nomic-embed-text", "mxbai-embed-large:335m", "bge-m3", "all-minilm:33m", "snowflake-arctic-embed2",
    "text-embedding-3-small",
    "qwen3-embedding:8b", "qwen3-reranker-4b", "bge-reranker-v2-m3", "gte-qwen2-7b-instruct",
    "e5-mistral-7b-instruct",
    "whisper-large-v3", "llava:13b", "bakllava", "moondream", "llama3.2-vision:11b", "qwen2.5-vl:7b",
    "granite3.2-vision",
    "llama-guard3:8b", "shieldgemma:9b", "starcoder2-base", "llama3:text", "nomic-bert", "jina-embeddings-v2",
]
# fmt: on


def test_there_are_forty_one_families_each_with_class_roles_and_context() -> None:
    families = [family for _, family in known().families]
    assert len({family.name for family in families}) == 41
    assert all(family.roles and family.context_tokens >= 2048 and family.millions > 0 for family in families)
    assert {tier for family in families for tier in family.roles} == set(TIERS)


@every(
    ("model", "family", "millions"),
    [
        ("llama3.1:8b", "llama3.x", 8_000),
        ("meta-llama/Llama-3.1-70B-Instruct", "llama3.x", 70_000),
        ("Meta-Llama-3-8B-Instruct", "llama3", 8_000),
        ("Llama-3.2-3B-Instruct-Q4_K_M.gguf", "llama3.x", 3_000),
        ("llama-3-13b", "llama3", 13_000),
        ("llama2:latest", "llama2", None),
        ("qwen2.5-coder:14b-instruct-q8_0", "qwen-coder", 14_000),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen-coder", 30_000),
        ("qwen3:30b-a3b", "qwen3", 30_000),
        ("qwen2.5:0.5b", "qwen2", 500),
        ("DeepSeek-R1-Distill-Qwen-32B", "deepseek-r1", 32_000),
        ("deepseek-coder-v2:16b", "deepseek-coder", 16_000),
        ("deepseek-v3", "deepseek", None),
        ("gemma3n:e4b", "gemma3", 4_000),
        ("gemma2:9b", "gemma", 9_000),
        ("phi4-mini-reasoning", "phi-reasoning", None),
        ("phi3:mini", "phi", None),
        ("mistral-small3.1:24b-instruct-2503-q8_0", "mistral", 24_000),
        ("mixtral:8x7b", "mixtral", 56_000),
        ("dolphin-mixtral:8x22b", "mixtral", 176_000),
        ("TheBloke/CodeLlama-34B-GGUF", "codellama", 34_000),
        ("codestral:22b", "codestral", 22_000),
        ("starcoder2:15b", "starcoder", 15_000),
        ("granite-code:8b", "granite-code", 8_000),
        ("granite3.1-dense:8b", "granite", 8_000),
        ("yi-1.5-9b-chat", "yi", 9_000),
        ("yi-coder:9b", "yi-coder", 9_000),
        ("solar:10.7b", "solar", 10_700),
        ("command-r-plus:104b", "command", 104_000),
        ("aya-expanse:32b", "aya", 32_000),
        ("llama-3.1-nemotron-70b-instruct", "nemotron", 70_000),
        ("tinyllama:1.1b", "tinyllama", 1_100),
        ("smollm2:135m", "smollm", 135),
        ("gpt-oss:120b", "gpt-oss", 120_000),
    ],
)
def test_a_name_tells_its_family_and_size(model: str, family: str, millions: int | None) -> None:
    found = classify(model)
    assert (found.name if found else None, size_of(model)) == (family, millions)


@every("model", [*NO_CHAT, "philosopher", "yiddish-tales", "openllama-like", "my-own:latest", ""])
def test_what_is_no_chat_model_or_unknown_has_no_family(model: str) -> None:
    assert classify(model) is None


@every("words", ["q4_K_M", "fp16", "4bit", "128k", "v1.5", "2503", "a3b"])
def test_what_only_looks_like_a_size_is_none(words: str) -> None:
    assert size_of(f"model-{words}") is None


@every(
    ("wanted", "tier", "expected"),
    [
        ("qwen2.5-coder:14b", "generation", "qwen2.5-coder:7b"),
        ("codestral:22b", "generation", "qwen2.5-coder:7b"),
        ("llama3.3:70b", "reasoning", "llama3.1:8b"),
        ("gpt-5", "classification", "llama3.1:8b"),
        ("qwen2.5-coder:0.5b", "generation", "qwen2.5-coder:7b"),
    ],
)
def test_the_nearest_in_family_class_and_size_stands_in(wanted: str, tier: Tier, expected: str) -> None:
    installed = [
        "nomic-embed-text:latest",
        "tinyllama:1.1b",
        "qwen2.5-coder:7b",
        "llama3.1:8b",
        "my-own:latest",
    ]
    assert best(installed, wanted, tier) == expected


def test_a_tiny_member_of_the_family_does_not_stand_in_for_a_large_one() -> None:
    assert best(["qwen2.5-coder:0.5b", "llama3.3:70b"], "qwen2.5-coder:32b", "generation") == "llama3.3:70b"


names = st.one_of(
    st.sampled_from(NO_CHAT),
    st.text(string.ascii_letters + string.digits + ":-_./", max_size=30),
    st.builds(
        lambda row, size: f"{row[1].name}:{size}b", st.sampled_from(known().families), st.integers(1, 400)
    ),
)


@given(st.lists(names, max_size=8), names, st.sampled_from(TIERS))
def test_whatever_is_installed_only_a_chat_model_that_is_there_stands_in(
    installed: list[str], wanted: str, tier: Tier
) -> None:
    found = best(installed, wanted, tier)
    assert found == best(list(reversed(installed)), wanted, tier)
    if found is None:
        assert all(classify(name) is None for name in installed)
    else:
        assert found in installed
        assert classify(found) is not None
        assert found not in NO_CHAT


def test_latest_and_case_make_no_difference() -> None:
    assert installed_as(["Llama3.1:latest"], "llama3.1") == "Llama3.1:latest"
    assert installed_as(["llama3.1:8b"], "llama3.1") is None
