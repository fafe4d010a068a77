"""A shell line as simple commands: one pass, total, bounded in depth, and nothing is expanded.

What comes out is flat: every simple command of the line in order, each with the pipelines it stands in and
the command whose words it is a substitution of. A line that is no shell grammar is read as far as it goes,
and says what was wrong with it.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from agentforge.commands.shell_words import (
    ARITHMETIC,
    MAX_DEPTH,
    META,
    TOO_DEEP,
    Piece,
    TooDeep,
    Word,
    WordReader,
)

MAX_COMMANDS = 2_000
"""A longer line is a program, and belongs in a file."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]$`]*\])?\+?=")
_FUNCTION = re.compile(r"\(\s*\)")
_DESCRIPTOR = re.compile(r"\d{1,4}(?=[<>])|\{[A-Za-z_]\w*\}(?=[<>])")
_WORD_ALONE = re.compile(r"(?:\[\[|[{}!]|[a-z]+)(?=[\s;&|<>()]|$)")
_OPERATORS = ("&&", "||", "|&", ";;&", ";;", ";&", ";", "&", "|", "\n")
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">")
_CLOSED_BY = {"{": "}", "if": "fi", "while": "done", "until": "done"}
_BETWEEN = frozenset({"then", "elif", "else", "do", "!", "time", "coproc"})
_TIMED = re.compile(r"time(?:[ \t]+(?:-p|--)(?=\s))+")
_CLOSERS = frozenset({"}", "fi", "done", "esac"})
_IN_TEST = (";", "&", "|", "<", ">", "(", ")")
_TEST_END = Word((Piece("text", "]]", quoted=False),))


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


