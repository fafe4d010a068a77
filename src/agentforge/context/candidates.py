"""The definitions that the words of a request point at: by what they are called and what they say.

Pure.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from agentforge.context.code_index import CodeIndex, is_test, last_part
from agentforge.context.ranking import Ranking
from agentforge.context.request_words import WORD
from agentforge.languages.lexed import stems, terms_in
from agentforge.languages.values import Symbol

Text = Callable[[str], str | None]
Place = tuple[str, Symbol]

FILES = 12
"""Of so many files that the request is most likely about, the definitions are read."""
_LEAST_SHARE = 0.3
"""What a definition of a file that is hardly about the request counts, against one of the best file."""
_AROUND, _BODY = 0.35, 0.35
"""What a word in a signature or an owner's name, and one in a body, count against one in the own name."""
_EVERYWHERE = 0.5
"""What a word counts that every definition of a file has."""
_AGAIN = 0.6
"""What one more definition of the same class or name counts: others are shown instead."""
_USUAL = 15
"""Lines of a definition; a longer one has more words by chance."""
_SHORT_CLASS = 60


def pointed_at(
    index: CodeIndex, ranking: Ranking, text: Text, rarity: Mapping[str, float]
) -> list[tuple[float, str, Symbol]]:
    """The definitions of the likeliest files with their worth, the most worth first."""
    files = [path for path in ranking.best() if index.files[path].symbols and not is_test(path)][:FILES]
    top = ranking.files[files[0]] or 1.0 if files else 1.0
    scored = []
    for path in files:
        share = _LEAST_SHARE + ranking.files[path] / top
        worth = worth_of(index.files[path].symbols, text(path) or "", rarity)
        scored += [(round(each * share, 9), path, symbol) for symbol, each in worth.items() if each]
    return sorted(scored, key=lambda each: (-each[0], each[1], each[2].start))


def worth_of(symbols: Sequence[Symbol], text: str, rarity: Mapping[str, float]) -> dict[Symbol, float]:
    """How much each definition of a file shares with the request. A word that all of them have tells none
    from the others.
    """
    bodies = _words_of(symbols, text, rarity)
    names = {each: frozenset(stems(last_part(each.name))) for each in symbols}
    around = {
        each: frozenset(
            part for word in WORD.findall(f"{each.name} {each.signature}") for part in stems(word)
        )
        for each in symbols
    }
    leaves = [each for each in symbols if each.kind != "class"] or list(symbols)
    weights = {}
    for word, weight in rarity.items():
        count = sum(word in bodies[each] or word in around[each] for each in leaves)
        telling = math.log(1 + len(leaves) / max(1, count)) / math.log(1 + len(leaves))
        weights[word] = weight * (_EVERYWHERE + (1 - _EVERYWHERE) * telling)
    found = {}
    for each in symbols:
        long = 1 + 0.5 * math.log1p((each.end - each.start + 1) / _USUAL)
        own = _sum(weights, names[each]) / (1 + 0.15 * len(names[each]))
        beside = _AROUND * _sum(weights, around[each] - names[each])
        body = _BODY * _sum(weights, bodies[each] - around[each]) / long
        found[each] = round(own + beside + body, 9) if each.kind != "variable" else 0.0
    return found


def _sum(weights: Mapping[str, float], words: Iterable[str]) -> float:
    return sum(sorted(weights[word] for word in words if word in weights))


def _words_of(
    symbols: Sequence[Symbol], text: str, rarity: Mapping[str, float]
) -> dict[Symbol, frozenset[str]]:
    """Which words of the request the lines of each definition have; of a class, those beside its methods."""
    hits = _hits(text, rarity)
    inner = {
        line for each in symbols if each.kind == "method" for line in hits if each.start <= line <= each.end
    }
    found = {}
    for symbol in symbols:
        lines = [line for line in hits if symbol.start <= line <= symbol.end]
        own = [line for line in lines if symbol.kind != "class" or line not in inner]
        found[symbol] = frozenset(word for line in own for word in hits[line])
    return found


def _hits(text: str, rarity: Mapping[str, float]) -> dict[int, frozenset[str]]:
    """The lines that have words of the request. A stem begins the word that it is the stem of."""
    if not rarity:
        return {}
    some = re.compile("|".join(map(re.escape, sorted(rarity))), re.IGNORECASE)
    wanted = frozenset(rarity)
    lines = ((number, line) for number, line in enumerate(text.splitlines(), start=1) if some.search(line))
    return {number: words for number, line in lines if (words := wanted & terms_in(line[:2000]))}


def picked(
    index: CodeIndex, scored: Iterable[tuple[float, str, Symbol]], most: int, known: Sequence[Place]
) -> list[Place]:
    """The best of these, none within another or what is known, and not all of one class."""
    left = {(path, symbol): worth for worth, path, symbol in scored}
    taken: dict[tuple[str, str], int] = {}
    best: list[Place] = []
    while left and len(best) < most:
        path, symbol = max(
            left, key=lambda each: (left[each] * _AGAIN ** _seen(taken, each), each[0], -each[1].start)
        )
        del left[(path, symbol)]
        whole = with_owner(path, symbol, index)
        if not is_around(path, whole, (*known, *best)):
            best.append((path, whole))
            for key in _kin(path, symbol):
                taken[key] = taken.get(key, 0) + 1
    return best


def _kin(path: str, symbol: Symbol) -> list[tuple[str, str]]:
    """What a definition has in common with others: its class, and a name that every class has."""
    owner, _, last = symbol.name.rpartition(".")
    every = [("", last)] if last.startswith("__") else [(path, symbol.name)]
    return [*every, (path, owner)] if owner else every


def _seen(taken: Mapping[tuple[str, str], int], place: Place) -> int:
    return sum(taken.get(key, 0) for key in _kin(*place))


def with_owner(path: str, symbol: Symbol, index: CodeIndex) -> Symbol:
    """A method of a short class is read with its class."""
    owner = symbol.name.rpartition(".")[0]
    short = (each for each in index.files[path].symbols if each.name == owner and each.kind == "class")
    return next((each for each in short if each.end - each.start < _SHORT_CLASS), symbol)


def is_around(path: str, symbol: Symbol, known: Iterable[Place]) -> bool:
    """Whether a definition is one of these, or holds one, or is within one."""
    return any(
        path == other_path and symbol.start <= other.end and other.start <= symbol.end
        for other_path, other in known
    )
