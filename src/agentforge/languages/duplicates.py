"""Blocks of code that are written twice, whatever their names: found in linear time by hashing windows of
lines.

Names count by where they come back in the block, strings and numbers not at all. Only what does something is
compared: comments, documentation, imports, decorators, class lines and declared fields are left out, and
lines of one shape are a table.
"""

import re
from array import array
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from agentforge.languages.table import language_of
from agentforge.languages.values import Words

MIN_LINES = 6
MAX_NAMED = 5

_WORD = re.compile(
    r"(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>\b\d[\w.]*)|(?P<name>[A-Za-z_$][\w$]*)|[^\w\s]"
)
_COMMENT = ("//", "#", "*", "/*")
_IMPORT = frozenset({"import", "from"})


class Windows(NamedTuple):
    """Every run of so many lines of a file, in order."""

    keys: "array[int]"
    """What each is known by; 0 for nothing."""
    firsts: "array[int]"
    lasts: "array[int]"
    """Its first and last line."""

    def to_text(self) -> str:
        """As it is kept."""
        return b64encode(b"".join(column.tobytes() for column in self)).decode()

    @classmethod
    def from_text(cls, text: str) -> "Windows | None":
        """What was kept; None for anything that cannot be that."""
        try:
            whole = array("q", b64decode(text, validate=True))
        except ValueError:
            return None
        count, rest = divmod(len(whole), 3)
        return None if rest else cls(whole[:count], whole[count : 2 * count], whole[2 * count :])


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A block, and where the same stands before it. Lines count from 1; `lines` counts those with code."""

    path: str
    start: int
    other_path: str
    other_start: int
    lines: int
    last: int = field(default=0, compare=False)
    """The last line of the block, and below of the other."""
    other_last: int = field(default=0, compare=False)

    def written_in(self, added: Mapping[str, Collection[int]]) -> bool:
        """Whether at least half of the block, here or there, is among these lines: one that only grew by a
        line that stands before or behind it was not copied now.
        """
        ends = ((self.path, self.start, self.last), (self.other_path, self.other_start, self.other_last))
        return any(
            2 * sum(1 for number in added.get(path, ()) if first <= number <= last) >= self.lines
            for path, first, last in ends
        )


@dataclass(slots=True)
class _Match:
    """A block that may still grow by its next line."""

    path: str
    other: str
    at: int
    other_at: int
    windows: int = 1


def duplicates(files: Mapping[str, str], min_lines: int = MIN_LINES) -> tuple[Duplicate, ...]:
    """Every block of at least so many lines that was there already, in this file or one before it by name."""
    return copied_blocks({path: windows(text, path, min_lines) for path, text in files.items()}, min_lines)


def windows(text: str, path: str, min_lines: int = MIN_LINES) -> Windows:
    """Every run of so many lines of code: what it is known by, and its first and last line. The same text has
    the same ones in every process.
    """
    numbered = _lines(text, path)
    count = max(0, len(numbered) - min_lines + 1)
    names: dict[str, int] = {}
    chosen: list[int] = []  # the names of all lines, one after the other
    ends = [0]
    for _, words in numbered:
        chosen += [names.setdefault(word, len(names)) for free, word in words if free]
        ends.append(len(chosen))
    forms = [_form(tuple(["" if free else word for free, word in words])) for _, words in numbered]
    keys = [
        0
        if len({*(window := forms[at : at + min_lines])}) <= min_lines // 2
        else _key(window, chosen[ends[at] : ends[at + min_lines]])
        for at in range(count)
    ]
    starts = [number for number, _ in numbered]
    return Windows(array("q", keys), array("q", starts[:count]), array("q", starts[min_lines - 1 :]))


def copied_blocks(files: Mapping[str, Windows], min_lines: int = MIN_LINES) -> tuple[Duplicate, ...]:
    """The blocks that are written twice, from the windows of each file."""
    counts: Counter[int] = Counter()
    for each in files.values():
        counts.update(each.keys)
    twice = {key for key, count in counts.items() if count > 1 and key}
    first: dict[int, tuple[str, int]] = {}
    found: list[_Match] = []
    for path in sorted(files):
        open_match: _Match | None = None
        before = -1
        for at, key in enumerate(files[path].keys):
            if key not in twice:
                continue
            if at != before + 1:
                open_match = None
            before = at
            other, other_at = first.setdefault(key, (path, at))
            if other == path and at - other_at < min_lines:
                open_match = None  # itself, or a pattern that repeats inside of the block
            elif open_match is not None and (other, other_at) == (
                open_match.other,
                open_match.other_at + open_match.windows,
            ):
                open_match.windows += 1
            else:
                open_match = _Match(path, other, at, other_at)
                found.append(open_match)
    return tuple(
        Duplicate(
            item.path,
            files[item.path].firsts[item.at],
            item.other,
            files[item.other].firsts[item.other_at],
            item.windows + min_lines - 1,
            files[item.path].lasts[item.at + item.windows - 1],
            files[item.other].lasts[item.other_at + item.windows - 1],
        )
        for item in found
    )


def worse_duplicates(
    before: Sequence[Duplicate],
    after: Sequence[Duplicate],
    changed: Collection[str],
    added: Mapping[str, Collection[int]] | None = None,
) -> list[str]:
    """Names what is new if the lines written twice, in blocks that touch `changed`, became more. Of `added`
    lines, where they are given, a new block must be made.
    """
    old, new = touching(before, changed), touching(after, changed)
    more = sum(item.lines for item in new) - sum(item.lines for item in old)
    if more <= 0:
        return []
    known = Counter((item.path, item.other_path, item.lines) for item in old)
    fresh = []
    for item in new:
        known[key := (item.path, item.other_path, item.lines)] -= 1
        if known[key] < 0 and (added is None or item.written_in(added)):
            fresh.append(item)
    named = sorted(fresh, key=lambda item: (-item.lines, item.path, item.start))[:MAX_NAMED]
    return [spelled(item) for item in named]


def touching(found: Sequence[Duplicate], changed: Collection[str]) -> list[Duplicate]:
    """The blocks that have an end in one of these files."""
    return [item for item in found if item.path in changed or item.other_path in changed]


def spelled(item: Duplicate) -> str:
    """A block in a line that can be fed back."""
    there = f"{item.other_path}:{item.other_start}"
    return f"{item.path}:{item.start}: {item.lines} lines repeat {there}; let both use one function"


@lru_cache(maxsize=1 << 15)
def _form(words: tuple[str, ...]) -> bytes:
    """What lines share that differ in their names alone."""
    return blake2b("\n".join(words).encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _key(forms: Sequence[bytes], chosen: Sequence[int]) -> int:
    """What two windows share if one is the other with other names: names count by where they come back."""
    places = {name: at for at, name in enumerate(dict.fromkeys(chosen))}
    said = array("q", map(places.__getitem__, chosen)).tobytes()
    return int.from_bytes(blake2b(b"".join((*forms, said)), digest_size=6).digest()) or 1


def _lines(text: str, path: str) -> list[tuple[int, Words]]:
    """The lines that count, with their numbers."""
    language = language_of(path)
    if language is not None and (found := language.measures.code_lines(text)) is not None:
        return found
    return [
        (number, words)
        for number, line in enumerate(text.splitlines(), 1)
        if not line.lstrip().startswith(_COMMENT) and (words := _of_text(line)) and words[0][1] not in _IMPORT
    ]


def _of_text(line: str) -> Words:
    found: list[tuple[bool, str]] = []
    for match in _WORD.finditer(line):
        kind = match.lastgroup
        found.append((kind == "name", kind if kind in ("text", "number") else match[0]))
    return tuple(found)
