"""A map of a repository: the files that matter most with what they define, then others by name. Pure.

The map is a prefix of one list of lines whose order depends on the tree and the request alone: with more room
there is always more on it, never something else.
"""

from collections.abc import Iterator, Sequence

from agentforge.context.code_index import CodeIndex, is_test
from agentforge.context.ranking import Focus, Ranking, rank, symbol_worth
from agentforge.context.tokens import count_tokens, with_margin
from agentforge.languages.values import Symbol

_SHORT = 100
_ROUNDS: tuple[tuple[int, int], ...] = ((3, 8), (8, 6), (24, 3), (80, 0))
"""How many of the best files are shown with at least how many definitions, round by round."""
_NAME = 40
_FOLDERS = 6
_TWINS = 4
"""Files of fewer definitions are alike by chance."""


def repo_map(index: CodeIndex, focus: Focus, budget: int, pointed: Sequence[str] = ()) -> str:
    """What is where, in at most `budget` tokens. `pointed`: `path::name` of what comes first."""
    ranking = rank(index, focus)
    order = ranking.best()
    whole = _whole(order)
    room = budget - _cost(whole)
    if room < 0:
        return ""
    shown: dict[str, list[tuple[int, str]]] = {}
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


def _drawn(path: str, lines: Sequence[tuple[int, str]]) -> str:
    return "\n".join([path, *(line for _, line in sorted(lines))])


def _additions(
    index: CodeIndex, ranking: Ranking, order: Sequence[str], focus: Focus, pointed: Sequence[str]
) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """File by file and line by line, what the next bit of room is for. None: the file itself."""
    given: dict[str, set[tuple[int, str]]] = {}
    for path, name in ((path, name) for path, _, name in (each.partition("::") for each in pointed)):
        symbol = next((each for each in index.files[path].symbols if each.name == name), None)
        if path not in given:
            given[path] = set()
            yield path, None
        if symbol is not None and (line := _placed(symbol)) not in given[path]:
            given[path].add(line)
            yield path, line
    ordered: dict[str, list[tuple[int, str]]] = {}
    drawn: dict[tuple[str, ...], str] = {}
    for files, most in (*_ROUNDS, (len(order), 0), (24, 40)):
        for path in order[:files]:
            if path not in given:
                given[path] = set()
                yield path, None
            if path not in ordered and most:
                ordered[path] = _told_once(
                    path, _lines(path, index.files[path].symbols, ranking, focus), drawn
                )
            for line in ordered.get(path, ()):
                if len(given[path]) < most and line not in given[path]:
                    given[path].add(line)
                    yield path, line


def _told_once(
    path: str, lines: list[tuple[int, str]], drawn: dict[tuple[str, ...], str]
) -> list[tuple[int, str]]:
    """The definitions of a file; of one that defines just what another does, as what is built from it does,
    that alone.
    """
    same = drawn.setdefault(tuple(line.partition(": ")[2] for _, line in lines), path)
    return lines if same == path or len(lines) < _TWINS else [(0, f"  defines just what {same} does")]


def _lines(path: str, symbols: Sequence[Symbol], ranking: Ranking, focus: Focus) -> list[tuple[int, str]]:
    """The definitions of a file with their place in it, the most worth first."""
    named = {name.partition("::")[2] for name in focus.symbols if name.startswith(f"{path}::")}
    best = sorted(
        symbols,
        key=lambda each: (
            each.name not in named,
            -symbol_worth(each, ranking.rarity),
            each.kind == "variable",
            each.name.rpartition(".")[2].startswith("_"),
            each.name.count("."),
            each.start,
        ),
    )
    # Of what is declared several times, as overloads are, the last one does the work.
    last = {each.name: each for each in symbols}
    told = [each for each in best if last[each.name] is each]
    # What a test file keeps in variables tells nobody where to look.
    return [_placed(each) for each in told if each.kind != "variable" or not is_test(path)]


def _placed(symbol: Symbol) -> tuple[int, str]:
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
