"""The models as a person configured them, for the commands that look at them: providers, tiers, keys, and a router over them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.core.errors import UsageError
from agentforge.models.base import Model
from agentforge.models.local import LocalModels
from agentforge.models.open import open_spec
from agentforge.models.prices import Prices, price_list
from agentforge.models.providers import Provider, known
from agentforge.models.router import Parts, Router
from agentforge.models.stack import recorded
from agentforge.models.tiers import Tiers, read_tiers
from agentforge.store.keys import KeyStore
from agentforge.store.layout import Home

if TYPE_CHECKING:
    from agentforge.catalog.load import Catalog


@dataclass(frozen=True, slots=True)
class ModelsConfig:
    """What was configured, and where it is from."""

    tiers: Tiers
    providers: Mapping[str, Provider]
    environ: Mapping[str, str]
    keys: KeyStore
    rates: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Usable replies and calls so far, by tier and model."""
    timeout_s: int | None = None
    """The longest that one call may take, where that is less than the provider's own."""

    def key(self, provider: Provider) -> str | None:
        """The person's key for it."""
        found = self.keys.find(provider.name, provider.key_env)
        return found.text if found else None

    def prices(self, provider: Provider, model: str) -> Prices | None:
        """What a model costs; nothing if it runs on this machine."""
        return price_list(self.environ)(provider, model)

    def open(self, spec: str, *, local_only: bool = False) -> Model:
        """The bare model."""
        return recorded(open_spec(spec, self._hurried(), self.key, prices=self.prices, local_only=local_only), self.environ)

    def router(self, say: Callable[[str], None] = lambda _: None, *, local_only: bool = False) -> Router:
        """Who would be asked."""

        def open_(spec: str) -> Model:
            return self.open(spec, local_only=local_only)

        return Router(self.tiers, Parts(open_, self.providers, LocalModels(say, self.key)), local_only=local_only)

    def _hurried(self) -> Mapping[str, Provider]:
        most = self.timeout_s
        if most is None:
            return self.providers
        return {name: replace(provider, timeout_s=min(most, provider.timeout_s)) for name, provider in self.providers.items()}


def models_config(home: Path, environ: Mapping[str, str] = os.environ, *, model: str | None = None) -> ModelsConfig:
    """Read from the person's files and environment, and from the settings that this repository has committed, if we are in one."""
    place = Home(home)
    user = _mapping(home / "config.yaml")
    providers = known(environ, _providers(user))
    one = (model, "--model") if model else (environ["AGENTFORGE_MODEL"], "AGENTFORGE_MODEL") if environ.get("AGENTFORGE_MODEL") else None
    tiers = read_tiers(user, _project(), model=one, providers=providers)
    return ModelsConfig(tiers, providers, environ, KeyStore.of(place, environ), _rates(place))


def committed_catalogue() -> "Catalog":
    """The roles that a task would find here: the project's own, if we are in one, and the packaged ones."""
    from agentforge.catalog.load import Catalog
    from agentforge.settings import read_overrides
    from agentforge.system.git import Git

    try:
        git = Git.open(Path.cwd())
        return Catalog.packaged().with_overrides(read_overrides(git, git.head()))
    except UsageError:
        return Catalog.packaged()


def _rates(home: Home) -> Mapping[tuple[str, str], tuple[int, int]]:
    """What the ledger has counted; a person without one has made no call."""
    from agentforge.store.ledger import Ledger, ledger_file

    if not ledger_file(home).exists():
        return {}
    with Ledger.of(home, lambda _: None) as ledger:
        return ledger.rates()


def _mapping(path: Path) -> Mapping[str, Any]:
    from agentforge.system import strict_yaml

    if not path.is_file():
        return {}
    value = strict_yaml.load(path.read_text(encoding="utf-8"), str(path))
    if value is not None and not isinstance(value, dict):
        raise UsageError(f"{path}: holds no mapping.")
    return value or {}


def _providers(user: Mapping[str, Any]) -> Mapping[str, object]:
    given = user.get("providers") or {}
    if not isinstance(given, dict):
        raise UsageError("config.yaml: `providers` is not a mapping.", "Write `providers: {NAME: {base_url: …}}`.")
    return given


def _project() -> Mapping[str, Any]:
    from agentforge.settings import SETTINGS_FILE
    from agentforge.system import strict_yaml
    from agentforge.system.git import Git

    try:
        git = Git.open(Path.cwd())
        committed = git.read_blob(git.head(), SETTINGS_FILE)
    except UsageError:
        return {}
    value = strict_yaml.load(committed.decode("utf-8", "replace"), SETTINGS_FILE) if committed else None
    return value if isinstance(value, dict) else {}
