"""Whether what changed in a file has to do with a module that the file imports. Pure.

It has where a changed definition uses a name that the import gives, calls a definition that does, or is used
by one. What cannot be told apart counts as if it had.
"""

import re
from collections.abc import Iterable, Iterator

from agentforge.languages.facts import facts_of
from agentforge.languages.values import Symbol

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NAME = re.compile(r"[^\W\d]\w*")
_WORDS_OF_IMPORTS = frozenset({"from", "import", "as", "require", "const", "let", "var", "use"})
_OPEN, _CLOSED = "([{", ")]}"


def uses_with_change(module: str, path: str, texts: tuple[str, str], patch: str) -> bool:
    """Whether the changed lines of a file, before or after, have to do with this module."""
    sides = zip(texts, _changed(patch), strict=True)
    return any(text and lines and _uses(module, path, text, lines) for text, lines in sides)


def _changed(patch: str) -> tuple[set[int], set[int]]:
    """The lines that differ, by number: those that are gone, and those that are new."""
    gone: set[int] = set()
    new: set[int] = set()
    before = after = 0
    for line in patch.splitlines():
        if hunk := _HUNK.match(line):
            before, after = int(hunk[1]), int(hunk[2])
        elif not before and not after:
            continue  # what stands above the first hunk
        elif line.startswith("-"):
            gone.add(before)
            before += 1
        elif line.startswith("+"):
            new.add(after)
            after += 1
        elif not line.startswith("\\"):
            before, after = before + 1, after + 1
    return gone, new


def _uses(module: str, path: str, text: str, changed: set[int]) -> bool:
    lines = text.splitlines()
    symbols = facts_of(text, path).symbols
    own = [each for each in symbols if each.kind in ("function", "method")]
    given = _given(module, lines, own)
    if given is None or not own:
        return True
    users = [each for each in own if given & _names(lines[each.start - 1 : each.end])]
    used_by_them = frozenset().union(*(_names(lines[each.start - 1 : each.end]) for each in users))
    related = given | {_last(each) for each in users}
    values = [each for each in symbols if each.kind == "variable"]
    for number in changed:
        around = _innermost(number, own) or _innermost(number, values)
        part = lines[around.start - 1 : around.end] if around else lines[number - 1 : number]
        if related & _names(part) or (around and _last(around) in used_by_them):
            return True
    return False


def _given(module: str, lines: list[str], functions: Iterable[Symbol]) -> frozenset[str] | None:
    """The names that the imports of a module give a file, and those beside them outside of functions; None
    where it may be any. What a function imports for itself is in that function, which then names the module.
    """
    inside = {number for each in functions for number in range(each.start, each.end + 1)}
    outside = [statement for number, statement in _statements(lines) if number not in inside]
    if any("*" in each and module in _names([each]) for each in outside):
        return None
    found = frozenset({module})
    for _ in range(2):  # the import, then who uses what it gives
        beside = (names for each in outside if found & (names := _names([each])))
        found = found.union(*beside) - _WORDS_OF_IMPORTS
    return found


def _statements(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each line with those that belong to it, by its brackets or the sign at its end."""
    kept, first, depth = "", 0, 0
    for number, line in enumerate(lines, start=1):
        kept, first = (f"{kept}\n{line}", first) if kept else (line, number)
        depth += sum(line.count(each) for each in _OPEN) - sum(line.count(each) for each in _CLOSED)
        if depth > 0 or line.endswith("\\"):
            continue
        yield first, kept
        kept, depth = "", 0
    if kept:
        yield first, kept


def _names(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(name for line in lines for name in _NAME.findall(line))


def _innermost(number: int, symbols: Iterable[Symbol]) -> Symbol | None:
    around = (each for each in symbols if each.start <= number <= each.end)
    return min(around, key=lambda each: each.end - each.start, default=None)


def _last(symbol: Symbol) -> str:
    return symbol.name.rpartition(".")[2]
