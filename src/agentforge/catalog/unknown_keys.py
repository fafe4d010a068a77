"""A document as a model wrote it, brought nearer to its contract where nothing that it says is lost: what no
key is for is left out, and said; one text where a list of texts belongs is a list of one.
"""

from collections.abc import Mapping
from typing import Any

from agentforge.catalog.contracts import Contract
from agentforge.catalog.faults import did_you_mean
from agentforge.core.reply import Json

MAX_NAMED = 8


def fitted(contract: Contract, document: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The document without keys that its contract does not have, and a note that names them."""
    unknown: dict[str, None] = {}
    found = _object(contract.draft_schema, document, "", unknown)
    if not unknown:
        return found, []
    names = list(unknown)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    named = ", ".join(names[:MAX_NAMED])
    return found, [f"Left out, because {contract.name} has no such key: {named}{more}."]


def _object(
    schema: Mapping[str, Any], value: Mapping[str, Json], where: str, unknown: dict[str, None]
) -> dict[str, Json]:
    known = schema.get("properties", {})
    more = schema.get("additionalProperties", False)
    found: dict[str, Json] = {}
    for key, part in value.items():
        if key in known:
            found[key] = _value(known[key], part, f"{where}{key}.", unknown)
        elif more is False and known:
            near = did_you_mean(key, set(known) - set(value))
            unknown[f"{where}{key}" + (f" ({near[2:]})" if near else "")] = None
        else:
            found[key] = _value(more, part, f"{where}{key}.", unknown) if isinstance(more, dict) else part
    return found


def _value(schema: Mapping[str, Any], value: Json, where: str, unknown: dict[str, None]) -> Json:
    if "anyOf" in schema:
        fitting = [choice for choice in schema["anyOf"] if _is_of(choice, value)]
        return _value(fitting[0], value, where, unknown) if len(fitting) == 1 else value
    if isinstance(value, dict):
        return _object(schema, value, where, unknown)
    items = schema.get("items", {})
    if isinstance(value, list):
        return [_value(items, item, where, unknown) for item in value]
    if isinstance(value, str) and schema.get("type") == "array" and items.get("type") == "string":
        return [value]
    return value


def _is_of(schema: Mapping[str, Any], value: Json) -> bool:
    kinds: tuple[tuple[type, str], ...] = ((dict, "object"), (list, "array"), (str, "string"))
    return any(isinstance(value, kind) and schema.get("type") == name for kind, name in kinds)
