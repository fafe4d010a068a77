"""The models as a person configured them, for the commands that look at them, in a repository or outside of
any.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentforge.app.answering import Answering
from agentforge.core.errors import UsageError
from agentforge.models.providers import known
from agentforge.models.tiers import read_tiers
from agentforge.store.keys import KeyStore
from agentforge.store.layout import Home

if TYPE_CHECKING:
    from agentforge.catalog.load import Catalog


def models_config(
    home: Path, environ: Mapping[str, str] = os.environ, *, model: str | None = None
) -> Answering:
    """Read from the person's files and environment, and from the settings that this repository has committed,
    if we are in one.
    """
    from agentforge.app.settings import read_own_settings

    user, own = read_own_settings(home / "config.yaml")
    providers = known(environ, own.providers)
    named = environ.get("AGENTFORGE_MODEL")
    one = (model, "--model") if model else (named, "AGENTFORGE_MODEL") if named else None
    tiers = read_tiers(user, _project(), model=one, providers=providers)
    return Answering(tiers, providers, environ, KeyStore.of(Home(home), environ), _rates(Home(home)))


def committed_catalogue() -> "Catalog":
    """The roles that a task would find here: the project's own, if we are in one, and the packaged ones."""
    from agentforge.app.settings import read_overrides
    from agentforge.catalog.load import Catalog
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


def _project() -> Mapping[str, Any]:
    from agentforge.app.settings import SETTINGS_FILE, check_settings
    from agentforge.system import strict_yaml
    from agentforge.system.git import Git

    try:
        git = Git.open(Path.cwd())
        committed = git.read_blob(git.head(), SETTINGS_FILE)
    except UsageError:
        return {}
    return (
        check_settings(strict_yaml.load(committed.decode("utf-8", "replace"), SETTINGS_FILE), SETTINGS_FILE)
        if committed
        else {}
    )
