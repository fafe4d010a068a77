"""A contract as a model is offered it: a tool whose arguments are what it has to write, and nothing that the
engine fills in.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agentforge.catalog.contracts import Contract, problems
from agentforge.core.pipeline import Part, Product
from agentforge.core.reply import Json

OPTIONAL: frozenset[Part | None] = frozenset({"request", "questions", "analysis"})
"""What a role may have nothing to say in, beside what it is asked for: the engine then writes it."""

_SCALARS: Mapping[str, str] = {
    "enum": "enum",
    "pattern": "pattern",
    "max_length": "maxLength",
    "minimum": "minimum",
    "maximum": "maximum",
}


def offered_schema(contract: Contract, *, alone: bool = True) -> dict[str, Json]:
    """JSON Schema of the arguments: every key that a model may write, those that it must as `required`.
    Beside other documents (not `alone`) it is offered without what is seldom said.
    """
    schema: Any = contract.document["schema"]
    return _object(schema, alone=alone)


def writes_itself(contract: Contract) -> bool:
    """Whether nothing in it must be said by anybody."""
    return contract.part == "request" or not problems(contract, {}, final=False)


def may_be_left_out(contract: Contract, owed: tuple[Product, ...]) -> bool:
    """Whether the engine writes it where a role has not: one with nothing that must be said, beside
    others.
    """
    return contract.part in OPTIONAL and len(owed) > 1 and writes_itself(contract)


def keys_of(schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key that an offered schema requires, also those of entries in lists."""
    for name, node in schema.get("properties", {}).items():
        if name in schema.get("required", ()):
            yield (*above, name)
        yield from keys_of(node.get("items", node), (*above, name))


def _object(properties: Mapping[str, Any], *, alone: bool) -> dict[str, Json]:
    shown = {
        name: node
        for name, node in properties.items()
        if _is_written(node) and (alone or not node.get("seldom"))
    }
    required: list[Json] = [
        name for name, node in shown.items() if node.get("required") and not node.get("filled")
    ]
    found: dict[str, Json] = {
        "type": "object",
        "properties": {name: _node(node, alone=alone) for name, node in shown.items()},
    }
    return {**found, "required": required} if required else found


def _node(node: Mapping[str, Any], *, alone: bool) -> dict[str, Json]:
    if "any_of" in node:
        return _node(
            node["any_of"][0], alone=alone
        )  # one form is enough to write; the first one is the plain one
    found: dict[str, Json] = {"type": node["type"]}
    if "properties" in node:
        found = _object(node["properties"], alone=alone)
    if "items" in node:
        found["items"] = _node(node["items"], alone=alone)
    found |= {name: node[key] for key, name in _SCALARS.items() if key in node}
    return {**found, "description": node["description"]} if node.get("description") else found


def _is_written(node: Mapping[str, Any]) -> bool:
    """What the engine can fill may still be worth a model's words; an id, a path or a flag never is."""
    if node.get("filled") == "only":
        return False
    return not node.get("filled") or _has_words(node)


def _has_words(node: Mapping[str, Any]) -> bool:
    """Lists of things to describe, and text that may not be empty: somebody writes it."""
    described = any(
        child.get("type") == "string" for child in node.get("items", {}).get("properties", {}).values()
    )
    return described or "min_length" in node
