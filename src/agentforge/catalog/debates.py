"""What a debate is made of: `policies/debates.yaml` as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from agentforge.catalog.policies import check_keys, read_policy, refusal

Role = Literal["advocate", "skeptic", "operator", "synthesizer"]
ROLES: tuple[Role, ...] = get_args(Role)
Trigger = Literal["always", "major_decision", "risk_threshold", "never", "explicit_only"]
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)


@dataclass(frozen=True, slots=True)
class DebateFile:
    """One file of a debate."""

    name: str
    sections: Mapping[str, str]
    """The headings that it must have, each with what stands below it."""
    asks: str = ""
    """What its role is asked to do; empty for the plan, which no role writes."""
    after: tuple[Role, ...] = ()
    """The roles whose files must be complete before this one is begun."""
    blocking: frozenset[str] = frozenset()
    """The headings without which the gate stays closed."""


@dataclass(frozen=True, slots=True)
class DebateRules:
    """Every rule about debates that is data."""

    plan: DebateFile
    roles: Mapping[Role, DebateFile]
    least_characters: int
    least_options: int
    undecided: tuple[str, ...]
    default_trigger: Trigger
    risk_threshold: int
    component_threshold: int

    @property
    def files(self) -> tuple[DebateFile, ...]:
        """All five, in the order in which they are looked at."""
        return (self.plan, *self.roles.values())

    @property
    def synthesis(self) -> DebateFile:
        """The file that holds the decision."""
        return self.roles["synthesizer"]


@cache
def debate_rules() -> DebateRules:
    """The rules, read when first asked for."""
    return debate_rules_from(read_policy("debates"))


def debate_rules_from(document: Any) -> DebateRules:  # noqa: ANN401  a document is any YAML
    """The rules of a document: all four roles, in their order."""
    if tuple(document["roles"]) != ROLES:
        raise refusal("debates.yaml", f"the roles are {', '.join(ROLES)}, in this order")
    roles = {role: _file(role, document["roles"][role]) for role in ROLES}
    rest = {key: value for key, value in document.items() if key not in ("plan", "roles")}
    return DebateRules(
        plan=_file("plan", document["plan"]), roles=roles, **{**rest, "undecided": tuple(rest["undecided"])}
    )


def _file(who: str, entry: Mapping[str, Any]) -> DebateFile:
    check_keys(f"debates.yaml: {who}", entry, {"file", "sections", "asks", "after", "blocking"})
    blocking = frozenset(entry.get("blocking", ()))
    check_keys(f"debates.yaml: {who}.blocking", blocking, entry["sections"])
    return DebateFile(
        name=entry["file"],
        sections=entry["sections"],
        asks=entry.get("asks", ""),
        after=tuple(entry.get("after", ())),
        blocking=blocking,
    )
