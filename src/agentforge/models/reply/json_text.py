"""Strict reading of JSON that a model wrote: every bad input ends in one precise sentence, never in a crash.

Stricter than `json.loads`, because what is read here is recorded and acted on: no duplicate keys (one of the
two would be lost in silence), no NaN, no lone surrogates (they cannot be written as UTF-8), no deep nesting.
A number with a fraction becomes its decimal text, since recorded values hold no floats.
"""

import json
import re
from typing import NoReturn, cast

from agentforge.core.reply import Json

MAX_DEPTH = 64
"""Deeper nesting than this is no reply of ours; it only costs stack."""

_TOKEN = re.compile(r'"(?>(?:[^"\\]++|\\.)*)"?+|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadJson(ValueError):
    """Text that is not the JSON we accept; `position` is where, in characters."""

    def __init__(self, why: str, position: int = 0) -> None:
        super().__init__(why)
        self.why = why
        self.position = position


def read_value(text: str, start: int = 0) -> tuple[Json, int]:
    """The JSON value that begins at `start`, and where it ends. Linear in the length of the text."""
    return _decoded(text, start, _DECODER)


def read_loosely(text: str, start: int = 0) -> tuple[Json, int]:
    """As `read_value`, where a text may have line breaks in it as they are."""
    return _decoded(text, start, _LOOSE)


def _decoded(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Json, int]:
    check_depth(text, start)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise BadJson(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except BadJson as error:
        raise BadJson(error.why, start) from None
    except ValueError:  # an integer of thousands of digits
        raise BadJson("a number is too long", start) from None
    _check_unicode(value, start)
    return cast("Json", value), end


def read_whole(text: str) -> Json:
    """The one JSON value that the whole text is."""
    start = skip_blank(text, 0)
    value, end = read_value(text, start)
    if skip_blank(text, end) != len(text):
        raise BadJson("something follows the JSON value", end)
    return value


def skip_blank(text: str, position: int) -> int:
    """The first position, from `position` on, that is not JSON white space."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def place(text: str, position: int) -> str:
    """Where `position` is, for a person or a model to find it."""
    line = text.count("\n", 0, position) + 1
    return f"line {line} column {position - text.rfind(chr(10), 0, position)}"


def check_depth(text: str, start: int) -> None:
    """Stop at a value that nests too deeply, before a parser recurses into it."""
    if text[start : start + 1] not in ("[", "{"):
        return
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = token.group()[0]
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadJson(f"nested more than {MAX_DEPTH} levels deep", token.start())
        elif mark != '"':
            depth -= 1
        if depth <= 0:
            return


def _check_unicode(value: object, start: int) -> None:
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str) and _SURROGATE.search(part):
            raise BadJson("half of a surrogate pair in a text; write the character itself", start)
        if isinstance(part, dict):
            todo += part.keys()
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value: dict[str, object] = {}
    for name, part in pairs:
        if name in value:
            raise BadJson(f"the key {name[:80]!r} appears twice in one object")
        value[name] = part
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise BadJson(f"{name} is not a JSON number")


_DECODER, _LOOSE = (
    json.JSONDecoder(
        object_pairs_hook=_no_duplicates, parse_float=str, parse_constant=_refuse_constant, strict=strict
    )
    for strict in (True, False)
)
