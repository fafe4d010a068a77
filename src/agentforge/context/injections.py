"""Text from outside that reads like an instruction: found and named, never blocked. Pure and bounded.

A text is looked at in three ways: as it is, for the marks of chats and calls; squeezed to its letters, where
spacing, case, signs, digits for letters and look-alikes of other scripts are gone; and what is encoded in it,
squeezed too. As in redaction, every pattern begins with one of a few literal texts: those are searched, which
is quick, and the pattern is tried only where one was found.
"""

import base64
import re
import unicodedata
from binascii import Error
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentforge.context.hidden import visible
from agentforge.context.orders import given
from agentforge.context.phrases import Hints, Kind, Phrase, known
from agentforge.system.secrets.redact import redact

MAX_CHARS = 200_000
MAX_FINDINGS = 8
EXCERPT_CHARS = 120

_BEFORE, _AFTER = 30, 60
_REACH = 120
"""How far behind a hint a match may end, where it may begin before it."""
_NUMBERS = re.compile(r"^\d+\|", re.MULTILINE)
_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,4000}")
_MOST_ENCODED = 64
_LONG = b"x" * 24
_WORDS = bytes(120 if chr(byte).isalnum() or byte in b"+/_-" else 32 for byte in range(128)) + b" " * 128
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\n\r\t"
_UNSEEN = re.compile(
    "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007e]{3,}|[\u202d\u202e\u2066-\u2068]"
    "|[\u200b-\u200d\u2060\ufeff]{4,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}"
)
_OTHERS = re.compile("[^\x00-\x7f]+")
_DIGITS = {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
_LETTERS = bytes(
    ord(_DIGITS.get(chr(byte), chr(byte).lower())) if byte < 128 else byte for byte in range(256)
)
_NO_LETTERS = bytes(
    byte for byte in range(256) if (not chr(byte).isalpha() and chr(byte) not in _DIGITS) or byte >= 128
)
_KNOWN_LETTERS = 20_000


class InjectionFinding(NamedTuple):
    """Something that reads like an instruction, and the words around it."""

    kind: Kind
    excerpt: str


@lru_cache(maxsize=512)  # most blocks are the same at the next step
def find(text: str) -> tuple[InjectionFinding, ...]:
    """What in a text reads like an instruction, by kind, the first place of each."""
    plain = _NUMBERS.sub("", text[:MAX_CHARS]) if "|" in text[:12] else text[:MAX_CHARS]
    found: dict[Kind, InjectionFinding] = {}
    for kind, start, end in _all(plain):
        if kind not in found:
            found[kind] = InjectionFinding(kind, _excerpt(plain, start, end))
            if len(found) == MAX_FINDINGS:
                break
    return tuple(found.values())


def _all(text: str) -> Iterator[tuple[Kind, int, int]]:
    yield from _in(_lowered(text), known().marks)
    squeezed = _squeezed(text)
    for kind, start, end in _in(squeezed, known().phrases):
        places = _places(text)
        yield kind, places[start], places[end - 1] + 1
    yield from _ordered(text)
    yield from _encoded(text)
    if not text.isascii():
        yield from _in(text, known().other_scripts)
        if (
            _UNSEEN.search("".join(_OTHERS.findall(text))) is not None
            and (match := _UNSEEN.search(text)) is not None
        ):
            yield "hidden_text", match.start(), match.end()


def _in(text: str, hints: Hints) -> Iterator[tuple[Kind, int, int]]:
    """What is found behind each hint that is there, until each kind has a place."""
    done: set[Kind] = set()
    for hint in hints.there(text):
        at = text.find(hint)
        while at >= 0:
            for phrase in hints[hint]:
                if phrase.kind not in done and (match := _at(text, at, phrase)) is not None:
                    done.add(phrase.kind)
                    yield phrase.kind, match.start(), match.end()
            at = text.find(hint, at + 1)


def _ordered(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Where somebody who reads by machine is addressed and commanded."""
    drawn = text.lower() if text.isascii() else "".join(map(_DRAWN.__getitem__, text))
    for start, end, is_drawn in given(_lowered(text), drawn):
        if is_drawn and not text.isascii():
            places = [at for at, letter in enumerate(text) for _ in _DRAWN[letter]]
            yield "addressed", places[start], places[end - 1] + 1
        else:
            yield "addressed", start, end


def _at(text: str, at: int, phrase: Phrase) -> re.Match[str] | None:
    if phrase.back:
        return phrase.pattern.search(text, max(0, at - phrase.back), at + _REACH)
    return phrase.pattern.match(text, at)


def _encoded(text: str) -> Iterator[tuple[Kind, int, int]]:
    if _LONG not in text.encode("ascii", "replace").translate(_WORDS):
        return
    tried = 0
    for match in _ENCODED.finditer(text):
        plain = _decoded(match[0])
        if plain:
            tried += 1
            if any(True for _ in _in(_squeezed(plain), known().phrases)):
                yield "encoded", match.start(), match.end()
                return
        if tried == _MOST_ENCODED:
            return


def _decoded(word: str) -> str:
    """The text that a word is an encoding of; nothing if it is none."""
    try:
        data = base64.b64decode(
            word[: len(word) // 4 * 4], altchars=b"-_" if "-" in word or "_" in word else b"+/", validate=True
        )
    except (Error, ValueError):
        return ""
    return "" if data.translate(None, _PRINTABLE) else data.decode("ascii")


class _Fold(dict[int, str]):
    """One character as the letters it looks like; none for a sign. Filled as characters are met."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if 0xE0020 <= code <= 0xE007E:  # tags are the ASCII characters, unseen
            letter = chr(code - 0xE0000)
        elif 0x1F1E6 <= code <= 0x1F1FF:  # the letters that flags are made of
            letter = chr(code - 0x1F1E6 + ord("a"))
        drawn = known().lookalikes
        parts = unicodedata.normalize("NFKD", drawn.get(letter, letter)).casefold()
        folded = "".join(_DIGITS.get(c, drawn.get(c, c)) for c in parts)
        kept = "".join(c for c in folded if c.isascii() and c.isalpha())
        if len(self) < _KNOWN_LETTERS:
            self[code] = kept
        return kept


_FOLD = _Fold()


class _Drawn(dict[str, str]):
    """One character as a reader would take it, with the signs: small, and nothing for what is unseen."""

    def __missing__(self, letter: str) -> str:
        drawn = known().lookalikes
        parts = unicodedata.normalize("NFKD", drawn.get(letter, letter)).casefold()
        kept = "".join(drawn.get(c, c) for c in parts if unicodedata.category(c) not in ("Cf", "Mn"))
        if len(self) < _KNOWN_LETTERS:
            self[letter] = kept
        return kept


_DRAWN = _Drawn()


def _squeezed(text: str) -> str:
    """Letters only, all small, as a reader would take them."""
    plain = text if text.isascii() else _OTHERS.sub(lambda others: others[0].translate(_FOLD), text)
    return plain.encode().translate(_LETTERS, _NO_LETTERS).decode()


def _places(text: str) -> list[int]:
    """For each letter of the squeezed text, where it stands in the text. Made only where something was
    found.
    """
    return [at for at, letter in enumerate(text) for _ in _FOLD[ord(letter)]]


def _lowered(text: str) -> str:
    lowered = text.lower()
    return (
        lowered
        if len(lowered) == len(text)
        else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    )


def _excerpt(text: str, start: int, end: int) -> str:
    """Its lines as one, or what of them is near: without secrets, and with nothing unseen."""
    first = max(text.rfind("\n", 0, start) + 1, start - _BEFORE)
    end = min(end, start + EXCERPT_CHARS)
    line_end = text.find("\n", end)
    piece = text[first : min(end + _AFTER, line_end if line_end >= 0 else len(text))]
    shown = " ".join(visible(redact(piece)[0]).split())
    return shown if len(shown) <= EXCERPT_CHARS else shown[: EXCERPT_CHARS - 1] + "…"