@dataclass(slots=True)
class LineReader(WordReader):
    """A cursor over one line. `read` never raises."""

    commands: list[RawCommand] = field(default_factory=list)
    functions: dict[str, list[int]] = field(default_factory=dict)
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
                    self.wrong(f"`{self.text[self.at]}` closes nothing")
                    self.at = max(self.at, before) + 1
        except TooDeep:
            self.wrong(TOO_DEEP)
        if self._waiting:
            self.wrong("a here-document has no end")

    def _list(self, stages: tuple[tuple[int, int], ...], closers: frozenset[str]) -> None:
        """Commands up to a closer, which is left unread, a closing parenthesis, or the end."""
        self.deeper(1)
        operator = ""
        self._pipelines += 1
        pipeline, stage = self._pipelines, 0
        while self.at < len(self.text):
            self.blank()
            if self.peek(")") or (closers and self._reserved() in closers):
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
        self.deeper(-1)

    def substituted(self) -> None:
        """Reads the commands inside of a substitution, such as `$(...)`."""
        self._list((), frozenset())

    def _command(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        if ARITHMETIC.match(self.text, self.at):
            self._counted(operator, stages)
            return
        if self.peek("("):
            self.at += 1
            self._list(stages, frozenset())
            self.expect(")")
            self._after(operator, stages)
            return
        word = self._reserved()
        if word in _CLOSED_BY:
            self.at += len(word)
            self._list(stages, frozenset({_CLOSED_BY[word]}))
            self.expect(_CLOSED_BY[word])
            self._after(operator, stages)
        elif word in _BETWEEN:
            match = _TIMED.match(self.text, self.at)
            self.at = match.end() if match else self.at + len(word)
        elif word in _CLOSERS:
            self.wrong(f"`{word}` closes nothing")
            self.at += len(word)
        elif word == "function":
            self._function_word(stages)
        elif word in ("for", "select", "case"):
            self.at += len(word)
            (self._case if word == "case" else self._for)(operator, stages)
            self._after(operator, stages)
        else:
            self._simple(operator, stages)

    def _counted(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        """`((…))` by itself: where it expands something it is as dynamic as `let` with these words."""
        text = self.arithmetic()
        if "$" in text or "`" in text:
            words = (Piece("text", "let", quoted=False), Piece("arithmetic", text, quoted=False))
            self._new(operator, stages).words.extend(Word((piece,)) for piece in words)

    def _for(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        self.blank()
        if self.text.startswith("((", self.at):
            self._counted(operator, stages)
        command = self._new(operator, stages)
        while self.at < len(self.text) and not self.peek(";", "\n", ")", "&", "|", "<", ">", "("):
            self._word_into(command)
            self.blank()
        if command.words:
            self.unknown.add(command.words[0].plain or "")
            command.words.insert(0, Word((Piece("text", "for", quoted=False),)))
        self._list(stages, frozenset({"done"}))
        self.expect("done")

    def _case(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        command = self._new(operator, stages)
        command.words.append(Word((Piece("text", "case", quoted=False),)))
        self.blank()
        self._word_into(command)
        while self.at < len(self.text):
            self._space()
            if self._reserved() == "in":
                self.at += 2
                self._space()
            if self._reserved() == "esac":
                break
            if self.peek("("):
                self.at += 1
            while self.at < len(self.text) and not self.peek(")"):
                if self.text[self.at] in META:
                    self.at += 1
                else:
                    self._word_into(command)
            self.expect(")")
            self._list(stages, frozenset({";;", "esac"}))
        self.expect("esac")

    def _after(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        """What redirects a whole compound is a command without words."""
        self.blank()
        if self._redirection_operator():
            self._simple(operator, stages)

    def _new(self, operator: str, stages: tuple[tuple[int, int], ...]) -> RawCommand:
        if len(self.commands) >= MAX_COMMANDS:
            raise TooDeep
        command = RawCommand(operator, self._host, stages, self._function)
        self.commands.append(command)
        return command

    def _simple(self, operator: str, stages: tuple[tuple[int, int], ...]) -> None:
        command = self._new(operator, stages)
        index = len(self.commands) - 1
        outer, self._host = self._host, index
        test = self._reserved() == "[["
        while self.at < len(self.text):
            self.blank()
            if not test and self._redirect(command, index):
                continue
            if self.peek("\n") or (not test and self.peek(";", "&", "|", ")")):
                break
            if not test and self.peek("("):
                if self._defines(command, stages):
                    break
                self.wrong("a parenthesis is not allowed here")
                self.at += 1
            elif test and self.peek(*_IN_TEST) and not self.peek("<(", ">("):
                self.at += 1
            elif self.at < len(self.text):
                self._word_into(command)
                test = test and command.words[-1:] != [_TEST_END]
        self._host = outer
        if test:
            self.wrong("`[[` has no end")

    def _defines(self, command: RawCommand, stages: tuple[tuple[int, int], ...]) -> bool:
        """Whether this is `name()`; its body is read as commands of that function."""
        match = _FUNCTION.match(self.text, self.at)
        name = command.words[0].plain if len(command.words) == 1 else None
        if match is None or not name:
            return False
        self.at = match.end()
        command.words.clear()  # it stays, empty: others may point to it by its place
        self._body(name, stages)
        return True

    def _function_word(self, stages: tuple[tuple[int, int], ...]) -> None:
        """`function name`, with or without parentheses."""
        self.at += len("function")
        self.blank()
        name = "".join(piece.text for piece in self.word().pieces)
        self.blank()
        match = _FUNCTION.match(self.text, self.at)
        self.at = match.end() if match else self.at
        self._body(name, stages)

    def _body(self, name: str, stages: tuple[tuple[int, int], ...]) -> None:
        self._space()
        outer, self._function, host, self._host = self._function, name, self._host, None
        start = len(self.commands)
        self.deeper(1)
        self._command("", stages)
        self.deeper(-1)
        self._function, self._host = outer, host
        self.functions[name] = [*self.functions.get(name, []), *range(start, len(self.commands))]

    def _word_into(self, command: RawCommand) -> None:
        start = self.at
        match = None if command.words else _ASSIGNMENT.match(self.text, self.at)
        if match:
            self.at = match.end()
            if self.peek("("):  # an array
                self._array(command, match[1])
                return
            command.assignments.append((match[1], self.word()))
            return
        word = self.word()
        if self.at == start:
            self.wrong(f"{self.text[start : start + 1]!r} is not allowed here; a word is expected")
            self.at += 1
        else:
            command.words.append(word)

    def _array(self, command: RawCommand, name: str) -> None:
        self.at += 1
        self.unknown.add(name)
        while self.at < len(self.text) and not self.peek(")"):
            self._space()
            start = self.at
            command.assignments.append((name, self.word()))
            if self.at == start and not self.peek(")"):
                self.at += 1
        self.expect(")")

    def included(self, inner: str, *, words: bool = False) -> None:
        """Another text whose commands belong to the command at hand."""
        if self.depth >= MAX_DEPTH:
            raise TooDeep
        reader = LineReader(
            inner, self.depth + 1, 0, self.problems, self.commands, self.functions, self.unknown
        )
        reader._host, reader._function, reader._pipelines = self._host, self._function, self._pipelines + 1
        if words:
            try:
                reader.quoted([], "")
            except TooDeep:
                self.wrong(TOO_DEEP)
        else:
            reader.read()
        self._pipelines = reader._pipelines

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
        self.blank()
        word = self.word()
        if not word.pieces:
            self.wrong(f"`{operator}` leads nowhere")
        command.redirections.append(RawRedirection(operator, word))
        if operator in ("<<", "<<-"):
            delimiter = "".join(piece.text for piece in word.pieces)
            literal = any(piece.quoted for piece in word.pieces)
            self._waiting.append(
                (index, len(command.redirections) - 1, delimiter, literal, operator == "<<-")
            )
        return True

    def _bodies(self) -> None:
        """The here-documents that were asked for on the line that has just ended."""
        waiting, self._waiting = self._waiting, []
        for index, place, delimiter, literal, tabs in waiting:
            lines: list[str] = []
            closed = False
            while self.at < len(self.text) and not closed:
                end = self.find("\n", self.at, wrong=False)
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                closed = (line.lstrip("\t") if tabs else line) == delimiter
                if not closed:
                    lines.append(line)
            if not closed:
                self.wrong("a here-document has no end")
                self.included("\n".join(lines))  # perhaps it was none: what it would hide is read as commands
            body = "\n".join(lines)
            if index < len(self.commands) and place < len(self.commands[index].redirections):
                redirections = self.commands[index].redirections
                redirections[place] = redirections[place]._replace(body=body)
            if not literal:
                outer, self._host = self._host, index
                self.included(body, words=True)
                self._host = outer

    def _space(self) -> None:
        start = -1
        while start != self.at:
            start = self.at
            self.blank()
            if self.peek("\n"):
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
