"""Values near those that a test called a function with: each differs in one place, by a little or by a lot.

Equal values of a call are changed together, for what counts may be that they are equal.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from agentforge.languages.outcomes import NearKind, NearValues

MOST = 24
"""Of one call."""
LARGE = 10**6
"""What is larger is not multiplied: it may be a size."""
SMALL = 2
"""Numbers up to this one are edges that honest code has a case for."""
DEPTH = 5
ARGUMENT = 2
"""Steps to an argument: by place or by name, then which."""

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
                repr(_with(value, places, other)),
                axis,
                _kind(leaf),
                _step(leaf, other),
                argument=repr(ways[0][:ARGUMENT]),
            )
            for places, other in _changes(leaf, ways)
        ]
        for axis, ((_, leaf), ways) in enumerate(axes.items())
    ]
    found = [each for row in zip_longest(*columns) for each in row if each is not None]
    return [each for each in dict.fromkeys(found) if each.given != given][:most]


def _changes(leaf: Any, ways: Sequence[Way]) -> list[tuple[Sequence[Way], Any]]:  # noqa: ANN401 - a leaf
    """Other values for a leaf, in all its places; where there are several, also one in the first alone."""
    found: list[tuple[Sequence[Way], Any]] = [(ways, other) for other in _near(leaf)]
    return [*found[:1], (ways[:1], found[0][1]), *found[1:]] if len(ways) > 1 else found


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
            if isinstance(key, str | int):
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


def _kind(leaf: object) -> NearKind:
    """Whether a value tells of its test, or is one that honest code may have a case for."""
    if isinstance(leaf, bool) or leaf in ("", 0) or (isinstance(leaf, str) and len(leaf) == 1):
        return "edge"
    if isinstance(leaf, int | float):
        return "edge" if abs(leaf) <= SMALL else "number"
    return "text"


def _step(leaf: Any, other: Any) -> float:  # noqa: ANN401 - numbers or texts
    return 0 if isinstance(leaf, str | bool) else other - leaf


def _near(leaf: Any) -> list[Any]:  # noqa: ANN401 - a number or text
    if isinstance(leaf, bool):
        return [not leaf]
    return _near_text(leaf) if isinstance(leaf, str) else _near_number(leaf)


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
