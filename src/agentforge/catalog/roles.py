"""A role as a value: who works in a stage, with which tools, inside which limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agentforge.catalog.rule_words import predicate_named
from agentforge.core.pipeline import Predicate, Tier

RESERVED_TOOLS = frozenset({"deploy", "commit"})
"""Names that nothing can run: merging and releasing are a person's."""


USUAL_TIER: Tier = "generation"
"""Of a role that does not say what kind of model it needs."""


@dataclass(frozen=True, slots=True)
class Role:
    """A validated file of `agents/`."""

    name: str
    version: str
    display_name: str
    tier: Tier
    context_tokens: int
    """The most that its steps are shown, where a stage does not say it; 0: it does not say it either."""
    description: str
    expertise: tuple[str, ...]
    thinking_style: str
    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]
    path_constraints: Mapping[str, str]
    """Tool to globs, as written: split on commas, `!` forbids, `{tests}` and `{docs}` are the repository's
    own.
    """
    outputs: tuple[str, ...]
    """The contracts it may submit."""
    must_verify: tuple[Predicate, ...]
    constraints: tuple[str, ...]
    stage: str | None


def role_from_json(value: Mapping[str, Any]) -> Role:
    """A role from its validated YAML form."""
    agent, identity, orchestration = value["agent"], value["identity"], value["orchestration"]
    tools = value["capabilities"]["tools"]
    return Role(
        name=agent["role"],
        version=agent["version"],
        display_name=agent["display_name"],
        tier=cast("Tier", agent.get("tier", USUAL_TIER)),
        context_tokens=agent.get("context_tokens", 0),
        description=identity["description"].strip(),
        expertise=tuple(identity["expertise"]),
        thinking_style=identity["thinking_style"].strip(),
        allowed=tuple(tools["allowed"]),
        forbidden=tuple(tools.get("forbidden", ())),
        path_constraints=dict(tools.get("path_constraints", {})),
        outputs=outputs_of(value),
        must_verify=tuple(
            predicate for name, _ in verifications_of(value) if (predicate := predicate_named(name))
        ),
        constraints=tuple(value["constraints"]),
        stage=orchestration["stage"],
    )


def outputs_of(value: Mapping[str, Any]) -> tuple[str, ...]:
    """The contracts a role names: one, or one for each of its artifacts."""
    named = value["capabilities"]["output"]["contract"]
    return (named,) if isinstance(named, str) else tuple(named)


def verifications_of(value: Mapping[str, Any]) -> list[tuple[str, object]]:
    """`must_verify` as pairs, whether it was written as a map, as a list of names, or as a list of small
    maps.
    """
    found = value["capabilities"]["output"]["must_verify"]
    parts = (
        [found]
        if isinstance(found, dict)
        else [{item: True} if isinstance(item, str) else item for item in found]
    )
    return [(str(name), wanted) for part in parts for name, wanted in part.items()]
