"""The shapes of docs/json/outputs.yaml as JSON Schema documents, one for each command.

    word         text without a space: a name, a hash, a state; for programs
    text         text for people; nothing should be decided by it
    time         a time in UTC, as in RFC 3339
    whole        a whole number
    number       a number, with a fraction or without
    truth        true or false
    anything     whatever it is
    a|b|c        one of these words
    =name        a shape that is defined under `shapes`
    [SHAPE]      a list
    {key: SHAPE} an object with these keys and no others; `key?` may be missing, `"*"` is any other key
    either: [SHAPE, …]   one of several shapes

A shape with a `?` behind it may be null.
"""

from collections.abc import Mapping
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[str, Mapping[str, Any]] = {
    "word": {"type": "string", "pattern": r"^\S*$"},
    "text": {"type": "string"},
    "time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$"},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "truth": {"type": "boolean"},
    "anything": {},
}
_EITHER = "either"


def schemas(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema of each command, by its words, and that of errors by `error`."""
    shapes = document["shapes"]
    wanted = {**document["commands"], "error": document["error"]}
    return {name: _document(name, shape, shapes) for name, shape in wanted.items()}


def file_name(command: str) -> str:
    """The file of a command's schema: `keys-list.schema.json`."""
    return f"{command.replace(' ', '-')}.schema.json"


def _document(name: str, shape: object, shapes: Mapping[str, Any]) -> dict[str, Any]:
    title = "An error, whatever the command" if name == "error" else f"agentforge {name} --json"
    needed: dict[str, Any] = {}
    body = _schema(shape, shapes, needed)
    return {"$schema": DIALECT, "title": title, **body, **({"$defs": needed} if needed else {})}


def _schema(shape: object, shapes: Mapping[str, Any], needed: dict[str, Any]) -> dict[str, Any]:
    match shape:
        case str():
            return _named(shape, shapes, needed)
        case [inner]:
            return {"type": "array", "items": _schema(inner, shapes, needed)}
        case {"either": list(choices)} if len(shape) == 1:
            return {"anyOf": [_schema(each, shapes, needed) for each in choices]}
        case dict():
            return _object(shape, shapes, needed)
        case _:
            raise ValueError(f"{shape!r} is no shape")


def _named(shape: str, shapes: Mapping[str, Any], needed: dict[str, Any]) -> dict[str, Any]:
    if shape.endswith("?"):
        return {"anyOf": [_schema(shape[:-1], shapes, needed), {"type": "null"}]}
    if shape.startswith("="):
        name = shape[1:]
        if name not in needed:
            needed[name] = {}  # it may hold itself
            needed[name] = _schema(shapes[name], shapes, needed)
        return {"$ref": f"#/$defs/{name}"}
    return {"enum": shape.split("|")} if "|" in shape else dict(_PLAIN[shape])


def _object(shape: Mapping[str, Any], shapes: Mapping[str, Any], needed: dict[str, Any]) -> dict[str, Any]:
    named = {key: value for key, value in shape.items() if key != "*"}
    rest = _schema(shape["*"], shapes, needed) if "*" in shape else False
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): _schema(value, shapes, needed) for key, value in named.items()},
        "required": [key for key in named if not key.endswith("?")],
        "additionalProperties": rest,
    }
