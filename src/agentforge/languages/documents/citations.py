"""What a document cites, and whether that is so: lines of files, recorded pages, and DOIs.

    [src/cache.py:42 "TTL = 3600"]              the line says that
    [^1]: docs/limits.md:7-9 "an hour"          these lines do, in a note
    [^2]: https://example.org/a "for an hour"   the page as somebody recorded it says that
    doi:10.1000/182                             a DOI, of which only the form is judged

Pages are recorded by a person (`agentforge sources add URL`), in `sources.yaml` beside a copy with its hash.
No role can fetch one, and the record may not change in a task.
"""

import hashlib
import html
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentforge.core.errors import UsageError
from agentforge.languages.documents.library import Library
from agentforge.languages.documents.prose import Passage, TextBlock
from agentforge.system import strict_yaml

RECORDS = "sources.yaml"
SHORTEST_QUOTE = 8
"""Signs of a quotation, blanks aside; a shorter one stands on every page."""
_QUOTE = r"""(?:["“](?P<quote>[^"”]+)["”]|`(?P<code>[^`]+)`)"""
_PATH = r"(?P<path>[\w@+-][\w@+./-]*):(?P<first>\d+)(?:[-\u2013](?P<last>\d+))?"
_FILE = re.compile(rf"{_PATH}(?:[,:]?\s+{_QUOTE})?")
_URL = re.compile(rf"<?(?P<url>https?://[^\s<>\"“`\])]+)>?(?:[,:]?\s+{_QUOTE})?")
_DOI = re.compile(r"(?:\bdoi:\s*|https?://(?:dx\.)?doi\.org/)(?P<doi>[^\s<>\"“”\])]*)", re.IGNORECASE)
_GOOD_DOI = re.compile(r"10\.\d{4,9}/\S*\w\S*")
_NOTE = re.compile(r"\[\^(?P<name>[^\]\s]+)\]:\s*(?:See\s+)?")
_MENTION = re.compile(r"\[\^(?P<name>[^\]\s]+)\](?!:)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(<?(?P<url>https?://[^\s)>]+)>?(?:\s[^)]*)?\)")

_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|code|em|i|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var)(?:\s[^>]*)?>"
)
_MARK = re.compile(r"<[^<>]+>")

Kind = Literal["file", "url", "doi"]


@dataclass(frozen=True, slots=True)
class Citation:
    """What is cited, at which line of the document."""

    kind: Kind
    target: str
    line: int
    first: int = 0
    last: int = 0
    quote: str = ""

    @property
    def named(self) -> str:
        """How a person would write it."""
        if self.kind != "file":
            return f"doi:{self.target}" if self.kind == "doi" else self.target
        return f"{self.target}:{self.first}" + (f"-{self.last}" if self.last != self.first else "")


def citations(passage: Passage) -> list[Citation]:
    """Every citation of a passage, those of its notes where the notes stand."""
    return [found for block in passage.blocks for found in in_block(block)]


def cited_in(block: TextBlock, notes: Mapping[str, list[Citation]]) -> list[Citation]:
    """What a paragraph cites, itself or by its notes."""
    named = [name for name in _MENTION.findall(block.text) if name in notes]
    return [*in_block(block), *(found for name in named for found in notes[name])]


def notes_of(passage: Passage) -> dict[str, list[Citation]]:
    """The notes of a document by name, with what each cites."""
    found = {}
    for block in passage.blocks:
        if block.kind == "note" and (name := _NOTE.match(block.text)):
            found[name["name"]] = in_block(block)
    return found


def missing_notes(passage: Passage) -> list[tuple[int, str]]:
    """Notes that the text points to and that are not there, with the line."""
    known = notes_of(passage)
    mentions = ((block.line, name) for block in passage.blocks for name in _MENTION.findall(block.text))
    return [(line, name) for line, name in mentions if name not in known]


