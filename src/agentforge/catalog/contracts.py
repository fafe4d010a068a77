"""Contracts: the schema and the named rules of an artifact, and what is wrong with a value under them.

The only module that knows the JSON Schema library.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

import jsonschema_rs

from agentforge.catalog.dialect import check_schema, compile_schema
from agentforge.catalog.faults import did_you_mean
from agentforge.catalog.rule_words import nearest_rule
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import PARTS, PREDICATES, Part, Predicate, part_of
from agentforge.core.reply import Json

MAX_PROBLEMS = 20
"""More would bury the first ones; a model that mends twenty is told the rest next time."""

MAX_NAMED = 12
"""So many entries with the same fault are named."""

MAX_DEPTH = 64
"""No artifact is nested deeper; beyond it a value is an attack or an accident."""

_Path: TypeAlias = tuple[str | int, ...]
_Fault: TypeAlias = tuple[_Path, str]
"""Where, and what is wrong there."""

_NAMES = ("id", "name", "path", "question")
"""What an entry of a list is called by, the first that it has."""

_KEYS = frozenset({"contract", "part", "version", "description", "schema", "validation"})
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "number": "a number",
}

NUMBERED_ID = re.compile(r"\^([A-Z]+)-\[0-9\]\{(\d)\}\$")
"""The pattern of an id that is a word and a number."""
_LIMITS = {
    "pattern": "matching {}",
    "format": "as a date and time like 2026-01-31T12:00:00Z",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "minimum": "from {}",
    "maximum": "up to {}",
    "minItems": "with at least {} entries",
    "maxItems": "with at most {} entries",
}


@dataclass(frozen=True, slots=True)
class Contract:
    """A compiled contract. `document` is what was read, and compiles to the same again."""

    name: str
    version: str
    description: str
    rules: tuple[Predicate, ...]
    draft_schema: Mapping[str, Json]
    """What a model submits: the engine's own fields may be missing, and those only it may write are refused.
    """
    final_schema: Mapping[str, Json]
    """What is kept: with the fields that the engine fills in."""
    document: Mapping[str, Json]
    source: str
    """The file, for messages."""
    part: Part | None = None
    """What it is to the work; None for a document that the engine only keeps."""


def compile_contract(document: object, source: str) -> Contract:
    """A contract from its YAML form, or a `UsageError` that names the file and the key."""
    if not isinstance(document, dict):
        raise UsageError(f"{source}: a contract is a mapping with the keys {', '.join(sorted(_KEYS))}.")
    if unknown := sorted(str(key) for key in set(document) - _KEYS):
        raise UsageError(f"{source}: unknown key `{unknown[0]}`; known: {', '.join(sorted(_KEYS))}.")
    for key in ("contract", "version", "description"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise UsageError(f"{source}: `{key}` is missing or not text.")
    part = document.get("part")
    if part is not None and part not in PARTS:
        raise UsageError(
            f"{source}: part: {str(part)!r} is no part of the work{did_you_mean(str(part), PARTS)}; "
            "there are "
            f"{', '.join(PARTS)}."
        )
    rules = document.get("validation") or []
    if not isinstance(rules, list):
        raise UsageError(f"{source}: `validation` is a list of predicate names.")
    if foreign := [rule for rule in rules if rule not in PREDICATES]:
        raise UsageError(
            f"{source}: validation names {str(foreign[0])!r}, which is no predicate"
            f"{nearest_rule(str(foreign[0]))}; known: {', '.join(PREDICATES)}."
        )
    schema = check_schema(document.get("schema"), source)
    contract = Contract(
        name=document["contract"],
        version=document["version"],
        description=document["description"],
        rules=cast("tuple[Predicate, ...]", tuple(rules)),
        draft_schema=compile_schema(schema, final=False),
        final_schema=compile_schema(schema, final=True),
        document=document,
        source=source,
        part=part_of(document["contract"], part),
    )
    try:
        _validator(contract.final_schema)
    except ValueError as error:  # a pattern that Python reads and the validator does not
        raise UsageError(f"{source}: the schema cannot be compiled: {str(error).splitlines()[0]}.") from error
    return contract


def problems(contract: Contract, value: object, *, final: bool) -> list[str]:
    """What is wrong with a value, each as `path: what is wrong, what is allowed`; short enough to feed
    back. What is wrong alike in several entries of a list is said once, with their ids.
    """
    return _problems(contract.final_schema if final else contract.draft_schema, contract.final_schema, value)


def in_order(contract: Contract, document: Mapping[str, Json]) -> dict[str, Json]:
    """A document with its keys as the contract lists them, those of its entries too: how it was kept says
    nothing to a reader.
    """
    schema: Any = contract.document["schema"]
    return _in_order(schema, document)


def _in_order(properties: Mapping[str, Any], value: Mapping[str, Json]) -> dict[str, Json]:
    known = [name for name in properties if name in value]
    return {
        name: _entry_in_order(properties.get(name, {}), value[name])
        for name in (*known, *(name for name in value if name not in properties))
    }


def _entry_in_order(node: Mapping[str, Any], value: Json) -> Json:
    match value:
        case dict():
            return _in_order(node.get("properties", {}), value)
        case list():
            return [_entry_in_order(node.get("items", {}), item) for item in value]
        case _:
            return value


def schema_problems(schema: Mapping[str, Json], value: object) -> list[str]:
    """The same for a schema that no contract stands behind: the arguments of a tool."""
    return _problems(schema, schema, value)


def schema_fault(schema: Mapping[str, Json]) -> str:
    """Why this is no JSON Schema; empty if it is one."""
    try:
        jsonschema_rs.meta.validate(dict(schema))
        _validator(schema)
    except (ValueError, RecursionError) as error:
        return str(error).splitlines()[0]
    return ""


def _problems(schema: Mapping[str, Json], complete: Mapping[str, Json], value: object) -> list[str]:
    unfit = dict(_unfit(value))
    faults = list(unfit.items())
    if not any("nested" in text for text in unfit.values()):
        for error in _validator(schema).iter_errors(value):
            faults += [fault for fault in _faults_of(error, schema, complete) if fault[0] not in unfit]
    told = _grouped(faults, value)
    if len(told) > MAX_PROBLEMS:
        return [*told[: MAX_PROBLEMS - 1], f"and {len(told) - MAX_PROBLEMS + 1} more problems"]
    return told


def _grouped(faults: Sequence[_Fault], value: object) -> list[str]:
    """One line for each key and fault."""
    groups: dict[tuple[str, str], dict[_Path, None]] = {}
    for path, text in faults:
        alike = tuple("*" if isinstance(part, int) else part for part in path)
        groups.setdefault((_spell(alike, "*"), text), {})[path] = None
    lines = []
    for (spelled, text), places in groups.items():
        if len(places) == 1:
            lines.append(f"{_spell(next(iter(places)))}: {text}")
            continue
        names = [_entry(value, path) for path in places]
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        lines.append(f"{spelled}: {text} ({', '.join(names[:MAX_NAMED])}{more})")
    return lines


def _entry(value: object, path: _Path) -> str:
    """The entry of a list that a path leads to: by its id or name, else by its number."""
    last = max(at for at, part in enumerate(path) if isinstance(part, int))
    found: Any = value
    for part in path[: last + 1]:
        found = found[part]
    named = (
        [found[key] for key in _NAMES if isinstance(found.get(key), str)] if isinstance(found, dict) else []
    )
    return _short(named[0]).strip("'") if named else _spell(path[: last + 1])


def _validator(schema: Mapping[str, Json]) -> jsonschema_rs.Draft202012Validator:
    """Compiling takes milliseconds, and most values are held against a schema that others were held against
    before.
    """
    try:
        return _compiled(json.dumps(schema))
    except (TypeError, RecursionError):  # no JSON: the library says why
        return jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True)


@lru_cache(maxsize=256)
def _compiled(schema: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads(schema), validate_formats=True)


def _unfit(value: object) -> Iterator[_Fault]:
    """What no schema sees: fractions, which recorded values cannot hold, and nesting without end."""
    todo: list[tuple[list[str | int], object]] = [([], value)]
    while todo:
        path, part = todo.pop()
        if len(path) > MAX_DEPTH:
            yield tuple(path[:6]), f"nested deeper than {MAX_DEPTH} levels"
            return
        if isinstance(part, float):
            yield tuple(path), f"{part} has a fraction; write a whole number or text"
        elif isinstance(part, dict):
            todo += [([*path, str(key)], child) for key, child in reversed(part.items())]
        elif isinstance(part, list):
            todo += [([*path, index], child) for index, child in reversed(list(enumerate(part)))]


def _faults_of(
    error: jsonschema_rs.ValidationError, schema: Mapping[str, Json], complete: Mapping[str, Json]
) -> Iterator[_Fault]:
    node = _follow(schema, error.schema_path[:-1])
    facts = error.kind.as_dict()
    path = tuple(error.instance_path)
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required():
            name = facts["property"]
            yield (*path, name), f"is missing; it is {allowed(_follow(node, ['properties', name]))}"
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties():
            for name in facts["unexpected"]:
                if _follow(complete, [*error.schema_path[:-1], "properties", name]):
                    yield (*path, name), "is filled in by the engine; leave it out"
                else:
                    known = ", ".join(cast("dict[str, Json]", node.get("properties", {})))
                    yield (*path, name), f"unknown key; allowed: {known}"
        case jsonschema_rs.ValidationErrorKind.AnyOf():
            # The branch of the right type says more than "matches none of them".
            near = [
                branch for branch in facts["context"] if not any(_is_type(inner, path) for inner in branch)
            ]
            if len(near) == 1:
                for inner in near[0]:
                    yield from _faults_of(inner, schema, complete)
            else:
                yield path, f"{_short(error.instance)} does not fit; it is {allowed(node)}"
        case _:
            yield path, f"{_short(error.instance)} does not fit; it is {allowed(node)}"


def _is_type(error: jsonschema_rs.ValidationError, path: Sequence[str | int]) -> bool:
    return isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Type) and list(
        error.instance_path
    ) == list(path)


def allowed(node: Mapping[str, Json]) -> str:
    """What a compiled definition allows, in a few words."""
    if "const" in node:
        return _short(node["const"])
    if isinstance(node.get("enum"), list):
        values = cast("list[Json]", node["enum"])
        return "one of " + ", ".join(value if isinstance(value, str) else _short(value) for value in values)
    if "anyOf" in node:
        return " or ".join(allowed(choice) for choice in cast("list[dict[str, Json]]", node["anyOf"]))
    types = node.get("type", "object")
    words = " or ".join(_WORDS[str(name)] for name in (types if isinstance(types, list) else [types]))
    limits = [text.format(node[key]) for key, text in _LIMITS.items() if key in node]
    if types == "object" and isinstance(needed := node.get("required"), list) and needed:
        limits.append(f"with {', '.join(map(str, needed))}")
    if (form := NUMBERED_ID.fullmatch(str(node.get("pattern", "")))) is not None:
        limits[0] = f"like {form[1]}-{'1'.zfill(int(form[2]))}"
    return f"{words} {', '.join(limits)}" if limits else words


def _follow(schema: Mapping[str, Json], path: Sequence[str | int]) -> Mapping[str, Json]:
    node: Any = schema
    for part in path:
        if isinstance(node, dict):
            node = node.get(part, {})
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return {}
    return node if isinstance(node, dict) else {}


def _spell(path: Sequence[str | int], star: str = "") -> str:
    """A path in words; with `star`, that part stands for every entry of a list."""
    text = "".join(f"[{part}]" if isinstance(part, int) or part == star else f".{part[:60]}" for part in path)
    return text.removeprefix(".") or "the artifact"


def _short(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
