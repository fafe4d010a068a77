"""A document as a model wrote it, brought nearer to its contract where nothing that it says is lost: what no
key is for is left out, and said; one entry where a list belongs is a list of one; a list or an object that
was written as text is read; `REQ-1` is REQ-001, and `Approve` is approve.
"""

import re
from collections.abc import Mapping
from typing import Any

from agentforge.catalog.contracts import NUMBERED_ID, Contract
from agentforge.catalog.faults import did_you_mean
from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system import strict_yaml

MAX_NAMED = 8
_WRAPPERS = ("artifact", "document", "content")


def fitted(contract: Contract, document: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The document without keys that its contract does not have, and a note that names them."""
    unknown: dict[str, None] = {}
    found = _object(contract.draft_schema, _unwrapped(contract, document), "", unknown)
    if not unknown:
        return found, []
    names = list(unknown)
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    named = ", ".join(names[:MAX_NAMED])
    return found, [f"Left out, because {contract.name} has no such key: {named}{more}."]


def read_text(value: str) -> Json:
    """The list or mapping that a text spells in JSON or YAML; the text itself if it is neither."""
    if not value.lstrip().startswith(("[", "{")) and ":" not in value:
        return value
    try:
        found = strict_yaml.load(value, "the document", floats="text")
    except UsageError:
        return value
    return found if isinstance(found, dict | list) else value


def _unwrapped(contract: Contract, document: Mapping[str, Json]) -> Mapping[str, Json]:
    """The document without one more object around it that only repeats what it is."""
    if len(document) != 1:
        return document
    ((key, inner),) = document.items()
    known: Any = contract.draft_schema.get("properties", {})
    if key in known or key not in (contract.name, *_WRAPPERS):
        return document
    inner = read_text(inner) if isinstance(inner, str) else inner
    return inner if isinstance(inner, dict) else document


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
    kind, items = schema.get("type"), schema.get("items", {})
    if isinstance(value, str) and kind in ("array", "object"):
        read = read_text(value)
        value = read if isinstance(read, list if kind == "array" else dict) else value
        if kind == "object" and isinstance(value, str) and (key := _only_text(schema)):
            value = {key: value}
    if kind == "array" and _is_of(items, value) and items.get("type") in ("string", "object"):
        value = [value]
    if isinstance(value, dict):
        return _object(schema, value, where, unknown)
    if isinstance(value, list):
        return [_value(items, item, where, unknown) for item in value]
    return _spelled(schema, value) if isinstance(value, str) else value


def _only_text(schema: Mapping[str, Any]) -> str:
    """The one key that an object must have, if that is a text; else empty."""
    needed = schema.get("required", [])
    is_text = len(needed) == 1 and schema.get("properties", {}).get(needed[0], {}).get("type") == "string"
    return str(needed[0]) if is_text else ""


def _spelled(schema: Mapping[str, Any], value: str) -> str:
    """A word or an id as its contract spells it, where that is a matter of case, of a hyphen or of leading
    zeros.
    """
    if isinstance(choices := schema.get("enum"), list) and value not in choices:
        same = [
            each for each in choices if isinstance(each, str) and each.casefold() == value.strip().casefold()
        ]
        return same[0] if len(same) == 1 else value
    if (form := NUMBERED_ID.fullmatch(str(schema.get("pattern", "")))) is not None:
        word, digits = form[1], int(form[2])
        number = re.fullmatch(rf"{word}[-_ ]?0*(\d{{1,{digits}}})", value.strip(), re.IGNORECASE)
        return f"{word}-{number[1].zfill(digits)}" if number else value
    return value


def _is_of(schema: Mapping[str, Any], value: Json) -> bool:
    kinds: tuple[tuple[type, str], ...] = ((dict, "object"), (list, "array"), (str, "string"))
    return any(isinstance(value, kind) and schema.get("type") == name for kind, name in kinds)
