"""What a check can demand of a document or of data: a row each, a function that says what is missing."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentforge.catalog.contracts import schema_problems
from agentforge.languages.documents.citations import (
    Citation,
    citations,
    cited_in,
    missing_notes,
    notes_of,
    wrong_with,
)
from agentforge.languages.documents.library import Library
from agentforge.languages.documents.links import broken_links, dangling
from agentforge.languages.documents.prose import DocumentText, Passage, plain, says, words_of
from agentforge.languages.documents.tables import Unreadable, rows_of, taken, value_of

Check = Mapping[str, Any]
"""One entry of a file of checks, valid under the contract `document_checks`."""
MOST_ROWS = 20
"""Rows whose faults are looked for, at most."""
_NUMBER = re.compile(r"(?<![\w.,])[-\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")


def faults_of(check: Check, library: Library) -> list[str]:
    """Why a check does not hold, a clause each; none if it holds."""
    path = str(check["file"])
    text = library.text(path)
    if text is None:
        return [f"`{path}` is not there"]
    try:
        return [
            fault
            for name, demand in DEMANDS.items()
            if name in check
            for fault in demand(check, text, library)
        ]
    except Unreadable as error:
        return [str(error)]


def _part(check: Check, text: str) -> Passage:
    """The part of the document that is meant."""
    title = str(check.get("within", ""))
    found = DocumentText(text).section(title) if title else DocumentText(text).whole
    if found is None:
        raise Unreadable(f"`{check['file']}` has no section “{title}”")
    return found


def _sections(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    prose = DocumentText(text)
    for title in check["sections"]:
        found = prose.section(title)
        if found is None:
            yield f"there is no section “{title}”"
        elif found.is_hollow:
            yield f"the section “{title}” is empty"


def _words(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    limits, passage = check["words"], _part(check, text)
    count, of = passage.words, f"“{check['within']}”" if "within" in check else "it"
    if count < limits.get("min", 0):
        again = " (a sentence that is there twice counts once)" if passage.repeated else ""
        yield f"{of} has {count} words, and {limits['min']} are owed{again}"
    if count > limits.get("max", count):
        yield f"{of} has {count} words, and {limits['max']} are the most"


def _says(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    said = _part(check, text).said
    yield from (f"it does not say “{phrase}”" for phrase in check["says"] if not says(said, phrase))


def _lacks(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    said = _part(check, text).said
    yield from (f"it says “{phrase}”" for phrase in check["lacks"] if says(said, phrase))


def _cites(check: Check, text: str, library: Library) -> Iterator[str]:
    wanted, whole, passage = check["cites"], DocumentText(text).whole, _part(check, text)
    notes = notes_of(whole)
    prose = [block for block in passage.blocks if block.kind in ("prose", "item")]
    named = {found for block in prose for found in cited_in(block, notes)} | {*citations(passage)}
    wrong = {
        found: why
        for found in sorted(named, key=lambda each: each.line)
        if (why := _wrong_source(found, str(check["file"])) or wrong_with(found, library))
    }
    yield from (f"line {found.line}: {found.named} {why}" for found, why in wrong.items())
    yield from (f"line {line}: there is no note `{name}`" for line, name in missing_notes(whole))
    good = {(found.kind, found.target, found.first, found.last) for found in named if found not in wrong}
    if len(good) < wanted.get("min", 1):
        yield f"{len(good)} citations hold, and {wanted.get('min', 1)} are owed"
    if wanted.get("each") == "paragraph":
        for block in prose:
            if words_of(plain(block.text)) and not cited_in(block, notes):
                yield f"line {block.line}: a paragraph cites nothing"


def _wrong_source(found: Citation, path: str) -> str:
    itself = found.kind == "file" and posixpath.normpath(found.target) == posixpath.normpath(path)
    return "is the text itself, which is no source of what it says" if itself else ""


def _links(check: Check, text: str, library: Library) -> Iterator[str]:
    yield from (
        f"line {found.line}: {found.text}" for found in broken_links(str(check["file"]), text, library)
    )


def _references(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    yield from (
        f"line {found.line}: {found.text}" for found in dangling(_part(check, text), DocumentText(text).whole)
    )


def _numbers(check: Check, text: str, library: Library) -> Iterator[str]:
    said = {_as_number(found[0]) for found in _NUMBER.finditer(plain(_part(check, text).said))}
    for wanted in check["numbers"]:
        rows, digits = _rows(wanted["from"], library), wanted.get("digits", 0)
        column, take = wanted.get("column", ""), wanted["take"]
        value = round(taken(rows, column, take, wanted.get("where", {})), digits)
        if value not in said:
            of = f" of `{column}`" if column else ""
            yield f"the {take}{of} in `{wanted['from']}` is {value:.{digits}f}, and it does not say so"


def _as_number(text: str) -> float:
    return float(text.replace(",", "").replace("\u2212", "-"))


def _covers(check: Check, text: str, library: Library) -> Iterator[str]:
    wanted = check["covers"]
    if "column" in wanted:
        there = {str(row.get(wanted["column"])) for row in rows_of(check["file"], text)}
        missing = [item for item in _items(wanted, library) if item not in there]
    else:
        said = _part(check, text).said
        missing = [item for item in _items(wanted, library) if not says(said, item)]
    yield from (f"nothing is there about “{item}”" for item in missing)


def _items(wanted: Mapping[str, Any], library: Library) -> list[str]:
    if "items" in wanted:
        return [str(item) for item in wanted["items"]]
    path = wanted.get("from")
    if path is None:
        raise Unreadable("`covers` needs `items` or `from`")
    if "key" in wanted:
        found = [str(row[wanted["key"]]) for row in _rows(path, library) if wanted["key"] in row]
    else:
        passage = _part(
            {"file": path, **({"within": wanted["section"]} if "section" in wanted else {})},
            _read(path, library),
        )
        listed = (block.text for block in passage.blocks if block.kind == "item")
        found = [re.sub(r"^(?:[-*+]|\d+[.)])\s+", "", text).partition(":")[0].strip() for text in listed]
    if not found:
        raise Unreadable(f"`{path}` lists nothing that could be covered")
    return list(dict.fromkeys(found))


def _rows_between(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    count, limits = len(rows_of(check["file"], text)), check["rows"]
    if not limits.get("min", 0) <= count <= limits.get("max", count):
        wanted = " to ".join(str(limits[key]) for key in ("min", "max") if key in limits)
        yield f"it has {count} rows, and {wanted} are wanted"


def _row(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    rows = rows_of(check["file"], text, _texts_in(check["row"]))
    if not rows:
        yield "it has no rows"
    wrong = 0
    for number, row in enumerate(rows, 1):
        found = schema_problems(check["row"], dict(row))
        wrong += bool(found)
        if found and wrong <= MOST_ROWS:
            yield f"row {number}: {found[0]}"


def _schema(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    columns = _texts_in(check["schema"].get("items"))
    yield from schema_problems(check["schema"], value_of(check["file"], text, columns))


def _texts_in(schema: object) -> frozenset[str]:
    """The columns that a schema of rows speaks of as text: `1840` fits `type: string`, and a pattern says
    something of it.
    """
    columns = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(
        str(name) for name, said in (columns if isinstance(columns, dict) else {}).items() if _is_text(said)
    )


def _is_text(said: object) -> bool:
    if not isinstance(said, dict):
        return False
    kind = said.get("type")
    kinds = set(kind) if isinstance(kind, list) else {kind} - {None}
    listed = (
        [*said["enum"]] if isinstance(said.get("enum"), list) else [said["const"]] if "const" in said else []
    )
    if kinds:
        return "string" in kinds and not kinds & {"number", "integer"}
    return bool({"pattern", "minLength", "maxLength", "format"} & set(said)) or (
        bool(listed) and all(isinstance(each, str) for each in listed)
    )


def _unique(check: Check, text: str, library: Library) -> Iterator[str]:  # noqa: ARG001 - a row
    for column in check["unique"]:
        cells = Counter(str(row.get(column, "")) for row in rows_of(check["file"], text))
        if "" in cells:
            yield f"a row has no `{column}`"
        yield from (
            f"`{column}` has {cell!r} {count} times" for cell, count in cells.items() if cell and count > 1
        )


def _rows(path: str, library: Library) -> list[Mapping[str, Any]]:
    return rows_of(path, _read(path, library))


def _read(path: str, library: Library) -> str:
    text = library.text(path)
    if text is None:
        raise Unreadable(f"`{path}` is not there")
    return text


Demand = Callable[[Check, str, Library], Iterator[str]]
DEMANDS: Mapping[str, Demand] = {
    "sections": _sections,
    "words": _words,
    "says": _says,
    "lacks": _lacks,
    "cites": _cites,
    "links": _links,
    "references": _references,
    "numbers": _numbers,
    "covers": _covers,
    "rows": _rows_between,
    "row": _row,
    "schema": _schema,
    "unique": _unique,
}
