"""What a tool sees of a tree: its files in a stable order, and a file's text as numbered lines."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agentforge.core.errors import ModelMistake
from agentforge.languages.table import CACHES, is_code
from agentforge.system.beneath import read_beneath
from agentforge.system.files import relative_to, resolve_inside
from agentforge.tools.base import Workbench
from agentforge.tools.spelled import near_paths

MAX_BYTES = 2_000_000
"""Files beyond this are data or generated: nobody reads them through a tool."""

MAX_FILES = 50_000
MAX_CODE = 3000
"""Files of code that one call parses: more would take longer than a step may."""
LINE_CHARS = 400

NOISE = CACHES | {".git"}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as text. `problem` is the sentence that says why there is none."""

    path: str
    text: str
    problem: str = ""
    outer: bool = False
    """It lies in a directory beside the tree: no working set can show it."""

    @property
    def lines(self) -> list[str]:
        """The lines as an editor and a test report count them."""
        return lines_of(self.text)


def lines_of(text: str) -> list[str]:
    """Lines without their endings. Only newlines count: other separators would shift every number after
    them.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def plain(lines: Sequence[str]) -> str:
    """Lines as they are; very long ones are cut."""
    return "\n".join(map(_short, lines))


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers, as `12|text`; very long ones are cut."""
    return "\n".join(f"{number}|{_short(line)}" for number, line in enumerate(lines, first))


def read_source(root: Path, relative: str) -> TextFile:
    """A file of the tree, read. A missing file is a mistake; a binary or huge one is answered in a
    sentence.
    """
    path = resolve_inside(root, relative)
    shown = relative_to(root, path)
    if path.is_dir():
        raise ModelMistake("not_a_file", f"`{relative}` is a directory; list_files shows what is in it")
    if not path.exists():
        raise no_such_file(root, relative, "list_files and search_codebase find files")
    if not path.is_file():
        return TextFile(shown, "", f"`{shown}` is not a regular file.")
    size = path.stat().st_size
    if size > MAX_BYTES:
        return TextFile(shown, "", f"`{shown}` has {size:,} bytes: too large to read here.")
    data = read_beneath(root, shown, MAX_BYTES)
    if b"\0" in data[:8192]:
        return TextFile(shown, "", f"`{shown}` is a binary file of {size:,} bytes.")
    return TextFile(shown, data.decode("utf-8", errors="replace"))


def no_such_file(root: Path, given: str, else_do: str) -> ModelMistake:
    """The mistake of a path that leads nowhere, with the files that it may have meant."""
    near = near_paths(given, list(walk(root, root)))
    meant = f"did you mean {' or '.join(f'`{path}`' for path in near)}?" if near else else_do
    return ModelMistake("no_such_file", f"there is no file `{given}`; {meant}")


def open_source(bench: Workbench, given: str) -> TextFile:
    """The same for a path that an action names: of the tree, or of a directory that the user opened."""
    spot = bench.spot(given)
    if spot.outer is None:
        return read_source(bench.root, given)
    source = read_source(spot.root, spot.path)
    return TextFile(
        spot.shown, source.text, source.problem.replace(f"`{source.path}`", f"`{spot.shown}`"), outer=True
    )


def walk(root: Path, start: Path) -> Iterator[str]:
    """Every regular file under a directory, as sorted repository-relative paths.

    Links are not followed: what they lead to is either in the tree already or not ours to read.
    """
    here = os.path.relpath(os.path.realpath(start), os.path.realpath(root))
    yield from islice(_below(os.path.realpath(start), "" if here == "." else f"{here}/"), MAX_FILES)


def _below(folder: str, shown: str) -> Iterator[str]:
    """The files of a directory, then those of its directories. A kind comes with the name: nothing is asked
    of the disk twice.
    """
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.is_file(follow_symlinks=False) and entry.name != ".git":
            yield shown + entry.name
    for entry in found:
        if entry.is_dir(follow_symlinks=False) and entry.name not in NOISE:
            yield from _below(entry.path, f"{shown}{entry.name}/")


def present(bench: Workbench) -> list[str]:
    """The changed paths that are regular files of the tree now, sorted."""
    places = ((path, bench.root / path) for path in sorted(set(bench.changed())))
    return [path for path, place in places if place.is_file() and not place.is_symlink()]


def code_texts(root: Path, limit: int = MAX_CODE) -> dict[str, str]:
    """The files of code of a tree with their texts: the first ones, if there are more than the limit."""
    paths = islice((path for path in walk(root, root) if is_code(path)), limit)
    return {path: read_source(root, path).text for path in paths}


def _short(line: str) -> str:
    return (
        line
        if len(line) <= LINE_CHARS
        else f"{line[:LINE_CHARS]}… [{len(line) - LINE_CHARS} more characters]"
    )
