"""What people configured, read once: the user's own file, the repository's from the base commit, and the
environment.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from agentforge.catalog.contracts import problems
from agentforge.catalog.extends import KINDS
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.core.values import Budget
from agentforge.models.providers import Provider, known
from agentforge.models.tiers import Tiers, read_tiers
from agentforge.sandbox.container import ContainerSpec, Engine
from agentforge.sandbox.destinations import Destination, destinations
from agentforge.store.day_cap import DayCap
from agentforge.store.site import home_path
from agentforge.system import strict_yaml
from agentforge.system.git import Git
from agentforge.tools.roots import Root, read_roots

SETTINGS_FILE = ".agentforge/config/settings.yaml"
_USERS_KEYS = ("container", "roots", "network", "temporal", "providers", "day_cap", "batch")
OVERRIDES = tuple(f".agentforge/{folder}/" for folder in (*KINDS, "orchestration"))
"""The folders of a project's own catalogue files."""
NO_MODEL = (
    "Give one with `--model PROVIDER:NAME` (anthropic, openai, mistral, google; ollama, lmstudio, vllm, "
    "llamacpp on this machine), set "
    "AGENTFORGE_MODEL, or write `model:` or `tiers:` into your config.yaml; `agentforge models list` "
    "shows what is there, "
    "`agentforge demo` needs none."
)


@dataclass(frozen=True, slots=True)
class Own:
    """What a repository cannot say about the machine that it is worked on."""

    sandbox: str = ""
    container: ContainerSpec | None = None
    roots: tuple[Root, ...] = ()
    """Directories beside the checkout that roles may reach."""
    network: tuple[Destination, ...] = ()
    """Where set-up may go, beside the package index."""
    providers: Mapping[str, object] = field(default_factory=dict)
    """Who can be asked, beside those that are known anyway. Where keys are sent is nobody else's to say."""
    day_cap: DayCap = DayCap()
    """The most that all tasks together may use in a day."""
    batch_window_s: int = 2
    """How long a call waits for others that may share its batch."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The resolved choices for a task."""

    tiers: Tiers
    """Which models do which work; empty lists where nothing is configured."""
    providers: Mapping[str, Provider]
    sandbox: str
    project: Mapping[str, Any]
    """The repository's own settings, as committed on the base."""
    overrides: Mapping[str, str]
    """Catalogue files of the repository, by path."""
    budget: Budget
    test_timeout_s: int
    own: Own = Own()
    """What only the user can say, in their own file."""


