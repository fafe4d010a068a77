"""JSON that other people and programs write, too, changed in place: only the bytes of what is added or taken
out change. Indentation, order, spelling of numbers and line ends of the rest stay as they are.

A text is looked through once more for each change, which is right for settings and wrong for data.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agentforge.core.reply import Json

Way: TypeAlias = Sequence[str | int]
"""From the whole text to a value in it: names of members and numbers of items."""

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Child:
    name: str | int
    start: int
    """Where it begins: a member with its name."""
    value: int
    end: int


def with_added(text: str, way: Way, value: Json, name: str | None = None) -> str:
    """The text with a value added at the end of the array at `way`, or under a name, which is not there yet,
    at the end of the object there.
    """
    opened = _find(text, way)
    children = _children(text, opened)
    if children:
        gap = _gap(text, opened, children)
        last = children[-1].end
        return text[:last] + "," + gap + _written(text, value, name, gap) + text[last:]
    outer = _line_end(text) + _indentation(text, opened)
    gap = outer + _unit(text)
    return text[: opened + 1] + gap + _written(text, value, name, gap) + outer + text[opened + 1 :]


def _gap(text: str, opened: int, children: list[_Child]) -> str:
    """What is between a comma, or the beginning, and the last child."""
    if len(children) == 1:
        return text[opened + 1 : children[0].start] or " "
    return text[children[-2].end : children[-1].start].lstrip(" \t\r\n").removeprefix(",")


def without(text: str, way: Way) -> str:
    """The text without the value at `way`. What `with_added` added last is taken out without a trace."""
    opened = _find(text, way[:-1])
    children = _children(text, opened)
    at = max(number for number, child in enumerate(children) if child.name == way[-1])
    if at > 0:
        return text[: children[at - 1].end] + text[children[at].end :]
    if len(children) > 1:
        return text[: children[0].start] + text[children[1].start :]
    rest = text[children[0].end :].removeprefix(_line_end(text) + _indentation(text, opened))
    return text[: opened + 1] + rest


def _find(text: str, way: Way) -> int:
    at = _skip(text, 0)
    for step in way:
        found = [child for child in _children(text, at) if child.name == step]
        at = found[-1].value  # of two members with one name the last counts, for every reader
    return at


def _children(text: str, opened: int) -> list[_Child]:
    """The members of the object, or the items of the array, that opens at a place of a valid text."""
    closing = {"{": "}", "[": "]"}[text[opened]]
    found: list[_Child] = []
    at = _skip(text, opened + 1)
    while text[at] != closing:
        start = at
        name: str | int = len(found)
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found.append(_Child(name, start, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _written(text: str, value: Json, name: str | None, gap: str) -> str:
    """A value as its neighbours are written: over several lines, indented as they are, or in one."""
    if "\n" in gap:
        indented = json.dumps(value, indent=_unit(text), ensure_ascii=False)
        made = indented.replace("\n", _line_end(gap) + gap.rpartition("\n")[2])
    else:
        made = json.dumps(value, ensure_ascii=False)
    return made if name is None else f"{json.dumps(name, ensure_ascii=False)}: {made}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """What one level is indented by: the first indentation there is, else two spaces."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _indentation(text: str, at: int) -> str:
    """That of the line in which something opens."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
