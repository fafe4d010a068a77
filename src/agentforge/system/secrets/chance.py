"""Long words that only chance can have written: a secret whose form nobody knows, or one of the many forms
that are tried on such words alone. Redaction takes them out last.

Hashes, ids, versions, names and encoded text are long, too. They are told apart by their alphabet, by how
often it changes between capitals, small letters and digits, and by what they decode to.
"""

import base64
import itertools
import math
import re
from binascii import Error
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from agentforge.system.secrets.shapes import ESCAPES

SHORTEST, LONGEST = 32, 100
_ENOUGH_BITS = 4.0
"""Per character. Chance over letters and digits gives 4.6 at the shortest length; a name in code has less."""
_ENOUGH_CHANGES = 45
"""Percent of neighbours that are of different kinds: chance gives 62, words in camel case about 30."""
_FEWEST = 3
"""Of each kind; of digits one is enough in a word that is jumbled."""
_FEWEST_LETTERS = 14
_JUMBLED = 33
"""Percent of letters that are capitals, and that are small, at least: names have few capitals."""
_ALONE = re.compile(r"(?<![a-z])[a-z](?![a-z])")
_TWO_CAPITALS = re.compile(r"[A-Z]{2}")

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=."
_MAP = bytes(120 if byte in _WORD else 32 for byte in range(256))
_LONG = b"x" * 16
_BLANKS = ' \t\n\r"'
_ENDS = bytes(32 if byte in _BLANKS.encode() else 120 for byte in range(256))
_NO_DIGIT = re.compile("[^0-9]*+")
_NUMBER_BEFORE = 12
"""Some tokens begin with a number and a sign that ends a word."""
_MARK_BEHIND = 60
_EDGE = 12
"""Characters before a shape that say whether it may begin there; no edge looks further back."""
_USUAL = 240
"""Characters of a place that is remembered."""
_FERNET = 44
_LAST_OF_32 = "AEIMQUYcgkosw048"
"""With one of these the last of 32 bytes ends."""
_BEFORE_DATA = (
    "base64,",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "sha1:",
    "sha256:",
    "sha384:",
    "sha512:",
    "h1:",
    "#",
    "@",
    "&",
    "%",
)

_PUBLIC_KEYS = ("AAAAC3Nz", "AAAAB3Nz", "AAAAE2Vj", "AAAAGnNr")
"""Those of SSH."""


class WordShapes(NamedTuple):
    """Patterns of what long words may be. A table with names is slow to try, since each row is entered to
    note its name: the same rows without them say first, ten times quicker, whether there is anything.
    """

    any_of: str
    any_plain: str
    """The same for text in which no escape is written out: most of their time goes into looking for one."""
    named: str


def take_out(text: str, shapes: WordShapes) -> tuple[str, int]:
    """The text with every such word as `[REDACTED:random]`, and with what `shapes` finds in long words by the
    name of its group; and how many there were.
    """
    # One byte for each character, so that places are the same. Bytes are mapped and searched far quicker than
    # a pattern is tried.
    mapped = text.encode("latin-1", "replace").translate(_MAP)
    pieces: list[str] = []
    done = count = 0
    at = mapped.find(_LONG)
    around = text.encode("latin-1", "replace").translate(_ENDS) if at >= 0 else b""
    while at >= 0:
        end = mapped.find(b" ", at)
        end = len(mapped) if end < 0 else end
        window = _window(around, max(done, at), end)
        for start, stop, kind in _found(text, max(done, at), end, window, shapes):
            pieces += (text[done:start], f"[REDACTED:{kind}]")
            done, count = stop, count + 1
        at = mapped.find(_LONG, end)
    return ("".join((*pieces, text[done:])), count) if count else (text, 0)


def _found(
    text: str, at: int, end: int, window: tuple[int, int], shapes: WordShapes
) -> Iterator[tuple[int, int, str]]:
    """Where in this word secrets are, and of what kind."""
    first = text[at : min(end, at + LONGEST)]
    if _NO_DIGIT.fullmatch(first):
        return
    known = [
        (match.start(), match.end(), match.lastgroup or "")
        for match in (
            re.compile(shapes.named).finditer(text, *window) if _has_shape(text, window, shapes) else ()
        )
        if match.start() < end and match.end() > at
    ]
    if known:
        yield from ((max(start, 0), stop, kind) for start, stop, kind in known)
        return
    if end - at < SHORTEST:
        return
    start = inner(text, at, end)
    word = text[start:end].rstrip(".")
    if SHORTEST <= len(word) <= LONGEST and not _is_data(text, start, end):
        if is_random(word) and not (text.startswith("(", end) and word.isidentifier()):  # no call
            yield start, start + len(word), "random"
        elif _is_fernet(word):
            yield start, start + len(word), "fernet_key"


