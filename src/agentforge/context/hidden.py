"""Characters that nobody sees, made visible: text that a person would not find must not reach a model either.

Controls, direction marks, zero widths and tags become `<U+202E>`. What joins emoji and letters of other
scripts stays as it is.
"""

import re

_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_PLAIN = bytes(range(0x20, 0x7F)) + b"\n\t"
_JOINERS = "\u200c\u200d"
_STYLES = "\ufe0e\ufe0f"
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    rf"|[{_JOINERS}{_STYLES}]+|\r(?!\n)"
)


def visible(text: str) -> str:
    """The text with every character that is not seen spelled out."""
    if text.isascii() and not text.encode().translate(None, _PLAIN):
        return text
    return _UNSEEN.sub(_spelled, text)


def uncoloured(text: str) -> str:
    """The text without the colours of a terminal: they say nothing to a reader."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def _spelled(match: re.Match[str]) -> str:
    found = match[0]
    if found in _STYLES or (found in _JOINERS and _joins(match)):
        return found
    return "".join(f"<U+{ord(letter):04X}>" for letter in found)


def _joins(match: re.Match[str]) -> bool:
    """Whether it stands between two letters of a script that has such joins, or two pictures."""
    around = match.string[match.start() - 1 : match.start()] + match.string[match.end() : match.end() + 1]
    return len(around) == 2 and not any(map(str.isascii, around))  # one on each side
