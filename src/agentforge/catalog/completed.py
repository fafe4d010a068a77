"""A project's whole file in the place of a packaged one: what it does not say stays as the packaged one has
it.

Whoever writes a role or a contract without `extends` need not repeat what the engine holds every such file
to: the rules that are judged anyway, the fields that are filled in, the paths that are closed. What such a
file says against that is refused elsewhere (`demands.py`). What stays is told, so that nobody is surprised.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentforge.catalog.demands import WRITERS, closed_patterns, open_patterns
from agentforge.catalog.dialect import types_of
from agentforge.catalog.extends import Document, Kind
from agentforge.catalog.roles import outputs_of, verifications_of
from agentforge.catalog.rule_words import predicate_named

_OF_A_FIELD = frozenset({"properties", "items", "any_of", "type", "description"})
"""Keys of a definition that are not simply kept where they are not said."""


_OF_A_STAGE = ("optional_reviewers",)
"""What only we say of a stage."""


class WholeFile(NamedTuple):
    """A whole file, and what it did not say itself."""

    document: Document
    kept: tuple[str, ...] = ()


def completed(kind: Kind, base: Document, own: Document, *, same_types: bool = False) -> WholeFile:
    """The file with what only its base says; with `same_types`, its fields take what those of the base take.
    A malformed part stays as it is: the meta-contract will say so.
    """
    try:
        match kind:
            case "agents":
                return _agent(base, own)
            case "contracts":
                return _contract(base, own, same_types=same_types)
            case "stages":
                return WholeFile({**{key: base[key] for key in _OF_A_STAGE if key in base}, **own})
            case "pipelines" | "tools":
                return WholeFile(own)
    except (AttributeError, KeyError, TypeError):
        return WholeFile(own)


def completed_schema(base: Mapping[str, Any], own: Mapping[str, Any], *, same_types: bool) -> Document:
    """The fields of a contract, those that only the base has behind. With `same_types`, a field takes what
    the base takes.
    """
    found = {
        name: _field(base[name], node, same_types=same_types) if name in base else node
        for name, node in own.items()
    }
    return {**found, **{name: node for name, node in base.items() if name not in own}}


# ------------------------------------------------------------------ contracts


def _contract(base: Document, own: Document, *, same_types: bool) -> WholeFile:
    said = own.get("validation") or []
    more = [rule for rule in base.get("validation") or [] if rule not in said]
    schema = completed_schema(base["schema"], own["schema"], same_types=same_types)
    fields = [name for name in base["schema"] if name not in own["schema"]]
    kept = [*_told("rules", more), *_told("fields", fields)]
    parts = {key: base[key] for key in ("part",) if key in base and key not in own}
    return WholeFile({**own, **parts, "schema": schema, "validation": [*said, *more]}, tuple(kept))


def _field(base: Mapping[str, Any], own: Mapping[str, Any], *, same_types: bool) -> Document:
    if "any_of" in base:  # a choice of forms that the engine reads stays one
        return {**base, **{key: own[key] for key in ("required", "description") if key in own}}
    kept = {key: value for key, value in base.items() if key not in _OF_A_FIELD and key not in own}
    found = {**own, **kept}
    if "type" in base and (same_types or not types_of(own)):
        found["type"] = base["type"]
    if "properties" in base:
        found["properties"] = completed_schema(
            base["properties"], own.get("properties", {}), same_types=same_types
        )
    if isinstance(base.get("items"), dict):
        found["items"] = _field(base["items"], own.get("items", {}), same_types=same_types)
    return found


# ------------------------------------------------------------------ roles


def _agent(base: Document, own: Document) -> WholeFile:
    tools, above = own["capabilities"]["tools"], base["capabilities"]["tools"]
    forbidden = [
        name
        for name in above.get("forbidden", ())
        if name not in tools.get("forbidden", ()) and name not in tools["allowed"]
    ]
    limits = dict(_limits(above.get("path_constraints", {}), tools))
    said = {predicate_named(name) for name, _ in verifications_of(own)}
    verified = {name: wanted for name, wanted in verifications_of(base) if predicate_named(name) not in said}
    outputs = [name for name in outputs_of(base) if name not in outputs_of(own)]
    before = tools.get("path_constraints", {})
    kept = [
        *_told("forbidden tools", forbidden),
        *_told("path limits of", [tool for tool, limit in limits.items() if before.get(tool) != limit]),
        *_told("verified", verified),
        *_told("outputs", outputs),
    ]
    agent = own["agent"]
    if "tier" not in agent and "tier" in base["agent"]:
        agent = {**agent, "tier": base["agent"]["tier"]}
        kept.append(f"tier {agent['tier']}")
    whole_tools = {
        **tools,
        "forbidden": [*tools.get("forbidden", ()), *forbidden],
        "path_constraints": limits,
    }
    output = {
        **own["capabilities"]["output"],
        "contract": [*outputs_of(own), *outputs] if outputs else own["capabilities"]["output"]["contract"],
        "must_verify": {**dict(verifications_of(own)), **verified},
    }
    capabilities = {**own["capabilities"], "tools": whole_tools, "output": output}
    return WholeFile({**own, "agent": agent, "capabilities": capabilities}, tuple(kept))


def _limits(base: Mapping[str, str], tools: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where each tool may write: what the file says, inside what the base closes."""
    own = tools.get("path_constraints", {})
    yield from ((tool, limit) for tool, limit in own.items() if tool not in tools["allowed"])
    for tool in tools["allowed"]:
        said = own.get(tool, "")
        places = [] if open_patterns({tool: said}, tool) else open_patterns({tool: base.get(tool, "")}, tool)
        closed = closed_patterns(base.get(tool, "")) if tool in WRITERS else []
        own_closed = closed_patterns(said)
        more = [*places, *(pattern for pattern in closed if pattern not in own_closed)]
        if said or more:
            yield tool, ",".join([*([said] if said else []), *more])


def _told(what: str, names: Mapping[str, object] | list[str]) -> list[str]:
    return [f"{what} {', '.join(names)}"] if names else []
