"""Fenced blocks in a text, as Markdown has them: how a model writes file contents without escaping them."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced block: its info string, and its lines exactly as they stand, last newline included."""

    info: str
    body: str
    start: int
    """Where the opening line begins in the whole text."""
    end: int
    """Where the closing line ends, or the end of the text."""
    closed: bool


def find_fences(text: str) -> tuple[Fence, ...]:
    """Every fenced block, in order. At least as many of its own marks, and nothing else, close a fence: a
    longer one may hold a shorter.
    """
    found: list[Fence] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            opened = line
        elif _closes(line, opened):
            body = text[opened.end() + 1 : line.start()]
            found.append(Fence(opened["info"].strip(), body, opened.start(), line.end(), closed=True))
            opened = None
    if opened is not None:
        found.append(
            Fence(opened["info"].strip(), text[opened.end() + 1 :], opened.start(), len(text), closed=False)
        )
    return tuple(found)


def _closes(line: re.Match[str], opened: re.Match[str]) -> bool:
    return line["marks"].startswith(opened["marks"]) and not line["info"].strip()
