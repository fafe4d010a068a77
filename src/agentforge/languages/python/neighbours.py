"""Values near those that a test called a function with: each differs in one place, by a little or by a lot.

Equal values of a call are changed together, for what counts may be that they are equal.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from agentforge.languages.outcomes import NearKind, NearValues
from agentforge.languages.python.plain_values import MARK, as_people_write

MOST = 24
"""Of one call."""
LARGE = 10**6
"""What is larger is not multiplied: it may be a size."""
SMALL = 2
"""Numbers up to this one are edges that honest code has a case for."""
DEPTH = 9
ARGUMENT = 2
"""Steps to an argument: by place or by name, then which."""

_NUMERAL = re.compile(r"-?(?:[1-9][0-9]{1,8}|[0-9]{1,8}\.[0-9]{1,6})")
"""A number that is written as text, as in the words of a command."""

Way = tuple[int | str, ...]


def neighbours(given: str, most: int = MOST) -> list[NearValues]:
    """The values near these arguments, which are told as text; none for what cannot be read."""
    try:
        value = ast.literal_eval(given)
    except (ValueError, SyntaxError, RecursionError):
        return []
    axes: dict[tuple[type, object], list[Way]] = {}
    for way, leaf in _leaves(value, ()):
        axes.setdefault((type(leaf), leaf), []).append(way)
    columns = [
        [
            NearValues(
                repr(other_value),
                axis,
                _kind(leaf),
                _step(leaf, other),
                argument=repr(ways[0][: _argument(value, ways[0])]),
                shown=as_people_write(other_value),
            )
            for places, other in _changes(leaf, ways)
            for other_value in (_with(value, places, other),)
        ]
        for axis, ((_, leaf), ways) in enumerate(axes.items())
    ]
    found = [each for row in zip_longest(*columns) for each in row if each is not None]
    return [each for each in dict.fromkeys(found) if each.given != given][:most]


def _changes(leaf: Any, ways: Sequence[Way]) -> list[tuple[Sequence[Way], Any]]:  # noqa: ANN401 - a leaf
    """Other values for a leaf, in all its places; where there are several, also one in the first alone."""
    found: list[tuple[Sequence[Way], Any]] = [(ways, other) for other in _near(leaf)]
    return [*found[:1], (ways[:1], found[0][1]), *found[1:]] if len(ways) > 1 else found


def _argument(value: Any, way: Way) -> int:  # noqa: ANN401 - as above
    """How many steps lead to an argument, to what an object holds, or to a word of a command: each is one."""
    steps = ARGUMENT
    for step in way[:ARGUMENT]:
        value = value[step]
    while isinstance(value, dict) and MARK in value and len(way) >= steps + 2:
        value = value[way[steps]][way[steps + 1]]
        steps += 2
    of_words = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return steps + 1 if of_words else steps


def _leaves(value: Any, way: Way) -> Iterator[tuple[Way, Any]]:  # noqa: ANN401 - whatever was given
    """The numbers and texts in a value, each with the way to it."""
    if len(way) > DEPTH:
        return
    if isinstance(value, int | float | str):
        yield way, value
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from _leaves(each, (*way, place))
    elif isinstance(value, dict):
        for key, each in value.items():
            if isinstance(key, str | int) and key != MARK:
                yield from _leaves(each, (*way, key))


def _with(value: Any, ways: Sequence[Way], other: Any) -> Any:  # noqa: ANN401 - as above
    """A value with another one at the end of each way."""
    for way in ways:
        value = _replaced(value, way, other)
    return value


def _replaced(value: Any, way: Way, other: Any) -> Any:  # noqa: ANN401 - as above
    if not way:
        return other
    first, rest = way[0], way[1:]
    if isinstance(value, dict):
        return {key: _replaced(each, rest, other) if key == first else each for key, each in value.items()}
    parts = [_replaced(each, rest, other) if place == first else each for place, each in enumerate(value)]
    return tuple(parts) if isinstance(value, tuple) else parts


def _kind(leaf: Any) -> NearKind:  # noqa: ANN401 - as above
    """Whether a value tells of its test, or is one that honest code may have a case for."""
    if isinstance(leaf, bool) or leaf in ("", 0) or (isinstance(leaf, str) and len(leaf) == 1):
        return "edge"
    number = _number(leaf)
    if isinstance(number, str):
        return "text"
    return "edge" if abs(number) <= SMALL else "number"


def _step(leaf: Any, other: Any) -> float:  # noqa: ANN401 - numbers or texts
    number = _number(leaf)
    return 0 if isinstance(number, str | bool) else float(Decimal(other)) - float(number)


def _near(leaf: Any) -> list[Any]:  # noqa: ANN401 - a number or text
    if isinstance(leaf, bool):
        return [not leaf]
    number = _number(leaf)
    if isinstance(number, str):
        return _near_text(number)
    found = _near_number(number)
    return [str(other) for other in found] if isinstance(leaf, str) else found


def _number(leaf: Any) -> Any:  # noqa: ANN401 - as above
    """The number that a text is; anything else as it is."""
    if not isinstance(leaf, str) or not _NUMERAL.fullmatch(leaf):
        return leaf
    return Decimal(leaf) if "." in leaf else int(leaf)


def _near_number(number: Any) -> list[Any]:  # noqa: ANN401 - an int or a float
    steps: list[Callable[[Any], Any]] = [
        lambda each: each + 1,
        lambda each: each - 1,
        lambda each: each * 2 if abs(each) < LARGE else each + 2,
        lambda each: each + 10,
        lambda each: each * 10 if abs(each) < LARGE else each + 20,
        lambda each: each // 2 if isinstance(each, int) else each / 2,
        lambda each: each + 2,
        lambda each: each * 3 if abs(each) < LARGE else each + 3,
        lambda each: each - 3,
        lambda each: each + 100,
        lambda each: -each,
        lambda each: each + 7,
        lambda each: each * 4 if abs(each) < LARGE else each + 4,
    ]
    return list(dict.fromkeys(step(number) for step in steps))


def _near_text(text: str) -> list[str]:
    if not text:
        return ["a", "ab c", "7"]
    places = dict.fromkeys((len(text) - 1, 0, len(text) // 2, len(text) // 4, 3 * len(text) // 4))
    one_other = [f"{text[:place]}{_next(text[place])}{text[place + 1 :]}" for place in places]
    return list(
        dict.fromkeys(
            [
                one_other[0],
                f"{text} {text}",
                text.swapcase(),
                *one_other[1:],
                text[: len(text) // 2],
                f"a {text}",
                f"{text}{_next(text[-1])}",
                text[:-1],
                "".join(map(_next, text)),
            ]
        )
    )


def _next(letter: str) -> str:
    """Another letter for a letter, another digit for a digit; anything else as it is."""
    if letter.isdecimal() and letter.isascii():
        return str((int(letter) + 1) % 10)
    if not letter.isalpha():
        return letter
    for step in (1, -1, 2, -2):
        other = chr(max(0, ord(letter) + step))
        if other.isalpha() and other.isupper() == letter.isupper() and other.isascii() == letter.isascii():
            return other
    return letter
