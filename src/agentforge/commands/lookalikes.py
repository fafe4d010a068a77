"""Letters that are not what they seem: a line as a person would read it, and where that differs from what a
shell would do.
"""

import re
import unicodedata
from functools import cache

from agentforge.catalog.policies import read_policy

_UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_JOINED = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d\ufe0f]+(?=[^\x00-\x7f])")
"""What joins pictures, and letters of scripts that have such joins."""
_READ_AS = re.compile(r"[A-Za-z0-9/._~-]")
_DRAWN = {"\u2010": "-", "\u2011": "-", "\u2212": "-", "\u2044": "/", "\u2215": "/", "\u29f8": "/"}
_NAMES = re.compile(r"[^\W\d_]+")


@cache
def _alike() -> dict[int, str]:
    rows: dict[str, str] = read_policy("injections")["lookalikes"]
    return {ord(other): ours for ours, others in rows.items() for other in others.split()}


def _read(letter: str) -> str:
    plain = _DRAWN.get(letter) or _alike().get(ord(letter)) or unicodedata.normalize("NFKC", letter)
    return plain if _READ_AS.fullmatch(plain) else letter


def as_read(text: str) -> str:
    """The text with plain letters where it has others that are drawn like them, and without what nobody
    sees. Signs of the shell stay what they are.
    """
    if text.isascii():
        return text
    return "".join(map(_read, unseen_removed(text)))


def unseen_removed(text: str) -> str:
    """The text without the characters that nobody sees; what joins pictures stays."""
    return "".join(
        piece if at % 2 else _UNSEEN.sub("", piece)
        for at, piece in enumerate(re.split(f"({_JOINED.pattern})", text))
    )


def misleads(word: str, *, name: bool = False) -> bool:
    """Whether a word has characters that nobody sees, or, if it is a path or the name of a program, mixes
    letters of one script with others that are drawn like them.
    """
    if word.isascii():
        return False
    if unseen_removed(word) != word:
        return True
    read = as_read(word)
    if name or (read.startswith("-") and not word.startswith("-")):
        return read != word
    if "/" not in word and "." not in word and not read.isascii():
        return False  # a word of another language
    return any(
        as_read(run) != run and any(letter.isascii() for letter in run) for run in _NAMES.findall(word)
    )
