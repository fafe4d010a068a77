"""The providers as they answer at this moment, and which models do which work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentforge.app.models.answering import Answering
from agentforge.core.errors import UsageError
from agentforge.models.known.providers import Provider
from agentforge.models.probe import PROBE_S, ProviderProbe, probe_all

CheckState = Literal["ok", "weak", "missing"]


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """One thing that was looked at."""

    name: str
    state: CheckState
    """`missing` is essential: no task can run without it."""
    detail: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Models:
    """The models of this machine's user, just looked at."""

    rows: tuple[MachineCheck, ...]
    """One per provider, then one per tier."""
    probes: tuple[ProviderProbe, ...]
    tiers: Mapping[str, tuple[str, ...]]
    can_answer: bool
    """Whether at least one configured model could be asked now."""


def check_models(config: Answering, within_s: float | None = None) -> Models:
    """Probes, all at once, the providers that tiers name or that have a key, and those of this machine."""
    used = {spec.partition(":")[0] for spec in config.tiers.specs}
    keys, trouble = _keys(config)
    named = [
        provider for provider in config.providers.values() if provider.name in used or keys[provider.name]
    ]
    quiet = [provider for provider in config.providers.values() if provider.local and provider not in named]
    probes = probe_all(
        [*named, *quiet], lambda provider: keys[provider.name], PROBE_S if within_s is None else within_s
    )
    # A server that nobody configured is only news if it is there.
    shown = tuple(probe for probe in probes if probe.provider in named or probe.ok)
    answering = {probe.provider.name for probe in probes if probe.ok} | {"scripted"}
    can_answer = any(spec.partition(":")[0] in answering for spec in config.tiers.specs)
    tiers = {str(tier): tuple(specs) for tier, specs in config.tiers.models.items()}
    rows = [*trouble, *(_row(probe, used) for probe in shown)]
    rows += [
        _tier_row(tier, specs, answering) for tier, specs in reversed(tiers.items()) if config.tiers.specs
    ]
    rows += _nothing(config.tiers.specs, shown, config.providers) if not can_answer else ()
    return Models(tuple(rows), shown, tiers, can_answer)


def _keys(config: Answering) -> tuple[dict[str, str | None], list[MachineCheck]]:
    """The keys by provider; a file of keys that may not be used is said once, and the rest is looked at all
    the same.
    """
    keys: dict[str, str | None] = {}
    trouble: dict[str, MachineCheck] = {}
    for provider in config.providers.values():
        try:
            keys[provider.name] = config.key(provider)
        except UsageError as error:
            keys[provider.name] = None
            trouble[error.sentence] = MachineCheck("keys", "weak", error.sentence, error.next_step)
    return keys, list(trouble.values())


def _row(probe: ProviderProbe, used: set[str]) -> MachineCheck:
    name = probe.provider.name
    unused = "" if name in used else "; not in any tier"
    return MachineCheck(name, "ok" if probe.ok else "weak", f"{probe.detail}{unused}", probe.next_step)


def _tier_row(tier: str, specs: Sequence[str], answering: set[str]) -> MachineCheck:
    if not specs:
        return MachineCheck(tier, "weak", "no model", "Write `tiers:` or `model:` into your config.yaml.")
    ready = any(spec.partition(":")[0] in answering for spec in specs)
    return MachineCheck(
        tier, "ok" if ready else "weak", ", ".join(specs), "" if ready else "None of them can be used now."
    )


def _nothing(
    specs: Sequence[str], probes: Sequence[ProviderProbe], providers: Mapping[str, Provider]
) -> list[MachineCheck]:
    if specs:
        return [
            MachineCheck(
                "models", "missing", "no configured model can be used now", "See the providers above."
            )
        ]
    there = [probe.provider.name for probe in probes if probe.ok]
    name = there[0] if there else next(iter(providers), "PROVIDER")
    return [
        MachineCheck(
            "models",
            "missing",
            "no model is configured",
            f"Run `agentforge setup`, or write `model: {name}:NAME` into your config.yaml.",
        )
    ]
