"""The names and words of a file, found by pattern: fast enough to read a whole repository for one map.

Strings and comments are told apart from code as each family of languages writes them. Every pattern is
linear: what is not closed ends at the end of the text, and is not tried again.
"""

import re
from functools import lru_cache

_NAME = r"([A-Za-z_$][\w$]*)"
_STRING = r'"(?:[^"\\\n]|\\.)*"?' + r"|'(?:[^'\\\n]|\\.)*'?"
_HASHED = re.compile(
    r'"""(?:\\.|.)*?(?:"""|\Z)' + r"|'''(?:\\.|.)*?(?:'''|\Z)|" + _STRING + r"|#[^\n]*|" + _NAME, re.DOTALL
)
_SLASHED = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"?'
    r"|'(?:\\.[^'\n]{0,10}|[^'\\\n])'"
    r"|`(?:\\.|[^`\\])*(?:`|\Z)|" + _NAME,
    re.DOTALL,
)
_ANY = re.compile(_NAME)
_QUOTING = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_SLASHES = (
    *_QUOTING,
    ".go",
    ".rs",
    ".java",
    ".c",
    ".h",
    ".cc",
    ".cpp",
    ".cs",
    ".kt",
    ".scala",
    ".swift",
    ".zig",
)
_HASHES = (".py", ".pyi", ".rb", ".sh", ".pl", ".r")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_KEY_LIKE = re.compile(r"(?=.{12})(?:\D*\d+){3}")
_ENDINGS = (
    "ations",
    "ation",
    "ingly",
    "ings",
    "ing",
    "ions",
    "ion",
    "edly",
    "ers",
    "ies",
    "ed",
    "er",
    "es",
    "s",
)


_DOCUMENTED = re.compile(
    r'(?P<long>"""(?:\\.|.)*?(?:"""|\Z)'
    r"|'''(?:\\.|.)*?(?:'''|\Z)|/\*\*.*?(?:\*/|\Z))|" + _STRING + r"|#[^\n]*",
    re.DOTALL,
)


def without_documentation(text: str) -> str:
    """The text with its long strings and documenting comments blank, line for line: what the code itself
    says.
    """
    return _DOCUMENTED.sub(lambda found: "\n" * found[0].count("\n") if found["long"] else found[0], text)


_COMMENT = re.compile(r"\s*(?:#(?!!)|//|/\*|\*|--|;)")
_NOTICE = 5
"""Fewer lines of comment at the top of a file may say what it is for."""


_LONG = re.compile(r"\s*[rRuU]?(?P<mark>\"\"\"|''')(?:\\.|.)*?(?P=mark)", re.DOTALL)


def after_notice(text: str) -> int:
    """The first line of a file behind the notice that it begins with, as of its licence, and behind a long
    text on what it is for; else the first.
    """
    lines = text.splitlines()
    end = next((at for at, line in enumerate(lines) if not _COMMENT.match(line)), len(lines))
    told = _LONG.match("\n".join(lines[end:]))
    about = told[0].count("\n") + 1 if told else 0
    behind = end + about if about >= _NOTICE else end if end >= _NOTICE else 0
    return next((at + 1 for at in range(behind, len(lines)) if lines[at].strip()), 1) if behind else 1


def names_in(text: str, path: str) -> frozenset[str]:
    """Every identifier that the code of a file uses; of a family that we do not know, every word."""
    pattern = _HASHED if path.endswith(_HASHES) else _SLASHED if path.endswith(_SLASHES) else _ANY
    return frozenset(name for name in set(pattern.findall(text)) if name and not _KEY_LIKE.match(name))


def terms_in(text: str) -> frozenset[str]:
    """The stems of every word of a text, identifiers taken apart. Long words of letters and digits in turn
    are left out: nobody asks for one, and a key that lies in the code does not belong in a cache.
    """
    words = (word for word in set(_ANY.findall(text)) if not _KEY_LIKE.match(word))
    return frozenset(stem for word in words for stem in stems(word))


@lru_cache(maxsize=65_536)
def stems(word: str) -> tuple[str, ...]:
    """The stems of an identifier's parts: `TTLCache` is `ttl` and `cach`, and also `ttlcach`."""
    parts = [part.lower() for part in _PART.findall(word)]
    whole = [word.strip("_").lower()] if len(parts) > 1 else []
    return tuple(dict.fromkeys(stem(part) for part in (*parts, *whole) if len(part) > 1))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its ending, so that `caching`, `caches` and `cached` are one."""
    if word.endswith(_ENDINGS):
        fitting = (end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3)
        word = word.removesuffix(next(fitting, ""))
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
