"""Long words that only chance can have written: a secret whose form nobody knows. Redaction takes them out
last.

Hashes, ids, versions, names and encoded text are long, too. They are told apart by their alphabet, by how
often it changes between capitals, small letters and digits, and by what they decode to.
"""

import base64
import itertools
import math
from binascii import Error
from collections import Counter

SHORTEST, LONGEST = 32, 100
_ENOUGH_BITS = 4.0
"""Per character. Chance over letters and digits gives 4.6 at the shortest length; a name in code has less."""
_ENOUGH_CHANGES = 45
"""Percent of neighbours that are of different kinds: chance gives 62, words in camel case about 30."""
_FEWEST = 3
"""Of each kind."""

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=."
_MAP = bytes(120 if byte in _WORD else 32 for byte in range(256))
_LONG = b"x" * SHORTEST
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


def take_out(text: str) -> tuple[str, int]:
    """The text with every such word as `[REDACTED:random]`, and how many there were."""
    # One byte for each character, so that places are the same. Bytes are mapped and searched far quicker than
    # a pattern is tried.
    mapped = text.encode("latin-1", "replace").translate(_MAP)
    pieces: list[str] = []
    done = count = 0
    at = mapped.find(_LONG)
    while at >= 0:
        end = mapped.find(b" ", at)
        end = len(mapped) if end < 0 else end
        start = _inner(text, at, end)
        word = text[start:end].rstrip(".")
        if SHORTEST <= len(word) <= LONGEST and is_random(word) and not _is_data(text, start, end):
            pieces += (text[done:start], "[REDACTED:random]")
            done, count = start + len(word), count + 1
        at = mapped.find(_LONG, end)
    return ("".join((*pieces, text[done:])), count) if count else (text, 0)


def is_random(word: str) -> bool:
    """Whether a word looks like a random token: mixed characters, high entropy, and no encoded text."""
    kinds = [
        0 if letter.isdigit() else 1 if letter.isupper() else 2 if letter.islower() else 3 for letter in word
    ]
    if min(kinds.count(kind) for kind in (0, 1, 2)) < _FEWEST or any(letter in "+/=." for letter in word):
        return False
    # A sign that joins words changes nothing.
    changes = sum(one != other and 3 not in (one, other) for one, other in itertools.pairwise(kinds))
    return (
        changes * 100 >= _ENOUGH_CHANGES * (len(word) - 1)
        and bits(word) >= _ENOUGH_BITS
        and not _decodes(word)
    )


def bits(value: str) -> float:
    """Shannon's entropy of the text in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _inner(text: str, start: int, end: int) -> int:
    """Behind the last `=` that has something behind it: what stands before is a name."""
    sign = text.rfind("=", start, end - 1)
    return start if sign < 0 or text[end - 1] == "=" else sign + 1


def _is_data(text: str, start: int, end: int) -> bool:
    """Whether it is marked as data or a hash, or is one line of a block of them."""
    if text[max(0, start - 8) : start].endswith(_BEFORE_DATA) or text[start : start + 3].lower() == "sha":
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
