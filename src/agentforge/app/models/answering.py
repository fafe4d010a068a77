"""Who answers: the models as people configured them, put together from providers, tiers, keys, prices and
wrappers.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from agentforge.app.setup.settings import NO_MODEL, Settings
from agentforge.core.errors import PolicyError, UsageError, UserError
from agentforge.core.pipeline import TIERS, Tier
from agentforge.core.values import Price, TierPrice
from agentforge.models.base import Answer, Model, Request, Reservation
from agentforge.models.known.local import LocalModels, installed, unlisted
from agentforge.models.known.prices import Prices, price_list
from agentforge.models.known.providers import SCRIPTED, Provider
from agentforge.models.known.scores import NoScores, Scores
from agentforge.models.known.tiers import Tiers, higher, split
from agentforge.models.open import open_spec
from agentforge.models.router import Parts, Router
from agentforge.models.wrap.stack import recorded
from agentforge.store.layout import Home
from agentforge.store.user.keys import KeyStore

TIERED = "tiers"
"""What a task's record calls its model where several do the work: then every call names its own."""
REPLAYED = "none"
"""In the place of a key that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Answering:
    """What was configured, and where it is from."""

    tiers: Tiers
    providers: Mapping[str, Provider]
    environ: Mapping[str, str]
    keys: KeyStore
    rates: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Usable replies and calls so far, by tier and model."""
    timeout_s: int | None = None
    """The longest that one call may take, where that is less than the provider's own."""
    local_only: bool = False

    @classmethod
    def of(
        cls,
        home: Home,
        settings: Settings,
        environ: Mapping[str, str] = os.environ,
        *,
        local_only: bool = False,
    ) -> "Answering":
        """The models that a task may use, from the user's settings, keys and environment."""
        made = cls(settings.tiers, settings.providers, environ, KeyStore.of(home, environ))
        return made.at_home() if local_only else made

    @property
    def name(self) -> str:
        """The only model's name, or `tiers` where several do the work."""
        return self.tiers.specs[0] if len(self.tiers.specs) == 1 else TIERED

    def at_home(self) -> "Answering":
        """With the models of this machine, as if there were no others."""
        left = self.tiers.only(self.is_local)
        if self.tiers.specs and not left.specs:
            raise PolicyError(
                f"This mode uses only models on this machine, not {', '.join(self.tiers.specs)}.",
                "Name a local one, such as `--model ollama:NAME`, or choose another mode.",
            )
        return replace(self, tiers=left, local_only=True)

    def is_local(self, spec: str) -> bool:
        """Whether a model answers from this machine: a script, or a server on the loopback."""
        name, _ = split(spec)
        provider = self.providers.get(name)
        return name == SCRIPTED or (provider is not None and provider.local)

    def check(self) -> None:
        """At least one model of every tier can be opened; else what stands in the way of the first, before
        anything is written.
        """
        if not self.tiers.specs:
            raise UsageError("No model is configured.", NO_MODEL)
        for specs in {self.tiers.models[tier] for tier in TIERS}:
            troubles = [trouble for trouble in map(self.trouble, specs) if trouble is not None]
            if len(troubles) == len(specs):
                raise troubles[0]

    def trouble(self, spec: str) -> UserError | None:
        """What stands in the way of a model here: a missing key or library; None if nothing does."""
        try:
            self.open(spec)
        except UserError as error:
            return error
        return None

    def key(self, provider: Provider) -> str | None:
        """The person's key for it; where a recording answers, none is needed."""
        found = self.keys.find(provider.name, provider.key_env)
        return found.text if found else REPLAYED if self.replays else None

    @property
    def replays(self) -> bool:
        """Whether a recording answers in the place of every server."""
        return bool(self.environ.get("AGENTFORGE_REPLAY"))

    def prices(self, provider: Provider, model: str) -> Prices | None:
        """What a model costs; nothing if it runs on this machine."""
        return price_list(self.environ)(provider, model)

    def price(self, spec: str) -> Price | None:
        """The dearest token of each kind; None where nobody knows it. A script costs nothing."""
        name, model = split(spec)
        provider = self.providers.get(name)
        if provider is None:
            return Price(0, 0)
        known = self.prices(provider, model)
        return known.ceiling if known else None

    def tier_prices(self) -> tuple[TierPrice, ...]:
        """What a call of each tier may cost, whoever answers: its own models, or those of a higher tier that
        stand in.
        """
        return tuple(TierPrice(tier, self._dearest(self._reachable(tier))) for tier in TIERS)

    def unpriced(self) -> tuple[str, ...]:
        """The models whose price nobody knows."""
        return tuple(spec for spec in self.tiers.specs if self.price(spec) is None)

    def open(self, spec: str) -> Model:
        """The model behind `provider:name`, without retries or limits; recorded or replayed if the
        environment says so.
        """
        return recorded(
            open_spec(spec, self._hurried(), self.key, prices=self.prices, local_only=self.local_only),
            self.environ,
        )

    def router(self, say: Callable[[str], None] = lambda _: None, scores: Scores | None = None) -> Router:
        """Picks a model for each call, and the next one when it fails."""
        local = LocalModels(say, self.key, ask=unlisted if self.replays else installed)
        parts = Parts(self.open, self.providers, local, scores=scores or NoScores())
        return Router(self.tiers, parts, local_only=self.local_only)

    def _reachable(self, tier: Tier) -> Iterable[str]:
        return (spec for level in (tier, *higher(tier)) for spec in self.tiers.models[level])

    def _dearest(self, specs: Iterable[str]) -> Price | None:
        dearest = Price(0, 0)
        for spec in specs:
            price = self.price(spec)
            if price is None:
                return None
            dearest = Price(max(dearest.input, price.input), max(dearest.output, price.output))
        return dearest

    def _hurried(self) -> Mapping[str, Provider]:
        most = self.timeout_s
        if most is None:
            return self.providers
        return {
            name: replace(provider, timeout_s=min(most, provider.timeout_s))
            for name, provider in self.providers.items()
        }


class NobodyAnswers:
    """A model for commands that only look at a task. Asking it is a programming error."""

    name = "none"

    # the port's own names
    def worst_case(self, request: Request, input_tokens: int) -> Reservation:  # noqa: ARG002
        """Never called."""
        raise AssertionError("no model is called here")

    def ask(self, request: Request) -> Answer:  # noqa: ARG002  # the port's own names
        """Never called."""
        raise AssertionError("no model is called here")
