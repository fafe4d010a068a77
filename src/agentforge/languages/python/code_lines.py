"""The lines of a Python file that do something, as words: what a copy is found by."""

import keyword
import re
from collections.abc import Iterator, Sequence

from agentforge.languages.values import Words

_TOKEN = re.compile(
    r"[^\S\n]*(?:#[^\n]*)?([rRbBuUfFtT]{0,2}(?:"
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)|'
    r"'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?|'
    r"'(?:[^'\\\n]|\\.)*'?)"
    r"|[^\W\d]\w*|\.?\d(?:[eE][-+]|[\w.])*|\n|\\\n"
    r"|\*\*=?|//=?|>>=?|<<=?|!=|->|:=|\.\.\.|[-+*/%&|^=<>@]=?|.|\Z)",
    re.DOTALL,
)
"""What stands behind blanks and comments: strings, names, numbers, ends of lines, signs, in the order in
which they are tried; a string that is not closed ends where it must.
"""
_STRING, _NUMBER = (False, "STRING"), (False, "NUMBER")
_KINDS = re.compile(r"(?P<string>[A-Za-z]{0,2}[\"'])|(?P<name>[^\W\d])|(?P<number>\.?\d)")
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_KEYWORDS = frozenset(keyword.kwlist)
_Row = tuple[int, list[tuple[bool, str]]]
"""A line by its number, and its words."""


def code_lines(text: str) -> list[tuple[int, Words]]:
    """The lines that count, with their numbers."""
    return [
        (number, tuple(words))
        for statement in _statements(text)
        if not _declares([word for _, words in statement for word in words])
        for number, words in statement
    ]


def _statements(text: str) -> Iterator[list[_Row]]:
    """A quick reading, which knows no more of the language than where a statement ends."""
    known: dict[str, tuple[bool, str]] = {}
    rows: list[_Row] = []
    words: list[tuple[bool, str]] = []
    line, depth, last = 1, 0, 0
    for said in _TOKEN.findall(text):
        if said == "\n":
            line += 1
            if rows and not depth:
                yield rows
                rows = []
        elif said == "\\\n":
            line += 1
        elif said:
            word = known.get(said) or known.setdefault(said, _word(said))
            if line != last:
                rows.append((line, words := []))
                last = line
            words.append(word)
            if said in _DEPTH:
                depth = max(0, depth + _DEPTH[said])
            elif word is _STRING:
                line += said.count("\n")
    if rows:
        yield rows


def _word(said: str) -> tuple[bool, str]:
    """A word as copies are compared: whether it is a name that somebody chose, and what it says."""
    found = _KINDS.match(said)
    if found is None:
        return False, said
    if found.lastgroup == "name":
        return said not in _KEYWORDS, said
    return _STRING if found.lastgroup == "string" else _NUMBER


def _declares(statement: Sequence[tuple[bool, str]]) -> bool:
    """Whether a statement does nothing by itself: files of ours that share twenty of these share no code."""
    free, first = statement[0]
    if not free and (first in ("import", "from", "@", "class") or statement.count(_STRING) == len(statement)):
        return True
    return (
        free
        and len(statement) > 1
        and statement[1] == (False, ":")
        and first.isidentifier()
        and (False, "(") not in statement
    )
