"""Frozen dataclasses to plain JSON values and back: the one way a value of the core becomes a recorded
line.
"""

from collections.abc import Callable, Hashable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from agentforge.core.reply import Json

T = TypeVar("T")


class Inlined:
    """A part of a value whose fields are recorded among those of the whole."""

    __slots__ = ()


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
        return _encode_fields(value)
    message = f"{type(value).__name__} has no recorded form"
    raise TypeError(message)


def _encode_fields(value: Any) -> dict[str, Json]:  # noqa: ANN401  # any dataclass
    recorded: dict[str, Json] = {}
    inlined = _inlined(cast("Hashable", type(value)))
    for field in fields(value):
        part = getattr(value, field.name)
        if field.name in inlined:
            recorded |= _encode_fields(part)
        elif field.default is MISSING or part != field.default:
            recorded[field.name] = encode(part)
    return recorded


@cache
def _inlined(kind: Hashable) -> dict[str, type[Any]]:
    """The fields of a dataclass whose own fields are recorded among its others, with their classes."""
    hints = get_type_hints(cast("type[Any]", kind)).items()
    return {name: hint for name, hint in hints if isinstance(hint, type) and issubclass(hint, Inlined)}


def decode(kind: type[T], value: Json) -> T:
    """The value of class `kind` that `encode` wrote. A wrong shape raises `ValueError` naming the field."""
    try:
        return cast("T", _reader(cast("Hashable", kind))(value))
    except _Wrong as error:
        raise ValueError(f"{kind.__name__}{error.path}: {error.text}") from None


class _Wrong(Exception):
    """A part that cannot be read, and where it is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text, self.path = text, ""

    def below(self, step: str) -> "_Wrong":
        """This, with a step more before its path: the field, or the place in a list, that holds the part."""
        self.path = step + self.path
        return self


_Reader: TypeAlias = Callable[[Any], Any]


@cache
def _reader(hint: Any) -> _Reader:  # noqa: ANN401  # annotations are data here
    """What reads a value of this annotation. Made once for each: a journal has many lines and few shapes."""
    origin = get_origin(hint)
    if is_dataclass(hint):
        return _dataclass_reader(cast("type[Any]", hint))
    if origin in (Union, UnionType):
        return _optional_reader(get_args(hint))
    if origin is tuple:
        return _tuple_reader(_reader(get_args(hint)[0]))
    if origin is Literal:
        return _literal_reader(get_args(hint))
    return _plain_reader(hint)


def _dataclass_reader(kind: type[Any]) -> _Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    required = {field.name for field in fields(kind) if field.default is MISSING}
    # Most fields are plain: one look at the type of the value, and it is taken as it is.
    plain = {name: hint for name, hint in hints.items() if hint in (str, int, bool)}
    inlined = _inlined(cast("Hashable", kind))

    def read(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            raise _expected("an object", value)
        found = value.copy()
        for name, part in value.items():
            if plain.get(name) is type(part):
                continue
            if name not in readers:
                raise _Wrong(f"unknown field {', '.join(sorted(value.keys() - readers.keys()))}")
            try:
                found[name] = readers[name](part)
            except _Wrong as error:
                raise (error if name in inlined else error.below(f".{name}")) from None
        if not required <= found.keys():
            raise _Wrong(f"{next(name for name in readers if name in required - found.keys())} is missing")
        return kind(**found)

    reader: _Reader = read
    for name, part in inlined.items():
        reader = _gather(reader, name, frozenset(field.name for field in fields(part)))
    return reader


def _gather(read: _Reader, part: str, names: frozenset[str]) -> _Reader:
    """What reads a value that has a field `part` whose own fields were recorded among the others."""

    def gathered(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            raise _expected("an object", value)
        if part in value:
            raise _Wrong(f"unknown field {part}")
        whole: dict[str, Json] = {}
        inner: dict[str, Json] = {}
        for name, item in value.items():
            (inner if name in names else whole)[name] = item
        return read({**whole, part: inner})

    return gathered


def _tuple_reader(item: _Reader) -> _Reader:
    def read(value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            raise _expected("a list", value)
        found = []
        for position, part in enumerate(value):
            try:
                found.append(item(part))
            except _Wrong as error:
                raise error.below(f"[{position}]") from None
        return tuple(found)

    return read


def _optional_reader(options: tuple[Any, ...]) -> _Reader:
    real = [_reader(option) for option in options if option is not NoneType]

    def read(value: Any) -> Any:  # noqa: ANN401
        if value is None and NoneType in options:
            return None
        if len(real) == 1:
            return real[0](value)
        raise _expected("a value of a single kind", value)

    return read


def _literal_reader(options: tuple[Any, ...]) -> _Reader:
    def read(value: Any) -> Any:  # noqa: ANN401
        if value not in options:
            raise _expected("one of " + ", ".join(map(str, options)), value)
        return value

    return read


def _plain_reader(kind: Any) -> _Reader:  # noqa: ANN401
    def read(value: Any) -> Any:  # noqa: ANN401
        # A boolean is an integer in Python, and not in a journal.
        if kind is Any or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise _expected(getattr(kind, "__name__", str(kind)), value)

    return read


def _expected(wanted: str, value: Json) -> _Wrong:
    return _Wrong(f"{wanted} expected, {type(value).__name__} found")
