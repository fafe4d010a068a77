"""Where a document points to: links into the tree and to headings; tables and figures by their numbers."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from agentforge.languages.documents.library import Library
from agentforge.languages.documents.prose import (
    CAPTION,
    DocumentText,
    Passage,
    TextBlock,
    plain,
    without_code,
)

_INLINE = re.compile(
    r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?(?P<target>[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?[^)]*\)"
)
_BY_NAME = re.compile(r"\[(?:[^\[\]])+\]\[(?P<name>[^\]]+)\]")
_DEFINED = re.compile(r"\[(?!\^)(?P<name>[^\]]+)\]:\s*<?(?P<target>[^\s>]+)")
_OUTSIDE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|\{")
_ANCHOR = re.compile(r"(?:\{#|<a\s[^>]*?(?:id|name)=[\"'])(?P<name>[\w:.-]+)")
_MENTION = re.compile(
    r"\b(?P<kind>Tables?|Figures?|Figs?\.)\s+(?P<number>[A-Z]?\d+(?:\.\d+)*)\b(?!\s+(?:of|in|from)\b)"
)
NEAR = 2
"""Blocks between a caption and what it names, at most."""


@dataclass(frozen=True, slots=True)
class DocumentFault:
    """What is wrong at a line of a document."""

    line: int
    text: str


def broken_links(document: str, text: str, library: Library) -> list[DocumentFault]:
    """Links that lead to nothing in the tree."""
    prose = DocumentText(text)
    blocks = prose.whole.blocks
    names = {
        found["name"].casefold(): found["target"]
        for block in blocks
        if block.kind == "definition" and (found := _DEFINED.match(block.text))
    }
    faults: list[DocumentFault] = []
    for block in blocks:
        for line, target in _targets(block, names):
            if wrong := _wrong_target(document, target, library):
                faults.append(DocumentFault(line, f"the link to `{target}` leads to nothing: {wrong}"))
    return faults


def _targets(block: TextBlock, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    text = without_code(block.text)
    if block.kind == "definition":
        if found := _DEFINED.match(text):
            yield block.line, found["target"]
        return
    for link in _INLINE.finditer(text):
        yield block.line + text.count("\n", 0, link.start()), link["target"]
    for link in _BY_NAME.finditer(text):
        if link["name"].casefold() not in names and re.search(r"\w", link["name"]):
            yield block.line + text.count("\n", 0, link.start()), f"[{link['name']}]"


def _wrong_target(document: str, target: str, library: Library) -> str:
    if not target or _OUTSIDE.match(target):
        return ""
    if target.startswith("["):
        return "nothing is defined under this name"
    path, _, anchor = unquote(target).partition("#")
    path = path.partition("?")[0]
    place = posixpath.normpath(
        posixpath.join("" if path.startswith("/") else posixpath.dirname(document), path.lstrip("/"))
    )
    if path and not library.shelf.is_there(place):
        return f"there is no `{place}`"
    if anchor and (not path or place.endswith((".md", ".markdown"))):
        text = library.text(place if path else document)
        if (
            text is not None
            and anchor.casefold() not in anchors(text)
            and not re.fullmatch(r"L\d+(-L\d+)?", anchor)
        ):
            return f"there is no heading `{anchor}`"
    return ""


def anchors(text: str) -> set[str]:
    """The names by which the headings of a document are linked to."""
    found: dict[str, int] = {}
    for heading in DocumentText(text).headings:
        bare = re.sub(r"\s*\{#[^}]*\}", "", heading.title)
        slug = (
            re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", bare).casefold())
            .strip()
            .replace(" ", "-")
        )
        found[slug] = found.get(slug, -1) + 1
        if found[slug]:
            found[f"{slug}-{found[slug]}"] = 0
    return {*found, *(name.casefold() for name in _ANCHOR.findall(text))}


def dangling(passage: Passage, whole: Passage) -> list[DocumentFault]:
    """Tables and figures that a passage speaks of and the document does not have."""
    shown = captions(whole)
    faults: list[DocumentFault] = []
    for block in passage.blocks:
        own = CAPTION.match(block.text)
        if own and (named := _named(own["kind"], own["number"])) not in shown:
            faults.append(
                DocumentFault(
                    block.line, f"{named} has a caption, and there is no {named.split()[0].lower()} beside it"
                )
            )
        for found in _MENTION.finditer(plain(without_code(block.text))):
            named = _named(found["kind"], found["number"])
            if named not in shown and not own:
                faults.append(DocumentFault(block.line, f"{named} is spoken of, and there is none"))
    return faults


def captions(passage: Passage) -> set[str]:
    """The tables and figures of a document, by name: a caption counts beside what it names."""
    found: set[str] = set()
    for at, block in enumerate(passage.blocks):
        own = CAPTION.match(block.text)
        if own is None:
            continue
        named = _named(own["kind"], own["number"])
        wanted = ("table",) if named.startswith("Table") else ("picture", "table")
        near = passage.blocks[max(0, at - NEAR) : at + NEAR + 1]
        fenced = named.startswith("Figure") and passage.fenced  # a drawing in signs
        if fenced or any(each.kind in wanted for each in near):
            found.add(named)
    return found


def _named(kind: str, number: str) -> str:
    return f"{'Table' if kind.startswith('Table') else 'Figure'} {number}"
