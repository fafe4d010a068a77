"""The contract dialect: checked, then compiled to JSON Schema 2020-12.

A property carries its own `required: true`; `min_items`, `max_length` and their like are written with an
underscore; an object that lists `properties` refuses every other key. `filled: true` marks what the engine
knows better than a model: it may be missing from a draft. `filled: only` is refused in a draft, because
nobody but the engine may say it. `seldom: true` marks what few have to say: it is taken in everywhere, and
offered only where the document is all that a stage owes. `no_effect_yet: true` marks a key that may be
written and that nothing acts on: whoever writes it is warned.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}
_ANY_KEYS = frozenset(
    {"type", "any_of", "required", "filled", "description", "enum", "const", "seldom", "no_effect_yet"}
)
_KEYS_OF: Mapping[str, frozenset[str]] = {
    "string": frozenset({"pattern", "format", "min_length", "max_length"}),
    "integer": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
    "object": frozenset({"properties", "additionalProperties"}),
    "array": frozenset({"items", "min_items", "max_items"}),
    "null": frozenset(),
}
_SWITCHES: Sequence[tuple[str, tuple[bool | str, ...], str]] = (
    ("required", (True, False), "is true or false, written inside the property it is about"),
    ("filled", (True, False, "only"), "is true, false or `only`"),
    ("seldom", (True, False), "is true or false"),
    ("no_effect_yet", (True, False), "is true or false"),
)
_BOUNDS = (("min_length", "max_length"), ("min_items", "max_items"), ("minimum", "maximum"))
_RENAMED: Mapping[str, str] = {
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
    "any_of": "anyOf",
}
_FORMATS: Mapping[str, str] = {"datetime": "date-time"}


def check_schema(schema: object, source: str) -> dict[str, Any]:
    """The `schema` of a contract, if it is well written and something satisfies it; else a `UsageError`."""
    if not isinstance(schema, dict):
        _refuse(source, "schema", "is a mapping from property to its definition")
    if not schema:
        _refuse(source, "schema", "allows nothing: it has no properties")
    for name, node in schema.items():
        _check(node, f"schema.{name}", source)
    return schema


def compile_schema(schema: Mapping[str, Any], *, final: bool) -> dict[str, Json]:
    """JSON Schema of a checked `schema`: the form a model submits, or the form that the engine completed."""
    return {"$schema": DIALECT, **_object(schema, final=final)}


def _check(node: object, where: str, source: str) -> None:
    if not isinstance(node, dict):
        _refuse(source, where, "is a mapping that says `type` or `any_of`")
    types = types_of(node)
    if "any_of" in node:
        _check_choice(node, where, source)
    elif not types:
        _refuse(source, where, f"says no `type`; one of {', '.join(_TYPES)}")
    if unknown_types := [name for name in types if name not in _TYPES]:
        hint = "; numbers are whole: `integer`" if "number" in unknown_types else ""
        _refuse(source, f"{where}.type", f"{unknown_types[0]!r} is no type; one of {', '.join(_TYPES)}{hint}")
    known = _ANY_KEYS.union(*(_KEYS_OF[name] for name in types))
    if unknown := sorted(str(key) for key in set(node) - known):
        _refuse(source, f"{where}.{unknown[0]}", f"is not known here; known: {', '.join(sorted(known))}")
    _check_words(node, where, source)
    if reason := _allows_nothing(node, types):
        _refuse(source, where, f"allows nothing: {reason}")
    for below, child in _children(node):
        _check(child, f"{where}.{below}", source)


def _check_choice(node: Mapping[str, Any], where: str, source: str) -> None:
    if "type" in node:
        _refuse(source, where, "says both `type` and `any_of`; one of them")
    if not isinstance(node["any_of"], list):
        _refuse(source, f"{where}.any_of", "is a list of definitions")
    if not node["any_of"]:
        _refuse(source, where, "allows nothing: `any_of` is empty")


def _check_words(node: Mapping[str, Any], where: str, source: str) -> None:
    """Each keyword has a value of its own kind."""
    for key, values, words in _SWITCHES:
        if node.get(key, False) not in values:
            _refuse(source, f"{where}.{key}", words)
    for key in (name for pair in _BOUNDS for name in pair):
        if type(node.get(key, 0)) is not int:
            _refuse(source, f"{where}.{key}", "is a whole number")
    if not isinstance(node.get("properties", {}), dict):
        _refuse(source, f"{where}.properties", "is a mapping from property to its definition")
    if not isinstance(node.get("additionalProperties", {}), dict | bool):
        _refuse(source, f"{where}.additionalProperties", "is true, false or a definition")
    if not isinstance(node.get("enum", []), list):
        _refuse(source, f"{where}.enum", "is a list of values")
    if node.get("format", "datetime") not in _FORMATS:
        _refuse(source, f"{where}.format", f"is one of {', '.join(_FORMATS)}")
    try:
        re.compile(str(node.get("pattern", "")))
    except re.error as error:
        _refuse(source, f"{where}.pattern", f"is no regular expression: {error}")


def _allows_nothing(node: Mapping[str, Any], types: tuple[str, ...]) -> str | None:
    for low, high in _BOUNDS:
        if low in node and high in node and node[low] > node[high]:
            return f"{low} {node[low]} is over {high} {node[high]}"
    if node.get("enum") == []:
        return "`enum` is empty"
    values = list(node.get("enum", [])) + ([node["const"]] if "const" in node else [])
    if "const" in node and "enum" in node and node["const"] not in node["enum"]:
        return "`const` is not in `enum`"
    if values and types and not any(_fits(value, node, types) for value in values):
        return f"{values[0]!r} does not fit the rest of its definition"
    if types == ("object",) and node.get("properties") == {} and not node.get("additionalProperties"):
        return "`properties` is empty"
    return None


def _fits(value: object, node: Mapping[str, Any], types: tuple[str, ...]) -> bool:
    if not any(
        isinstance(value, _TYPES[name]) and (name != "integer" or not isinstance(value, bool))
        for name in types
    ):
        return False
    if isinstance(value, str):
        long_enough = node.get("min_length", 0) <= len(value) <= node.get("max_length", len(value))
        return long_enough and re.search(str(node.get("pattern", "")), value) is not None
    if isinstance(value, int) and not isinstance(value, bool):
        return bool(node.get("minimum", value) <= value <= node.get("maximum", value))
    return True


def types_of(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The types a definition allows: `type` may be one name or a list of names."""
    found = node.get("type", ())
    return (found,) if isinstance(found, str) else tuple(str(name) for name in found or ())


