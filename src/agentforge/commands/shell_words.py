"""The words of a shell line, read without expanding anything: quotes, escapes, parameters, and where commands
hide inside of words.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

MAX_DEPTH = 24
"""Nesting beyond this is not read; nobody writes it, and a reader that recurses needs an end."""

TOO_DEEP = "it is nested too deeply, or too long"

PieceKind = Literal["text", "param", "command", "process", "arithmetic"]

META = frozenset(" \t\n;&|<>()")
# As a shell decides it: what ends in two closing parentheses side by side is arithmetic, anything else a
# subshell in a subshell.
ARITHMETIC = re.compile(r"\(\((?>(?:[^()]|\((?>(?:[^()]|\([^()]{0,200}+\)){0,200})\)){0,300})\)\)")
_ENDS_NAME = frozenset("@*#?$!-0123456789")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[!#]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_PLAIN = re.compile(r"[^\s;&|<>()\\'\"`$]+")
_IN_QUOTES = re.compile(r'[^"\\`$]+')
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_ESCAPE = re.compile(
    r"\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL
)
_SPELLED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}


class TooDeep(Exception):
    """The nesting, or the line, has no end that we would wait for."""


class Piece(NamedTuple):
    """A stretch of a word of one kind."""

    kind: PieceKind
    text: str
    """Literal text; for a parameter its name; for the others as written."""
    quoted: bool
    default: str = ""
    """Of a parameter: what follows its name, as in `${x:-y}`."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word as written, in pieces."""

    pieces: tuple[Piece, ...]

    @property
    def plain(self) -> str | None:
        """The word if it is unquoted text and nothing else: only such a word can be reserved."""
        return (
            self.pieces[0].text
            if len(self.pieces) == 1 and self.pieces[0][0] == "text" and not self.pieces[0].quoted
            else None
        )


