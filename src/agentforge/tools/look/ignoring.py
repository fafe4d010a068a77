"""Which files a search looks at, as ripgrep has it: not hidden ones, not those that an ignore file names, and
only those asked for.

An ignore file speaks of what lies below it, a deeper one before a higher one, `.ignore` before `.gitignore`,
and in one file the last line that fits decides. Patterns come from the repository, so none of them may take
long: each name is matched without going back.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from itertools import groupby, islice
from pathlib import Path

from agentforge.core.errors import ModelMistake
from agentforge.system.beneath import read_beneath
from agentforge.system.files import relative_to
from agentforge.system.globs import Glob, glob
from agentforge.tools.look.source import MAX_FILES, NOISE

_FILES = (".rgignore", ".ignore", ".gitignore")
"""Stronger ones first."""
_LARGEST = 50_000
_MOST_ALTERNATIVES = 50
_BRACE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MAGIC = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class _Line:
    """One pattern. Without a slash it is about a name at any depth, else about a path from where it is
    written.
    """

    pattern: str
    keeps: bool
    """`!`: what it fits is looked at after all."""
    folders: bool
    """It fits directories only."""
    by_name: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """Patterns of which any may fit, sorted by how quickly that is known: most are a name, or the end of
    one.
    """

    exact: frozenset[str]
    endings: tuple[str, ...]
    others: re.Pattern[str] | None
    below: Mapping[str, tuple[Glob, ...]]
    """Paths, by the plain name that they begin with; those that begin with a pattern are under the empty one.
    """

    @classmethod
    def of(cls, lines: Sequence[_Line]) -> "_Group":
        names = [line.pattern for line in lines if line.by_name]
        exact = frozenset(name for name in names if not _MAGIC.search(name))
        endings = tuple(name[1:] for name in names if name.startswith("*") and not _MAGIC.search(name[1:]))
        others = [
            translate(name) for name in names if name not in exact and name.removeprefix("*") not in endings
        ]
        below: dict[str, list[Glob]] = {}
        for line in lines:
            if not line.by_name:
                first = line.pattern.partition("/")[0]
                below.setdefault("" if _MAGIC.search(first) else first, []).append(glob(line.pattern))
        return cls(
            exact,
            endings,
            re.compile("|".join(others)) if others else None,
            {key: tuple(found) for key, found in below.items()},
        )

    def fits(self, path: str) -> bool:
        """Whether one of them is about this path."""
        name = path.rpartition("/")[2]
        if (
            name in self.exact
            or name.endswith(self.endings)
            or (self.others is not None and self.others.match(name) is not None)
        ):
            return True
        first = path.partition("/")[0]
        return any(each.matches(path) for key in ("", first) for each in self.below.get(key, ()))


@dataclass(frozen=True, slots=True)
class _PatternRun:
    """Lines of one sign that stand together: which of them fits makes no difference."""

    keeps: bool
    files: _Group
    folders: _Group

    def fits(self, path: str, *, folder: bool) -> bool:
        """Whether one of them is about this path."""
        return (self.folders if folder else self.files).fits(path)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The lines of one file, the last first."""

    runs: tuple[_PatternRun, ...]

    @classmethod
    def read(cls, text: str) -> "Patterns":
        """From the text of an ignore file."""
        lines = [line for line in map(_line, text.splitlines()) if line is not None]
        return cls(
            tuple(
                _run(keeps, list(run)) for keeps, run in groupby(reversed(lines), key=lambda line: line.keeps)
            )
        )

    def says(self, path: str, *, folder: bool) -> bool | None:
        """True: leave it out; False: look at it; None: nothing is said."""
        return next((not run.keeps for run in self.runs if run.fits(path, folder=folder)), None)


def _line(text: str) -> _Line | None:
    """The pattern of a line; None for a remark."""
    text = text if text.endswith("\\ ") else text.rstrip()
    if not text or text.startswith("#"):
        return None
    keeps, text = text.startswith("!"), text.removeprefix("!")
    folders, text = text.endswith("/"), text.rstrip("/")
    by_name = "/" not in text
    text = _ESCAPED.sub(_literal, text.lstrip("/").replace("[^", "[!"))
    return _Line(text, keeps, folders, by_name) if text else None


