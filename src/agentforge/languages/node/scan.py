"""The tests of a file of JavaScript or TypeScript, found by its words: no parser knows every syntax that is
written, and a call of `test` looks the same in all of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_TEST, _SUITE = ("test", "it", "specify"), ("describe", "suite", "context")
_CALL = re.compile(rf"(?<![\w$.])(?P<word>{'|'.join((*_TEST, *_SUITE))})(?P<mods>(?:\s*\.\s*\w+)*)\s*(?=\()")
_OPENS, _CLOSES = "([{", ")]}"
_BEFORE_REGEX = re.compile(
    r"(?:^|[(,=:\[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete))\s*$"
)
_BLANK = re.compile(r"[^\n]")
_LITERAL = re.compile(r"""(['"`])((?:\\.|(?!\1).)*)\1""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CALLBACK = re.compile(r"(?:async\b\s*)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)|[A-Za-z_$][\w$.]*\s*$")
SEPARATOR = "::"


@dataclass(frozen=True, slots=True)
class TestCall:
    """A call that declares a test."""

    names: tuple[str, ...]
    """Titles of the suites around it and its own."""
    modifiers: tuple[str, ...]
    start: int
    end: int
    line: int
    callback: tuple[int, int] | None

    @property
    def name(self) -> str:
        """How its id ends."""
        return SEPARATOR.join(self.names)


@lru_cache(maxsize=256)
def masked(text: str) -> str:
    """The text with strings, comments, templates and regular expressions blank, every place where it was."""
    found = list(text)
    at = 0
    while at < len(text):
        end = _end_of_blank(text, at)
        if end > at:
            found[at:end] = _BLANK.sub(" ", text[at:end])
            at = end
        else:
            at += 1
    return "".join(found)


def _end_of_blank(text: str, at: int) -> int:
    """Where what begins here ends, if it is no code; else the same place."""
    char, pair = text[at], text[at : at + 2]
    if pair == "//" or (at == 0 and pair == "#!"):
        return _or_end(text.find("\n", at), text)
    if pair == "/*":
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    if char in "'\"":
        return _closed(text, at, char, "\n")
    if char == "`":
        return _closed(text, at, char, "")
    if char == "/" and _BEFORE_REGEX.search(text[max(0, at - 40) : at]):
        return _closed(text, at, "/", "\n")
    return at


def _or_end(place: int, text: str) -> int:
    return len(text) if place < 0 else place


def _closed(text: str, at: int, mark: str, stop: str) -> int:
    """Behind the mark that closes what one opened here; in a class of a regular expression it closes
    nothing, and in a template braces hold code.
    """
    place, in_class, depth = at + 1, False, 0
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 2
            continue
        if char == stop:
            return place
        if mark == "`" and (text.startswith("${", place) or (depth and char in "{}")):
            depth += -1 if char == "}" else 1
            place += 2 if char == "$" else 1
            continue
        in_class = mark == "/" and (char == "[" or (in_class and char != "]"))
        if char == mark and not in_class and not depth:
            return place + 1
        place += 1
    return len(text)


@lru_cache(maxsize=64)
def test_calls(text: str) -> tuple[TestCall, ...]:
    """Every test of a file, in order."""
    code = masked(text)
    found: list[tuple[bool, int, int, str, tuple[str, ...], tuple[int, int] | None]] = []
    for match in _CALL.finditer(code):
        modifiers = tuple(re.findall(r"\w+", match["mods"]))
        opening = _arguments_at(code, match.end(), modifiers)
        end = _matching(code, opening) if opening is not None else None
        if opening is None or end is None:
            continue
        spans = list(_split(code, opening + 1, end))
        title = _title(text[slice(*spans[0])]) if spans else None
        if title is None:
            continue
        callback = next((span for span in spans[1:] if _CALLBACK.match(code[slice(*span)].strip())), None)
        trimmed = None if callback is None else _trimmed(text, *callback)
        found.append((match["word"] in _TEST, match.start(), end + 1, title, modifiers, trimmed))
    suites = [row for row in found if not row[0]]
    return tuple(
        TestCall(
            (*(suite[3] for suite in suites if suite[1] < start and end <= suite[2]), title),
            modifiers,
            start,
            end,
            text.count("\n", 0, start) + 1,
            callback,
        )
        for is_test, start, end, title, modifiers, callback in found
        if is_test
    )


def _arguments_at(code: str, at: int, modifiers: tuple[str, ...]) -> int | None:
    """Where the arguments open: behind the table of `each`, if there is one."""
    if modifiers[-1:] in (("each",), ("for",)):
        end = _matching(code, at)
        if end is None:
            return None
        at = end + 1 + len(code[end + 1 :]) - len(code[end + 1 :].lstrip())
    return at if code[at : at + 1] == "(" else None


def _matching(code: str, at: int) -> int | None:
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in _OPENS) - (code[place] in _CLOSES)
        if depth == 0:
            return place
    return None


def _split(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans between commas that are in no bracket."""
    depth, begin = 0, start
    for place in range(start, end):
        depth += (code[place] in _OPENS) - (code[place] in _CLOSES)
        if code[place] == "," and depth == 0:
            yield begin, place
            begin = place + 1
    if code[begin:end].strip() or begin == start:
        yield begin, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())


def _title(argument: str) -> str | None:
    """What a literal says; None for what is computed."""
    found = _LITERAL.fullmatch(argument.strip())
    if found is None or (found[1] == "`" and "${" in found[2]):
        return None
    return clean(_ESCAPE.sub(r"\1", found[2]))


def clean(title: str) -> str:
    """A title as it stands in an id: on one line, and without what separates the parts of one."""
    return " ".join(title.replace(SEPARATOR, ":").split())
