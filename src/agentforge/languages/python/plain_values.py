"""Values as text that can be read again in another process, and as people write them.

Part of the judge of a watched run, and of the calls that are made again where no test is (`plain_calls.py`):
copied beside both, importing nothing of ours, for Python from 3.8. What is no literal is written as how it is
made: a dictionary whose key `MARK` names a class, a function or a member, and what it was made of.
"""

from __future__ import annotations

import ast
import importlib
import marshal
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "\0"
UNKNOWN = {MARK: "?"}
"""What stands for a part of a value that cannot be written: `object()` where it is read."""
FUNCTION = "?:function"
"""What is made of the code of a function that no name leads to."""
MOST_CHARS = 2000
DEPTH = 6
ATOMS = (int, bool, str, bytes, type(None))


class Untold(Exception):
    """A value that cannot be written as text."""


def structure(value: Any, *, partly: bool = False, depth: int = DEPTH) -> Any:  # noqa: ANN401 - whatever it is
    """A value as literals; `partly` leaves out what cannot be written."""
    try:
        return _structure(value, partly, depth)
    except Untold:
        raise
    except Exception as error:  # a value of the project's own may raise anything where it is looked at
        raise Untold from error


def written(value: Any, *, partly: bool = False) -> str | None:  # noqa: ANN401 - as above
    """A value as text that `read` understands; none for any other, or where that is long."""
    try:
        text = _text(structure(value, partly=partly))
    except (Untold, RecursionError):
        return None
    return text if len(text) <= MOST_CHARS else None


def shown(value: Any, *, partly: bool = False) -> str | None:  # noqa: ANN401 - as above
    """A value as people write it; none where it cannot be told, or that is long."""
    try:
        text = as_people_write(structure(value, partly=partly))
    except (Untold, RecursionError):
        return None
    return text if len(text) <= MOST_CHARS else None


def read(text: str) -> Any:  # noqa: ANN401 - as above
    """The value that was written."""
    return _made(ast.literal_eval(text))


def as_people_write(told: Any) -> str:  # noqa: ANN401 - literals
    """What `structure` gave, as people write it."""
    if isinstance(told, dict) and MARK in told:
        return _as_it_is_made(told)
    if isinstance(told, dict):
        return "{" + ", ".join(repr(key) + ": " + as_people_write(each) for key, each in told.items()) + "}"
    if isinstance(told, list):
        return "[" + ", ".join(map(as_people_write, told)) + "]"
    if isinstance(told, tuple):
        return "(" + ", ".join(map(as_people_write, told)) + (",)" if len(told) == 1 else ")")
    return _text(told)


def _as_it_is_made(told: dict[str, Any]) -> str:
    name: str = told[MARK].rpartition(":")[2]
    if "state" in told:
        parts = [key + "=" + as_people_write(each) for key, each in told["state"].items()]
    elif "of" in told and told[MARK] != FUNCTION:
        parts = [as_people_write(each) for each in told["of"]]
    else:
        return name
    return name + "(" + ", ".join(parts) + ")"


def _text(told: Any) -> str:  # noqa: ANN401 - literals
    return "{" + ", ".join(sorted(map(repr, told))) + "}" if type(told) is set else repr(told)


def _structure(value: Any, partly: bool, depth: int) -> Any:  # noqa: ANN401, FBT001 - as above
    kind = type(value)
    if kind in ATOMS or (kind is float and value - value == 0):
        return value
    if kind is set and value and all(type(each) in ATOMS for each in value):
        return value
    if depth <= 0:
        return _not_told(partly)

    def inner(each: Any) -> Any:  # noqa: ANN401 - as above
        return _structure(each, partly, depth - 1)

    if kind in (list, tuple):
        return kind(inner(each) for each in value)
    if kind is dict and all(type(key) in ATOMS and key != MARK for key in value):
        return {key: inner(each) for key, each in value.items()}
    made_of = None if kind is dict else _made_of(value)
    if made_of is not None:
        name, of = made_of
        return {MARK: name} if of is None else {MARK: name, "of": [inner(each) for each in of]}
    state = _state(value)
    if state is None:
        return _not_told(partly)
    return {MARK: _name(kind), "state": {key: inner(each) for key, each in state.items()}}


def _not_told(partly: bool) -> Any:  # noqa: ANN401, FBT001 - literals
    if not partly:
        raise Untold
    return dict(UNKNOWN)


