"""A change as a reader is shown it: whole hunks, what matters most first, in as many parts as it takes.

A hunk is shown whole or not at all, so that what was recorded as shown says whether a reader saw it. One that
is longer than a part is shown in stretches of whole lines that overlap.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agentforge.context.hidden import visible
from agentforge.context.packing import defuse
from agentforge.system.git.repository import Change, Lines
from agentforge.system.secrets.redact import redact

Kind = Literal["source", "settings", "edited test", "new test", "document", "generated"]
KINDS: tuple[Kind, ...] = ("source", "settings", "edited test", "new test", "document", "generated")
"""In the order in which they are shown. What a tool generated counts by its path and hash."""

_NOUNS: Mapping[Kind, str] = {
    "source": "",
    "settings": "",
    "edited test": "test",
    "new test": "test",
    "document": "document",
    "generated": "and written by a tool",
}

BLOCK = "change"
"""The name of the block of a context that holds the change."""

OVERLAP = 3
"""Lines that two stretches of one hunk share."""
STRETCHES = 3
"""How many stretches of a very long hunk make a part."""
LISTED = 200
"""Files of other parts that a reader is told by name."""

Count = Callable[[str], int]


class ShownHunk(NamedTuple):
    """What is shown whole or not at all: a hunk of a file, or a stretch of a very long one."""

    path: str
    text: str
    """With the line that names its file, as a reader sees it."""
    kind: Kind = "source"


@dataclass(frozen=True, slots=True)
class ChangePart:
    """What one reader is shown of a change."""

    number: int
    of: int
    hunks: tuple[ShownHunk, ...]
    elsewhere: tuple[str, ...] = ()
    """Files that are in the other parts alone."""

    @property
    def text(self) -> str:
        """The part as one text."""
        lines = []
        if self.of > 1:
            lines.append(f"Part {self.number} of {self.of}; each part has a reader of its own.")
        if self.elsewhere:
            more = f" and {len(self.elsewhere) - LISTED} more" if len(self.elsewhere) > LISTED else ""
            lines.append(f"In the other parts: {', '.join(self.elsewhere[:LISTED])}{more}.")
        return "\n".join([*lines, *(hunk.text for hunk in self.hunks)])


def hunks_of(
    patch: bytes, changes: Sequence[Change], kinds: Mapping[str, Kind], lines: Sequence[Lines]
) -> list[ShownHunk]:
    """The hunks of a patch, redacted, with whatever is hidden made visible: source first, generated last."""
    counts = {count.path: count for count in lines}
    sections = _sections(patch)
    found: list[ShownHunk] = []
    for change in changes:
        # A path that became something else, such as a link, is gone and new: two sections of the patch.
        for _ in range(2 if change.status == "T" else 1):
            section = next(sections, [])
            kind = kinds.get(change.path, "source")
            found += _hunks_of_file(section, change, kind, counts.get(change.path))
    return sorted(found, key=lambda hunk: KINDS.index(hunk.kind))


def divide(hunks: Sequence[ShownHunk], room: int, count: Count) -> tuple[ChangePart, ...]:
    """As few parts as hold every hunk, in order; a file stays in one part if it fits there."""
    groups: list[list[ShownHunk]] = []
    used = 0
    for file in _by_file([short for hunk in hunks for short in _stretches(hunk, room, count)]):
        sizes = [count(hunk.text) for hunk in file]
        if not groups or used + sum(sizes) > room >= sum(sizes):
            groups.append([])
            used = 0
        for hunk, size in zip(file, sizes, strict=True):
            if groups[-1] and used + size > room:
                groups.append([])
                used = 0
            groups[-1].append(hunk)
            used += size
    paths = list(dict.fromkeys(hunk.path for hunk in hunks))
    return tuple(
        ChangePart(number, len(groups), tuple(group), _missing(paths, group))
        for number, group in enumerate(groups, 1)
    )


def unseen(hunks: Sequence[ShownHunk], blocks: Sequence[str], fence: str) -> list[ShownHunk]:
    """The hunks that stand whole in none of these blocks."""
    return [hunk for hunk in hunks if not any(defuse(hunk.text, fence) in block for block in blocks)]


# ------------------------------------------------------------------ files and hunks


def _sections(patch: bytes) -> Iterator[list[str]]:
    """The lines of each file of a patch, in its order."""
    found: list[list[str]] = []
    for line in patch.decode("utf-8", "replace").split("\n"):
        if line.startswith("diff --git "):
            found.append([])
        if found:
            found[-1].append(line)
    return iter(found)


def _hunks_of_file(section: list[str], change: Change, kind: Kind, lines: Lines | None) -> list[ShownHunk]:
    head, hunks = _split(section)
    named = _named(change, kind, lines, head)
    if kind == "generated" or not hunks:
        return [ShownHunk(change.path, _shown([named]), kind)]
    many = len(hunks)
    return [
        ShownHunk(change.path, _shown([f"{named}; hunk {at} of {many}" if many > 1 else named, *hunk]), kind)
        for at, hunk in enumerate(hunks, 1)
    ]


def _split(section: list[str]) -> tuple[list[str], list[list[str]]]:
    """The lines before the first hunk, and the hunks. What is binary has none."""
    head: list[str] = []
    hunks: list[list[str]] = []
    for line in section:
        if line.startswith("@@ "):
            hunks.append([])
        if hunks:
            hunks[-1].append(line)
        else:
            head.append(line)
    while hunks and hunks[-1] and not hunks[-1][-1]:  # the end of the patch
        hunks[-1].pop()
    return head, hunks


def _named(change: Change, kind: Kind, lines: Lines | None, head: list[str]) -> str:
    """The line that names a file: what became of it, how much, and its mode where that is news."""
    word = {"A": "new", "D": "removed", "T": "another kind of file"}.get(change.status, "changed")
    said = [f"{word} {_NOUNS[kind]}".strip()]
    if lines is not None and (lines.added or lines.removed):
        said.append(f"+{lines.added} -{lines.removed}")
    modes = [line for line in head if line.startswith(("old mode", "new mode", "new file mode 1"))]
    said += [line for line in modes if not line.endswith("new file mode 100644")]
    binary = any(line.startswith("GIT binary patch") for line in head)
    if binary:
        said.append("binary")
    if kind == "generated" or binary:
        said += [f"content {line[6:].partition(' ')[0]}" for line in head if line.startswith("index ")]
    path = change.path.replace("\n", "\\n")  # a name cannot pretend to be another line
    return f"=== {path}: {', '.join(said)}"


def _shown(lines: Sequence[str]) -> str:
    return visible(redact("\n".join(lines))[0]).strip("\n")


# ------------------------------------------------------------------ parts


def _by_file(hunks: Sequence[ShownHunk]) -> list[list[ShownHunk]]:
    files: list[list[ShownHunk]] = []
    for hunk in hunks:
        if not files or files[-1][-1].path != hunk.path:
            files.append([])
        files[-1].append(hunk)
    return files


def _stretches(hunk: ShownHunk, room: int, count: Count) -> list[ShownHunk]:
    """The hunk, or stretches of it that each fit."""
    if count(hunk.text) <= room:
        return [hunk]
    head, *lines = hunk.text.split("\n")
    room = room // STRETCHES - 2 * count(head)  # short enough to fill up a part that has something already
    groups: list[list[str]] = [[]]
    used = 0
    for line in _folded(lines, room // (OVERLAP + 1)):
        size = count(line) + 1
        if used + size > room:
            groups.append(groups[-1][-OVERLAP:])
            used = sum(count(each) + 1 for each in groups[-1])
        groups[-1].append(line)
        used += size
    return [
        hunk._replace(
            text="\n".join([f"{head}; stretch {at} of {len(groups)}, {OVERLAP} lines overlap", *group])
        )
        for at, group in enumerate(groups, 1)
    ]


def _folded(lines: Sequence[str], room: int) -> Iterator[str]:
    """The lines; one that would fill a stretch by itself is folded."""
    for line in lines:
        if len(line) <= room:  # a token is at least a character
            yield line
            continue
        for start in range(0, len(line), room):
            more = " [the line goes on]" if start + room < len(line) else ""
            yield line[start : start + room] + more


def _missing(paths: Sequence[str], group: Sequence[ShownHunk]) -> tuple[str, ...]:
    here = {hunk.path for hunk in group}
    return tuple(path for path in paths if path not in here)
