"""The models as a person configured them, for the commands that look at them, in a repository or outside of
any.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentforge.app.models.answering import Answering
from agentforge.app.setup.overrides import read_overrides
from agentforge.app.setup.settings import (
    named_model,
    read_own_settings,
    read_project_settings,
    tiers_or_usual,
)
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.models.known.providers import known
from agentforge.models.known.tiers import read_tiers
from agentforge.store.layout import Home
from agentforge.store.user.keys import KeyStore
from agentforge.store.user.ledger import Ledger, ledger_file
from agentforge.system.git.repository import Git


def models_config(
    home: Path, environ: Mapping[str, str] = os.environ, *, model: str | None = None
) -> Answering:
    """Read from the person's files and environment, and from the settings that this repository has committed,
    if we are in one.
    """
    user, own = read_own_settings(home / "config.yaml")
    providers = known(environ, own.providers)
    keys = KeyStore.of(Home(home), environ)
    project, named = _project(), named_model(model, environ)
    try:
        tiers, _ = tiers_or_usual(user, project, named, providers, keys)
    except UsageError:  # keys that cannot be used are told by whoever looks at them
        tiers = read_tiers(user, project, model=named, providers=providers)
    return Answering(tiers, providers, environ, keys, _rates(Home(home)))


def committed_catalogue() -> Catalog:
    """The roles that a task would find here: the project's own, if we are in one, and the packaged ones."""
    try:
        git = Git.open(Path.cwd())
        return Catalog.packaged().with_overrides(read_overrides(git, git.head()))
    except UsageError:
        return Catalog.packaged()


def _rates(home: Home) -> Mapping[tuple[str, str], tuple[int, int]]:
    """What the ledger has counted; a person without one has made no call."""
    if not ledger_file(home).exists():
        return {}
    with Ledger.of(home, lambda _: None) as ledger:
        return ledger.rates()


def _project() -> Mapping[str, Any]:
    try:
        git = Git.open(Path.cwd())
        head = git.head()
    except UsageError:
        return {}
    return read_project_settings(git, head)