def _made_of(value: Any) -> tuple[str, list[Any] | None] | None:  # noqa: ANN401 - as above
    """By what a value is made, and of what; of nothing where the name alone leads to it."""
    kind = type(value)
    if type(kind).__name__ in ("EnumMeta", "EnumType"):
        return (_name(kind) + "." + value.name, None) if value.name else None
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        if _leads_to(value):
            return _name(value), None
        if isinstance(value, types.FunctionType) and not value.__closure__ and not value.__defaults__:
            return FUNCTION, [marshal.dumps(value.__code__)]
        return None
    row = KINDS.get(_name(kind))
    if row is not None:
        return row[0], row[1](value)
    of_tuple = isinstance(value, tuple) and hasattr(kind, "_fields")
    if (of_tuple or isinstance(value, BaseException)) and _leads_to(kind):
        return _name(kind), list(value if of_tuple else value.args)
    return None


def _seconds(value: Any) -> list[Any]:  # noqa: ANN401 - a point in time
    """Of a date with its time; the zone, if it is the common one."""
    if value.tzinfo is not None and value.tzname() != "UTC":
        raise Untold
    parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    return parts if value.tzinfo is None else [*parts, value.tzinfo]


def _whole(value: Any) -> list[Any]:  # noqa: ANN401 - a decimal
    return [int(value) if value.is_finite() and str(value) == str(int(value)) else str(value)]


KINDS: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "builtins:float": ("builtins:float", lambda each: [repr(each)]),
    "builtins:complex": ("builtins:complex", lambda each: [each.real, each.imag]),
    "builtins:set": ("builtins:set", lambda each: [sorted(each, key=repr)]),
    "builtins:frozenset": ("builtins:frozenset", lambda each: [sorted(each, key=repr)]),
    "builtins:bytearray": ("builtins:bytearray", lambda each: [bytes(each)]),
    "builtins:range": ("builtins:range", lambda each: [each.start, each.stop, each.step]),
    "decimal:Decimal": ("decimal:Decimal", _whole),
    "fractions:Fraction": ("fractions:Fraction", lambda each: [each.numerator, each.denominator]),
    "datetime:datetime": ("datetime:datetime", _seconds),
    "datetime:timezone": ("datetime:timezone", lambda each: [each.utcoffset(None)]),
    "datetime:date": ("datetime:date", lambda each: [each.year, each.month, each.day]),
    "datetime:timedelta": ("datetime:timedelta", lambda each: [each.days, each.seconds, each.microseconds]),
    "pathlib:PosixPath": ("pathlib:Path", lambda each: [str(each)]),
    "pathlib._local:PosixPath": ("pathlib:Path", lambda each: [str(each)]),
    "pathlib:PurePosixPath": ("pathlib:PurePosixPath", lambda each: [str(each)]),
    "uuid:UUID": ("uuid:UUID", lambda each: [str(each)]),
    "re:Pattern": ("re:compile", lambda each: [each.pattern, each.flags]),
}
"""Values of the standard library that are made of others: by what, and of what."""


def _state(value: Any) -> dict[str, Any] | None:  # noqa: ANN401 - as above
    """What an object of a class written in Python holds; none where it cannot be made again from that."""
    kind = type(value)
    if not _leads_to(kind) or kind.__module__ in sys.builtin_module_names:
        return None
    try:
        object.__new__(kind)
    except TypeError:
        return None
    held = getattr(value, "__dict__", {})
    state = dict(held) if type(held) is dict else {}
    for owner in kind.__mro__:
        slots = vars(owner).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                slot = vars(owner).get(name)
                try:
                    state[name] = slot.__get__(value)  # type: ignore[union-attr]  # what holds a slot
                except AttributeError:
                    continue
    if not all(type(name) is str for name in state):
        return None
    return state


def _name(value: Any) -> str:  # noqa: ANN401 - a class or a function
    return str(value.__module__) + ":" + str(value.__qualname__)


def _leads_to(value: Any) -> bool:  # noqa: ANN401 - as above
    """Whether its name leads to it."""
    module = sys.modules.get(str(getattr(value, "__module__", "")))
    found: Any = module
    for part in str(value.__qualname__).split("."):
        found = getattr(found, part, None)
    return module is not None and found is value


def _made(told: Any) -> Any:  # noqa: ANN401 - literals
    if isinstance(told, dict) and MARK in told:
        return _of_mark(told)
    if isinstance(told, dict):
        return {key: _made(each) for key, each in told.items()}
    if isinstance(told, list):
        return [_made(each) for each in told]
    return tuple(_made(each) for each in told) if isinstance(told, tuple) else told


def _of_mark(told: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
    name = told[MARK]
    if name == UNKNOWN[MARK]:
        return object()
    if name == FUNCTION:
        return types.FunctionType(marshal.loads(told["of"][0]), {"__builtins__": __builtins__})  # noqa: S302 - our own
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if "of" in told:
        return found(*map(_made, told["of"]))
    if "state" not in told:
        return found
    value = object.__new__(found)
    for key, each in told["state"].items():
        try:
            object.__setattr__(value, key, _made(each))
        except AttributeError:  # such as one that a property hides
            value.__dict__[key] = _made(each)
    return value
