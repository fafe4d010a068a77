"""Unified diffs: what a text says about files, and what becomes of a file's text under it. Pure; nothing is
read or written here.

A hunk's body is read by the counts of its header, because a removed line such as `-- x` looks like a header
itself. Where the counts are wrong, as they are in many diffs written by hand, the body ends at the next
header, if no line of it could be taken for one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentforge.core.errors import ModelMistake

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{1,3}|[abtnvfr"\\])')
_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
    b'"': b'"',
    b"\\": b"\\",
}
_NOBODY = "/dev/null"
_MODES = {"100644": False, "100755": True}
_IGNORED = ("index ", "similarity index ", "dissimilarity index ", "Index: ", "=====", "```", "-- ")


class PatchLine(NamedTuple):
    """A line of a hunk: its mark (space, minus or plus) and its text with its ending."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """The change of one place in a file."""

    header: str
    start: int
    """The first old line, from 1; with no old lines, the line after which the new ones come."""
    lines: tuple[PatchLine, ...]

    @property
    def old(self) -> list[str]:
        """The lines that the file must have there before."""
        return [line.text for line in self.lines if line.mark != "+"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What happens to one file. No source: it is created. No target: it is deleted. Two different ones: it is
    renamed.
    """

    source: str | None
    target: str | None
    hunks: tuple[Hunk, ...] = ()
    executable: bool | None = None

    @property
    def name(self) -> str:
        """The path to name in messages: the new one, else the old one."""
        return self.target or self.source or "?"


class Misfit(Exception):
    """A hunk whose old lines are not in the file, or are there more than once."""

    def __init__(self, number: int, hunk: Hunk, places: Sequence[int] = ()) -> None:
        super().__init__(f"hunk {number} ({hunk.header})")
        self.number = number
        self.hunk = hunk
        self.places = tuple(places)
        """The lines, from 1, where it would fit; none or several."""


def parse(text: str) -> tuple[FilePatch, ...]:
    """The files of a patch in its order. A text that cannot be read whole is a mistake that names the
    line.
    """
    reader = _PatchReader(text.split("\n"))
    found = []
    while reader.has_more():
        patch = reader.file()
        if patch is not None:
            found.append(patch)
    if not found:
        raise _bad(
            "there is no file in this patch; write a unified diff: `--- a/path`, `+++ b/path`, `@@ -1,2 "
            "+1,3 @@`, then the lines"
        )
    _check_names(found)
    return tuple(found)


class Applied(NamedTuple):
    """A text after its hunks, and where each hunk now stands: first and last line, from 1; the last is before
    the first if none is left.
    """

    text: str
    places: tuple[tuple[int, int], ...]


def apply(text: str, hunks: Sequence[Hunk]) -> Applied:
    """The text after all hunks. Lines they do not touch stay byte for byte."""
    lines = _split(text)
    made: list[str] = []
    places: list[tuple[int, int]] = []
    done = 0
    shift = 0
    for number, hunk in enumerate(hunks, 1):
        at, is_dos = _place(lines, hunk, number, (done, shift))
        wanted = hunk.start - 1 if hunk.old else hunk.start
        shift = at - wanted
        made += lines[done:at]
        done = at
        first = len(made) + 1
        for line in hunk.lines:
            if line.mark == "+":
                made.append(
                    line.text.removesuffix("\n") + "\r\n"
                    if is_dos and line.text.endswith("\n")
                    else line.text
                )
                continue
            if line.mark == " ":
                made.append(lines[done])
            done += 1
        places.append((first, len(made)))
    made += lines[done:]
    # A last line without a newline that is last no more would swallow the next one.
    whole = "".join(
        line if line.endswith("\n") or at == len(made) - 1 else line + "\n" for at, line in enumerate(made)
    )
    return Applied(whole, tuple(places))


def _place(lines: list[str], hunk: Hunk, number: int, reached: tuple[int, int]) -> tuple[int, bool]:
    """Where a hunk goes, and whether the file's lines there end in CR LF and the patch's do not."""
    done, shift = reached
    old = hunk.old
    if not old:
        if done <= hunk.start + shift <= len(lines):
            return hunk.start + shift, False
        raise Misfit(number, hunk)
    wanted = hunk.start - 1 + shift
    if (at := _found(lines, old, done, wanted, (number, hunk))) is not None:
        return at, False
    bare = [line.rstrip("\r\n") for line in lines]
    at = _found(bare, [line.rstrip("\r\n") for line in old], done, wanted, (number, hunk))
    if at is None:
        raise Misfit(number, hunk)
    there = lines[at : at + len(old)]
    return at, any(line.endswith("\r\n") for line in there) and not any(
        "\r" in line.text for line in hunk.lines
    )


def _found(lines: list[str], old: list[str], done: int, wanted: int, hunk: tuple[int, Hunk]) -> int | None:
    """The place that the header names, else the only other one."""
    if wanted >= done and lines[wanted : wanted + len(old)] == old:
        return wanted
    places = _occurrences(lines, old, done)
    if len(places) > 1:
        raise Misfit(*hunk, [at + 1 for at in places])
    return places[0] if places else None


def _occurrences(lines: list[str], old: list[str], start: int) -> list[int]:
    """Where a block of lines begins. In one pass: a file and a hunk of a million equal lines must not take a
    million passes.
    """
    back = [0] * len(old)
    length = 0
    for at in range(1, len(old)):
        while length and old[at] != old[length]:
            length = back[length - 1]
        length += old[at] == old[length]
        back[at] = length
    places = []
    length = 0
    for at in range(start, len(lines)):
        while length and lines[at] != old[length]:
            length = back[length - 1]
        length += lines[at] == old[length]
        if length == len(old):
            places.append(at - length + 1)
            length = back[length - 1]
    return places


@dataclass(slots=True)
class _FileHeader:
    """What the lines before the hunks of one file said."""

    git: tuple[str, str] | None = None
    source: str | None = None
    target: str | None = None
    renamed: list[str] = field(default_factory=list)
    is_new: bool = False
    is_gone: bool = False
    executable: bool | None = None


class _PatchReader:
    """Goes through a patch line by line."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines[:-1] if lines[-1] == "" else lines
        self.at = 0

    def has_more(self) -> bool:
        return self.at < len(self.lines)

    def file(self) -> FilePatch | None:
        """The next file; None for a line between files that says nothing."""
        line = self.lines[self.at]
        if line.startswith("diff --git "):
            self.at += 1
            return self._rest(_FileHeader(git=_git_names(line.rstrip("\r")[len("diff --git ") :])))
        if self._is_pair(self.at):
            return self._rest(_FileHeader())
        if line.startswith(("@@", "*** ")) or (line[:1] in ("+", "-") and not line.startswith(_IGNORED)):
            raise _bad(
                f"line {self.at + 1} of the patch belongs to no file: {line[:120]!r}; each file begins "
                "with `--- a/path` and `+++ b/path`"
            )
        # Prose before a diff, or between two: `git show` and people write some.
        self.at += 1
        if line.startswith("-- "):
            self.at = len(self.lines)
        return None

    def _rest(self, header: _FileHeader) -> FilePatch:
        while self.has_more() and header.source is None and not self._is_pair(self.at):
            line = self.lines[self.at].rstrip("\r")
            if line.startswith(("diff --git ", "@@")) or not _understood(line, header):
                break
            self.at += 1
        if self._is_pair(self.at):
            header.source, header.target = _pair(self.lines[self.at], self.lines[self.at + 1])
            self.at += 2
        hunks = []
        while self.has_more() and self.lines[self.at].startswith("@@"):
            hunks.append(self._hunk())
        return _file(header, tuple(hunks))

    def _hunk(self) -> Hunk:
        head = self.lines[self.at].rstrip("\r")
        found = _HUNK.match(head)
        if found is None:
            raise _bad(
                f"line {self.at + 1} of the patch is no hunk header: {head[:120]!r}; it reads `@@ "
                "-first,count +first,count @@`"
            )
        start, old, _, new = (1 if each is None else int(each) for each in found.groups())
        self.at += 1
        begin = self.at
        lines = self._counted(old, new)
        if lines is None:
            self.at = begin
            lines = self._until_header(found.group())
        return Hunk(found.group(), start, tuple(lines))

    def _counted(self, old: int, new: int) -> list[PatchLine] | None:
        """The body as the header counts it; None if it is not like that."""
        lines: list[PatchLine] = []
        while old > 0 or new > 0:
            if not self.has_more() or (line := _line(self.lines[self.at])) is None:
                return None
            old -= line.mark != "+"
            new -= line.mark != "-"
            if old < 0 or new < 0:
                return None
            lines.append(line)
            self.at += 1
            self._no_newline(lines)
        goes_on = self.has_more() and self.lines[self.at][:1] in (" ", "+", "-")
        return (
            None if goes_on and not self._is_pair(self.at) and self.lines[self.at].rstrip() != "--" else lines
        )

    def _until_header(self, head: str) -> list[PatchLine]:
        lines: list[PatchLine] = []
        while self.has_more() and not self.lines[self.at].startswith(("@@", "diff --git ", "```")):
            raw = self.lines[self.at]
            if raw.startswith(("--- ", "+++ ")):
                if self._is_pair(self.at) and _HUNK.match("".join(self.lines[self.at + 2 : self.at + 3])):
                    break
                raise _bad(
                    f"the counts of `{head}` are wrong, and line {self.at + 1} of the patch could be a "
                    "header or a line; count them right"
                )
            if (line := _line(raw)) is None:
                raise _bad(
                    f"line {self.at + 1} of the patch begins with neither a space, `+` nor `-`: {raw[:120]!r}"
                )
            lines.append(line)
            self.at += 1
            self._no_newline(lines)
        while lines and lines[-1] == PatchLine(" ", "\n") and self.lines[self.at - 1] == "":
            # Empty lines before the next header separate; as context they would have a space.
            lines.pop()
            self.at -= 1
        gap = self.at
        while self.has_more() and self.lines[self.at] == "":
            self.at += 1
        if not lines:
            raise _bad(f"the hunk `{head}` before line {gap + 1} of the patch is empty")
        return lines

    def _no_newline(self, lines: list[PatchLine]) -> None:
        if self.has_more() and self.lines[self.at].startswith("\\"):
            lines[-1] = lines[-1]._replace(text=lines[-1].text.removesuffix("\n"))
            self.at += 1

    def _is_pair(self, at: int) -> bool:
        return (
            at + 1 < len(self.lines)
            and self.lines[at].startswith("--- ")
            and self.lines[at + 1].startswith("+++ ")
        )


def _line(raw: str) -> PatchLine | None:
    if raw in ("", "\r"):
        return PatchLine(" ", raw + "\n")
    return PatchLine(raw[0], raw[1:] + "\n") if raw[0] in " +-" else None


def _understood(line: str, header: _FileHeader) -> bool:
    """Take in one of git's own header lines."""
    word, _, value = line.rpartition(" ")
    if word in ("new file mode", "new mode", "deleted file mode", "old mode"):
        if value not in _MODES:
            raise _bad(f"`{line}`: only plain files can be patched; no links, no submodules")
        header.is_new |= word == "new file mode"
        header.is_gone |= word == "deleted file mode"
        if word in ("new file mode", "new mode"):
            header.executable = _MODES[value]
        return True
    if line.startswith(("rename from ", "rename to ")):
        header.renamed.append(_unquoted(line.split(" ", 2)[2]))
        return True
    if line.startswith(("copy from ", "copy to ", "GIT binary patch", "Binary files ")):
        raise _bad(f"`{line[:120]}`: copies and binary content cannot be patched here")
    return line.startswith(_IGNORED)


