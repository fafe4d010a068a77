"""The one spelling of a recorded value, and its hash.

A canonical value is one line that is JSON and, inside a YAML document, also a YAML flow value.
"""

import hashlib
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.core.reply import Json

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
# YAML readers refuse these raw, or take them for a line break (U+0085, U+2028, U+2029); as `\uXXXX` JSON and
# YAML agree on them.
_UNREADABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")

_EXACT = frozenset({str, int, bool, type(None)})


def canonical(value: "Json") -> bytes:
    """Sorted keys, no blanks, UTF-8. A float, or anything else that JSON cannot hold exactly, is a
    `TypeError` naming its path.

    Two things stay JSON only: a lone surrogate (some YAML readers refuse it in any form) and a key over 1,000
    characters.
    """
    _refuse_inexact(value, "$")
    return quote(value).encode()


def quote(value: "Json") -> str:
    """The canonical spelling as text, without the check of its types."""
    return _UNREADABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", _ENCODER.encode(value))


def digest(data: bytes | str) -> str:
    """The SHA-256 of bytes, or of text in UTF-8, in hex."""
    return hashlib.sha256(data.encode(errors="surrogatepass") if isinstance(data, str) else data).hexdigest()


def digest_value(value: "Json") -> str:
    """The hash of a value's canonical JSON."""
    return digest(canonical(value))


def _refuse_inexact(value: object, path: str) -> None:
    if value is None or isinstance(value, str | bool | int):
        return
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            if type(item) not in _EXACT:
                _refuse_inexact(item, f"{path}[{position}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                message = f"{path}: the key {key!r} is {type(key).__name__}, not text"
                raise TypeError(message)
            if type(item) not in _EXACT:
                _refuse_inexact(item, f"{path}.{key}")
    else:
        hint = "; use an integer of a smaller unit, or text" if isinstance(value, float) else ""
        message = f"{path}: a {type(value).__name__} has no canonical form{hint}"
        raise TypeError(message)
