"""What documentation a project has: which files, their headings and sections. Pure.

Two ways of writing headings are read wherever they occur, since files called README or NEWS have no suffix
that tells: `## Title`, and a title with a line of signs beneath it (and perhaps above).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

FOLDERS = frozenset({"doc", "docs", "documentation"})
WELL_KNOWN = re.compile(
    r"(?:readme|changelog|changes|history|news|release[-_ "
    r"]?notes|contributing|authors|security|licen[cs]e|copying|upgrading|migration"
    r"|architecture|design|faq|install|usage|todo|roadmap|agents|code[-_]of[-_]conduct)\b",
    re.IGNORECASE,
)
_NOT_DOCUMENTS = re.compile(
    r"(?:requirements.*|constraints.*|robots|.*manifest.*|cmakelists)\.txt", re.IGNORECASE
)
_ATX = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_SIGNS = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")

Style = Literal["atx", "underlined"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. Lines count from 1."""

    title: str
    level: int
    """1 is the outermost of this file."""
    line: int
    """Where it begins, with the line of signs above it if there is one."""
    last: int
    """Where it ends, with the line of signs beneath it."""
    style: Style
    mark: str
    """The `#` signs, or the sign that underlines; doubled if the title has one above as well."""


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A heading with all the lines below it up to the next one; the title is empty for what stands before the
    first.
    """

    title: str
    level: int
    start: int
    end: int


def is_document(path: str) -> bool:
    """Whether a file is there to be read by people."""
    folders, _, name = path.rpartition("/")
    lower = name.lower()
    if _NOT_DOCUMENTS.fullmatch(lower):
        return False
    if lower.endswith((".md", ".rst", ".adoc", ".markdown")):
        return True
    if lower.endswith(".txt") and (
        not folders or any(part.lower() in FOLDERS for part in folders.split("/"))
    ):
        return True
    return "." not in name and not folders and WELL_KNOWN.match(name) is not None


def documents(paths: Iterable[str]) -> tuple[str, ...]:
    """The documents among paths: the well-known ones of the top first, then by depth and name."""
    return tuple(sorted((path for path in paths if is_document(path)), key=_rank))


def _rank(path: str) -> tuple[int, int, str]:
    top = "/" not in path
    return (
        0 if top and path.lower().startswith("readme") else 1 if top and WELL_KNOWN.match(path) else 2,
        path.count("/"),
        path,
    )


def headings(text: str) -> tuple[Heading, ...]:
    """Every heading in order. Fenced code is passed over: a `#` there is a comment."""
    found: list[Heading] = []
    marks: list[str] = []
    lines = text.replace("\r\n", "\n").split("\n")
    for at in _outside_fences(lines):
        if (atx := _ATX.fullmatch(lines[at])) is not None and atx[2]:
            found.append(Heading(atx[2], len(atx[1]), at + 1, at + 1, "atx", atx[1]))
        elif (mark := _underlined(lines, at)) is not None:
            if mark not in marks:
                marks.append(mark)
            above = len(mark) == 2
            found.append(
                Heading(lines[at].strip(), marks.index(mark) + 1, at + 1 - above, at + 2, "underlined", mark)
            )
    return tuple(found)


def _outside_fences(lines: Sequence[str]) -> Iterator[int]:
    fence = ""
    for at, line in enumerate(lines):
        opened = _FENCE.match(line)
        if fence:
            if opened is not None and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened is not None and not _SIGNS.fullmatch(line):
            fence = opened[1]
        else:
            yield at


def _underlined(lines: Sequence[str], at: int) -> str | None:
    """The sign beneath the title at this line, doubled if it stands above too; None if the line is no
    title.
    """
    title = lines[at].rstrip()
    if not title or (title[0] in " \t" and not at) or at + 1 >= len(lines) or _SIGNS.fullmatch(title):
        return None
    below = _SIGNS.fullmatch(lines[at + 1])
    # A shorter line of signs beneath is a list, a table or a rule.
    if (
        below is None
        or len(lines[at + 1].rstrip()) < min(len(title.strip()), 3)
        or title.startswith(("|", "- ", "* ", "> "))
    ):
        return None
    before = lines[at - 1] if at else ""
    above = _SIGNS.fullmatch(before)
    if above is not None and above[1] == below[1]:
        return below[1] * 2
    return None if before.strip() or title[0] in " \t" else below[1]


def sections(text: str) -> tuple[DocumentSection, ...]:
    """The text cut at its headings."""
    count = len(text.replace("\r\n", "\n").rstrip("\n").split("\n")) if text.strip() else 0
    found = headings(text)
    cut: list[DocumentSection] = []
    if count and (not found or found[0].line > 1):
        cut.append(DocumentSection("", 0, 1, found[0].line - 1 if found else count))
    for at, heading in enumerate(found):
        end = found[at + 1].line - 1 if at + 1 < len(found) else count
        cut.append(DocumentSection(heading.title, heading.level, heading.line, end))
    return tuple(cut)
