"""The words and the nesting of a shell line, read without expanding anything: one pass, total, bounded in depth.

What comes out is flat: every simple command of the line in order, each with the pipelines it stands in and the command whose words it is
a substitution of. A line that is no shell grammar is read as far as it goes, and says what was wrong with it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

MAX_DEPTH = 24
"""Nesting beyond this is not read; nobody writes it, and a reader that recurses needs an end."""

PieceKind = Literal["text", "param", "command", "process", "arithmetic"]

_META = frozenset(" \t\n;&|<>()")
_ENDS_NAME = frozenset("@*#?$!-0123456789")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]$`]*\])?\+?=")
_FUNCTION = re.compile(r"\(\s*\)")
_PARAMETER = re.compile(r"[!#]?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_DESCRIPTOR = re.compile(r"\d{1,4}(?=[<>])|\{[A-Za-z_]\w*\}(?=[<>])")
_WORD_ALONE = re.compile(r"(?:\[\[|[{}!]|[a-z]+)(?=[\s;&|<>()]|$)")
# As a shell decides it: what ends in two closing parentheses side by side is arithmetic, anything else a subshell in a subshell.
_ARITHMETIC = re.compile(r"\(\((?>[^()]|\((?>[^()]|\([^()]{0,200}+\)){0,200}+\)){0,300}+\)\)")
_PLAIN = re.compile(r"[^\s;&|<>()\\'\"`$]+")
_IN_QUOTES = re.compile(r'[^"\\`$]+')
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_OPERATORS = ("&&", "||", "|&", ";;&", ";;", ";&", ";", "&", "|", "\n")
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">")
_CLOSED_BY = {"{": "}", "if": "fi", "while": "done", "until": "done"}
_BETWEEN = frozenset({"then", "elif", "else", "do", "!", "time", "coproc"})
_CLOSERS = frozenset({"}", "fi", "done", "esac"})
_SPELLED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


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
        return self.pieces[0].text if len(self.pieces) == 1 and self.pieces[0][0] == "text" and not self.pieces[0].quoted else None


class RawRedirection(NamedTuple):
    """An operator and its target; a here-document has its body."""

    operator: str
    target: Word
    body: str = ""


@dataclass(slots=True)
class RawCommand:
    """A simple command before anything is made of it."""

    before: str
    host: int | None
    stages: tuple[tuple[int, int], ...]
    function: str
    words: list[Word] = field(default_factory=list)
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    redirections: list[RawRedirection] = field(default_factory=list)


class TooDeep(Exception):
    """The nesting has no end that we would wait for."""


@dataclass(slots=True)
class Reader:
    """A cursor over one line. `read` never raises."""

    text: str
    depth: int = 0
    at: int = 0
    commands: list[RawCommand] = field(default_factory=list)
    functions: dict[str, list[int]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    """Variables that the line sets to what cannot be known: of loops and the like."""
    _waiting: list[tuple[int, int, str, bool, bool]] = field(default_factory=list)
    _pipelines: int = 0
    _host: int | None = None
    _function: str = ""

    def read(self) -> None:
        """The whole text, as far as it can be read."""
        try:
            while self.at < len(self.text):
                before = self.at
                self._list((), frozenset())
                if self.at < len(self.text):
                    self._wrong(f"`{self.text[self.at]}` closes nothing")
                    self.at = max(self.at, before) + 1
        except TooDeep:
            self._wrong("it is nested too deeply")
        if self._waiting:
            self._wrong("a here-document has no end")

    # Lists, pipelines and compound commands.

    def _list(self, stages: tuple[tuple[int, int], ...], closers: frozenset[str]) -> None:
        """Commands up to a closer, which is left unread, a closing parenthesis, or the end."""
        self._deeper(1)
        operator = ""
        self._pipelines += 1
        pipeline, stage = self._pipelines, 0
        while self.at < len(self.text):
            self._blank()
            if self._peek(")") or (closers and self._reserved() in closers):
                break
            found = self._operator()
            if found:
                operator = found
                if found in ("|", "|&"):
                    stage += 1
                    continue
                if ";;" in closers and found in (";;", ";&", ";;&"):
                    break
                self._pipelines += 1
                pipeline, stage = self._pipelines, 0
            elif self.at < len(self.text):
                self._command(operator, (*stages, (pipeline, stage)))
                operator = ""
        self._deeper(-1)

    def _command(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        if _ARITHMETIC.match(self.text, self.at):
            self._arithmetic()
            return
        if self._peek("("):
            self.at += 1
            self._list(stages, frozenset())
            self._expect(")")
            self._after(operator, stages)
            return
        word = self._reserved()
        if word in _CLOSED_BY:
            self.at += len(word)
            self._list(stages, frozenset({_CLOSED_BY[word]}))
            self._expect(_CLOSED_BY[word])
            self._after(operator, stages)
        elif word in _BETWEEN:
            self.at += len(word)
        elif word in _CLOSERS:
            self._wrong(f"`{word}` closes nothing")
            self.at += len(word)
        elif word in ("for", "select", "case"):
            self.at += len(word)
            (self._case if word == "case" else self._for)(operator, stages)
            self._after(operator, stages)
        else:
            self._simple(operator, stages)

    def _for(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        self._blank()
        if self.text.startswith("((", self.at):
            self._arithmetic()
        command = self._new(operator, stages)
        while self.at < len(self.text) and not self._peek(";", "\n", ")", "&", "|", "<", ">", "("):
            self._word_into(command)
            self._blank()
        if command.words:
            self.unknown.add(command.words[0].plain or "")
            command.words.insert(0, Word((Piece("text", "for", quoted=False),)))
        self._list(stages, frozenset({"done"}))
        self._expect("done")

    def _case(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        command = self._new(operator, stages)
        command.words.append(Word((Piece("text", "case", quoted=False),)))
        self._blank()
        self._word_into(command)
        while self.at < len(self.text):
            self._space()
            if self._reserved() == "in":
                self.at += 2
                self._space()
            if self._reserved() == "esac":
                break
            if self._peek("("):
                self.at += 1
            while self.at < len(self.text) and not self._peek(")"):
                if self.text[self.at] in _META:
                    self.at += 1
                else:
                    self._word_into(command)
            self._expect(")")
            self._list(stages, frozenset({";;", "esac"}))
        self._expect("esac")

    def _after(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        """What redirects a whole compound is a command without words."""
        self._blank()
        if self._redirection_operator():
            self._simple(operator, stages)

    def _new(self, operator: str, stages: tuple[tuple[int, int], ...]) -> RawCommand:
        command = RawCommand(operator, self._host, stages, self._function)
        self.commands.append(command)
        return command

    def _simple(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        command = self._new(operator, stages)
        index = len(self.commands) - 1
        outer, self._host = self._host, index
        test = self._reserved() == "[["
        while self.at < len(self.text):
            self._blank()
            if not test and self._redirect(command, index):
                continue
            if self._peek("\n") or (not test and self._peek(";", "&", "|", ")")):
                break
            if self._peek("("):
                if not test and self._defines(command, stages):
                    break
                if not test:
                    self._wrong("a parenthesis stands where none can")
                self.at += 1
            elif test and self._peek(";", "&", "|", "<", ">", ")") and not self._peek("<(", ">("):
                self.at += 1
            elif self.at < len(self.text):
                self._word_into(command)
                if test and command.words and command.words[-1].plain == "]]":
                    test = False
        self._host = outer
        if test:
            self._wrong("`[[` has no end")

    def _defines(self, command: RawCommand, stages: tuple[tuple[int, int], ...]) -> bool:
        """Whether this is `name()`; its body is read as commands of that function."""
        match = _FUNCTION.match(self.text, self.at)
        names = [word.plain for word in command.words if word.plain != "function"]
        if match is None or len(names) != 1 or not names[0]:
            return False
        self.at = match.end()
        self._space()
        command.words.clear()  # it stays, empty: others may point to it by its place
        outer, self._function, host, self._host = self._function, names[0], self._host, None
        start = len(self.commands)
        self._deeper(1)
        self._command("", stages)
        self._deeper(-1)
        self._function, self._host = outer, host
        self.functions[names[0]] = list(range(start, len(self.commands)))
        return True

    def _word_into(self, command: RawCommand) -> None:
        start = self.at
        match = None if command.words else _ASSIGNMENT.match(self.text, self.at)
        if match:
            self.at = match.end()
            if self._peek("("):  # an array
                self._array(command, match[1])
                return
            command.assignments.append((match[1], self._word()))
            return
        word = self._word()
        if self.at == start:
            self._wrong(f"{self.text[start]!r} stands where a word should")
            self.at += 1
        else:
            command.words.append(word)

    def _array(self, command: RawCommand, name: str) -> None:
        self.at += 1
        self.unknown.add(name)
        while self.at < len(self.text) and not self._peek(")"):
            self._space()
            start = self.at
            command.assignments.append((name, self._word()))
            if self.at == start and not self._peek(")"):
                self.at += 1
        self._expect(")")

    # Words.

    def _word(self) -> Word:
        pieces: list[Piece] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self.text.startswith("(", self.at + 1):
                pieces.append(self._nested("process", 2, quoted=False))
            elif char in _META:
                break
            elif char == "'":
                end = self._find("'", self.at + 1)
                pieces.append(Piece("text", self.text[self.at + 1 : end], quoted=True))
                self.at = end + 1
            elif char == '"':
                self.at += 1
                self._quoted(pieces, '"')
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

    def _quoted(self, pieces: list[Piece], closer: str) -> None:
        """The inside of double quotes, or, without a closer, of a here-document."""
        pieces.append(Piece("text", "", quoted=True))
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closer:
                self.at += 1
                return
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                kept = "" if following == "\n" else following if following in ("$", "`", '"', "\\") else f"\\{following}"
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
            self._wrong("a quote has no end")

    def _dollar(self, pieces: list[Piece], *, quoted: bool) -> None:
        text, at = self.text, self.at
        if text[at] == "`":
            pieces.append(self._backticks(quoted=quoted))
        elif _ARITHMETIC.match(text, at + 1):
            self.at += 1
            pieces.append(Piece("arithmetic", self._arithmetic(), quoted))
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
        self._list((), frozenset())
        self._expect(")")
        return Piece(kind, self.text[start : self.at], quoted)

    def _backticks(self, *, quoted: bool) -> Piece:
        start = self.at
        end = start + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            self._wrong("a backtick has no end")
        inner = re.sub(r"\\([\\`$])", r"\1", self.text[start + 1 : end])
        self.at = end + 1
        self._include(inner)
        return Piece("command", self.text[start : self.at], quoted)

    def _include(self, inner: str, *, words: bool = False) -> None:
        """Another text whose commands belong to the command at hand."""
        if self.depth >= MAX_DEPTH:
            raise TooDeep
        reader = Reader(inner, self.depth + 1, 0, self.commands, self.functions, self.problems, self.unknown)
        reader._host, reader._function, reader._pipelines = self._host, self._function, self._pipelines + 1  # noqa: SLF001
        if words:
            try:
                reader._quoted([], "")  # noqa: SLF001
            except TooDeep:
                self._wrong("it is nested too deeply")
        else:
            reader.read()
        self._pipelines = reader._pipelines  # noqa: SLF001

    def _braced(self, *, quoted: bool) -> Piece:
        """`${name…}`: substitutions inside are read, the rest is kept as written."""
        self.at += 2
        self._deeper(1)
        match = _PARAMETER.match(self.text, self.at)
        name = match[0] if match else ""
        self.at += len(name)
        start = self.at
        inner: list[Piece] = []
        while self.at < len(self.text) and not self._peek("}"):
            char = self.text[self.at]
            if char in "$`":
                self._dollar(inner, quoted=quoted)
            elif char == "'" and not quoted:
                self.at = self._find("'", self.at + 1) + 1
            elif char == '"':
                self.at += 1
                self._quoted(inner, '"')
            else:
                self.at += 2 if char == "\\" else 1
        default = self.text[start : self.at]
        self._expect("}")
        self._deeper(-1)
        return Piece("param", name, quoted, default)

    def _escaped(self) -> Piece:
        end = self.at + 2
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            self._wrong("a quote has no end")
        inner = self.text[self.at + 2 : end]
        self.at = end + 1
        return Piece("text", _ESCAPE.sub(_unescape, inner), quoted=True)

    def _arithmetic(self) -> str:
        """`((…))`; what is substituted inside is read."""
        start = self.at
        match = _ARITHMETIC.match(self.text, start)
        end = match.end() if match else start + 2
        self.at += 2
        inner: list[Piece] = []
        self._deeper(1)
        while self.at < end:
            if self.text[self.at] in "$`":
                self._dollar(inner, quoted=True)
            else:
                self.at += 1
        self._deeper(-1)
        return self.text[start : self.at]

    # Redirections and here-documents.

    def _redirection_operator(self) -> tuple[str, int] | None:
        match = _DESCRIPTOR.match(self.text, self.at)
        at = match.end() if match else self.at
        if self.text.startswith(("<(", ">("), at):
            return None
        found = next((operator for operator in _REDIRECTIONS if self.text.startswith(operator, at)), None)
        return (found, at + len(found)) if found else None

    def _redirect(self, command: RawCommand, index: int) -> bool:
        found = self._redirection_operator()
        if found is None:
            return False
        operator, self.at = found
        self._blank()
        word = self._word()
        if not word.pieces:
            self._wrong(f"`{operator}` leads nowhere")
        command.redirections.append(RawRedirection(operator, word))
        if operator in ("<<", "<<-"):
            delimiter = "".join(piece.text for piece in word.pieces)
            literal = any(piece.quoted for piece in word.pieces)
            self._waiting.append((index, len(command.redirections) - 1, delimiter, literal, operator == "<<-"))
        return True

    def _bodies(self) -> None:
        """The here-documents that were asked for on the line that has just ended."""
        waiting, self._waiting = self._waiting, []
        for index, place, delimiter, literal, tabs in waiting:
            lines: list[str] = []
            closed = False
            while self.at < len(self.text) and not closed:
                end = self._find("\n", self.at, wrong=False)
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                closed = (line.lstrip("\t") if tabs else line) == delimiter
                if not closed:
                    lines.append(line)
            if not closed:
                self._wrong("a here-document has no end")
                self._include("\n".join(lines))  # perhaps it was none: what it would hide is read as commands
            body = "\n".join(lines)
            if index < len(self.commands) and place < len(self.commands[index].redirections):
                redirections = self.commands[index].redirections
                redirections[place] = redirections[place]._replace(body=body)
            if not literal:
                outer, self._host = self._host, index
                self._include(body, words=True)
                self._host = outer

    # Small things.

    def _blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()
        if self._peek("#") and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|()"):
            self.at = self._find("\n", self.at, wrong=False)

    def _space(self) -> None:
        start = -1
        while start != self.at:
            start = self.at
            self._blank()
            if self._peek("\n"):
                self.at += 1
                self._bodies()

    def _operator(self) -> str:
        if self.text.startswith("&>", self.at):
            return ""
        found = next((operator for operator in _OPERATORS if self.text.startswith(operator, self.at)), "")
        self.at += len(found)
        if found == "\n":
            self._bodies()
        return found

    def _reserved(self) -> str:
        """The word at the cursor, if it could be a reserved one."""
        match = _WORD_ALONE.match(self.text, self.at)
        return match[0] if match else ""

    def _peek(self, *texts: str) -> bool:
        return self.text.startswith(texts, self.at)

    def _expect(self, closer: str) -> None:
        if self._peek(closer):
            self.at += len(closer)
        else:
            self._wrong(f"`{closer}` is missing")

    def _find(self, text: str, start: int, *, wrong: bool = True) -> int:
        found = self.text.find(text, start)
        if found < 0 and wrong:
            self._wrong("a quote has no end")
        return len(self.text) if found < 0 else found

    def _deeper(self, step: int) -> None:
        self.depth += step
        if self.depth > MAX_DEPTH:
            raise TooDeep

    def _wrong(self, problem: str) -> None:
        if len(self.problems) < 5:
            self.problems.append(problem)


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbouring text of the same quoting as one piece."""
    found: list[list[Piece]] = []
    for piece in pieces:
        if piece.kind == "text" and found and found[-1][0].kind == "text" and found[-1][0].quoted == piece.quoted:
            found[-1].append(piece)
        else:
            found.append([piece])
    return tuple(group[0]._replace(text="".join(piece.text for piece in group)) if len(group) > 1 else group[0] for group in found)


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
