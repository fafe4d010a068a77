"""Frozen dataclasses to plain JSON values and back: the one way a value of the core becomes a recorded
line.
"""

from collections.abc import Hashable, Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from agentforge.core.reply import Json

T = TypeVar("T")


def encode(value: object) -> Json:
    """The JSON form; fields that equal their default are left out, so lines stay short and old readers stay
    right.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: encode(item)
            for field, item in pairs
            if field.default is MISSING or item != field.default
        }
    message = f"{type(value).__name__} has no recorded form"
    raise TypeError(message)


def decode(kind: type[T], value: Json) -> T:
    """The value of class `kind` that `encode` wrote. A wrong shape raises `ValueError` naming the field."""
    return cast("T", _decode(kind, value, kind.__name__))


@cache
def _shape(kind: Any) -> tuple[tuple[Field[Any], Any], ...]:  # noqa: ANN401  # annotations are data here
    hints = get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind))


def _decode(hint: Any, value: Json, where: str) -> Any:  # noqa: ANN401  # annotations are data here
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        # is_dataclass also accepts instances
        return _decode_dataclass(hint, value, where)  # type: ignore[arg-type]
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_union(get_args(hint), value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        item = get_args(hint)[0]
        return tuple(_decode(item, part, f"{where}[{position}]") for position, part in enumerate(value))
    if origin is Literal:
        if value not in get_args(hint):
            raise _wrong(where, "one of " + ", ".join(map(str, get_args(hint))), value)
        return value
    if (
        hint is Any
        or (hint is int and isinstance(value, int) and not isinstance(value, bool))
        or (hint in (str, bool) and isinstance(value, hint))
    ):
        return value
    raise _wrong(where, getattr(hint, "__name__", str(hint)), value)


# annotations are data here
def _decode_union(options: Iterable[Any], value: Json, where: str) -> Any:  # noqa: ANN401
    if value is None and NoneType in options:
        return None
    real = [option for option in options if option is not NoneType]
    if len(real) == 1:
        return _decode(real[0], value, where)
    raise _wrong(where, "a value of a single kind", value)


# annotations are data here
def _decode_dataclass(kind: type[Any], value: dict[str, Json], where: str) -> Any:  # noqa: ANN401
    shape = _shape(cast("Hashable", kind))
    if unknown := set(value) - {field.name for field, _ in shape}:
        message = f"{where}: unknown field {', '.join(sorted(unknown))}"
        raise ValueError(message)
    found = {}
    for field, hint in shape:
        if field.name in value:
            found[field.name] = _decode(hint, value[field.name], f"{where}.{field.name}")
        elif field.default is MISSING:
            message = f"{where}: {field.name} is missing"
            raise ValueError(message)
    return kind(**found)


def _wrong(where: str, wanted: str, value: Json) -> ValueError:
    return ValueError(f"{where}: {wanted} expected, {type(value).__name__} found")