def without_effect(properties: Mapping[str, Any], value: object, where: str = "") -> Iterator[str]:
    """The keys of a valid value that nothing acts on yet. One that is false or empty asks for nothing."""
    given = value if isinstance(value, dict) else {}
    for name, node in properties.items():
        said = given.get(name)
        if said in (None, False, [], {}):
            continue
        if node.get("no_effect_yet"):
            yield f"{where}{name}"
            continue
        yield from without_effect(node.get("properties", {}), said, f"{where}{name}.")
        for position, item in enumerate(said if isinstance(said, list) else ()):
            yield from without_effect(
                node.get("items", {}).get("properties", {}), item, f"{where}{name}[{position}]."
            )
        more = node.get("additionalProperties")
        for key, item in said.items() if isinstance(said, dict) and isinstance(more, dict) else ():
            yield from without_effect(more.get("properties", {}), item, f"{where}{name}.{key}.")


def _children(node: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, child in node.get("properties", {}).items():
        yield f"properties.{name}", child
    if "items" in node:
        yield "items", node["items"]
    if isinstance(node.get("additionalProperties"), dict):
        yield "additionalProperties", node["additionalProperties"]
    for position, child in enumerate(node.get("any_of", [])):
        yield f"any_of[{position}]", child


def _object(properties: Mapping[str, Any], *, final: bool) -> dict[str, Json]:
    shown = {name: node for name, node in properties.items() if final or node.get("filled") != "only"}
    required: list[Json] = [
        name for name, node in shown.items() if node.get("required") and (final or not node.get("filled"))
    ]
    return {
        "type": "object",
        "properties": {name: _compile(node, final=final) for name, node in shown.items()},
        "required": required,
        "additionalProperties": False,
    }


def _compile(node: Mapping[str, Any], *, final: bool) -> dict[str, Json]:
    types = types_of(node)
    out: dict[str, Json] = {"type": types[0] if len(types) == 1 else list(types)} if types else {}
    if "properties" in node:
        body = _object(node["properties"], final=final)
        out |= {key: body[key] for key in ("properties", "required", "additionalProperties")}
    for key, value in node.items():
        match key:
            case "enum" | "const" | "pattern" | "minimum" | "maximum":
                out[key] = value
            case "min_length" | "max_length" | "min_items" | "max_items":
                out[_RENAMED[key]] = value
            case "format":
                out["format"] = _FORMATS[value]
            case "items":
                out["items"] = _compile(value, final=final)
            case "any_of":
                out["anyOf"] = [_compile(choice, final=final) for choice in value]
            case "additionalProperties":
                out[key] = value if isinstance(value, bool) else _compile(value, final=final)
            case _:
                pass
    return out


def _refuse(source: str, where: str, what: str) -> NoReturn:
    raise UsageError(f"{source}: {where} {what}.")
