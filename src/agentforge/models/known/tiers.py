"""Which models a person wants for which kind of work: the tiers, read from configuration. Pure.

    tiers:                                  # in config.yaml of the user, or in the settings of a project
      reasoning: [anthropic:claude-opus-5, openai:gpt-5]
      generation: [ollama:qwen2.5-coder:32b]
    delivery: {summarization: batch}        # or one word for all tiers

A tier that nobody configured takes the models of the next higher one that has some, else of the next lower
one.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal, TypeGuard, TypeVar

from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS, Tier
from agentforge.models.known.providers import SCRIPTED

DeliveryMode = Literal["live", "batch", "auto"]
"""How replies are wanted: now, later at a lower price, or as it fits."""
PROJECT = "the project's settings"
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Tiers:
    """The models of each tier, in the order in which they are asked."""

    models: Mapping[Tier, tuple[str, ...]]
    source: Mapping[Tier, str]
    """Where each list is from, in words."""
    delivery: Mapping[Tier, DeliveryMode]
    lender: Mapping[Tier, Tier] = field(default_factory=dict)
    """For tiers without a list of their own: whose they take."""

    @property
    def specs(self) -> tuple[str, ...]:
        """Every model of every tier, each once, the highest tier first."""
        return tuple(dict.fromkeys(spec for tier in reversed(TIERS) for spec in self.models[tier]))

    def only(self, allowed: Callable[[str], bool]) -> "Tiers":
        """The tiers as if the other models did not exist; one that loses all takes those of another."""
        left = {tier: tuple(spec for spec in specs if allowed(spec)) for tier, specs in self.models.items()}
        return _with_borrowed(left, self.source, self.delivery)

    def with_model(self, tier: Tier, spec: str, source: str) -> "Tiers":
        """The tiers with this model alone for one of them; those that borrow keep what they have."""
        return replace(
            self,
            models=_frozen({**self.models, tier: (spec,)}),
            source=_frozen({**self.source, tier: source}),
            lender=_frozen({other: lender for other, lender in self.lender.items() if other != tier}),
        )


def single(spec: str, source: str = "--model") -> Tiers:
    """Tiers that use one model for everything."""
    return Tiers(
        _frozen(dict.fromkeys(TIERS, (spec,))),
        _frozen(dict.fromkeys(TIERS, source)),
        _frozen(dict.fromkeys(TIERS, _live())),
    )


def read_tiers(
    user: Mapping[str, Any],
    project: Mapping[str, Any],
    *,
    model: tuple[str, str] | None,
    providers: Collection[str],
) -> Tiers:
    """The tiers of the user's configuration before the project's, both valid under their contracts. `model`
    is one for all tiers, with where it was said.

    A project may only name providers that the user knows. Tiers without any model are empty.
    """
    delivery = {**_delivery(project), **_delivery(user)}
    modes: Mapping[Tier, DeliveryMode] = _frozen({tier: delivery.get(tier, _live()) for tier in TIERS})
    if model is not None:
        spec, source = model
        check_spec(spec, source, providers)
        given = single(spec, source)
        return Tiers(given.models, given.source, modes)
    found: dict[Tier, tuple[str, ...]] = {}
    source_of: dict[Tier, str] = {}
    for document, source in ((user, "config.yaml"), (project, PROJECT)):
        lists = _lists(document, source, providers)
        for tier in TIERS:
            if tier in lists and tier not in found:
                found[tier], source_of[tier] = lists[tier], source
    return _with_borrowed(found, source_of, modes)


def from_project(tiers: Tiers) -> tuple[str, ...]:
    """The models that a task would use because the project names them."""
    lists = (tiers.models[tier] for tier in reversed(TIERS) if tiers.source[tier].startswith(PROJECT))
    return tuple(dict.fromkeys(spec for specs in lists for spec in specs))


def split(spec: str) -> tuple[str, str]:
    """The provider and the model; either may be empty."""
    provider, _, model = spec.partition(":")
    return provider, model


def higher(tier: Tier) -> tuple[Tier, ...]:
    """The tiers above, the nearest first."""
    return TIERS[TIERS.index(tier) + 1 :]


def is_tier(value: object) -> TypeGuard[Tier]:
    """Whether a text is the name of a tier."""
    return isinstance(value, str) and value in TIERS


def _with_borrowed(
    found: Mapping[Tier, tuple[str, ...]], source: Mapping[Tier, str], delivery: Mapping[Tier, DeliveryMode]
) -> Tiers:
    """Every tier with models, if there are any at all."""
    models: dict[Tier, tuple[str, ...]] = {}
    words: dict[Tier, str] = {}
    lenders: dict[Tier, Tier] = {}
    for tier in TIERS:
        lower = reversed(TIERS[: TIERS.index(tier)])
        lender = next((other for other in (tier, *higher(tier), *lower) if found.get(other)), None)
        models[tier] = found[lender] if lender else ()
        words[tier] = source[lender] if lender else "nothing"
        if lender not in (tier, None):
            lenders[tier] = lender
            words[tier] += f", of {lender}"
    return Tiers(_frozen(models), _frozen(words), delivery, _frozen(lenders))


def _lists(
    document: Mapping[str, Any], source: str, providers: Collection[str]
) -> dict[Tier, tuple[str, ...]]:
    """The lists that a document gives; its `model` is the list of every tier that has none."""
    lists: dict[Tier, tuple[str, ...]] = {}
    for tier, specs in document.get("tiers", {}).items():
        for spec in specs:
            check_spec(spec, f"{source}: tiers.{tier}", providers)
        lists[tier] = tuple(dict.fromkeys(specs))
    if (usual := document.get("model")) is not None:
        check_spec(usual, f"{source}: model", providers)
        lists = {tier: lists.get(tier, (usual,)) for tier in TIERS}
    return lists


def check_spec(spec: str, source: str, providers: Collection[str]) -> None:
    """Refuses what is no model, or one of a provider that nobody knows."""
    provider, model = split(spec)
    if not provider or not model.strip() or not spec.isprintable():
        raise UsageError(
            f"{source}: {spec[:80]!r} is not a model.", _how_to_write(spec.strip(" :"), providers)
        )
    if provider != SCRIPTED and provider not in providers:
        known = ", ".join(sorted(providers))
        meant = get_close_matches(provider.lower(), providers, n=1)
        near = f"Did you mean `{meant[0]}:{model}`? " if meant else ""
        raise UsageError(
            f"{source}: there is no provider {provider!r}.",
            f"{near}Known: {known}. Add it under `providers:` in your config.yaml.",
        )


_FAMILIES = {"claude": "anthropic", "gpt": "openai", "gemini": "google", "mistral": "mistral"}
"""How the names of models begin whose provider everybody knows."""


def _how_to_write(spec: str, providers: Collection[str]) -> str:
    """What to write instead of a provider alone, or of a name alone."""
    if spec in providers:
        return f"Add the name: `{spec}:NAME`. `agentforge models list` shows the models that you can use."
    maker = next((maker for start, maker in _FAMILIES.items() if spec.lower().startswith(start)), None)
    if maker in providers and spec.isprintable() and " " not in spec:
        return f"Write its provider as well: `{maker}:{spec[:80]}`."
    return "Write `PROVIDER:MODEL`, such as `ollama:qwen2.5-coder:7b`."


def _delivery(document: Mapping[str, Any]) -> dict[Tier, DeliveryMode]:
    given = document.get("delivery", {})
    return dict(given) if isinstance(given, dict) else dict.fromkeys(TIERS, given)


def _live() -> DeliveryMode:
    return "live"


def _frozen(mapping: dict[_K, _V]) -> Mapping[_K, _V]:
    return MappingProxyType(mapping)