def _has_shape(text: str, window: tuple[int, int], shapes: WordShapes) -> bool:
    start, end = window
    if end - start > _USUAL:
        return re.compile(shapes.any_of).search(text, start, end) is not None
    # Behind a blank anything may begin; only behind a part of a word it matters what that is.
    before = 0 if text[start - 1 : start] in _BLANKS else min(start, _EDGE)
    return _shape_behind(text[start - before : end], before, shapes)


@lru_cache(
    maxsize=4096
)  # the same paths and hashes are in what each step shows, and in each line of its record
def _shape_behind(piece: str, before: int, shapes: WordShapes) -> bool:
    escaped = any(sign in piece for sign in ESCAPES)
    return re.compile(shapes.any_of if escaped else shapes.any_plain).search(piece, before) is not None


def _window(around: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a known shape may stand that this word is part of. No shape has a blank or a quotation mark in
    it: so the same word is the same wherever it stands.
    """
    first, last = max(0, at - _NUMBER_BEFORE), min(len(around), end + _MARK_BEHIND)
    before, behind = around.rfind(b" ", first, at), around.find(b" ", end, last)
    return first if before < 0 else before + 1, last if behind < 0 else behind


def _is_fernet(word: str) -> bool:
    """32 bytes of chance in the alphabet of addresses, as keys of that library are spelled."""
    return len(word) == _FERNET and word[-1] == "=" and word[-2] in _LAST_OF_32 and is_random(word[:-1])


def is_random(word: str) -> bool:
    """Whether a word looks like a random token: mixed characters, high entropy, and no encoded text."""
    if word == word.lower():
        return False  # as most hashes are: without capitals it is not mixed
    kinds = [
        0 if letter.isdigit() else 1 if letter.isupper() else 2 if letter.islower() else 3 for letter in word
    ]
    if min(kinds.count(kind) for kind in (1, 2)) < _FEWEST or any(letter in "+/=." for letter in word):
        return False
    if kinds.count(0) < _FEWEST and not (kinds.count(0) and is_jumbled(word)):
        return False
    # A sign that joins words changes nothing.
    changes = sum(one != other and 3 not in (one, other) for one, other in itertools.pairwise(kinds))
    return (
        changes * 100 >= _ENOUGH_CHANGES * (len(word) - 1)
        and bits(word) >= _ENOUGH_BITS
        and not _decodes(word)
    )


def is_jumbled(value: str) -> bool:
    """Whether capitals and small letters follow one another as no name has them: not as words do, each with
    one capital. For what has few digits, or none.
    """
    letters = re.sub(r"[^A-Za-z]", "", value)
    if len(letters) < _FEWEST_LETTERS:
        return False
    capitals = sum(map(str.isupper, letters))
    return (
        min(capitals, len(letters) - capitals) * 100 >= _JUMBLED * len(letters)
        and len(_ALONE.findall(letters)) >= 2
        and _TWO_CAPITALS.search(letters) is not None
    )


def bits(value: str) -> float:
    """Shannon's entropy of the text in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def inner(text: str, start: int, end: int) -> int:
    """Behind the last `=` that has something behind it: what stands before is a name. Also behind an escape
    that is written out, and behind a colour.
    """
    if text[max(0, start - 2) : start] == "\x1b[" and (end_of_colour := text.find("m", start, start + 6)) > 0:
        start = end_of_colour + 1
    if start and text[start - 1] == "\\":
        start += 5 if text[start] == "u" else 1
    sign = text.rfind("=", start, end - 2)
    return start if sign < 0 or (text[end - 1] == "=" and text[sign + 1] == "=") else sign + 1


def _is_data(text: str, start: int, end: int) -> bool:
    """Whether it is marked as data or a hash, or is one line of a block of them."""
    if text.startswith(_PUBLIC_KEYS, start):
        return True
    if (
        text[max(0, start - 8) : start].lower().endswith(_BEFORE_DATA)
        or text[start : start + 3].lower() == "sha"
    ):
        return True
    above, below = (
        text[max(0, start - 120) : start].rstrip("\"' \t"),
        text[end : end + 120].lstrip("\"',\\ \t"),
    )
    return _is_line_of_data(
        above[:-1].rpartition("\n")[2] if above.endswith("\n") else ""
    ) or _is_line_of_data(below[1:].partition("\n")[0] if below.startswith("\n") else "")


def _is_line_of_data(line: str) -> bool:
    word = line.strip("\"',\\ \t\r")
    return (
        len(word) >= SHORTEST
        and word.isascii()
        and word.replace("+", "").replace("/", "").rstrip("=").isalnum()
    )


def _decodes(word: str) -> bool:
    """Whether it is ordinary text, encoded."""
    try:
        plain = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
    except (Error, ValueError):
        return False
    return sum(32 <= byte < 127 or byte in (9, 10, 13) for byte in plain) >= 0.9 * len(plain)
