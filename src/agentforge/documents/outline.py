"""The headings of a document and the sections below them, each by its place in the text.

Only what a reader of the rendered page would see as a heading is one: not a line inside a code fence or a
comment. The length of a document is all the time this takes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from agentforge.documents.front_matter import body_start

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\r\n]*[\r\n]*$)|~{3,})")
_HASHES = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
"""Of a line without blanks at its end."""
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*[\r\n]*$")
_NOT_TITLE = re.compile(r"\s*$| {4}|\t| {0,3}(?:[>|#]|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$))")
"""A line that an underline does not make a heading of."""
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class TextLine(NamedTuple):
    """A line of a document: where it starts and ends, its break included, and whether it is prose. What is
    in a fence or a comment is not.
    """

    start: int
    end: int
    text: str
    prose: bool


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A heading and what stands below it, up to the next heading of its level or a higher one."""

    level: int
    title: str
    start: int
    """Where the heading begins."""
    body: int
    """Where the text below it begins."""
    end: int
    """Where the next section begins."""
    own_end: int
    """Where the next heading of any level begins."""


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[TextLine]:
    """The lines of a part of a document, in order."""
    fence = ""
    comment = False
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        line = match[0]
        if fence:
            closing = line.strip()
            if closing.startswith(fence) and not closing.strip(fence[0]):
                fence = ""
            prose = False
        elif comment:
            comment = "-->" not in line
            prose = False
        elif opening := _FENCE.match(line):
            fence = opening[1]
            prose = False
        elif line.lstrip().startswith("<!--"):
            comment = "-->" not in line
            prose = False
        else:
            prose = True
        yield TextLine(match.start(), match.end(), line, prose)


def outline(text: str) -> tuple[MarkdownSection, ...]:
    """Every section of a document, in the order of their headings. Front matter is not searched."""
    found: list[tuple[int, str, int, int]] = []  # level, title, start, body
    before: TextLine | None = None
    for line in lines(text, body_start(text)):
        if not line.prose:
            before = None
            continue
        if hashes := _HASHES.match(line.text.rstrip()):
            found.append((len(hashes[1]), _without_hashes(hashes[2] or ""), line.start, line.end))
            before = None
        elif before is not None and (under := _UNDERLINE.match(line.text)):
            found.append((1 if under[1][0] == "=" else 2, before.text.strip(), before.start, line.end))
            before = None
        else:
            before = None if _NOT_TITLE.match(line.text) else line
    return tuple(_closed(found, len(text)))


def _without_hashes(title: str) -> str:
    """A title without the hashes that may close it."""
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


def _closed(found: list[tuple[int, str, int, int]], length: int) -> list[MarkdownSection]:
    """The sections with their ends, found from the last heading to the first."""
    sections: list[MarkdownSection] = []
    nearest = [length] * 7
    """By level: where the next heading of that level or a higher one begins."""
    own_end = length
    for level, title, start, body in reversed(found):
        sections.append(MarkdownSection(level, title, start, body, nearest[level], own_end))
        for deeper in range(level, 7):
            nearest[deeper] = start
        own_end = start
    return sections[::-1]


def named(text: str, name: str) -> MarkdownSection | None:
    """The first section of a name: the same words, whatever their case, number, markup or hyphens; a title
    may go on behind a colon, a dash or a bracket.
    """
    return next((section for section in outline(text) if is_titled(section.title, name)), None)


def is_titled(title: str, name: str) -> bool:
    """Whether a title is this name."""
    wanted, words = _words(name), _words(title)
    if words == wanted:
        return True
    head = re.split(r"[:(\u2013\u2014]|\s-\s", title, maxsplit=1)[0]
    return words[: len(wanted)] == wanted and _words(head) == wanted


def _words(title: str) -> list[str]:
    words = _WORD.findall(title.casefold().replace("_", " "))
    while len(words) > 1 and words[0].isdecimal():
        words = words[1:]
    return words


def content(text: str, section: MarkdownSection) -> str:
    """What stands below a heading, its sub-headings included."""
    return text[section.body : section.end]


def visible(text: str) -> str:
    """What a reader sees of a text: without comments, and without blanks around it."""
    return _COMMENT.sub("", text).strip()


def body(text: str) -> str:
    """A document without its front matter."""
    return text[body_start(text) :]


def newline_of(text: str) -> str:
    """The line break that a document uses."""
    found = re.search(r"\r\n|\n|\r", text)
    return found[0] if found else "\n"


def with_body(text: str, section: MarkdownSection, new: str) -> str:
    """The document with another text directly below a heading; its sub-headings stay."""
    newline = newline_of(text)
    inner = new.strip("\n").replace("\n", newline)
    head = text[: section.body]
    if not head.endswith(("\n", "\r")):
        head += newline
    rest = text[section.own_end :]
    spaced = f"{newline}{inner}{newline}" if inner else ""
    return f"{head}{spaced}{newline if rest else ''}{rest}"


def appended(text: str, section: MarkdownSection, addition: str) -> str:
    """The document with a text added at the end of a section, behind everything that is there."""
    newline = newline_of(text)
    before, rest = text[: section.end], text[section.end :]
    kept = before.rstrip()
    kept = before[: len(kept)] if len(kept) >= section.body else before[: section.body].rstrip("\r\n")
    blanks = before[len(kept) :]
    inner = addition.strip("\n").replace("\n", newline)
    trailing = blanks if blanks.endswith(("\n", "\r")) else blanks + newline
    return f"{kept}{newline}{newline}{inner}{trailing}{rest}"
