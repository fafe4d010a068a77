"""What every changed document is held to, whether a check asks for it or not. Only what is new counts: a gate
compares with the base.
"""

from collections.abc import Iterator

from agentforge.languages.documents.citations import citations, is_meant, missing_notes, recorded, wrong_with
from agentforge.languages.documents.library import Library
from agentforge.languages.documents.links import broken_links, dangling
from agentforge.languages.documents.prose import DocumentText

Row = tuple[str, str, str]
"""File, rule and sample."""
SUFFIXES = (".md", ".markdown")
"""Documents that are read so; of others, only what a check asks for."""
_OPEN = frozenset({"unreleased"})
"""Headings that may stand empty."""


def lint(path: str, library: Library) -> Iterator[Row]:
    """What is wrong with a document."""
    text = library.text(path)
    if text is None or not path.endswith(SUFFIXES):
        return
    document = DocumentText(text)
    whole = document.whole
    yield from ((path, "citation", said) for said in _citations(document, library))
    yield from ((path, "note", f"{line}: there is no note `{name}`") for line, name in missing_notes(whole))
    yield from ((path, "link", f"{each.line}: {each.text}") for each in broken_links(path, text, library))
    yield from ((path, "reference", f"{each.line}: {each.text}") for each in dangling(whole, whole))
    for at, heading in enumerate(document.headings):
        if document.below(at).is_hollow and heading.title.strip("[] ").casefold() not in _OPEN:
            yield path, "empty-section", f"{heading.line}: the section “{heading.title}” is empty"
    for sentence in whole.repeated:
        yield path, "repeated", f"1: “{sentence[:80]}” is said again and again"


def _citations(document: DocumentText, library: Library) -> Iterator[str]:
    """Places that are not there or do not say that. Pages only where the project records them, and only with
    words of theirs: whether a mere link is a source is for a check to say.
    """
    keeps_records = bool(recorded(library))
    for found in citations(document.whole):
        judged = found.quote and keeps_records if found.kind == "url" else is_meant(found, library)
        if judged and (why := wrong_with(found, library, quoted=False)):
            yield f"{found.line}: {found.named} {why}"
