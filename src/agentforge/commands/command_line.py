"""A command line taken apart: which programs it would run, with which words, and what of it nobody can know
before it runs.

Nothing is executed or expanded. A variable that the line itself sets once, to plain text, is read as that
text; `$HOME` is read as `~`; every other expansion stays as it is written and marks its command as dynamic.
Programs that run other programs (`env`, `xargs`, `find -exec`, `sh -c`, …) are followed by what they run as
parts of their own. Total: any text gives an answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from agentforge.commands.shell_lines import LineReader, RawCommand
from agentforge.commands.shell_words import MAX_DEPTH, TOO_DEEP, Piece, Word
from agentforge.commands.wrappers import InnerCommand, inner_of

MAX_CHARS = 50_000
"""A longer line is a file that should be written as one."""

MAX_PARTS = 2_000
_LONGEST_VALUE = 256
_MOST_FIELDS = 100

Mark = Literal[
    "expansion",
    "substitution",
    "glob",
    "computed_name",
    "eval",
    "shell_text",
    "one_liner",
    "here_document",
    "function",
    "nested_too_deeply",
    "unparsable",
]
MARKS: tuple[Mark, ...] = get_args(Mark)

Relation = Literal["line", "substitution", "wrapped", "text"]

_GLOBS = re.compile(r"[*?\[]|\{[^{}]*,")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_SETTERS = frozenset({"export", "declare", "typeset", "local", "readonly"})
_UNKNOWN_SETTERS = frozenset({"read", "unset", "mapfile", "readarray", "getopts", "printf", "let"})
# What these are in any line: a home, the directory, the separators, and no parameters of a script.
_ALWAYS = {"HOME": "~", "PWD": ".", "IFS": " ", **dict.fromkeys("123456789@*", "")}
_DEFAULT = re.compile(r":?[-=+]")


@dataclass(frozen=True, slots=True)
class Arg:
    """One word as the program would see it, as far as that can be known."""

    text: str
    known: bool = True
    """False if a part of it is only known when it runs; that part is shown as it was written."""
    starts_unknown: bool = False
    globs: bool = False


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a stream goes or comes from."""

    operator: str
    target: Arg
    body: str = ""
    """The text of a here-document."""

    @property
    def writes(self) -> bool:
        """True if the target is a file that would be written."""
        return ">" in self.operator and not (
            self.operator == ">&" and (self.target.text.isdigit() or self.target.text == "-")
        )


