"""Where an entry belongs in a changelog, and what the file is with it. Pure: text in, text out.

A file's own manner is kept: its headings, its bullets, its line endings, its subsections by kind of change.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentforge.core.errors import ModelMistake
from agentforge.languages.documents.outline import Heading, headings

_VERSION = re.compile(
    r"(?<![\w.])v?(\d+(?:\.\d+)+(?:[-.]?(?:a|b|rc|alpha|beta|dev|post|pre)[-.]?\d*)?)(?![\w])", re.IGNORECASE
)
_OPEN = re.compile(
    r"\b(?:unreleased|upcoming|next(?: release| version)?|in development|not yet released|development "
    r"version)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\(?\d{4}-\d{2}-\d{2}\)?|\(?\d{1,2}[./]\d{1,2}[./]\d{4}\)?|\(?(?:\d{1,2} )?[A-Z][a-z]+ (?:\d{1,2}, "
    r")?\d{4}\)?"
)
_BULLET = re.compile(r"([ \t]{0,3})([-*+•])([ \t]+)")
_HEADING_LIKE = re.compile(r"(?m)^(?:#{1,6}[ \t]|[=~^]{3,}[ \t]*$|-{3,}[ \t]*$)")
_KINDS: tuple[tuple[str, str], ...] = (
    ("Security", r"secur\w*"),
    ("Fixed", r"fix\w*|correct\w*|repair\w*|resolve\w*"),
    ("Removed", r"remov\w*|drop\w*|delet\w*"),
    ("Deprecated", r"deprecat\w*"),
    ("Added", r"add\w*|new|introduc\w*|support\w*|implement\w*|creat\w*"),
    ("Changed", r".*"),
)
_TARGET = re.compile(r"[ ]{0,3}\[[^\]]+\]:[ \t]|\.\. _[^:]+:")
_NAMED_KIND = re.compile(r"(added|changed|deprecated|removed|fixed|security)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placed:
    """The file with the entry in it. Lines count from 1."""

    text: str
    start: int
    end: int
    section: str


def with_entry(text: str, entry: str, version: str = "", *, bullet: bool = True) -> Placed:
    """The changelog with the entry in the section of `version`, else in the open one; a section that is
    missing is made.
    """
    ending = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    said = entry.replace("\r\n", "\n").strip("\n").rstrip()
    if not said.strip():
        raise ModelMistake("bad_arguments", "the entry is empty")
    if _HEADING_LIKE.search(said):
        raise ModelMistake(
            "bad_arguments",
            "the entry holds a heading; give its words alone, they are put under the right one",
        )
    found = headings("\n".join(lines))
    versions = [each for each in found if _is_release(each)]
    at = _section(versions, version)
    if at is None:
        lines, at = _with_section(lines, found, versions, version)
        found = headings("\n".join(lines))
    return _put(lines, found, at, said, ending, bullet=bullet)


def has_entry_for(text: str, version: str) -> bool:
    """Whether an open section, or the one of this version, says something."""
    plain = text.replace("\r\n", "\n")
    found = headings(plain)
    lines = plain.split("\n")
    for at, each in enumerate(found):
        if _is_release(each) and (
            _OPEN.search(each.title) or (version and _version_in(each.title) == version)
        ):
            inner = [other for other in found[at + 1 :] if other.level <= each.level]
            body = lines[each.last : inner[0].line - 1 if inner else len(lines)]
            if any(line.strip() and not line.startswith("#") for line in body):
                return True
    return False


def _is_release(heading: Heading) -> bool:
    return bool(_VERSION.search(heading.title) or _OPEN.search(heading.title))


def _version_in(title: str) -> str:
    found = _VERSION.search(title)
    return found[1] if found else ""


def _section(versions: Sequence[Heading], version: str) -> int | None:
    """The line of the heading that the entry belongs under, counted from 1."""
    if version:
        return next(
            (each.line for each in versions if _version_in(each.title) == version.removeprefix("v")), None
        )
    return next((each.line for each in versions if _OPEN.search(each.title)), None)


def _with_section(
    lines: list[str], found: Sequence[Heading], versions: Sequence[Heading], version: str
) -> tuple[list[str], int]:
    """The lines with a new heading in the manner of the newest one, above it, and where that heading is."""
    opened = next((each for each in versions if _OPEN.search(each.title)), None)
    newest = next((each for each in versions if not _OPEN.search(each.title)), opened)
    if newest is None:
        title = found[0] if found else None
        mark = "##" if title is None or title.style == "atx" else "-" if title.mark[0] != "-" else "~"
        made = Heading("", 2, 0, 0, "underlined" if mark in "-~" else "atx", mark)
        place = title.last if title is not None else 0
        block = [*([""] if place else []), *_heading(version or "Unreleased", made)]
        return [*lines[:place], *block, *lines[place:]], place + 1 + bool(place)
    if newest is opened:
        return [*lines, "", *_heading(version, newest)], len(lines) + 2
    # A version is newer than what is out, and older than what is still open.
    place = newest.line - 1
    made_lines = _heading(_title(newest.title, version), newest)
    return [*lines[:place], *made_lines, "", *lines[place:]], place + 1


def _title(pattern: str, version: str) -> str:
    """A title like the pattern's: its version replaced, its date by a word, since the day of a release is not
    known yet.
    """
    own = _VERSION.search(pattern)
    if not version or own is None:
        bracketed = own is not None and pattern[: own.start()].endswith("[")
        return version or ("[Unreleased]" if bracketed else "Unreleased")
    start = own.start() + (own[0][0] in "vV")
    rest = pattern[own.end() :]
    date = _DATE.search(rest)
    if date is not None:
        rest = (
            rest[: date.start()]
            + ("(unreleased)" if date[0].startswith("(") else "Unreleased")
            + rest[date.end() :]
        )
    # A link target belongs to the old version.
    return pattern[:start] + version.removeprefix("v") + re.sub(r"\]\([^)]*\)", "]", rest)


def _heading(title: str, like: Heading) -> list[str]:
    if like.style == "atx":
        return [f"{like.mark} {title}"]
    line = like.mark[0] * max(len(title), 3)
    return [line, title, line] if len(like.mark) == 2 else [title, line]


def _put(
    lines: list[str], found: Sequence[Heading], at: int, said: str, ending: str, *, bullet: bool
) -> Placed:
    own = next(index for index, each in enumerate(found) if each.line == at)
    heading = found[own]
    below = [each for each in found[own + 1 :] if each.line > heading.line]
    end = next((each.line - 1 for each in below if each.level <= heading.level), len(lines))
    inner = [each for each in below if each.line <= end]
    start, limit = heading.last, inner[0].line - 1 if inner else end
    if bullet and _has_kinds(found):
        kind, said = _kind(said)
        named = next((each for each in inner if each.title.strip().lower() == kind.lower()), None)
        if named is None:
            like = next(each for each in found if _is_kind(each))
            lines = [*_stripped(lines[:end]), "", *_heading(kind, like), "", *lines[end:]]
            return _put(lines, headings("\n".join(lines)), at, f"{kind}: {said}", ending, bullet=bullet)
        start = named.last
        limit = next((each.line - 1 for each in inner if each.line > named.line), end)
    block = _bulleted(said, lines, start, limit) if bullet else said.split("\n")
    limit = _before_targets(lines, start, limit)
    body = _stripped(lines[start:limit])
    if _holds(body, block):
        raise ModelMistake("no_change", f"`{heading.title}` already says this")
    apart = [""] if not body or not bullet or _is_loose(body) else []
    new = [*body, *apart, *block]
    tail = lines[limit:]
    while tail and not tail[0].strip():
        tail.pop(0)
    first = start + len(body) + len(apart) + 1
    whole = [*lines[:start], *new, *(["", *tail] if tail else [])]
    return Placed(ending.join(whole) + ending, first, first + len(block) - 1, heading.title)


def _before_targets(lines: Sequence[str], start: int, limit: int) -> int:
    """Where the words of a section end: link targets at its end belong to the file."""
    while limit > start and (not lines[limit - 1].strip() or _TARGET.match(lines[limit - 1])):
        limit -= 1
    return limit


def _is_loose(body: Sequence[str]) -> bool:
    """Whether a new item stands apart: after words that are no list, or in a list with empty lines between
    items.
    """
    items = [at for at, line in enumerate(body) if _BULLET.match(line)]
    return not items or any(not body[at - 1].strip() for at in items[1:])


def _is_kind(heading: Heading) -> bool:
    return heading.title.strip().lower() in {name.lower() for name, _ in _KINDS}


def _has_kinds(found: Sequence[Heading]) -> bool:
    return any(_is_kind(each) for each in found)


def _kind(said: str) -> tuple[str, str]:
    """The kind of change that an entry tells of, named or by its first word, and the entry without the
    name.
    """
    bare = _BULLET.sub("", said, count=1) if _BULLET.match(said) else said
    if (named := _NAMED_KIND.match(bare)) is not None:
        return named[1].capitalize(), bare[named.end() :]
    first = re.split(r"\W", bare.strip(), maxsplit=1)[0].lower()
    return next(name for name, pattern in _KINDS if re.fullmatch(pattern, first)), said


def _bulleted(said: str, lines: Sequence[str], start: int, limit: int) -> list[str]:
    """The entry as items of the file's own list."""
    near = next((found for line in (*lines[start:limit], *lines) if (found := _BULLET.match(line))), None)
    sign = f"{near[1]}{near[2]}{near[3]}" if near is not None else "- "
    block: list[str] = []
    for line in said.split("\n"):
        given = _BULLET.match(line)
        if given is not None and not given[1]:
            block.append(sign + line[given.end() :])
        elif not block:
            block.append(sign + line.strip())
        else:
            block.append((" " * len(sign) + line.strip()).rstrip())
    return block


def _holds(body: Sequence[str], block: Sequence[str]) -> bool:
    return any(list(body[at : at + len(block)]) == list(block) for at in range(len(body) - len(block) + 1))


def _stripped(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept
