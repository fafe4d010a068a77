"""What an edit probably meant: when its text is not in the file, the lines that come closest."""

import difflib
import re
from typing import NamedTuple

from agentforge.tools.look.source import lines_of, numbered

_COMPARED_LINES = 5000
_COMPARED_CHARS = 400
_EFFORT = 3_000_000
"""Pairs of characters that full comparisons may look at: lines that are all alike would take minutes."""
_ENOUGH = 0.5
_MARGIN = 2
_SHOWN_LINES = 30
_WITH_NUMBER = re.compile(r"\s*\d+\|")


class Meant(NamedTuple):
    """What an edit can only have meant."""

    at: int
    """Where in the text, in characters."""
    old: str
    new: str
    note: str


def meant(text: str, old: str, new: str) -> Meant | None:
    """The one place where whole lines are `old` but for line numbers before them, blanks at their ends, or
    one indent that all of them lack or have too much; `new` is moved by the same. None where there is none,
    or more than one.
    """
    wanted, given, note = (
        lines_of(old),
        lines_of(new),
        "Its white space differed from the file's, which was kept.",
    )
    if all(_WITH_NUMBER.match(line) for line in wanted if line.strip()):
        wanted = [_WITH_NUMBER.sub("", line, count=1) for line in wanted]
        if all(_WITH_NUMBER.match(line) for line in given if line.strip()):
            given = [_WITH_NUMBER.sub("", line, count=1) for line in given]
        note = "The line numbers in it were left out."
    wanted, given = _trimmed(wanted), _trimmed(given)
    lines = text.split("\n")
    if (
        not wanted
        or (at := _once([line.strip() for line in lines], [line.strip() for line in wanted])) is None
    ):
        return None
    there = lines[at : at + len(wanted)]
    moved = _moved(given, wanted, there)
    if moved is None:
        return None
    start = sum(len(line) + 1 for line in lines[:at])
    end = "\n" if at + len(wanted) < len(lines) else ""
    replaced = "\n".join(there) + end
    shown = "\n".join(moved) + end if moved else ""
    return None if replaced == shown else Meant(start, replaced, shown, note)


def _trimmed(lines: list[str]) -> list[str]:
    """The lines without blank ones before and after them."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _once(lines: list[str], wanted: list[str]) -> int | None:
    """Where these lines stand, if they stand in one place."""
    whole, part = "\n".join(("", *lines, "")), "\n".join(("", *wanted, ""))
    at = whole.find(part)
    if at < 0 or whole.find(part, at + 1) >= 0:
        return None
    return whole.count("\n", 0, at)


def _moved(given: list[str], wanted: list[str], there: list[str]) -> list[str] | None:
    """The new lines, indented as the file is, those that stay as the file has them; None where the difference
    is not the same for every line, or the new lines are not indented as the old ones are: then nobody knows
    which of the two the file should follow.
    """
    if given and _least(given) != _least(wanted):
        return None
    stay = dict(zip(reversed(wanted), reversed(there), strict=True))
    pairs = {(_indent(one), _indent(other)) for one, other in zip(wanted, there, strict=True) if one.strip()}
    more = {other.removesuffix(one) for one, other in pairs if other.endswith(one)}
    if len(more) == 1 and all(other.endswith(one) for one, other in pairs):
        (extra,) = more
        return [stay.get(line, f"{extra}{line}" if line.strip() else "") for line in given]
    less = {one.removesuffix(other) for one, other in pairs if one.endswith(other)}
    if len(less) != 1 or not all(one.endswith(other) for one, other in pairs):
        return None
    (surplus,) = less
    if not all(line.startswith(surplus) for line in given if line.strip()):
        return None
    return [stay.get(line, line.removeprefix(surplus) if line.strip() else "") for line in given]


def _least(lines: list[str]) -> int:
    return min((len(_indent(line)) for line in lines if line.strip()), default=0)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def describe_miss(text: str, old: str, path: str) -> str:
    """Why `old` was not found in the text, and what stands there instead."""
    wanted = lines_of(old)
    lines = lines_of(text)
    if not old.strip():
        return f"`old` is nothing but white space, and `{path}` has no such place; name a line beside it"
    if all(_WITH_NUMBER.match(line) for line in wanted if line.strip()):
        return f"`old` is not in `{path}`: leave the line numbers (`12|`) out of it"
    if same := _same_but_blanks(lines, wanted):
        shown = numbered(lines[same - 1 : same - 1 + min(len(wanted), _SHOWN_LINES)], same)
        return f"`old` is not in `{path}`: white space differs from line {same}, which reads\n{shown}"
    at = _closest(lines, wanted)
    if at is None:
        return f"`old` is not in `{path}`, and nothing there is like it; read the file again"
    first = max(0, at - _MARGIN)
    last = min(len(lines), at + min(len(wanted), _SHOWN_LINES) + _MARGIN)
    return f"`old` is not in `{path}`; the nearest lines are\n{numbered(lines[first:last], first + 1)}"


def _same_but_blanks(lines: list[str], wanted: list[str]) -> int:
    """The line from which the text is the wanted one but for white space; 0 if there is none."""
    have = ["".join(line.split()) for line in lines]
    want = ["".join(line.split()) for line in wanted]
    while want and not want[0]:
        want.pop(0)
    while want and not want[-1]:
        want.pop()
    if not want:
        return 0
    # As one text: its search does not begin anew at every line that is like the first.
    whole = "\n".join(("", *have, ""))
    at = whole.find("\n".join(("", *want, "")))
    return whole.count("\n", 0, at) + 1 if at >= 0 else 0


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """Where the wanted lines would begin. Judged by the longest of them: it says most."""
    if not wanted or not lines:
        return None
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    meant = wanted[anchor].strip()[:_COMPARED_CHARS]
    matcher = difflib.SequenceMatcher(a="", b=meant, autojunk=False)
    best, place = _ENOUGH, None
    seen: set[str] = set()
    effort = _EFFORT
    for at, line in enumerate(lines[:_COMPARED_LINES]):
        text = line.strip()[:_COMPARED_CHARS]
        if text in seen:
            continue
        seen.add(text)
        matcher.set_seq1(text)
        # The cheap upper bounds come first: they spare nearly every full comparison.
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        effort -= len(text) * len(meant)
        if effort < 0:
            break
        if (ratio := matcher.ratio()) > best:
            best, place = ratio, at
    return None if place is None else max(0, place - anchor)
