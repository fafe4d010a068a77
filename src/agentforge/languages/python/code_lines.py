"""The lines of a Python file that do something, as words: what a copy is found by."""

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence

from agentforge.languages.values import Words

_LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    }
)


def code_lines(text: str) -> list[tuple[int, Words]] | None:
    """The lines that count, with their numbers; None for text that has no tokens."""
    try:
        return list(_of_python(text))
    except (tokenize.TokenError, SyntaxError):
        return None


def _of_python(text: str) -> Iterator[tuple[int, Words]]:
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            statement.append(token)
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) and statement:
            if not _declares(statement):
                yield from _by_line(statement)
            statement = []


def _declares(statement: Sequence[tokenize.TokenInfo]) -> bool:
    """Whether a statement does nothing by itself: files of ours that share twenty of these share no code."""
    words = [part.string for part in statement]
    if words[0] in ("import", "from", "@", "class") or all(
        part.type == tokenize.STRING for part in statement
    ):
        return True
    return (
        words[1:2] == [":"]
        and words[0].isidentifier()
        and not keyword.iskeyword(words[0])
        and "(" not in words
    )


def _by_line(statement: Sequence[tokenize.TokenInfo]) -> Iterator[tuple[int, Words]]:
    rows: dict[int, list[tuple[bool, str]]] = {}
    for token in statement:
        rows.setdefault(token.start[0], []).append(_word(token))
    yield from ((number, tuple(words)) for number, words in rows.items())


def _word(token: tokenize.TokenInfo) -> tuple[bool, str]:
    if token.type == tokenize.NAME:
        return (not keyword.iskeyword(token.string), token.string)
    if token.type == tokenize.OP:
        return (False, token.string)
    return (False, tokenize.tok_name[token.type])
