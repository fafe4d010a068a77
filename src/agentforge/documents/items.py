"""The items of lists: bullets, numbers and boxes to tick, with what is nested below each."""

import re
from dataclasses import dataclass, field

from agentforge.documents.outline import lines

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[([ xX])\](?:[ \t]+|$))?(.*))?$", re.DOTALL)
"""Of a line without blanks at its end."""


@dataclass(slots=True)
class Item:
    """An item of a list."""

    text: str
    """Its own words on one line, without the marker, the box and what is nested."""
    ticked: bool | None
    """None if it has no box."""
    indent: int
    start: int
    """Where its first line begins."""
    children: "list[Item]" = field(default_factory=list)


def items(text: str, start: int = 0, end: int | None = None) -> list[Item]:
    """The outermost items of the lists in a part of a document."""
    outermost: list[Item] = []
    open_items: list[Item] = []
    broken = True
    """Whether a blank line, a heading or another block has ended the paragraph of the last item."""
    for line in lines(text, start, end):
        if not line.prose or not line.text.strip():
            broken = True
            continue
        match = _ITEM.match(line.text.rstrip())
        if match is None:
            indent = len(line.text) - len(line.text.lstrip())
            if open_items and (not broken or indent > open_items[-1].indent):
                open_items[-1].text = f"{open_items[-1].text} {line.text.strip()}".strip()
            else:
                open_items.clear()
            continue
        broken = False
        indent = len(match[1].expandtabs(4))
        item = Item(match[3] or "", None if match[2] is None else match[2] != " ", indent, line.start)
        while open_items and open_items[-1].indent >= indent:
            open_items.pop()
        (open_items[-1].children if open_items else outermost).append(item)
        open_items.append(item)
    return outermost


def plain(text: str) -> str:
    """Words without their markup: emphasis, code and links."""
    text = re.sub(r"\[([^\]\[]*)\]\([^()]*\)", r"\1", text)
    return re.sub(r"[*`]|(?<!\w)_|_(?!\w)", "", text).strip()


def labelled(text: str) -> tuple[str, str]:
    """`Label: the rest` as its two parts, without markup; the label is empty where there is none."""
    flat = plain(text)
    found = re.search(r":(?:\s|$)", flat)
    return (flat[: found.start()].strip(), flat[found.end() :].strip()) if found else ("", flat)