def _literal(escaped: re.Match[str]) -> str:
    return f"[{escaped[1]}]" if escaped[1] in "*?[" else escaped[1]


def _run(keeps: bool, lines: Sequence[_Line]) -> _PatternRun:  # noqa: FBT001 - as `groupby` gives it
    return _PatternRun(keeps, _Group.of([line for line in lines if not line.folders]), _Group.of(lines))


class Wanted:
    """The files that a call asks for by patterns: `*.py`, `src/**`, `*.{c,h}`, and `!` before what it does
    not want.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        # They are ignore files turned around: what one fits is wanted.
        self._patterns = Patterns.read(
            "\n".join(each for pattern in patterns for each in _alternatives(pattern))
        )
        self._only = any(not run.keeps for run in self._patterns.runs)

    def says(self, path: str, *, folder: bool) -> bool | None:
        """True: look at it, whatever else is said; False: leave it out; None: as usual."""
        said = self._patterns.says(path, folder=folder)
        return False if said is None and self._only and not folder else said


def _alternatives(pattern: str) -> list[str]:
    """`*.{c,h}` as `*.c` and `*.h`; too many of them stay as they are written."""
    found = [pattern]
    while len(found) <= _MOST_ALTERNATIVES and (brace := _BRACE.search(found[0])) is not None:
        found = [each.replace(brace[0], word) for each in found for word in brace[1].split(",")]
    return found


_Stack = tuple[tuple[str, tuple[Patterns | None, ...]], ...]
"""The directories from the root down, each as the beginning of its paths, with what its ignore files say."""


def searched(
    root: Path, start: Path, *, wanted: Sequence[str] = (), everything: bool = False
) -> Iterator[str]:
    """The files below a directory, as sorted paths from the root. `everything`: also hidden and ignored
    ones.
    """
    here = relative_to(Path(os.path.realpath(root)), Path(os.path.realpath(start)))
    parts = [] if here == "." else here.split("/")
    stack: _Stack = ()
    for depth in range(len(parts) if not everything else 0):
        stack = _entered(root, "".join(f"{part}/" for part in parts[:depth]), stack)
    shown = "".join(f"{part}/" for part in parts)
    yield from islice(_below(_Walk(root, Wanted(wanted), everything), shown, stack), MAX_FILES)


@dataclass(frozen=True, slots=True)
class _Walk:
    root: Path
    wanted: Wanted
    everything: bool

    def looks_at(self, name: str, path: str, stack: _Stack, *, folder: bool) -> bool:
        """Whether a file is searched, a directory entered."""
        said = self.wanted.says(path, folder=folder)
        return (self.everything or not _left_out(name, path, stack, folder=folder)) if said is None else said


def _below(walk: _Walk, shown: str, stack: _Stack) -> Iterator[str]:
    try:
        with os.scandir(walk.root / shown) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    if not walk.everything and any(entry.name in _FILES for entry in found):
        stack = _entered(walk.root, shown, stack)
    for entry in found:
        if entry.is_file(follow_symlinks=False) and entry.name != ".git":
            path = shown + entry.name
            if walk.looks_at(entry.name, path, stack, folder=False):
                yield path
    for entry in found:
        if entry.is_dir(follow_symlinks=False) and entry.name not in NOISE:
            path = shown + entry.name
            if walk.looks_at(entry.name, path, stack, folder=True):
                yield from _below(walk, f"{path}/", stack)


def _left_out(name: str, path: str, stack: _Stack, *, folder: bool) -> bool:
    for kind in range(len(_FILES)):
        for top, said in reversed(stack):
            patterns = said[kind]
            verdict = None if patterns is None else patterns.says(path[len(top) :], folder=folder)
            if verdict is not None:
                return verdict
    return name.startswith(".")


def _entered(root: Path, shown: str, stack: _Stack) -> _Stack:
    said = tuple(_read(root, shown + name) for name in _FILES)
    return (*stack, (shown, said)) if any(each is not None for each in said) else stack


def _read(root: Path, path: str) -> Patterns | None:
    try:
        data = read_beneath(root, path, _LARGEST)
    except (OSError, ModelMistake):
        return None
    return Patterns.read(data[:_LARGEST].decode("utf-8", "replace"))
