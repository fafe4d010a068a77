"""Setting up once: what there is of keys, servers and agents, which models they have, whether the chosen one
answers, and what a typical task would cost with it.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentforge.app.models.answering import Answering
from agentforge.app.models.configured import models_config
from agentforge.app.models.keys import find_provider
from agentforge.app.models.trial import ModelTrial, try_model
from agentforge.app.setup.own_config import own_config_path, read_own_config, with_model, write_own_config
from agentforge.catalog.load import Catalog
from agentforge.catalog.modes import USUAL
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS
from agentforge.models.known.families import best
from agentforge.models.known.local import installed_all, lists
from agentforge.models.known.providers import Provider
from agentforge.models.known.published import nearest, published_models, writes_code
from agentforge.models.known.tiers import split
from agentforge.models.probe import ProviderProbe, has_model, probe_all
from agentforge.sizing import forecast as estimates
from agentforge.sizing.forecast import Forecast
from agentforge.store.site import home_path
from agentforge.store.user.keys import KeySource

LOOK_S = 3.0
"""So long a provider may take to list its models; one that takes longer is not waited for."""
TRIAL_S = 60
LANES = ("hotfix", "small", "full")
AGENTS: Mapping[str, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "aider": "aider",
    "opencode": "OpenCode",
    "goose": "goose",
}
"""Programs of other agents, by the command that starts them."""


@dataclass(frozen=True, slots=True)
class FoundProvider:
    """A provider with a key, or a server on this machine, as it answers now."""

    provider: Provider
    probe: ProviderProbe
    key: KeySource | None = None
    """Where its key is from."""
    local: tuple[str, ...] = ()
    """The models that a server of one's own has."""

    @property
    def name(self) -> str:
        """What stands before the colon of `PROVIDER:NAME`."""
        return self.provider.name

    @property
    def models(self) -> tuple[str, ...]:
        """The models that it lists, the likeliest choice first; of the published list where it has none."""
        names = self.local or tuple(name for name in self.probe.models if writes_code(name))
        names = names or published_models(self.provider)
        first = self.usual
        return tuple(nearest(first, names)) if first else names

    @property
    def is_listed(self) -> bool:
        """Whether its models are from the provider itself."""
        return bool(self.local or self.probe.models)

    @property
    def usual(self) -> str:
        """What it would be asked for if nobody chose; empty where nobody can say."""
        if self.local:
            return best(self.local, "", "generation") or self.local[0]
        return self.provider.usual_model


@dataclass(frozen=True, slots=True)
class Inventory:
    """The providers and models that setup can offer on this machine."""

    path: Path
    """The settings file."""
    model: str | None
    """The model that the file names now."""
    providers: tuple[FoundProvider, ...]
    agents: tuple[str, ...]
    """Other agents that are installed."""

    @property
    def likeliest(self) -> str:
        """The provider of the model that is named now, else the first that can be asked, else any."""
        if self.model:
            return split(self.model)[0]
        found = sorted(self.providers, key=lambda each: not each.probe.ok)
        return found[0].name if found else ""

    def usual_of(self, found: FoundProvider) -> str:
        """The name to offer: what is chosen already, else what is usual there."""
        provider, name = split(self.model or "")
        return name if provider == found.name else found.usual


def look_around(environ: Mapping[str, str] = os.environ) -> Inventory:
    """Every provider with a key and every server that answers on this machine, asked all at once."""
    config = _config(environ)
    found = []
    for provider in config.providers.values():
        key = config.keys.source(provider.name, provider.key_env)
        if key or provider.local:
            found.append((provider, key))
    probes = probe_all([provider for provider, _ in found], config.key, LOOK_S)
    own = [provider for provider, _ in found if lists(provider)]
    listed = installed_all(own, config.key, LOOK_S) if own else {}
    rows = []
    for (provider, key), probe in zip(found, probes, strict=True):
        names = listed[provider.name].names if provider.name in listed else ()
        # A server that nobody configured is only news if it is there; two wires of one key are one provider.
        if (key and provider.usual_model) or (provider.local and probe.ok and not key):
            rows.append(FoundProvider(provider, probe, key, names))
    agents = tuple(
        name for program, name in AGENTS.items() if shutil.which(program, path=environ.get("PATH"))
    )
    model = read_own_config().settings.get("model")
    return Inventory(own_config_path(), model if isinstance(model, str) else None, tuple(rows), agents)


def look_at(name: str, environ: Mapping[str, str] = os.environ) -> FoundProvider:
    """One provider, by its name."""
    provider, config = find_provider(name), _config(environ)
    provider = config.providers[provider.name]
    (probe,) = probe_all([provider], config.key, LOOK_S)
    own = installed_all([provider], config.key, LOOK_S)[name].names if lists(provider) else ()
    return FoundProvider(provider, probe, config.keys.source(name, provider.key_env), own)


def spec_of(provider: str | None, model: str) -> str:
    """`PROVIDER:NAME` from what a person typed: the provider may be said apart."""
    if provider and not model.startswith(f"{provider}:"):
        return f"{provider}:{model}"
    if not split(model)[1]:
        raise UsageError(
            f"{model[:80]!r} is not a model.",
            "Write it as `--model PROVIDER:NAME`, or add `--provider PROVIDER`.",
        )
    return model


def check_name(found: FoundProvider, model: str, environ: Mapping[str, str] = os.environ) -> None:
    """Refuses a name that the provider says it does not have, with those that it has, the nearest first."""
    probe = found.probe
    known = found.local or probe.models
    if model in known or not (found.local or probe.whole):
        return
    if has_model(found.provider, _config(environ).key(found.provider), model, LOOK_S) is False:
        raise unknown_model(found.provider, model, known)


def unknown_model(provider: Provider, model: str, known: tuple[str, ...]) -> UsageError:
    """The refusal of a name that a provider does not have."""
    near = nearest(model, filter(writes_code, known))[:8]
    step = (
        f"Its models, nearest first: {', '.join(near)}."
        if near
        else "`agentforge setup` helps to choose one."
    )
    return UsageError(f"{provider.name} has no model {model}.", step)


def try_one_call(spec: str, environ: Mapping[str, str], say: Callable[[str], None]) -> ModelTrial:
    """One tiny real request to the chosen model."""
    return try_model(replace(_config(environ), timeout_s=TRIAL_S), spec, say)


def lane_costs(spec: str, environ: Mapping[str, str] = os.environ) -> dict[str, Forecast]:
    """What a typical task of each lane takes with this model."""
    price = _config(environ).price(spec)
    rates = dict.fromkeys(TIERS, price)
    found = {}
    for lane in LANES:
        line = Catalog.packaged().resolve("implement", lane, USUAL).pipeline()
        if (expected := estimates.forecast(line, (), rates)) is not None:
            found[lane] = expected
    return found


def keep_model(spec: str) -> bool:
    """Writes the model into the user's settings, whose other lines stay; False: it was there already."""
    found = read_own_config()
    if found.settings.get("model") == spec:
        return False
    try:
        write_own_config(with_model(found.text, spec))
    except UsageError as error:
        raise UsageError(
            f"{found.path} cannot be changed without breaking it.", f"Write `model: {spec}` into it yourself."
        ) from error
    return True


def _config(environ: Mapping[str, str]) -> Answering:
    """The models as the environment and the user's settings have them."""
    return models_config(home_path(environ), environ)
