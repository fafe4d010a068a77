"""Which part of something long is shown: the part that shares most with the request. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence

from agentforge.context.ranking import Ranking, symbol_worth
from agentforge.languages.lexed import terms_in
from agentforge.languages.values import Symbol

_READ = 2000
"""Characters of a line that are looked at."""
_LINES = 20_000
_BODY = 0.5
"""What a word in the body of a definition counts, against one in its name."""


def densest(lines: Sequence[str], wanted: Iterable[str], size: int) -> int:
    """Where the window of so many lines begins that has most of these words; of equals in a row, the one in
    the middle, so that there is something to read on either side.
    """
    stems = frozenset(wanted)
    scores = [len(stems & terms_in(line[:_READ])) for line in lines[:_LINES]]
    window = sum(scores[:size])
    best, first, last = window, 0, 0
    for start in range(1, max(1, len(scores) - size + 1)):
        window += scores[start + size - 1] - scores[start - 1]
        if window > best:
            best, first, last = window, start, start
        elif window == best and last == start - 1:
            last = start
    return (first + last) // 2 if best else 0


def by_worth(symbols: Sequence[Symbol], lines: Sequence[str], ranking: Ranking) -> list[Symbol]:
    """Definitions of one file, the most worth first: by what they are called and by what they say. A word
    that all of them have tells none from the others.
    """
    wanted = frozenset(ranking.rarity)
    bodies = {each: wanted & terms_in("\n".join(lines[each.start - 1 : each.end])) for each in symbols}
    telling = {stem: _telling(stem, bodies) for stem in wanted}
    worth = {
        each: symbol_worth(each, ranking.rarity) + _BODY * sum(telling[stem] for stem in body)
        for each, body in bodies.items()
    }
    return sorted(symbols, key=lambda each: (-round(worth[each], 9), each.start))


def _telling(stem: str, bodies: Mapping[Symbol, frozenset[str]]) -> float:
    count = sum(stem in body for body in bodies.values())
    return math.log(len(bodies) / count) if count else 0.0
