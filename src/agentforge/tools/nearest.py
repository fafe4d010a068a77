"""What an edit probably meant: when its text is not in the file, the lines that come closest."""

import difflib
import re

from agentforge.tools.source import lines_of, numbered

_COMPARED_LINES = 5000
_ENOUGH = 0.5
_MARGIN = 2
_SHOWN_LINES = 30
_WITH_NUMBER = re.compile(r"\s*\d+\|")


def describe_miss(text: str, old: str, path: str) -> str:
    """Why `old` was not found in the text, and what stands there instead."""
    wanted = lines_of(old)
    lines = lines_of(text)
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
    starts = (at for at, line in enumerate(have) if line == want[0])
    return next((at + 1 for at in starts if have[at : at + len(want)] == want), 0)


def _closest(lines: list[str], wanted: list[str]) -> int | None:
    """Where the wanted lines would begin. Judged by the longest of them: it says most."""
    if not wanted or not lines:
        return None
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    matcher = difflib.SequenceMatcher(a="", b=wanted[anchor].strip()[:400], autojunk=False)
    best, place = _ENOUGH, None
    for at, line in enumerate(lines[:_COMPARED_LINES]):
        matcher.set_seq1(line.strip()[:400])
        # The cheap upper bounds come first: they spare nearly every full comparison.
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, place = ratio, at
    return None if place is None else max(0, place - anchor)