@dataclass(slots=True)
class WordReader(ABC):
    """A cursor over one text that reads words. What the commands inside of a word mean is for its heir."""

    text: str
    depth: int = 0
    at: int = 0
    problems: list[str] = field(default_factory=list)

    @abstractmethod
    def substituted(self) -> None:
        """Read the commands from here up to a closing parenthesis, which is left unread."""

    @abstractmethod
    def included(self, inner: str, *, words: bool = False) -> None:
        """Read another text whose commands belong to the command at hand; with `words` only what is
        substituted in it.
        """

    def word(self) -> Word:
        """One word; empty if none begins here."""
        pieces: list[Piece] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self.text.startswith("(", self.at + 1):
                pieces.append(self._nested("process", 2, quoted=False))
            elif char in META:
                break
            elif char == "'":
                end = self.find("'", self.at + 1)
                pieces.append(Piece("text", self.text[self.at + 1 : end], quoted=True))
                self.at = end + 1
            elif char == '"':
                self.at += 1
                self.quoted(pieces, '"')
            elif char == "\\":
                if not self.text.startswith("\n", self.at + 1):
                    pieces.append(Piece("text", self.text[self.at + 1 : self.at + 2], quoted=True))
                self.at += 2
            elif char in "$`":
                self._dollar(pieces, quoted=False)
            else:
                match = _PLAIN.match(self.text, self.at)
                end = match.end() if match else self.at + 1
                pieces.append(Piece("text", self.text[self.at : end], quoted=False))
                self.at = end
        return Word(_joined(pieces))

    def quoted(self, pieces: list[Piece], closer: str) -> None:
        """The inside of double quotes, or, without a closer, of a here-document."""
        pieces.append(Piece("text", "", quoted=True))
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closer:
                self.at += 1
                return
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                kept = (
                    ""
                    if following == "\n"
                    else following
                    if following in ("$", "`", '"', "\\")
                    else f"\\{following}"
                )
                pieces.append(Piece("text", kept, quoted=True))
                self.at += 2
            elif char in "$`":
                self._dollar(pieces, quoted=True)
            else:
                match = _IN_QUOTES.match(self.text, self.at)
                end = match.end() if match else self.at + 1
                pieces.append(Piece("text", self.text[self.at : end], quoted=True))
                self.at = end
        if closer:
            self.wrong("a quote has no end")

    def _dollar(self, pieces: list[Piece], *, quoted: bool) -> None:
        text, at = self.text, self.at
        if text[at] == "`":
            pieces.append(self._backticks(quoted=quoted))
        elif ARITHMETIC.match(text, at + 1):
            self.at += 1
            pieces.append(Piece("arithmetic", self.arithmetic(), quoted))
        elif text.startswith("$(", at):
            pieces.append(self._nested("command", 2, quoted=quoted))
        elif text.startswith("${", at):
            pieces.append(self._braced(quoted=quoted))
        elif text.startswith("$'", at) and not quoted:
            pieces.append(self._escaped())
        elif text.startswith('$"', at) and not quoted:
            self.at += 1
        elif match := _NAME.match(text, at + 1):
            self.at = match.end()
            pieces.append(Piece("param", match[0], quoted))
        elif text[at + 1 : at + 2] in _ENDS_NAME and at + 1 < len(text):
            self.at += 2
            pieces.append(Piece("param", text[at + 1], quoted))
        else:
            self.at += 1
            pieces.append(Piece("text", "$", quoted))

    def _nested(self, kind: PieceKind, opening: int, *, quoted: bool) -> Piece:
        start = self.at
        self.at += opening
        self.substituted()
        self.expect(")")
        return Piece(kind, self.text[start : self.at], quoted)

    def _backticks(self, *, quoted: bool) -> Piece:
        start = self.at
        end = start + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            self.wrong("a backtick has no end")
        inner = re.sub(r"\\([\\`$])", r"\1", self.text[start + 1 : end])
        self.at = end + 1
        self.included(inner)
        return Piece("command", self.text[start : self.at], quoted)

    def _braced(self, *, quoted: bool) -> Piece:
        """`${name…}`: substitutions inside are read, the rest is kept as written."""
        self.at += 2
        self.deeper(1)
        match = _PARAMETER.match(self.text, self.at)
        name = match[0] if match else ""
        self.at += len(name)
        start = self.at
        inner: list[Piece] = []
        while self.at < len(self.text) and not self.peek("}"):
            char = self.text[self.at]
            if char in "$`":
                self._dollar(inner, quoted=quoted)
            elif char == "'" and not quoted:
                self.at = self.find("'", self.at + 1) + 1
            elif char == '"':
                self.at += 1
                self.quoted(inner, '"')
            else:
                self.at += 2 if char == "\\" else 1
        default = self.text[start : self.at]
        self.expect("}")
        self.deeper(-1)
        return Piece("param", name, quoted, default)

    def _escaped(self) -> Piece:
        end = self.at + 2
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            self.wrong("a quote has no end")
        inner = self.text[self.at + 2 : end]
        self.at = end + 1
        return Piece("text", _ESCAPE.sub(_unescape, inner), quoted=True)

    def arithmetic(self) -> str:
        """`((…))`; what is substituted inside is read."""
        start = self.at
        match = ARITHMETIC.match(self.text, start)
        end = match.end() if match else start + 2
        self.at += 2
        inner: list[Piece] = []
        self.deeper(1)
        while self.at < end:
            if self.text[self.at] in "$`":
                self._dollar(inner, quoted=True)
            else:
                self.at += 1
        self.deeper(-1)
        return self.text[start : self.at]

    def blank(self) -> None:
        """Go over blanks and a comment."""
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()
        if self.peek("#") and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()"):
            self.at = self.find("\n", self.at, wrong=False)

    def peek(self, *texts: str) -> bool:
        """Whether one of these stands here."""
        return self.text.startswith(texts, self.at)

    def expect(self, closer: str) -> None:
        """Go over what must stand here, or note that it is missing."""
        if self.peek(closer):
            self.at += len(closer)
        else:
            self.wrong(f"`{closer}` is missing")

    def find(self, text: str, start: int, *, wrong: bool = True) -> int:
        """Where a text is next; the end, which is noted, if nowhere."""
        found = self.text.find(text, start)
        if found < 0 and wrong:
            self.wrong("a quote has no end")
        return len(self.text) if found < 0 else found

    def deeper(self, step: int) -> None:
        """Counts one level of nesting more or less; raises `TooDeep` beyond the limit."""
        self.depth += step
        if self.depth > MAX_DEPTH:
            raise TooDeep

    def wrong(self, problem: str) -> None:
        """Note a problem; a few are enough."""
        if len(self.problems) < 5 or problem == TOO_DEEP:
            self.problems.append(problem)


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbouring text of the same quoting as one piece."""
    found: list[list[Piece]] = []
    for piece in pieces:
        if (
            piece.kind == "text"
            and found
            and found[-1][0].kind == "text"
            and found[-1][0].quoted == piece.quoted
        ):
            found[-1].append(piece)
        else:
            found.append([piece])
    return tuple(
        group[0]._replace(text="".join(piece.text for piece in group)) if len(group) > 1 else group[0]
        for group in found
    )


def _unescape(match: re.Match[str]) -> str:
    body = match[0][1:]
    if body[0] in "xuU" and len(body) > 1:
        return _character(int(body[1:], 16))
    if body[0] in "01234567":
        return _character(int(body, 8) & 0xFF)
    if body[0] == "c" and len(body) > 1:
        return _character(ord(body[1]) & 0x1F)
    return _SPELLED.get(body[0], body if body[0] in "\\'\"?" else match[0])


def _character(number: int) -> str:
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
