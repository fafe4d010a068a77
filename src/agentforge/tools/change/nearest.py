"""What an edit probably meant: when its text is not in the file, the lines that come closest."""

import difflib
import re

from agentforge.tools.look.source import lines_of, numbered

_COMPARED_LINES = 5000
_COMPARED_CHARS = 400
_EFFORT = 3_000_000
"""Pairs of characters that full comparisons may look at: lines that are all alike would take minutes."""
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
