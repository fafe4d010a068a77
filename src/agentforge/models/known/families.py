"""The families of open models, as data: what a name tells about a model that runs on a machine of one's own.

`classify` knows a family by the model's name, `size_of` reads the size from it, `best` chooses a stand-in.
What is no chat model
(embeddings, rerankers, speech, pictures, raw base models) has no family, so it never stands in for anything.
Pure.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from agentforge.core.pipeline import Tier
from agentforge.models.known.providers import Means

FamilyClass = Literal["general", "code", "reasoning"]

_HARD: Final[tuple[Tier, ...]] = ("reasoning", "generation")
_WORK: Final[tuple[Tier, ...]] = ("generation",)
_ANY: Final[tuple[Tier, ...]] = ("reasoning", "generation", "summarization", "classification")
_DAILY: Final[tuple[Tier, ...]] = ("generation", "summarization", "classification")
_LIGHT: Final[tuple[Tier, ...]] = ("summarization", "classification")

_K: Final = 1024


@dataclass(frozen=True, slots=True)
class Family:
    """What models of one name have in common."""

    name: str
    pattern: str
    """Where a word of the model's name begins; the first family that matches is the one."""
    kind: FamilyClass
    roles: tuple[Tier, ...]
    context_tokens: int
    means: Means
    """The best way of replying that its members share."""
    millions: int
    """Parameters of the usual member, for names that do not tell."""


FAMILIES: Final[tuple[Family, ...]] = (
    # Named after another family, or a part of its name: these come first.
    Family("deepseek-r1", r"deepseek-?r1|r1-distill|r1-1776", "reasoning", _HARD, 128 * _K, "text", 7_000),
    Family("deepseek-coder", r"deepseek-?coder", "code", _WORK, 16 * _K, "text", 6_700),
    Family("deepseek", r"deepseek", "general", _ANY, 128 * _K, "calls", 67_000),
    Family("codellama", r"code-?llama", "code", _WORK, 16 * _K, "text", 7_000),
    Family("codegemma", r"code-?gemma", "code", _WORK, 8 * _K, "text", 7_000),
    Family("codeqwen", r"code-?qwen", "code", _WORK, 64 * _K, "text", 7_000),
    Family("qwen-coder", r"qwen[\d.-]*-?coder", "code", _WORK, 32 * _K, "calls", 7_000),
    Family("qwq", r"qwq", "reasoning", _HARD, 32 * _K, "calls", 32_000),
    Family("qwen3", r"qwen-?3", "general", _ANY, 32 * _K, "calls", 8_000),
    Family("qwen2", r"qwen-?2", "general", _DAILY, 32 * _K, "calls", 7_000),
    Family("qwen", r"qwen", "general", _LIGHT, 8 * _K, "text", 7_000),
    Family("codestral", r"codestral", "code", _WORK, 32 * _K, "text", 22_000),
    Family("devstral", r"devstral", "code", _WORK, 128 * _K, "calls", 24_000),
    Family("magistral", r"magistral", "reasoning", _HARD, 40 * _K, "calls", 24_000),
    Family("ministral", r"ministral", "general", _DAILY, 128 * _K, "calls", 8_000),
    Family("mixtral", r"mixtral", "general", _ANY, 32 * _K, "calls", 47_000),
    Family("mistral", r"mistral", "general", _DAILY, 32 * _K, "calls", 7_000),
    Family("nemotron", r"(?:llama[\d.-]*-?)?nemotron", "general", _ANY, 128 * _K, "calls", 70_000),
    Family("tinyllama", r"tiny-?llama", "general", ("classification",), 2 * _K, "text", 1_100),
    Family("llama4", r"llama-?4", "general", _ANY, 128 * _K, "calls", 109_000),
    Family("llama3.x", r"llama-?3[.-]?[1-3](?!\d*b)", "general", _ANY, 128 * _K, "calls", 8_000),
    Family("llama3", r"llama-?3", "general", _DAILY, 8 * _K, "text", 8_000),
    Family("llama2", r"llama-?2|llama(?![a-z\d.-]*[34])", "general", _LIGHT, 4 * _K, "text", 7_000),
    Family("gemma3", r"gemma-?[3-9]", "general", _DAILY, 128 * _K, "text", 4_000),
    Family("gemma", r"gemma", "general", _DAILY, 8 * _K, "text", 9_000),
    Family(
        "phi-reasoning", r"phi-?\d[\d.]*-(?:mini-)?reasoning", "reasoning", _HARD, 32 * _K, "text", 14_000
    ),
    Family("phi4", r"phi-?4", "general", _DAILY, 16 * _K, "text", 14_000),
    Family("phi", r"phi-?[\d.]*(?![a-z])", "general", _LIGHT, 4 * _K, "text", 3_800),
    Family("starcoder", r"starcoder-?\d?", "code", _WORK, 16 * _K, "text", 7_000),
    Family("granite-code", r"granite[\d.-]*-?code", "code", _WORK, 8 * _K, "text", 8_000),
    Family("granite", r"granite", "general", _DAILY, 128 * _K, "calls", 8_000),
    Family("yi-coder", r"yi-?coder", "code", _WORK, 128 * _K, "text", 9_000),
    Family("yi", r"yi(?![a-z])", "general", _LIGHT, 4 * _K, "text", 34_000),
    Family("solar", r"solar", "general", _LIGHT, 4 * _K, "text", 10_700),
    Family("command", r"command-?(?:r|a)", "general", _ANY, 128 * _K, "calls", 35_000),
    Family("aya", r"aya(?![a-z])", "general", _LIGHT, 8 * _K, "text", 8_000),
    Family("gpt-oss", r"gpt-?oss", "reasoning", _ANY, 128 * _K, "calls", 20_000),
    Family("glm", r"(?:chat)?glm", "general", _ANY, 128 * _K, "calls", 9_000),
    Family("falcon", r"falcon", "general", _LIGHT, 8 * _K, "text", 7_000),
    Family("olmo", r"olmo", "general", _LIGHT, 4 * _K, "text", 7_000),
    Family("smollm", r"smollm", "general", ("classification",), 8 * _K, "text", 1_700),
)
"""Windows are those that every member has: a longer one may be there, a shorter one would cut the context
silently.
"""

