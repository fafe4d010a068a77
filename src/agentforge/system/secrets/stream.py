"""Redaction of text that comes in pieces, without end: the same filter, in bounded memory.

A piece ends where no secret can go on: after a line that holds nothing long and promises nothing, before
another such line, and outside of a key. What is not yet at such a place is held back; a line without end is
cut between words.
"""

import re
from collections.abc import Iterable, Iterator

from agentforge.system.secrets.redact import redact

MOST_HELD = 1 << 20
"""Characters."""
_LINES_TRIED = 400
_KEY_CHARS = 1 << 16
"""No key is longer; what begins like one and goes on for longer is none."""
_WORD_CHARS = 1 << 12

_LONG = re.compile(r"[A-Za-z0-9+/=_.~-]{20}")
_PROMISES = re.compile(
    r"(?:[:=,>+\\(\[|]|authorization|bearer|basic|token|secret|credentials?|pass(?:word|wd|phrase)|pwd|key|value"
    r"|private-lines: ?[0-9]{1,3}|(?:machine|login)[ \t]+\S{1,100})[\"'`\])\s]*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[\"'`\])\s]*[:=,]|[^\n]{0,100}(?:-----END|Private-)|[\s+-]*(?:login|password)[ \t]")
_LAST_OF_KEY = re.compile(r"[^\n]{0,100}?[A-Za-z0-9+/=]{1,19}[\"'\\+,|) \t]*")
"""A short word behind a long one may be the last of a key."""
_NO_WORD = re.compile(r"[^A-Za-z0-9+/=_.~:@%-]")


def redact_stream(pieces: Iterable[str], most_held: int = MOST_HELD) -> Iterator[str]:
    """The same text as `redact` would give, as it comes."""
    held = ""
    for piece in pieces:
        held += piece
        cut = _safe_cut(held) or (_forced_cut(held) if len(held) > most_held else 0)
        if cut:
            yield redact(held[:cut])[0]
            held = held[cut:]
    if held:
        yield redact(held)[0]


def _safe_cut(text: str) -> int:
    """Behind the last line where the text can be parted; 0 if there is none."""
    end = text.rfind("\n")
    after = text[end + 1 :]
    for _ in range(_LINES_TRIED):
        if end < 0:
            return 0
        if (begun := _open_key(text, end)) >= 0:
            end, after = text.rfind("\n", 0, begun), text[begun : begun + 1]
            continue
        start = text.rfind("\n", 0, end)
        line = text[start + 1 : end]
        if (
            _ends(line)
            and not _LONG.search(after)
            and not _GOES_ON.match(after)
            and not (_LAST_OF_KEY.fullmatch(line) and _LONG.search(_above(text, start)))
        ):
            return end + 1
        end, after = start, line
    return 0


def _above(text: str, end: int) -> str:
    """The end of the line that ends at this place."""
    return text[max(text.rfind("\n", 0, end) + 1, end - 200) : end] if end > 0 else ""


def _open_key(text: str, at: int) -> int:
    """Where the key begins that is not over at this place; -1 if there is none."""
    begun = text.rfind("-----BEGIN ", max(0, at - _KEY_CHARS), at)
    return begun if begun >= 0 and text.find("-----END ", begun, at) < 0 else -1


def _ends(line: str) -> bool:
    return not _LONG.search(line) and not _PROMISES.search(line[-200:])


def _forced_cut(text: str) -> int:
    """A place near the end where no word is and no key: the end of a line if there is one."""
    begun = _open_key(text, len(text))
    end = begun if begun > 0 else len(text)
    near = max(0, end - _WORD_CHARS)
    line = text.rfind("\n", near, end) + 1
    gap = max((match.end() for match in _NO_WORD.finditer(text, near, end)), default=0)
    return next((at for at in (line, gap) if at and _open_key(text, at) < 0), end)
