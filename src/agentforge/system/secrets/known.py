"""The secrets that this process holds itself, word for word: whatever they look like, no text that is
redacted keeps one.

A process has one such set, because a secret is one wherever its text turns up. A key of a few plain letters,
as servers of one's own are often given, is no secret that could be told from ordinary words, and is left
alone.
"""

import base64
import html
import json
import threading
from collections.abc import Iterator
from urllib.parse import quote

_SHORTEST = 8
_SHORTEST_WORD = 12
_PLACEHOLDERS = frozenset(
    {"sk-no-key-required", "token-abc123", "not-needed", "no-key-required", "no-key-needed", "your-api-key"}
)

_lock = threading.Lock()
_spellings: tuple[str, ...] = ()


def remember(secret: str) -> None:
    """From now on this text is taken out wherever text is redacted, also as JSON, a page, an address or a
    header would spell it.
    """
    global _spellings  # noqa: PLW0603 - the one set of the process; readers see the old tuple or the new one
    if not _is_one(secret):
        return
    found = set(_spelled(secret))
    with _lock:
        # The longest first: a spelling may hold another.
        _spellings = tuple(sorted({*_spellings, *found}, key=lambda text: (-len(text), text)))


def spellings() -> tuple[str, ...]:
    """All of them, as one value that is another one as soon as a secret joins."""
    return _spellings


def take_out(text: str) -> tuple[str, int]:
    """The text without them, and how many there were."""
    count = 0
    for spelling in _spellings:
        if spelling in text:
            count += text.count(spelling)
            text = text.replace(spelling, "[REDACTED:key]")
    return text, count


def _spelled(secret: str) -> Iterator[str]:
    raw = secret.encode()
    once = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    yield from once
    yield from (json.dumps(text)[1:-1] for text in once)
    yield from (html.escape(secret), quote(secret, safe=""), quote(secret), raw.hex(), raw.hex().upper())
    for before in range(3):
        # In base64 a text has three spellings, by its place in the whole; the characters at its ends belong
        # to its neighbours too.
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        yield base64.b64encode(b"\0" * before + raw).decode()[first:last]
        yield base64.urlsafe_b64encode(b"\0" * before + raw).decode()[first:last]


def _is_one(secret: str) -> bool:
    if secret.lower() in _PLACEHOLDERS or secret != secret.strip():
        return False
    return len(secret) >= (_SHORTEST if any(map(str.isdigit, secret)) else _SHORTEST_WORD)