_PATTERNS: Final = tuple((re.compile(rf"(?<![a-z])(?:{family.pattern})"), family) for family in FAMILIES)
_NO_CHAT: Final = re.compile(
    r"(?<![a-z])(?:embed\w*|[a-z]*embedding\w*|bge|gte|e5|all-minilm|minilm|[a-z-]*bert|\w*rerank\w*|\w*whisper\w*|tts|bark|kokoro|parakeet"
    r"|clip|siglip|\w*llava\w*|moondream|vision|vl|ocr|\w*guard\w*|shield\w*|diffusion|flux|sdxl|base|text|fim|pretrained|reward|rm)(?![a-z])"
)
_SIZE: Final = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?e?(\d{1,4}(?:\.\d{1,3})?)([bmt])(?![a-z0-9])")
_MILLIONS: Final = {"m": 1, "b": 1_000, "t": 1_000_000}

_USUAL: Final[dict[Tier, int]] = {
    "reasoning": 32_000,
    "generation": 14_000,
    "summarization": 8_000,
    "classification": 4_000,
}
"""The size that a tier wants if the missing model's name does not tell."""
_LEAST: Final[dict[Tier, int]] = {
    "reasoning": 14_000,
    "generation": 6_000,
    "summarization": 2_500,
    "classification": 1_000,
}
"""Below it a model is not up to the tier, whatever its family."""


@lru_cache(maxsize=1024)
def classify(model_id: str) -> Family | None:
    """The family of a chat model; None if it is none, or none that we know."""
    name = _bare(model_id)
    if _NO_CHAT.search(name):
        return None
    return next((family for pattern, family in _PATTERNS if pattern.search(name)), None)


def size_of(model_id: str) -> int | None:
    """Millions of parameters, as the name tells them: `7b`, `70B`, `8x7b`, `0.5b`, `135m`. How it is
    quantised is no size.
    """
    found = _SIZE.search(_bare(model_id))
    if found is None:
        return None
    experts, number, unit = found.groups()
    return int(Decimal(number) * _MILLIONS[unit]) * int(experts or 1)


def installed_as(installed: Iterable[str], wanted: str) -> str | None:
    """The name under which the wanted model is there, if it is: case and ollama's `:latest` make no
    difference.
    """
    there = {name.lower().removesuffix(":latest"): name for name in sorted(installed)}
    return there.get(wanted.lower().removesuffix(":latest"))


def best(installed: Iterable[str], wanted: str, tier: Tier) -> str | None:
    """The installed chat model that comes nearest to the wanted one in family, class, size and what the tier
    needs.
    """
    ranked = sorted(
        (_distance(name, family, wanted, tier), name) for name in set(installed) if (family := classify(name))
    )
    return ranked[0][1] if ranked else None


def _distance(name: str, family: Family, wanted: str, tier: Tier) -> float:
    ideal = classify(wanted)
    size = size_of(name) or family.millions
    target = size_of(wanted) or (ideal.millions if ideal else _USUAL[tier])
    # Twice the size is one step away; the smaller one is the greater loss.
    steps = math.log2(size / target)
    distance = steps if steps >= 0 else -1.5 * steps
    distance += 0 if ideal is family else 2
    distance += 0 if (ideal.kind if ideal else family.kind) == family.kind else 1
    return distance + (0 if tier in family.roles and size >= _LEAST[tier] else 3)


def _bare(model_id: str) -> str:
    """The name without who published it, the kind of file, and how it is quantised."""
    name = model_id.lower().replace("\\", "/").rstrip("/").removesuffix(".gguf")
    name = name.rpartition("/")[2]
    return re.sub(
        r"(?<![a-z0-9])(?:i?q\d\w*|fp?\d{1,2}|bf16|int\d|\dbit|awq|gptq|gguf|exl2|mlx)(?![a-z0-9])", "", name
    ).replace("_", "-")
