"""The lines of a Python file that do something, as words: what a copy is found by."""

import keyword
import re
from collections.abc import Iterator, Sequence

from agentforge.languages.values import Words

_TOKEN = re.compile(
    r"(?P<STRING>[rRbBuUfFtT]{0,2}(?:"
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)|'
    r"'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?|'
    r"'(?:[^'\\\n]|\\.)*'?))"
    r"|(?P<NAME>[^\W\d]\w*)|(?P<NUMBER>\.?\d(?:[eE][-+]|[\w.])*)|(?P<line>\n)|(?P<none>#[^\n]*|\\\n|[^\S\n]+)"
    r"|(?P<OP>\*\*=?|//=?|>>=?|<<=?|!=|->|:=|\.\.\.|[-+*/%&|^=<>@]=?|.)",
    re.DOTALL,
)
"""In the order in which they are tried; a string that is not closed ends where it must."""
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_KEYWORDS = frozenset(keyword.kwlist)
_Token = tuple[int, str, str]
"""Its line, its kind and its text."""


def code_lines(text: str) -> list[tuple[int, Words]]:
    """The lines that count, with their numbers."""
    found: list[tuple[int, Words]] = []
    for statement in _statements(text):
        if not _declares(statement):
            found += _by_line(statement)
    return found


def _statements(text: str) -> Iterator[list[_Token]]:
    """A quick reading, which knows no more of the language than where a statement ends."""
    statement: list[_Token] = []
    line, depth = 1, 0
    for found in _TOKEN.finditer(text):
        kind, said = found.lastgroup or "", found[0]
        if kind == "line":
            line += 1
            if not depth and statement:
                yield statement
                statement = []
        elif kind == "none":
            line += said == "\\\n"
        else:
            statement.append((line, kind, said))
            if kind == "OP":
                depth = max(0, depth + _DEPTH.get(said, 0))
            elif kind == "STRING":
                line += said.count("\n")
    if statement:
        yield statement


def _declares(statement: Sequence[_Token]) -> bool:
    """Whether a statement does nothing by itself: files of ours that share twenty of these share no code."""
    first = statement[0][2]
    if first in ("import", "from", "@", "class") or all(kind == "STRING" for _, kind, _ in statement):
        return True
    return (
        len(statement) > 1
        and statement[1][2] == ":"
        and first.isidentifier()
        and first not in _KEYWORDS
        and all(said != "(" for _, _, said in statement)
    )


def _by_line(statement: Sequence[_Token]) -> Iterator[tuple[int, Words]]:
    rows: dict[int, list[tuple[bool, str]]] = {}
    for line, kind, said in statement:
        word = (said not in _KEYWORDS, said) if kind == "NAME" else (False, said if kind == "OP" else kind)
        rows.setdefault(line, []).append(word)
    yield from ((number, tuple(words)) for number, words in rows.items())
