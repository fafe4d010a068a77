"""What a project may suggest in its settings, what only the user can say, and the question in between.

A project can name models of providers that the user has. Before the first of them is asked, a person agrees,
once for the same names; the yes is kept in their own directory. A journal lies in the repository too: a model
that only a record names is a suggestion like any other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentforge.core.errors import UsageError
from agentforge.core.values import Budget
from agentforge.models.known.providers import SCRIPTED, Provider
from agentforge.models.known.tiers import Tiers, from_project, split
from agentforge.system.canon import digest_value
from agentforge.system.visible import one_line
from agentforge.system.yaml_places import line_of

_OWN_FILE = "your config.yaml"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Models that nobody on this machine has named, and who would be asked."""

    specs: tuple[str, ...]
    hosts: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Under which a yes to these very models is kept."""
        return digest_value(["models", *self.specs])

    @property
    def question(self) -> str:
        """What a person is asked before the first of them gets a request."""
        several = len(self.specs) > 1
        reached = f" They are reached at {', '.join(self.hosts)}." if self.hosts and several else ""
        reached = reached or (f" It is reached at {self.hosts[0]}." if self.hosts else "")
        return (
            f"The settings or records of this repository name the model{'s' if several else ''} "
            f"{', '.join(self.specs)}, and you have not named {'them' if several else 'it'}.{reached} "
            f"Code of the repository is sent there, at your cost. May {'they' if several else 'it'} be used?"
        )

    @property
    def advice(self) -> str:
        """What else a person can do."""
        return (
            "Your yes applies to this repository as long as it names the same models. Or name your own, with "
            f"`model:` or `tiers:` in {_OWN_FILE}, or with --model for a new task."
        )


def suggested(tiers: Tiers, providers: Mapping[str, Provider]) -> Suggestion | None:
    """The models of these tiers that only the project names; None if there are none."""
    return suggestion_of(from_project(tiers), providers)


def suggestion_of(specs: Iterable[str], providers: Mapping[str, Provider]) -> Suggestion | None:
    """These models and the hosts of their providers; None if there are none."""
    found = tuple(dict.fromkeys(specs))
    names = dict.fromkeys(split(spec)[0] for spec in found)
    return (
        Suggestion(found, tuple(providers[name].host for name in names if name in providers))
        if found
        else None
    )


def refuse_users_words(value: object, source: str, text: str, user_keys: Iterable[str]) -> None:
    """A project's settings hold nothing that is the user's alone: addresses, keys, scripts, walls."""
    if not isinstance(value, dict):
        return
    for key in user_keys:
        if key in value and key != "python":
            raise _refusal(source, text, (key,), f"{key}: only your own settings can say this")
    sandbox = value.get("sandbox")
    if sandbox in ("none", "container") or isinstance(sandbox, dict):
        raise _refusal(
            source, text, ("sandbox",), "sandbox: only your own settings can turn it off or choose another"
        )
    for path, spec in _specs(value):
        if split(spec)[0] == SCRIPTED:
            where = ".".join(map(str, path))
            raise _refusal(
                source,
                text,
                path[:1],
                f"{where}: {one_line(spec[:80])!r} is a script; only your own settings can name one",
            )


def refuse_higher_caps(limits: Mapping[str, Any], own: Mapping[str, Any], source: str) -> None:
    """A project may lower what a task may spend. Only the user can raise it."""
    usual = Budget()
    for key, most in (("calls", usual.calls), ("tokens", usual.tokens)):
        if key not in own and int(limits.get(key, 0)) > most:
            raise UsageError(
                f"{source}: limits.{key}: {limits[key]} is more than the {most} that a task "
                f"may use; only your own settings can raise it.",
                f"Write `limits: {{{key}: {limits[key]}}}` into {_OWN_FILE} if you want that.",
            )


def _specs(value: Mapping[str, Any]) -> Iterable[tuple[tuple[str, ...], str]]:
    if isinstance(value.get("model"), str):
        yield ("model",), value["model"]
    tiers = value.get("tiers")
    for tier, specs in tiers.items() if isinstance(tiers, dict) else ():
        yield from (
            (("tiers", tier), spec) for spec in specs if isinstance(specs, list) and isinstance(spec, str)
        )


def _refusal(source: str, text: str, path: tuple[str, ...], said: str) -> UsageError:
    return UsageError(
        f"{source}:{line_of(text, path)}: {said}.", f"Remove it there; write it into {_OWN_FILE} instead."
    )
