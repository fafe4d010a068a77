"""From `provider:model` to a model that can be asked. Nothing heavy is loaded, and nothing is connected
to.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from agentforge.core.errors import PolicyError, UsageError
from agentforge.models.base import Model
from agentforge.models.known.families import classify
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import SCRIPTED, Provider
from agentforge.models.provider_model import ProviderModel
from agentforge.models.wire.endpoint import Wrap

Keys: TypeAlias = Callable[[Provider], str | None]
"""From a provider to the person's key for it, if there is one."""
PriceList: TypeAlias = Callable[[Provider, str], Prices | None]
"""From a provider and a model's name to its prices, if they are known."""

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
"""What a model's name may be: it becomes a part of an address on some wires."""


class Spec(NamedTuple):
    """The two parts of `provider:model`."""

    provider: str
    model: str


def no_prices(_provider: Provider, _model: str) -> None:
    """A price list that knows no price."""


def read_spec(text: str) -> Spec:
    """Takes `provider:model` apart, or says what is wrong with it."""
    provider, _, model = text.partition(":")
    if not provider or not model:
        raise UsageError(
            f"{text[:200]!r} is not a model.",
            "Write it as `provider:model`, such as `anthropic:NAME` or `ollama:NAME`.",
        )
    if provider != SCRIPTED and (not _MODEL.fullmatch(model) or ".." in model or "//" in model):
        raise UsageError(
            f"{model[:200]!r} is not a model name.", "A name has letters, digits and any of `._:/@+-`."
        )
    return Spec(provider, model)


def open_spec(
    spec: str,
    providers: Mapping[str, Provider],
    keys: Keys,
    *,
    prices: PriceList = no_prices,
    local_only: bool = False,
    wrap: Wrap | None = None,
) -> Model:
    """The model that `spec` names. A `UsageError`, `PolicyError` or `Unusable` says what is missing.

    `wrap` goes around the transport of the HTTP library.
    """
    name, model = read_spec(spec)
    if name == SCRIPTED:
        from agentforge.models.scripted import load_script  # noqa: PLC0415 - only the one that is asked for

        return load_script(Path(model))
    provider = providers.get(name)
    if provider is None:
        raise UsageError(
            f"{name[:80]!r} is not a provider.",
            f"Known: {', '.join([*providers, SCRIPTED])}; add others under `providers:`.",
        )
    if local_only and not provider.local:
        raise PolicyError(
            f"{spec} answers from {provider.host}, and only models on this machine may be used.",
            "Name a local model, such as `ollama:NAME`.",
        )
    key = keys(provider)
    if not key and provider.needs_key:
        ways = (
            f"Export it, run `agentforge auth login {name}`, or set {provider.address_env} to a "
            "server that needs none."
        )
        raise UsageError(f"{provider.key_env} is not set.", ways)
    # A name says something about an open model wherever it runs; a hosted one is known to the library.
    family = classify(model) if provider.wire == "openai" and not provider.needs_key else None
    reply_format = family.reply_format if family is not None else None
    return ProviderModel(
        provider, model, key or None, prices(provider, model), reply_format, local_only, wrap
    )
