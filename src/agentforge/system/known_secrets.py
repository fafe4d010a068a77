"""The secrets that this process holds itself, word for word: whatever they look like, no text that is redacted keeps one.

A process has one such set, because a secret is one wherever its text turns up. A key of a few plain letters, as servers of one's own are
often given, is no secret that could be told from ordinary words, and is left alone.
"""

import json
import threading
from urllib.parse import quote

_SHORTEST = 8
_SHORTEST_WORD = 12
_PLACEHOLDERS = frozenset({"sk-no-key-required", "token-abc123", "not-needed", "no-key-required", "no-key-needed", "your-api-key"})

_lock = threading.Lock()
_spellings: tuple[str, ...] = ()


def remember(secret: str) -> None:
    """From now on this text is taken out wherever text is redacted, also as JSON or an address would spell it."""
    global _spellings  # noqa: PLW0603 - the one set of the process; readers see the old tuple or the new one
    if not _is_one(secret):
        return
    found = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe=""), quote(secret)}
    with _lock:
        # The longest first: a spelling may hold another.
        _spellings = tuple(sorted({*_spellings, *found}, key=lambda text: (-len(text), text)))


def take_out(text: str) -> tuple[str, int]:
    """The text without them, and how many there were."""
    count = 0
    for spelling in _spellings:
        if spelling in text:
            count += text.count(spelling)
            text = text.replace(spelling, "[REDACTED:key]")
    return text, count


def _is_one(secret: str) -> bool:
    if secret.lower() in _PLACEHOLDERS or secret != secret.strip():
        return False
    return len(secret) >= (_SHORTEST if any(map(str.isdigit, secret)) else _SHORTEST_WORD)
