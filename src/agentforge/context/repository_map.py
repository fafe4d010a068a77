"""A map of a repository: the files that matter most with what they define, then others by name. Pure.

A definition that shares a word with the request is told by its signature, the others of its file by line and
name, several in one row: a place that has no word of the request is on the map all the same.

The map is a prefix of one list of lines whose order depends on the tree and the request alone: with more room
there is always more on it, never something else.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from agentforge.context.code_index import CodeIndex, is_test, last_part
from agentforge.context.ranking import Focus, Ranking, rank, symbol_worth
from agentforge.context.tokens import count_tokens, with_margin
from agentforge.languages.values import Symbol

_SHORT = 100
_ROUNDS: tuple[tuple[int, int, int], ...] = ((3, 5, 6), (8, 3, 2), (24, 2, 1), (80, 0, 0))
"""How many of the best files are shown, round by round; with how many signatures, unless a round before told
them, and with at least how many rows of names.
"""
_ALL = 100
_NAMED = 6
"""Definitions that the request names, which come first of all."""
_NAME = 40
_FOLDERS = 6
_TWINS = 4
"""Files of fewer definitions are alike by chance."""
_Line = tuple[int, str]
"""A line of the map below its file, and the line of the file that it begins with."""


def repo_map(index: CodeIndex, focus: Focus, budget: int, pointed: Sequence[str] = ()) -> str:
    """What is where, in at most `budget` tokens. `pointed`: `path::name` of what comes first."""
    ranking = rank(index, focus)
    order = ranking.best()
    whole = _whole(order)
    room = budget - _cost(whole)
    if room < 0:
        return ""
    shown: dict[str, list[_Line]] = {}
    for path, line in _additions(index, ranking, order, focus, pointed):
        room -= _cost(path if line is None else line[1])
        if room < 0:
            break
        lines = shown.setdefault(path, [])
        if line is not None:
            lines.append(line)
    return "\n".join([whole, *(_drawn(path, lines) for path, lines in shown.items())])


def _cost(line: str) -> int:
    return with_margin(count_tokens(line) + 1)


def _drawn(path: str, lines: Sequence[_Line]) -> str:
    return "\n".join([path, *(line for _, line in sorted(lines))])


def _additions(
    index: CodeIndex, ranking: Ranking, order: Sequence[str], focus: Focus, pointed: Sequence[str]
) -> Iterator[tuple[str, _Line | None]]:
    """File by file and line by line, what the next bit of room is for. None: the file itself."""
    given: dict[str, set[_Line]] = {}
    told = tuple(dict.fromkeys((*focus.symbols[:_NAMED], *pointed)))
    for path, _, name in (each.partition("::") for each in told):
        symbol = _once(index.files[path].symbols).get(name)
        if path not in given:
            given[path] = set()
            yield path, None
        if symbol is not None and (line := _placed(symbol)) not in given[path]:
            given[path].add(line)
            yield path, line
    ordered: dict[str, _Lines] = {}
    drawn: dict[tuple[str, ...], str] = {}
    for files, signatures, rows in (*_ROUNDS, (len(order), 0, 0), (24, 0, _ALL)):
        for path in order[:files]:
            if path not in given:
                given[path] = set()
                yield path, None
            if path not in ordered and signatures:
                lines = _lines(path, index.files[path].symbols, ranking, frozenset(told), signatures)
                ordered[path] = _or_twin(path, index.files[path].symbols, lines, drawn)
            for line in ordered[path].first(rows) if rows else ():
                if line not in given[path]:
                    given[path].add(line)
                    yield path, line


@dataclass(frozen=True, slots=True)
class _Lines:
    """What is told of a file: some definitions by their signature, the others in rows of names."""

    signatures: Sequence[_Line]
    rows: Sequence[_Line] = ()

    def first(self, rows: int) -> list[_Line]:
        return [*self.signatures, *self.rows[:rows]]


def _once(symbols: Sequence[Symbol]) -> dict[str, Symbol]:
    """By name: of what is declared several times, as overloads are, the last one does the work."""
    return {each.name: each for each in symbols}


def _or_twin(
    path: str, symbols: Sequence[Symbol], lines: _Lines, drawn: dict[tuple[str, ...], str]
) -> _Lines:
    """The lines of a file; of one that defines just what another does, as what is built from it does, that
    alone.
    """
    same = drawn.setdefault(tuple(sorted(f"{each.name} {each.signature}" for each in symbols)), path)
    twin = same != path and len(symbols) >= _TWINS
    return _Lines([(0, f"  defines just what {same} does")]) if twin else lines


def _lines(
    path: str, symbols: Sequence[Symbol], ranking: Ranking, told: AbstractSet[str], most: int
) -> _Lines:
    """The definitions of a file: at most so many signatures of those that the request shares a word with, the
    most worth first, and the names of all others. `told`: `path::name` of what is signed anyway.
    """
    # What a test file keeps in variables tells nobody where to look.
    every = [each for each in _once(symbols).values() if each.kind != "variable" or not is_test(path)]
    worth = {each: symbol_worth(each, ranking.rarity) for each in every}
    best = sorted(
        (each for each in every if f"{path}::{each.name}" in told or _own_worth(each, ranking)),
        key=lambda each: (
            f"{path}::{each.name}" not in told,
            -worth[each],
            each.kind == "variable",
            each.name.rpartition(".")[2].startswith("_"),
            each.name.count("."),
            each.start,
        ),
    )[:most]
    others = [each for each in every if each not in best]
    return _Lines([_placed(each) for each in best], () if is_test(path) else _by_name(others, worth))


def _own_worth(symbol: Symbol, ranking: Ranking) -> float:
    """What its own name and parameters share with the request, without the name of its class."""
    return symbol_worth(replace(symbol, name=last_part(symbol.name)), ranking.rarity)


def _by_name(symbols: Sequence[Symbol], worth: Mapping[Symbol, float]) -> list[_Line]:
    """Definitions by line and name, those of one class together: first of the classes that the request speaks
    of, variables last.
    """
    owners: dict[tuple[bool, str], list[Symbol]] = {}
    for each in sorted(symbols, key=lambda each: each.start):
        owners.setdefault((each.kind == "variable", each.name.rpartition(".")[0]), []).append(each)
    about: dict[str, float] = {}
    for each, value in worth.items():
        for owner in (each.name, each.name.rpartition(".")[0]):
            about[owner] = max(value, about.get(owner, 0.0))
    order = sorted(
        owners,
        key=lambda key: (key[0], key[1] != "" and not about.get(key[1]), -about.get(key[1], 0.0), key[1]),
    )
    return [line for key in order for line in _rows(key[1], owners[key])]


def _rows(owner: str, symbols: Sequence[Symbol]) -> Iterator[_Line]:
    """`  Parser: 12 feed, 30 close`, in lines of a bounded length."""
    head = f"  {owner or 'also'}:"[:_NAME]
    row, first = head, 0
    for each in symbols:
        part = f" {each.start} {each.name.rpartition('.')[2]}"[:_NAME]
        if first and len(row) + len(part) >= _SHORT:
            yield first, row
            row, first = head, 0
        row += part if not first else f",{part}"
        first = first or each.start
    if first:
        yield first, row


def _placed(symbol: Symbol) -> _Line:
    return symbol.start, f"  {_line(symbol)}"


def _line(symbol: Symbol) -> str:
    """A definition in one line; a method says whose it is."""
    owner, _, own = symbol.name.rpartition(".")
    said = symbol.signature.replace(f"def {own}", f"def {symbol.name}", 1) if owner else symbol.signature
    return f"{symbol.start}: {said}"[:_SHORT]


def _whole(paths: Sequence[str]) -> str:
    """How many files there are, and in which folders most of them: a line of bounded length."""
    counts: dict[str, int] = {}
    for path in paths:
        folder = path.rpartition("/")[0] or "."
        counts[folder] = counts.get(folder, 0) + 1
    fullest = sorted(counts, key=lambda folder: (-counts[folder], folder))[:_FOLDERS]
    said = ", ".join(f"{folder[-_NAME:]}/ {counts[folder]}" for folder in fullest)
    more = f" and {len(counts) - _FOLDERS} more folders" if len(counts) > _FOLDERS else ""
    return f"{len(paths)} files: {said}{more}" if paths else ""