def in_block(block: TextBlock) -> list[Citation]:
    """What one block cites."""
    text = block.text
    found: list[Citation] = []
    note = _NOTE.match(text) if block.kind == "note" else None
    starts = [note.end()] if note else []
    starts += [each.end() for each in re.finditer(r"[\[(](?!\^)", text)]
    for start in starts:
        if file := _FILE.match(text, start):
            if _ends(text, file.end(), in_note=note is not None and start == starts[0]):
                found.append(_of_file(file, _line(block, start)))
        elif (url := _URL.match(text, start)) and "doi.org/" not in url["url"] and text[start - 1] != "(":
            quote = url["quote"] or url["code"] or ""
            found.append(Citation("url", url["url"].rstrip(".,;"), _line(block, start), quote=quote))
    found += [
        Citation("url", link["url"], _line(block, link.start()))
        for link in _LINK.finditer(text)
        if "doi.org/" not in link["url"]
    ]
    found += [
        Citation("doi", doi["doi"].rstrip(".,;"), _line(block, doi.start())) for doi in _DOI.finditer(text)
    ]
    return found


def _of_file(found: re.Match[str], line: int) -> Citation:
    first = int(found["first"])
    quote = found["quote"] or found["code"] or ""
    return Citation("file", found["path"], line, first, int(found["last"] or first), quote)


def _ends(text: str, at: int, *, in_note: bool) -> bool:
    """Whether a citation ends where its bracket or its note does: `localhost:8080 is` cites nothing."""
    rest = text[at:].lstrip()
    return in_note or rest[:1] in ("]", ")", ";", ",")


def _line(block: TextBlock, at: int) -> int:
    return block.line + block.text.count("\n", 0, at)


# ------------------------------------------------------------------ does it hold


def wrong_with(citation: Citation, library: Library, *, quoted: bool = True) -> str:
    """Why a citation does not hold, as the end of a sentence; empty if it does. With `quoted`, a line that is
    cited without its words does not.
    """
    if citation.kind == "doi":
        good = _GOOD_DOI.fullmatch(citation.target)
        return "" if good else "is no DOI: one reads 10.NNNN/NAME"
    if citation.kind == "url":
        return _wrong_page(citation, library)
    text = library.text(citation.target)
    if text is None:
        return "is not there: no such file"
    lines = text.splitlines()
    if not 0 < citation.first <= citation.last <= len(lines):
        return f"is not there: the file has {len(lines)} lines"
    if not citation.quote:
        return "is cited without its words; quote them behind it" if quoted else ""
    return _wrong_quote(citation.quote, "\n".join(lines[citation.first - 1 : citation.last]))


def is_meant(citation: Citation, library: Library) -> bool:
    """Whether `NAME:NUMBER` is meant to be a place in a file: `example.org:443` is none."""
    return bool(
        citation.kind != "file"
        or citation.quote
        or "/" in citation.target
        or library.shelf.is_there(citation.target)
    )


def _wrong_quote(quote: str, text: str) -> str:
    wanted = " ".join(quote.split())
    if len(wanted.replace(" ", "")) < SHORTEST_QUOTE and wanted != " ".join(text.split()):
        return f"is quoted with “{wanted}” alone, which could stand anywhere; quote more of it"
    return "" if wanted in " ".join(text.split()) else f"does not say “{wanted}”"


def _wrong_page(citation: Citation, library: Library) -> str:
    record = recorded(library).get(citation.target)
    if record is None:
        return f"was never recorded in {RECORDS}; a person records it with `agentforge sources add URL`"
    file, wanted = record
    data = library.data(file)
    if data is None:
        return f"has no recorded copy: `{file}` is not there"
    if hashlib.sha256(data).hexdigest() != wanted:
        return f"is recorded with another hash than `{file}` has"
    return _wrong_quote(citation.quote, _page_text(data)) if citation.quote else ""


def recorded(library: Library) -> dict[str, tuple[str, str]]:
    """The recorded pages, by address: the file of each, and its hash. What cannot be read records none."""
    found: dict[str, tuple[str, str]] = {}
    for path in library.shelf.called(RECORDS):
        try:
            value = strict_yaml.load(library.text(path) or "", path)
        except UsageError:
            continue
        rows = value.get("sources") if isinstance(value, dict) else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                file = posixpath.normpath(posixpath.join(posixpath.dirname(path), str(row.get("file", ""))))
                found[str(row.get("url", ""))] = (file, str(row.get("sha256", "")))
    return found


def _page_text(data: bytes) -> str:
    """The words of a page, without its marks."""
    text = _HIDDEN.sub(" ", data.decode("utf-8", "replace"))
    return html.unescape(_MARK.sub(" ", _INLINE.sub("", text)))
