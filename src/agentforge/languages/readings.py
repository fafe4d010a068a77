"""What one file says that rules are about, before anybody knows the rules' limits. Small enough to keep.

It holds no text of the file but names: a mark stands for a line, so that no secret is ever kept.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from agentforge.languages.described import Read

When = Literal["load", "later", "types", "maybe"]
"""When an import happens: with the module, in a function, for a type checker only, or if it is there."""

SHORT = 72
"""No project has a lower limit for its lines than this; lines up to it are not remembered."""
_BLANKS = re.compile(r"\s+")


class CheckedPlace(NamedTuple):
    """A line that a check of one file is about."""

    check: str
    line: int
    symbol: str
    """The dotted name of the definition around it; empty at the top."""
    message: str
    mark: str
    doubtful: bool = False
    """Whether a comment asks tools to overlook it, or it may well be an example. It is found all the same:
    whoever wrote it could have written the comment, too.
    """


class ImportedName(NamedTuple):
    """One name that a file takes from elsewhere."""

    line: int
    level: int
    """Leading dots."""
    module: str
    name: str
    """What is taken from it; empty for the module as a whole."""
    when: When
    block: int
    """Which run of imports at the top of the file it stands in, from 1; 0 for none."""
    mark: str


class MeasuredFunction(NamedTuple):
    """A function, measured."""

    name: str
    line: int
    lines: int
    ways: int


class LongLine(NamedTuple):
    """A line that some limit may be about."""

    line: int
    length: int
    mark: str


class MadeObject(NamedTuple):
    """A call of something that is named like a class."""

    line: int
    symbol: str
    name: str
    """Dotted, as far as imports tell."""
    mark: str


class DecoratedRoute(NamedTuple):
    """A decorated function, with all that may protect it."""

    line: int
    name: str
    decorators: tuple[str, ...]
    used: tuple[str, ...]
    """Names in its decorators and defaults."""
    mark: str


@dataclass(frozen=True, slots=True)
class FileReading:
    """All that is known of one content."""

    lines: int = 0
    places: tuple[CheckedPlace, ...] = ()
    long_lines: tuple[LongLine, ...] = ()
    imports: tuple[ImportedName, ...] = ()
    functions: tuple[MeasuredFunction, ...] = ()
    made: tuple[MadeObject, ...] = ()
    routes: tuple[DecoratedRoute, ...] = ()
    parsed: bool = True
    """False: the file could not be read by the rules of its language, so nothing of it has passed."""

    def to_json(self) -> str:
        """As the cache of readings keeps it."""
        routes = [[*route[:2], list(route.decorators), list(route.used), route.mark] for route in self.routes]
        rows = [self.places, self.long_lines, self.imports, self.functions, self.made, routes]
        return json.dumps([self.lines, self.parsed, *rows], ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "FileReading | None":
        """What was kept; None for anything that is not exactly that: a cache is never trusted to be whole."""
        try:
            lines, parsed, places, long_lines, imports, functions, made, routes = json.loads(text)
            return cls(
                int(lines),
                tuple(CheckedPlace(*row) for row in places),
                tuple(LongLine(*row) for row in long_lines),
                tuple(ImportedName(*row) for row in imports),
                tuple(MeasuredFunction(*row) for row in functions),
                tuple(MadeObject(*row) for row in made),
                tuple(
                    DecoratedRoute(line, name, tuple(decorators), tuple(used), mark)
                    for line, name, decorators, used, mark in routes
                ),
                bool(parsed),
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None


class Layer(NamedTuple):
    """A layer that a project has declared for a tool of its own."""

    name: str
    level: int
    """From the top, 0; those of one level do not import one another."""
    patterns: tuple[str, ...]
    """Of its files."""


class ClosedWay(NamedTuple):
    """Files that may not import others, as a tool of the project is told."""

    name: str
    """Of the tool and its rule."""
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    """Patterns of files."""


class ModulePaths(Protocol):
    """Which files of a project an import means."""

    def targets(self, path: str, item: ImportedName, /) -> tuple[str, ...]:
        """The files that an import of a file loads by name; none for what is not the project's."""

    def group(self, item: ImportedName, /) -> int:
        """Where an import belongs among the others, from 0."""

    def missing(self, path: str, item: ImportedName, /) -> str:
        """The name of the project's own that an import asks for and nobody has; empty if there is none."""


class Mender(NamedTuple):
    """A program of a project that corrects what it finds."""

    program: str
    words: tuple[str, ...]
    """Those before the files."""
    files: tuple[str, ...]
    settings: tuple[str, ...]
    """Files that tell it how."""


class CheckReader(Protocol):
    """What checks ask of a language."""

    def read(self, text: str, /) -> FileReading:
        """All that is known of one content."""

    def modules(self, paths: Sequence[str], roots: Sequence[str] = (), /) -> ModulePaths:
        """The modules of a project."""

    def limits(self, read: Read, /) -> dict[str, int]:
        """The limits that a project's own tools are told, by the check that has the same."""

    def layers(self, read: Read, /) -> list[Layer]:
        """The layers that a project's own tools are told."""

    def menders(self, top: Path, files: tuple[str, ...], /) -> list[Mender]:
        """Programs of a project that correct what they find in files."""


def mark_of(text: str) -> str:
    """What stands for a line, however it is indented or spaced."""
    return blake2b(_BLANKS.sub(" ", text).strip().encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def long_lines(lines: list[str]) -> tuple[LongLine, ...]:
    """The lines that some limit may be about. One that is a single word, as an address, cannot be broken."""
    return tuple(
        LongLine(number, len(line), mark_of(line))
        for number, line in enumerate(lines, 1)
        if len(line) > SHORT and len(line.lstrip(" \t#/*").split(maxsplit=1)) > 1
    )
