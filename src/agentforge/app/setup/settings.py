"""What people configured, read once: the user's own file, the repository's from the base commit, and the
environment.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agentforge.app.intake.suggestions import Suggestion, refuse_higher_caps, refuse_users_words, suggested
from agentforge.app.models.usual import UsualModel, usual_model
from agentforge.app.setup.overrides import read_overrides
from agentforge.catalog.contracts import Contract, compile_contract, problems
from agentforge.catalog.faults import placed
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS
from agentforge.core.values import Budget, QuestionRule
from agentforge.languages.values import VERSION
from agentforge.models.known.providers import Provider, known
from agentforge.models.known.tiers import Tiers, check_spec, is_tier, read_tiers
from agentforge.sandbox.network.destinations import Destination, destinations
from agentforge.sandbox.walls.container import ContainerSpec
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.user.day_cap import DayCap
from agentforge.store.user.keys import KeyStore
from agentforge.store.user.repositories import repository_at
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.durations import parse_duration
from agentforge.system.git.repository import Git
from agentforge.system.visible import one_line
from agentforge.system.yaml_places import line_of
from agentforge.tools.roots import Root, read_roots

SETTINGS_FILE = ".agentforge/config/settings.yaml"
USER_KEYS = (
    *("container", "roots", "network", "temporal", "providers", "day_cap", "batch", "python"),
    *("keep", "notify", "max_wait", "questions", "otel"),
)
"""What only the user can say; `sandbox: none` and `sandbox: container`, too."""
SHARED_KEYS = ("model", "tiers", "delivery", "sandbox", "limits", "language_server")
"""What both the user and a project can say. Every other key of `settings` counts in a project's alone."""
NO_MODEL = (
    "Run `agentforge setup`, which finds what you have and asks for the rest; or set ANTHROPIC_API_KEY, "
    "OPENAI_API_KEY, MISTRAL_API_KEY or GOOGLE_API_KEY; or name a model with `--model PROVIDER:NAME` or "
    "AGENTFORGE_MODEL. `agentforge demo` needs none."
)


@dataclass(frozen=True, slots=True)
class KeepLimits:
    """How much stays, over all repositories, of what can be made again."""

    environments_mb: int = 2000
    """Of environments and the packages they were built from."""
    checkouts: int = 20
    """Of finished tasks."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a repository cannot say about the machine that it is worked on."""

    sandbox: str = ""
    container: ContainerSpec | None = None
    roots: tuple[Root, ...] = ()
    """Directories beside the checkout that roles may reach."""
    network: tuple[Destination, ...] = ()
    """Where set-up may go, beside the package index."""
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Who can be asked, beside those that are known anyway. Where keys are sent is nobody else's to say."""
    day_cap: DayCap = DayCap()
    """The most that all tasks together may use in a day."""
    batch_window_s: int = 2
    """How long a call waits for others that may share its batch."""
    python: str = ""
    """The interpreter of environments: a version, or the path of a program, which a repository cannot name.
    """
    index_passwords: bool = False
    """Whether set-up is told the passwords of package indexes."""
    temporal: Mapping[str, Any] = field(default_factory=dict)
    """Where the Temporal server is and how to speak to it."""
    keep: KeepLimits = KeepLimits()
    """How much of what can be made again stays on the disk."""
    weak: bool = False
    """Whether code of repositories may run behind weak walls."""
    notify: Mapping[str, Any] = field(default_factory=dict)
    """How a person wants to be told that a task waits or is over."""
    max_wait_s: int = 6 * 3600
    """How long a provider whose quota is used up is waited for, before the person is asked."""
    questions: Mapping[str, Any] = field(default_factory=dict)
    """How long questions wait for an answer, and what happens then; also by pipeline."""
    otel: Mapping[str, Any] = field(default_factory=dict)
    """The collector that is told what tasks do."""

    def question_rule(self, pipeline: str) -> QuestionRule:
        """What is said of the questions of a pipeline: its own rule, key by key, before that of all."""
        own = {**self.questions, **self.questions.get("pipelines", {}).get(pipeline, {})}
        return QuestionRule(parse_duration(own.get("timeout", "")) or 0, own.get("then", "recommended"))


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
    own_tiers: Tiers = field(default_factory=lambda: read_tiers({}, {}, model=None, providers=()))
    """The tiers as the user alone configured them."""
    suggestion: Suggestion | None = None
    """The models that only the project names."""
    usual: UsualModel | None = None
    """The model, where nobody has named one and a key is there."""
    asks_servers: bool = True
    """Whether language servers are asked; either file can say that they are not."""


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
    registered = repository_at(Home(home_path(environ)), git.top)
    refuse_higher_caps(project.get("limits", {}), user.get("limits", {}), SETTINGS_FILE)
    limits = {**project.get("limits", {}), **user.get("limits", {})}
    providers = known(environ, own.providers)
    tiers, usual = tiers_or_usual(
        user, project, named_model(model, environ), providers, KeyStore.of(Home(home_path(environ)), environ)
    )
    return Settings(
        tiers=tiers,
        providers=providers,
        sandbox=sandbox or own.sandbox or project.get("sandbox") or "auto",
        project=project,
        overrides=read_overrides(git, base, registered.contracts_path if registered else ""),
        budget=_budget(limits, budget_usd),
        test_timeout_s=int(limits.get("test_timeout_s", 900)),
        own=own,
        own_tiers=read_tiers(user, {}, model=named_model(None, environ), providers=providers),
        suggestion=suggested(tiers, providers),
        usual=usual,
        asks_servers="off" not in (user.get("language_server"), project.get("language_server")),
    )


