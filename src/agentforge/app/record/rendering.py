"""A document under a contract as people read it, and what changed between two versions of it."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff

from agentforge.core.reply import Json

_NAMED_BY = ("id", "name", "path", "title", "question", "area")
"""Keys that say which item of a list it is, the best first."""
_SAID_BY = ("description", "reason", "answer", "summary", "issue")
"""Keys that say what an item is about."""
_INDENT = "  "


def readable_lines(document: Mapping[str, Json]) -> list[str]:
    """The document as an outline: a heading for each key, a line for each item, nothing left out."""
    lines: list[str] = []
    for key, value in document.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list | dict):
            lines += [f"{_words(key)}:", *(_INDENT + line for line in _lines(value))]
        else:
            lines += _scalar(_words(key), value)
    return lines


def changed_lines(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[str]:
    """What changed between two versions, line by line, with a little around it."""
    found = unified_diff(readable_lines(before), readable_lines(after), n=1, lineterm="")
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def _lines(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from readable_lines(value)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _item(item)
            elif isinstance(item, list):
                yield from _lines(item)
            else:
                yield from _scalar("-", item, joiner=" ")
    else:
        yield from str(value).splitlines()


def _item(item: Mapping[str, Json]) -> Iterator[str]:
    """One object of a list: what it is called and what it is about in one line, the rest below it."""
    name = next((key for key in _NAMED_BY if _is_line(item.get(key))), "")
    said = next((key for key in _SAID_BY if _is_line(item.get(key))), "")
    head = [str(item[key]) for key in (name, said) if key]
    rest = {key: value for key, value in item.items() if key not in (name, said)}
    if not head:
        first, *others = readable_lines(rest) or ["(empty)"]
        yield f"- {first}"
        yield from (_INDENT + line for line in others)
        return
    yield f"- {'  '.join(head)}"
    yield from (_INDENT + line for line in readable_lines(rest))


def _is_line(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value.strip()


def _scalar(label: str, value: Json, joiner: str = ": ") -> list[str]:
    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    first, *others = text.strip().splitlines() or [""]
    return [f"{label}{joiner}{first}", *(_INDENT + line for line in others)]


def _words(key: str) -> str:
    text = key.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