def _file(header: _FileHeader, hunks: tuple[Hunk, ...]) -> FilePatch:
    source, target = header.source, header.target
    if source is None or target is None:
        source, target = header.git or ("", "")
        source, target = (_NOBODY if header.is_new else source), (_NOBODY if header.is_gone else target)
    if header.renamed:
        if len(header.renamed) != 2:
            raise _bad("a rename needs both `rename from` and `rename to`")
        source, target = header.renamed
    patch = FilePatch(
        None if source == _NOBODY else source, None if target == _NOBODY else target, hunks, header.executable
    )
    if not patch.source and not patch.target:
        raise _bad("a file of the patch has no name: neither `---` nor `+++` names one")
    if not hunks and patch.source == patch.target and header.executable is None:
        raise _bad(f"the patch changes nothing in `{patch.name}`: no hunk follows its header")
    if patch.source is None and any(hunk.old for hunk in hunks):
        raise _bad(f"`{patch.name}` is to be created, and its hunk has old lines")
    return patch


def _pair(old: str, new: str) -> tuple[str, str]:
    """The two names, without the prefixes `a/` and `b/` if both sides have theirs."""
    source, target = (_unquoted(line[4:].rstrip("\r").split("\t")[0]) for line in (old, new))
    if source.startswith("a/") | (source == _NOBODY) and target.startswith("b/") | (target == _NOBODY):
        return _bare(source, target)
    return source, target


def _bare(source: str, target: str) -> tuple[str, str]:
    return source.removeprefix("a/") if source != _NOBODY else source, target.removeprefix(
        "b/"
    ) if target != _NOBODY else target


def _git_names(text: str) -> tuple[str, str] | None:
    """Both names of `diff --git`, where they are the same; otherwise other lines must say them."""
    if text.startswith('"'):
        middle = text.find('" "')
        return _bare(_unquoted(text[: middle + 1]), _unquoted(text[middle + 2 :])) if middle > 0 else None
    half = len(text) // 2
    source, target = _bare(text[:half], text[half + 1 :])
    return (source, target) if source == target and text[half : half + 1] == " " else None


def _unquoted(name: str) -> str:
    """A name as git writes it when it has odd characters: in quotes, with escapes."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    inner = name[1:-1].encode("utf-8", "surrogatepass")

    def plain(found: re.Match[bytes]) -> bytes:
        code = found.group(1)
        return _ESCAPES[code] if code in _ESCAPES else bytes([int(code, 8) & 0xFF])

    return _ESCAPE.sub(plain, inner).decode("utf-8", "replace")


def _check_names(patches: Sequence[FilePatch]) -> None:
    for names in ([each.source for each in patches], [each.target for each in patches]):
        known = [name for name in names if name is not None]
        if (
            twice := next((name for name in known if known.count(name) > 1), None)
            if len(set(known)) < len(known)
            else None
        ):
            raise _bad(f"`{twice}` is in the patch twice; put all its hunks under one header")


def _split(text: str) -> list[str]:
    """Lines with their endings; only newlines count."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _bad(text: str) -> ModelMistake:
    return ModelMistake("bad_patch", text)