def with_tier(settings: Settings, tier: str, spec: str) -> Settings:
    """The settings with another model for one kind of work."""
    if not is_tier(tier):
        raise UsageError(f"There is no tier {tier!r}; there are {', '.join(TIERS)}.")
    check_spec(spec, f"tier.{tier}", settings.providers)
    return replace(settings, tiers=settings.tiers.with_model(tier, spec, "a person"))


def tiers_or_usual(
    user: Mapping[str, Any],
    project: Mapping[str, Any],
    model: tuple[str, str] | None,
    providers: Mapping[str, Provider],
    keys: KeyStore,
) -> tuple[Tiers, UsualModel | None]:
    """The tiers as people configured them; where they name no model at all, the usual one of a key."""
    tiers = read_tiers(user, project, model=model, providers=providers)
    if tiers.specs or (usual := usual_model(providers, keys)) is None:
        return tiers, None
    return read_tiers(user, project, model=(usual.spec, usual.key), providers=providers), usual


def named_model(model: str | None, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The one model for all the work, and who named it: the caller before the environment."""
    if model:
        return model, "--model"
    named = environ.get("AGENTFORGE_MODEL")
    return (named, "AGENTFORGE_MODEL") if named else None


def read_project_settings(git: Git, base: str) -> dict[str, Any]:
    """The repository's own settings, as a commit has them."""
    committed = git.read_blob(base, SETTINGS_FILE, SETTINGS_BYTES)
    if not committed:
        return {}
    text = committed.decode("utf-8", "replace")
    value = strict_yaml.load_settings(text, SETTINGS_FILE)
    python = value.get("python") if isinstance(value, dict) else None
    if isinstance(python, str) and not VERSION.fullmatch(python):
        raise UsageError(
            f"{SETTINGS_FILE}:{line_of(text, ('python',))}: python: "
            f"{one_line(python[:80])!r} is not a version.",
            'Write one, such as `python: "3.12"`; only your config.yaml can name a program by its path.',
        )
    refuse_users_words(value, SETTINGS_FILE, text, USER_KEYS)
    return check_settings(value, SETTINGS_FILE, text)


def check_settings(value: object, source: str, text: str = "") -> dict[str, Any]:
    """The mapping, valid under the contract `settings`; else one sentence with the file, the key and, where
    the text is given, the line.
    """
    return _checked(Catalog.packaged().contract("settings"), value, source, text)


def user_contract() -> Contract:
    """What the user's own file can say: their own keys, and those that they share with a project's file."""
    own, project = (_schema(name) for name in ("user_settings", "settings"))
    shared = {key: project[key] for key in SHARED_KEYS}
    document = Catalog.packaged().document("contracts", "user_settings")
    return compile_contract({**document, "schema": {**shared, **own}}, "user_settings")


def _schema(contract: str) -> dict[str, Any]:
    return dict(Catalog.packaged().document("contracts", contract)["schema"])


def _refuse_project_keys(value: Mapping[str, Any], path: Path, text: str) -> None:
    """A key that would have no effect in the user's file is named with the file where it has one."""
    for key in value:
        if key in _schema("settings") and key not in SHARED_KEYS and key not in USER_KEYS:
            raise UsageError(
                f"{path}:{line_of(text, (key,))}: {key}: has no effect here.",
                f"Write it into a project's {SETTINGS_FILE} and commit that file.",
            )


def _checked(contract: Contract, value: object, source: str, text: str) -> dict[str, Any]:
    if value is None:
        return {}
    wrong = problems(contract, value, final=True)
    if isinstance(value, dict) and not wrong:
        return value
    problem = wrong[0] if isinstance(value, dict) else "is not a mapping"
    schema: Any = contract.document["schema"]
    key = problem.partition(":")[0].partition(".")[0].partition("[")[0]
    example = schema.get(key, {}).get("description", "")
    next_step = f"Write it {example}." if example.startswith("such as") else ""
    error = UsageError(f"{source}: {_with_nearest(problem)}.", next_step)
    raise placed(error, {source: text}) if text else error


def _with_nearest(problem: str) -> str:
    """A sentence about an unknown key names the nearest known one."""
    key, unknown, allowed = problem.partition(": unknown key; allowed: ")
    near = get_close_matches(key.rpartition(".")[2], allowed.split(", "), n=1) if unknown else []
    return f"{key}: unknown key; did you mean `{near[0]}`? Allowed: {allowed}" if near else problem


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
    try:
        return _read_own(path)
    except UsageError as error:
        if error.next_step:
            raise
        raise UsageError(error.sentence, "`agentforge config edit` opens it.") from error


def _read_own(path: Path) -> tuple[dict[str, Any], Own]:
    value = strict_yaml.load_file(path)
    if value is None:
        return {}, Own()
    if path.stat().st_mode & 0o022:
        raise UsageError(
            f"{path} can be written by other users, so it is not used.",
            f"Run `chmod 600 {path}`.",
        )
    if isinstance(value, dict):  # a key whose lines are all comments says nothing
        value = {key: item for key, item in value.items() if item is not None or key not in USER_KEYS}
    text = read_bounded(path, SETTINGS_BYTES).decode()
    if isinstance(value, dict):
        _refuse_project_keys(value, path, text)
    whole = _checked(user_contract(), value, str(path), text)
    theirs = {key: whole[key] for key in USER_KEYS if key in whole}
    if theirs.get("network") == {}:
        raise UsageError(f"{path}: network: is empty.", "Give it `allow` or `index_passwords`.")
    said = whole.get("sandbox", "")
    walls = said if isinstance(said, dict) else {"use": said}
    beyond = ("sandbox",) if walls is said or said in ("none", "container") else ()
    shared = {key: item for key, item in whole.items() if key not in (*theirs, *beyond)}
    container, cap = theirs.get("container"), theirs.get("day_cap", {})
    own = Own(
        walls.get("use", ""),
        ContainerSpec(container["engine"], container["image"]) if container else None,
        read_roots(theirs.get("roots", []), str(path)),
        destinations(theirs.get("network", {}).get("allow", []), private=True),
        theirs.get("providers", {}),
        DayCap(cap.get("tokens"), micro_usd(str(cap["usd"])) if "usd" in cap else None),
        theirs.get("batch", {}).get("window_s", 2),
        theirs.get("python", ""),
        theirs.get("network", {}).get("index_passwords", False),
        theirs.get("temporal", {}),
        KeepLimits(**theirs.get("keep", {})),
        walls.get("weak") == "allow",
        theirs.get("notify", {}),
        Own().max_wait_s if "max_wait" not in theirs else parse_duration(theirs["max_wait"]) or 0,
        theirs.get("questions", {}),
        theirs.get("otel", {}),
    )
    return shared, own
