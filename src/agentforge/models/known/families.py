"""The families of open models (`families.yaml`): what a name tells about a model that runs on a machine of
one's own.

`classify` knows a family by the model's name, `size_of` reads the size from it, `best` chooses a stand-in.
What is no chat model (embeddings, rerankers, speech, pictures, raw base models) has no family, so it never
stands in for anything.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS, Tier
from agentforge.models.known.providers import ReplyFormat
from agentforge.system import strict_yaml

FamilyClass = Literal["general", "code", "reasoning"]

_FILE: Final = Path(__file__).with_name("families.yaml")


@dataclass(frozen=True, slots=True)
class Family:
    """What models of one name have in common."""

    name: str
    kind: FamilyClass
    roles: tuple[Tier, ...]
    context_tokens: int
    reply_format: ReplyFormat
    """The best way of replying that its members share."""
    millions: int
    """Parameters of the usual member, for names that do not tell."""


@dataclass(frozen=True, slots=True)
class Families:
    """What is known. The file says what each is for."""

    families: tuple[tuple[re.Pattern[str], Family], ...]
    """The first that matches is the one."""
    no_chat: re.Pattern[str]
    usual: Mapping[Tier, int]
    least: Mapping[Tier, int]


_SIZE: Final = re.compile(r"(?<![a-z0-9.])(?:(\d{1,3})x)?e?(\d{1,4}(?:\.\d{1,3})?)([bmt])(?![a-z0-9])")
_MILLIONS: Final = {"m": 1, "b": 1_000, "t": 1_000_000}


@cache
def known() -> Families:
    """The families of models, read when first asked for."""
    return families_from(strict_yaml.load(_FILE.read_text(encoding="utf-8"), _FILE.name))


def families_from(document: Any) -> Families:  # noqa: ANN401  a document is any YAML
    """The families of a document. Keys and words that mean nothing are refused."""
    _only("the file", document, ("roles", "usual", "least", "no_chat", "families"))
    roles = document["roles"]
    for where, tiers in {**roles, "usual": document["usual"], "least": document["least"]}.items():
        _only(where, tiers, TIERS)
    words = {"kind": get_args(FamilyClass), "means": get_args(ReplyFormat), "roles": roles}
    rows = []
    for name, row in document["families"].items():
        _only(name, row, ("pattern", "kind", "roles", "context_k", "means", "millions"))
        for key, allowed in words.items():
            _only(f"{name}.{key}", [row[key]], allowed)
        window, able = row["context_k"] * 1024, tuple(roles[row["roles"]])
        family = Family(name, row["kind"], able, window, row["means"], row["millions"])
        rows.append((re.compile(rf"(?<![a-z])(?:{row.get('pattern', name)})"), family))
    no_chat = re.compile(rf"(?<![a-z])(?:{'|'.join(document['no_chat'])})(?![a-z])")
    return Families(tuple(rows), no_chat, document["usual"], document["least"])


def _only(where: str, said: Iterable[str], allowed: Collection[str]) -> None:
    if unknown := [word for word in said if word not in allowed]:
        raise UsageError(f"{_FILE.name}: {where}: `{unknown[0]}` is not one of {', '.join(allowed)}.")


@lru_cache(maxsize=1024)
def classify(model_id: str) -> Family | None:
    """The family of a chat model; None if it is none, or none that we know."""
    name = _bare(model_id)
    if known().no_chat.search(name):
        return None
    return next((family for pattern, family in known().families if pattern.search(name)), None)


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
    target = size_of(wanted) or (ideal.millions if ideal else known().usual[tier])
    # Twice the size is one step away; the smaller one is the greater loss.
    steps = math.log2(size / target)
    distance = steps if steps >= 0 else -1.5 * steps
    distance += 0 if ideal is family else 2
    distance += 0 if (ideal.kind if ideal else family.kind) == family.kind else 1
    return distance + (0 if tier in family.roles and size >= known().least[tier] else 3)


def _bare(model_id: str) -> str:
    """The name without who published it, the kind of file, and how it is quantised."""
    name = model_id.lower().replace("\\", "/").rstrip("/").removesuffix(".gguf")
    name = name.rpartition("/")[2]
    return re.sub(
        r"(?<![a-z0-9])(?:i?q\d\w*|fp?\d{1,2}|bf16|int\d|\dbit|awq|gptq|gguf|exl2|mlx)(?![a-z0-9])", "", name
    ).replace("_", "-")