@dataclass(frozen=True, slots=True)
class Part:
    """One program that would run, or one thing that the shell would do."""

    argv: tuple[Arg, ...] = ()
    assignments: tuple[tuple[str, Arg], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    before: str = ""
    """The operator in front of it."""
    relation: Relation = "line"
    host: int | None = None
    """The part that holds it, for every relation but `line`."""
    via: tuple[str, ...] = ()
    """The programs that would run it, outermost first."""
    stages: tuple[tuple[int, int], ...] = ()
    """Pipelines and the place in each, outermost first."""
    function: str = ""
    """The function whose body it is in."""
    fed: bool = False
    """True if words are added to it that come from a stream: `xargs`."""
    marks: frozenset[Mark] = frozenset()

    @property
    def name(self) -> str:
        """The program without its directory; empty if there is none."""
        return self.argv[0].text.rstrip("/").rpartition("/")[2] if self.argv else ""

    @property
    def words(self) -> tuple[str, ...]:
        """What follows the program's name."""
        return tuple(arg.text for arg in self.argv[1:])

    @property
    def text(self) -> str:
        """The part as a person would write it, with its assignments and redirections."""
        shown = [f"{name}={arg.text}" for name, arg in self.assignments]
        shown += [
            arg.text if arg.text and not re.search(r"\s", arg.text) else f"'{arg.text}'" for arg in self.argv
        ]
        shown += [f"{item.operator} {item.target.text}" for item in self.redirections]
        return " ".join(shown)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A line of shell, taken apart into the programs that it would start."""

    parts: tuple[Part, ...]
    problem: str = ""
    """Why it is no proper line; what could be read is in the parts."""
    functions: frozenset[str] = frozenset()

    @property
    def marks(self) -> frozenset[Mark]:
        """Everything that is dynamic about it."""
        found = {mark for part in self.parts for mark in part.marks}
        return frozenset(found | ({"unparsable"} if self.problem else set()))

    @property
    def plain_argv(self) -> tuple[str, ...] | None:
        """The words, if the line is one program with words that are all known, and nothing else."""
        if len(self.parts) != 1 or self.marks:
            return None
        (part,) = self.parts
        if (
            part.assignments
            or part.redirections
            or not part.argv
            or any(not arg.known or arg.globs for arg in part.argv)
        ):
            return None
        return tuple(arg.text for arg in part.argv)


def parse(command: str | Sequence[str]) -> CommandLine:
    """A line of shell, or a list of words that goes to a program without one."""
    if not isinstance(command, str):
        words = tuple(Arg(word) for word in command)
        return CommandLine(tuple(_unwrapped([Part(argv=words)], 0)))
    if len(command) > MAX_CHARS:
        return CommandLine(
            (Part(marks=frozenset({"nested_too_deeply"})),), f"it is longer than {MAX_CHARS} characters"
        )
    return _parse_text(command, 0)


def _parse_text(text: str, depth: int, known: Mapping[str, Arg] | None = None) -> CommandLine:
    reader = LineReader(text, depth)
    reader.read()
    values = {**(known or {}), **_values(reader)}
    parts = [_part(raw, values) for raw in reader.commands]
    deep = TOO_DEEP in reader.problems
    if deep:
        parts.append(Part(marks=frozenset({"nested_too_deeply"})))
    return CommandLine(
        tuple(_unwrapped(parts, depth, values)), "; ".join(reader.problems), frozenset(reader.functions)
    )


def _values(reader: LineReader) -> dict[str, Arg]:
    """The variables that are set once, to text; the others that are set, as unknown."""
    found: dict[str, Arg] = {}
    for name in reader.unknown:
        found[name] = Arg(f"${name}", known=False, starts_unknown=True)
    for raw in reader.commands:
        program = _plain_text(raw.words[0]) if raw.words else ""
        assigned = list(raw.assignments)
        if program in _SETTERS:
            assigned += [split for word in raw.words[1:] if (split := _split_assignment(word))]
        for name, word in assigned:
            value = _joined(word, found)
            twice = name in found or not value.known or value.globs or len(value.text) > _LONGEST_VALUE
            found[name] = Arg(f"${name}", known=False, starts_unknown=True) if twice else value
        if program in _UNKNOWN_SETTERS:
            for word in raw.words[1:]:
                name = _plain_text(word).partition("=")[0]
                if name.isidentifier():
                    found[name] = Arg(f"${name}", known=False, starts_unknown=True)
    return found


def _split_assignment(word: Word) -> tuple[str, Word] | None:
    first = word.pieces[0] if word.pieces else None
    if first is None or first.kind != "text" or first.quoted or "=" not in first.text:
        return None
    name, _, rest = first.text.partition("=")
    return name, Word((first._replace(text=rest), *word.pieces[1:]))


def _plain_text(word: Word) -> str:
    return "".join(piece.text for piece in word.pieces if piece.kind == "text")


def _part(raw: RawCommand, values: Mapping[str, Arg]) -> Part:
    argv = tuple(field for word in raw.words for field in _fields(word, values))
    redirections = tuple(
        Redirection(item.operator, _joined(item.target, values), item.body) for item in raw.redirections
    )
    marks: set[Mark] = set()
    everything = [
        *raw.words,
        *(word for _, word in raw.assignments),
        *(item.target for item in raw.redirections),
    ]
    kinds = {piece.kind for word in everything for piece in word.pieces}
    if kinds & {"param", "arithmetic"}:
        marks.add("expansion")
    if kinds & {"command", "process"}:
        marks.add("substitution")
    if any(item.operator in ("<<", "<<-", "<<<") for item in raw.redirections):
        marks.add("here_document")
    if raw.function:
        marks.add("function")
    if argv and (not argv[0].known or (argv[0].globs and argv[0].text not in ("[", "[["))):
        marks.add("computed_name")
    return Part(
        argv,
        tuple((name, _joined(word, values)) for name, word in raw.assignments),
        redirections,
        raw.before,
        "line" if raw.host is None else "substitution",
        raw.host,
        (),
        raw.stages,
        raw.function,
        marks=frozenset(marks),
    )


def _joined(word: Word, values: Mapping[str, Arg]) -> Arg:
    """A word where the shell would not split it."""
    args = [_piece(piece, values) for piece in word.pieces if piece.text or piece.kind != "text"]
    text = "".join(arg.text for arg in args)
    first = word.pieces[0] if word.pieces else None
    if first and first.kind == "text" and first.quoted and text.startswith("~"):
        text = f"./{text}"  # quoted, it is only the name of a file
    return Arg(
        text,
        all(arg.known for arg in args),
        bool(args) and args[0].starts_unknown,
        any(arg.globs for arg in args),
    )


def _fields(word: Word, values: Mapping[str, Arg]) -> Iterator[Arg]:
    """A word as the words that it becomes: braces are written out, a known variable outside of quotes is
    split.
    """
    for each in _braces(word):
        whole = _joined(each, values)
        splits = any(piece.kind == "param" and not piece.quoted for piece in each.pieces)
        separators = values["IFS"] if "IFS" in values else Arg(" \t\n")
        if not splits or not whole.known:
            yield whole
            continue
        pattern = (
            f"[{re.escape(separators.text)}]+" if separators.known and separators.text else r"[\s,:;/|]+"
        )
        parts = [part for part in re.split(pattern, whole.text) if part]
        yield from (replace(whole, text=part) for part in parts)


def _braces(word: Word) -> Iterator[Word]:
    for at, piece in enumerate(word.pieces):
        match = _BRACES.search(piece.text) if piece.kind == "text" and not piece.quoted else None
        if match is None:
            continue
        if match[1].count(",") > _MOST_FIELDS:
            break
        for choice in match[1].split(","):
            text = f"{piece.text[: match.start()]}{choice}{piece.text[match.end() :]}"
            yield Word((*word.pieces[:at], piece._replace(text=text), *word.pieces[at + 1 :]))
        return
    yield word


def _piece(piece: Piece, values: Mapping[str, Arg]) -> Arg:
    if piece.kind == "text":
        return Arg(piece.text, globs=not piece.quoted and bool(_GLOBS.search(piece.text)))
    written = f"${piece.text}" if piece.kind == "param" and not piece.default else piece.text
    if piece.kind == "param":
        if piece.text in values and not piece.default:
            return values[piece.text]
        if piece.text in _ALWAYS and not piece.default:
            return Arg(_ALWAYS[piece.text])
        written = f"${{{piece.text}{piece.default}}}" if piece.default else written
        if match := _DEFAULT.match(piece.default):
            # Whether the variable is set is not known, but the text beside it is what the line means to use.
            return Arg(piece.default[match.end() :].strip("\"'"), known=False, starts_unknown=False)
    return Arg(written, known=False, starts_unknown=True)


def _unwrapped(parts: Sequence[Part], depth: int, values: Mapping[str, Arg] | None = None) -> list[Part]:
    """The parts, and behind them what they would run in turn."""
    found = list(parts)
    depths = [depth] * len(found)
    at = 0
    while at < len(found):
        part = found[at]
        inner = inner_of([arg.text for arg in part.argv], _stdin_of(part, at, found))
        marks = {mark for mark in MARKS if mark in inner.marks}
        found[at] = replace(part, marks=part.marks | marks)
        for each in inner.runs:
            if depths[at] >= MAX_DEPTH or len(found) >= MAX_PARTS:
                found[at] = replace(found[at], marks=found[at].marks | {"nested_too_deeply"})
                break
            more = _inner_parts(each, found[at], at, depths[at] + 1, len(found), values)
            found += more
            depths += [depths[at] + 1] * len(more)
        at += 1
    return found


def _inner_parts(
    inner: InnerCommand, part: Part, at: int, depth: int, offset: int, values: Mapping[str, Arg] | None
) -> list[Part]:
    via = (*part.via, part.name)
    if isinstance(inner.command, tuple):
        start, end = inner.command
        argv = tuple(part.argv[start:end]) if not inner.name else (Arg(inner.name), *part.argv[start:end])
        computed = bool(argv) and not argv[0].known
        marks: frozenset[Mark] = frozenset({"computed_name"}) if computed else frozenset()
        wrapped = Part(
            argv,
            relation="wrapped",
            host=at,
            via=via,
            stages=part.stages,
            function=part.function,
            fed=inner.fed or part.fed,
        )
        return [replace(wrapped, marks=marks | (part.marks & {"expansion", "substitution"}))]
    line = _parse_only(inner.command, depth, values)
    return [
        replace(
            each,
            relation="text" if each.relation == "line" else each.relation,
            host=at if each.host is None else each.host + offset,
            via=(*via, *each.via),
            # Pipelines of the text are other ones than ours: negative numbers keep them apart.
            stages=(*part.stages, *((-(number + offset * 10_000), place) for number, place in each.stages)),
            function=each.function or part.function,
        )
        for each in line
    ]


def _parse_only(text: str, depth: int, values: Mapping[str, Arg] | None) -> list[Part]:
    """The parts of an inner text, not yet unwrapped: whoever asked does that."""
    reader = LineReader(text, min(depth, MAX_DEPTH - 2))
    reader.read()
    known = {**(values or {}), **_values(reader)}
    parts = [_part(raw, known) for raw in reader.commands]
    if reader.problems:
        deep = TOO_DEEP in reader.problems
        parts.append(Part(marks=frozenset({"nested_too_deeply" if deep else "unparsable"})))
    return parts


def _stdin_of(part: Part, at: int, parts: Sequence[Part]) -> str | None:
    """The text that a command reads from its standard input, if the line itself holds it."""
    for item in reversed(part.redirections):
        if item.operator in ("<<", "<<-"):
            return item.body
        if item.operator == "<<<":
            return item.target.text
    if not part.stages:
        return None
    number, place = part.stages[-1]
    before = parts[at - 1] if at else None
    if (
        place
        and before
        and before.stages
        and before.stages[-1] == (number, place - 1)
        and before.name in ("echo", "printf")
    ):
        words = [word for word in before.words if not re.fullmatch(r"-[neE]+", word)]
        return " ".join(words).replace("\\n", "\n")
    return None
