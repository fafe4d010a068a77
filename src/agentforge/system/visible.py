"""Text that somebody else wrote, for a person who must decide about it: nothing in it is unseen, and nothing
moves the rest.
"""

import json
import re
import shlex
from functools import lru_cache

_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
    "\\ud800-\\udfff]|(?<=[\\x00-\\x7f])[\\u200c\\u200d]|[\\u200c\\u200d](?=[\\x00-\\x7f]|\\Z)"
)
"""What a terminal obeys, what turns the direction of writing, and what nobody sees. The joiners of scripts
and signs (U+200C, U+200D) stay where they join something: two words of plain letters with one between them
would look like one.
"""
_COLOUR = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def visible(text: str) -> str:
    """The text with every character that would not be seen, or would move others, spelled out. Newlines and
    tabs stay.
    """
    return "".join(each if each.isprintable() or each in "\n\t" else _code(each) for each in text)


def harmless(text: str) -> str:
    """Text that a model or a repository wrote, without what a terminal would obey, and without what turns or
    hides other text.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def without_controls(text: str) -> str:
    """What somebody typed or pasted, without what a terminal obeys and nobody sees: colours copied with the
    words are no part of them.
    """
    return _CONTROL.sub("", _COLOUR.sub("", text.replace("\r\n", "\n")))


def harmless_json(document: str) -> str:
    """The same document, with such characters as escapes: it reads back as the same value."""
    return _CONTROL.sub(
        lambda found: json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f", document
    )


def brief(text: str, width: int = 200) -> str:
    """The text in one line, cut where it is too long."""
    joined = " ".join(harmless(text).split())
    return joined if len(joined) <= width else f"{joined[: width - 1]}…"


def one_line(text: str) -> str:
    """The same in one line: line breaks and tabs are spelled out, too."""
    return "".join(each if each.isprintable() else _code(each) for each in text)


def command_line(words: tuple[str, ...]) -> str:
    """The words of a program in one line that a shell would read back as the same words, with nothing hidden
    in it.
    """
    return " ".join(shlex.quote(word) if word.isprintable() else f"$'{_escaped(word)}'" for word in words)


def _escaped(word: str) -> str:
    return "".join(
        f"\\{each}" if each in "\\'" else each if each.isprintable() else _code(each) for each in word
    )


@lru_cache(maxsize=256)
def _code(character: str) -> str:
    usual = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    number = ord(character)
    if character in usual:
        return usual[character]
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