def read_settings(
    git: Git,
    base: str,
    *,
    model: str | None,
    sandbox: str | None,
    budget_usd: str | None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """The command line before the environment, before the user's file, before the repository's."""
    user, own = read_own_settings(home_path(environ) / "config.yaml")
    project = read_project_settings(git, base)
    limits = {**project.get("limits", {}), **user.get("limits", {})}
    providers = known(environ, own.providers)
    return Settings(
        tiers=read_tiers(user, project, model=named_model(model, environ), providers=providers),
        providers=providers,
        sandbox=sandbox or own.sandbox or project.get("sandbox") or "auto",
        project=project,
        overrides=read_overrides(git, base),
        budget=_budget(limits, budget_usd),
        test_timeout_s=int(limits.get("test_timeout_s", 900)),
        own=own,
    )


def named_model(model: str | None, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The one model for all the work, and who named it: the caller before the environment."""
    if model:
        return model, "--model"
    named = environ.get("AGENTFORGE_MODEL")
    return (named, "AGENTFORGE_MODEL") if named else None


def read_project_settings(git: Git, base: str) -> dict[str, Any]:
    """The repository's own settings, as a commit has them."""
    committed = git.read_blob(base, SETTINGS_FILE)
    if not committed:
        return {}
    return check_settings(
        strict_yaml.load(committed.decode("utf-8", "replace"), SETTINGS_FILE), SETTINGS_FILE
    )


def read_overrides(git: Git, base: str) -> dict[str, str]:
    """The project's catalogue files of a commit, by path."""
    found = {}
    for entry in git.ls_tree(git.tree_of(base)):
        if entry.path.startswith(OVERRIDES) and entry.kind == "blob":
            found[entry.path] = (git.read_blob(base, entry.path) or b"").decode("utf-8", "replace")
    return found


def check_settings(value: object, source: str) -> dict[str, Any]:
    """The mapping, valid under the `settings` contract; else one sentence with the file and key."""
    if value is None:
        return {}
    wrong = problems(Catalog.packaged().contract("settings"), value, final=True)
    if wrong or not isinstance(value, dict):
        raise UsageError(f"{source}: {wrong[0] if wrong else 'holds no mapping'}.")
    return value


def micro_usd(text: str) -> int:
    """`2` or `2.50` dollars in micro-dollars; no float on the way."""
    whole, _, part = text.strip().lstrip("$").partition(".")
    if not whole.isdigit() or not (part or "0").isdigit() or len(part) > 6:
        raise UsageError(f"{text!r} is not an amount in dollars.", "Write, say, `--budget 2.50`.")
    return int(whole) * 1_000_000 + int((part or "0").ljust(6, "0"))


def _budget(limits: Mapping[str, Any], budget_usd: str | None) -> Budget:
    default = Budget()
    money = budget_usd if budget_usd is not None else limits.get("cost_usd")
    return Budget(
        int(limits.get("calls", default.calls)),
        int(limits.get("tokens", default.tokens)),
        None if money is None else micro_usd(str(money)),
    )


def read_own_settings(path: Path) -> tuple[dict[str, Any], Own]:
    """The user's own file: what every settings file can say, and what is theirs alone, because it is their
    machine.
    """
    value = strict_yaml.load_file(path)
    if not isinstance(value, dict):
        return check_settings(value, str(path)), Own()
    theirs = {key: value[key] for key in _USERS_KEYS if key in value}
    if value.get("sandbox") in ("none", "container"):
        theirs["sandbox"] = value["sandbox"]
    shared = check_settings({key: item for key, item in value.items() if key not in theirs}, str(path))
    own = Own(
        str(theirs.get("sandbox") or shared.get("sandbox") or ""),
        _container(theirs["container"], str(path)) if "container" in theirs else None,
        read_roots(_listed(theirs.get("roots", []), f"{path}: roots"), str(path)),
        destinations(
            map(str, _listed(_allowed(theirs.get("network"), str(path)), f"{path}: network.allow")),
            private=True,
        ),
        _mapped(theirs.get("providers"), f"{path}: providers"),
        _day_cap(_mapped(theirs.get("day_cap"), f"{path}: day_cap"), str(path)),
        _window(_mapped(theirs.get("batch"), f"{path}: batch"), str(path)),
    )
    return shared, own


def _container(value: object, source: str) -> ContainerSpec:
    if (
        not isinstance(value, dict)
        or set(value) != {"engine", "image"}
        or value["engine"] not in get_args(Engine)
    ):
        raise UsageError(f"{source}: container: is a mapping such as `{{engine: podman, image: NAME}}`.")
    return ContainerSpec(value["engine"], str(value["image"]))


def _allowed(value: object, source: str) -> object:
    if value is None:
        return []
    if not isinstance(value, dict) or set(value) != {"allow"}:
        raise UsageError(f"{source}: network: is a mapping such as `{{allow: [host, host:8443]}}`.")
    return value["allow"]


def _mapped(value: object, where: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f"{where}: is a mapping.")
    return value


def _day_cap(value: Mapping[str, object], source: str) -> DayCap:
    """`usd`, such as 20 or "2.50", and `tokens`."""
    tokens, money = value.get("tokens"), value.get("usd")
    if set(value) - {"usd", "tokens"} or not (tokens is None or (isinstance(tokens, int) and tokens > 0)):
        raise UsageError(f"{source}: day_cap: is a mapping such as `{{usd: 20, tokens: 5000000}}`.")
    return DayCap(
        tokens if isinstance(tokens, int) else None, None if money is None else micro_usd(str(money))
    )


def _window(value: Mapping[str, object], source: str) -> int:
    window = value.get("window_s", 2)
    if (
        set(value) - {"window_s"}
        or not isinstance(window, int)
        or isinstance(window, bool)
        or not 0 <= window <= 3600
    ):
        raise UsageError(f"{source}: batch: is a mapping such as `{{window_s: 2}}`.")
    return window


def _listed(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise UsageError(f"{where}: is a list.")
    return value
