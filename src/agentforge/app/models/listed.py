"""The models of a user: of each tier, of each provider, and who would be asked for a role."""

from dataclasses import dataclass, replace
from typing import Literal

from agentforge.app.models.answering import Answering
from agentforge.app.models.configured import committed_catalogue, models_config
from agentforge.catalog.modes import mode_named
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS, Tier
from agentforge.models.base import ModelTrouble, Request
from agentforge.models.known.local import installed_all, lists, propose
from agentforge.models.known.tiers import is_tier, split
from agentforge.models.known.windows import window_of
from agentforge.models.router import CONFIGURE, Candidate
from agentforge.store.site import home_path
from agentforge.store.user.keys import KeySource


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model of a tier with its window, its prices and how often its replies were usable."""

    candidate: Candidate
    window: int | None
    """Tokens that it reads; None where nobody knows."""
    prices: dict[str, int] | None
    """Micro-dollars per million tokens of input, output and cached input; None where nobody knows."""
    usable_replies: int
    calls: int


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider, and whether it could be asked."""

    name: str
    host: str
    key_source: KeySource | None
    """Where its key is from; None: it has none."""
    key_env: str | None
    """The variable that its key can be in; None: it needs no key."""
    state: Literal["not_tested", "ready", "no_model", "unreachable"]
    models: tuple[str, ...] = ()
    """What a server on this machine has."""
    trouble: str = ""
    """What was in the way of asking it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Who would be asked for a role, and who else could be."""

    tier: Tier
    source: str
    """Where the tier's list is from."""
    mode: str
    candidates: tuple[Candidate, ...]
    picked: str | None
    why: str


def my_models(model: str | None = None) -> Answering:
    """What is configured for this user, here."""
    return models_config(home_path(), model=model)


def tier_rows(config: Answering) -> dict[Tier, list[ModelRow]]:
    """The models of each tier, the strongest tier first. Servers on this machine are asked what they have."""
    router = config.router()
    return {
        tier: [_row(config, item) for item in router.explain(tier, 0) if item.tier == tier]
        for tier in reversed(TIERS)
    }


def provider_states(config: Answering) -> list[ProviderState]:
    """Every provider; only servers on this machine are asked."""
    seen = installed_all([provider for provider in config.providers.values() if lists(provider)], config.key)
    rows = []
    for name, provider in config.providers.items():
        found = seen.get(name)
        key = config.keys.find(provider.name, provider.key_env)
        row = ProviderState(
            name,
            provider.host,
            key.source if key else None,
            provider.key_env if provider.needs_key or key else None,
            "not_tested",
        )
        if found is not None:
            state: Literal["ready", "no_model"] = "ready" if found.names else "no_model"
            row = replace(
                row,
                state="unreachable" if found.trouble else state,
                models=found.names,
                trouble=found.trouble,
            )
        rows.append(row)
    return rows


def no_model(config: Answering) -> str:
    """What to do where no model is configured."""
    return f"No model is configured. {propose(config.providers.values()) or CONFIGURE}"


def choose_model(role: str, mode_name: str, tokens: int) -> Choice:
    """Which models a role, or a tier, could reach, in order, and who would be asked now. Nothing is sent."""
    mode = mode_named(mode_name)
    tier = _tier_of(role)
    config = my_models()
    router = (replace(config, local_only=True) if mode.local_only else config).router()
    found = tuple(router.explain(tier, tokens))
    picked, why = None, ""
    try:
        chosen = router.pick(Request("explain", "explain", "", (), (), 0, tier=tier), tokens)
        picked, why = chosen.spec, chosen.why
    except ModelTrouble as trouble:
        why = trouble.user_sentence
    return Choice(tier, router.tiers.source[tier], mode.name, found, picked, why)


def _row(config: Answering, item: Candidate) -> ModelRow:
    provider = config.providers.get(split(item.asks)[0])
    name = split(item.asks)[1]
    prices = config.prices(provider, name) if provider else None
    known = {"input": prices.input, "output": prices.output, "cached": prices.cached} if prices else None
    good, calls = config.rates.get((item.tier, item.asks), (0, 0))
    return ModelRow(item, window_of(provider, name), known, good, calls)


def _tier_of(role: str) -> Tier:
    if is_tier(role):
        return role
    catalog = committed_catalogue()
    names = catalog.names("agents")
    if role not in names:
        raise UsageError(
            f"There is no role {role!r}.", f"The roles are {', '.join(sorted(names))}; a tier works too."
        )
    return catalog.role(role).tier
