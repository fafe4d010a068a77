"""Secrets in text that was encoded: a file of settings in base64, in one word or in lines of one length.
Whoever sees it can read it, so what holds a secret goes as a whole.
"""

import base64
import re
from binascii import Error
from collections.abc import Callable, Iterator
from typing import TypeAlias

from agentforge.system.secrets.chance import inner

_Place: TypeAlias = tuple[int, int]
_SHORTEST = 24
_MOST = 1 << 17
"""Characters of one text that are decoded."""
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/="
_MAP = bytes(120 if byte in _LETTERS else 32 for byte in range(256))
_LONG = b"x" * _SHORTEST
_BREAK = re.compile(
    r"(?:\r?\n|\\{1,4}n)(?:E(?=[ \t]))?[ \t]{0,12}(?:[0-9]{1,6}[ \t]{0,2}[|:\t]|[+>|-])?[ \t]{0,12}"
)
"""Between two lines, also where it is written out; with what tools put before a line."""
_GROUP = 4
"""So many letters are three bytes."""
_FIRST = 40
_READABLE = 95
"""Percent of what is decoded that a person can read: of chance it is a third."""


def take_out(text: str, holds_secret: Callable[[str], bool]) -> tuple[str, int]:
    """The text with each encoded one that holds a secret as `[REDACTED:encoded]`, and how many there were."""
    mapped = text.encode("latin-1", "replace").translate(_MAP)
    pieces: list[str] = []
    done = count = 0
    at = mapped.find(_LONG)
    while at >= 0:
        end = _end_of(mapped, at)
        start = inner(text, at, end)
        lines = (
            list(_block(text, mapped, start, end)) if _decoded(text[start : min(start + _FIRST, end)]) else []
        )
        for first, last in _with_secrets(text, lines, holds_secret):
            pieces += (text[done:first], "[REDACTED:encoded]")
            done, count = last, count + 1
        at = mapped.find(_LONG, lines[-1][1] if lines else end)
    return ("".join((*pieces, text[done:])), count) if count else (text, 0)


def _with_secrets(text: str, lines: list[_Place], holds_secret: Callable[[str], bool]) -> Iterator[_Place]:
    """All of the lines, if they are one text with a secret; else those that are one by themselves."""
    whole = _decoded("".join(text[first:last] for first, last in lines))
    if whole and holds_secret(whole):
        yield lines[0][0], lines[-1][1]
    elif len(lines) > 1 and not whole:
        yield from (place for place in lines if holds_secret(_decoded(text[slice(*place)])))


def _end_of(mapped: bytes, at: int) -> int:
    end = mapped.find(b" ", at)
    return len(mapped) if end < 0 else end


def _block(text: str, mapped: bytes, start: int, end: int) -> Iterator[_Place]:
    """The lines that go on as the first one: of its length, but for the last."""
    top, length = start, end - start
    yield start, end
    while text[end - 1] != "=" and end - top < _MOST and (found := _BREAK.match(text, end)):
        start, end = found.end(), _end_of(mapped, found.end())
        is_name = text.find("=", start, end - 2) >= 0
        if not 0 < end - start <= length or is_name or not _decoded(text[start : min(start + _FIRST, end)]):
            return
        yield start, end
        if end - start < length:
            return


def _decoded(word: str) -> str:
    """The decoded text; empty if the bytes are no text."""
    word = word.rstrip("=")
    word = word[: len(word) - (len(word) % _GROUP == 1)]
    try:
        plain = base64.b64decode(word + "=" * (-len(word) % _GROUP), altchars=_altchars(word), validate=True)
    except (Error, ValueError):
        return ""
    readable = sum(32 <= byte < 127 or byte in (9, 10, 13) for byte in plain)
    return plain.decode("latin-1") if readable * 100 >= _READABLE * len(plain) else ""


def _altchars(word: str) -> bytes:
    return b"-_" if "-" in word or "_" in word else b"+/"
