"""Which files and definitions of a tree a request is about, as numbers. Pure, and the same on every machine.

First words: a file that shares rare words with the request, in its path and its definitions before its text.
Then the graph of references: what those files use is worth reading too. That is personalised PageRank, found
by pushing weight along edges from where it starts; the work depends on how far the weight goes, not on the
size of the tree.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentforge.context.code_index import CodeIndex, is_aside, is_test, last_part, path_terms
from agentforge.context.request_words import WORD, wanted
from agentforge.languages.generated import is_in_made_folder
from agentforge.languages.lexed import stems
from agentforge.languages.names import BUILTINS
from agentforge.languages.table import is_declaration
from agentforge.languages.values import Symbol

_STAY = 0.4
"""The share of a file's weight that stays; the rest goes on to what it uses."""
_LEAST = 1e-3
"""Weight below this is not pushed on."""
_STARTS = 40
"""Files that weight starts from."""
_DEFINERS = 6
"""A name that more files define says nothing about any of them."""
_DATA = 0.3
_TEST = 0.5


@dataclass(frozen=True, slots=True)
class Focus:
    """What a map is drawn for."""

    request: str = ""
    paths: tuple[str, ...] = ()
    """Files that are named, open, or fail now."""
    symbols: tuple[str, ...] = ()
    """`path::name` of definitions that are named."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Worth of files, and how much each stem of the request says."""

    files: Mapping[str, float]
    rarity: Mapping[str, float] = field(default_factory=dict)

    def best(self) -> list[str]:
        """Paths, the most worth first; the order of equals is that of their names."""
        return sorted(self.files, key=lambda path: (-self.files[path], path))


def rank(index: CodeIndex, focus: Focus) -> Ranking:
    """The worth of every file for this focus, but for those that tools made."""
    rarity = _rarity(index, wanted(focus.request))
    start = _starts(index, focus, rarity)
    reached = _pushed(index, start) if start else {}
    made = {path for path in index.files if is_in_made_folder(path)} - {*focus.paths}
    worth = {
        path: round(start.get(path, 0.0) + reached.get(path, 0.0), 12)
        for path in index.files
        if path not in made
    }
    return Ranking(worth, rarity)


def symbol_worth(symbol: Symbol, rarity: Mapping[str, float]) -> float:
    """How much a definition's own name and signature share with the request; its last name counts most."""
    own = frozenset(stems(last_part(symbol.name)))
    around = frozenset(
        part for word in WORD.findall(f"{symbol.name} {symbol.signature}") for part in stems(word)
    )
    weight = sum(rarity[each] for each in own if each in rarity) / (1 + 0.15 * len(own))
    return round(weight + 0.35 * sum(rarity[each] for each in around - own if each in rarity), 9)


def _rarity(index: CodeIndex, sought: Mapping[str, float]) -> dict[str, float]:
    """How much each stem says: the fewer files have it, the more. One that none has says nothing."""
    total = len(index.files)
    rarity: dict[str, float] = {}
    for each, counts in sought.items():
        count = sum(each in facts.terms or each in path_terms(path) for path, facts in index.files.items())
        if count:
            rarity[each] = counts * math.log(1 + total / count)
    return rarity


def _starts(index: CodeIndex, focus: Focus, rarity: Mapping[str, float]) -> dict[str, float]:
    """The files that the ranking starts from, with weights whose sum is 1."""
    found: dict[str, float] = {}
    for path, facts in index.files.items():
        score = 0.0
        in_path = path_terms(path)
        for each, weight in rarity.items():
            if each in facts.headings:
                score += 3 * weight
            elif each in facts.terms:
                score += weight
            if each in in_path:
                score += 2 * weight
        if score:
            long = 1 + 0.3 * math.log1p(len(facts.terms) / 200)
            beside = is_test(path) or is_aside(path) or is_declaration(path)
            kind = _TEST if beside else 1.0 if facts.symbols else _DATA
            found[path] = score**1.5 / long * kind
    best = sorted(found, key=lambda path: (-found[path], path))[:_STARTS]
    weights = {path: found[path] for path in best}
    most = max(weights.values(), default=1.0)
    for path in (*focus.paths, *(name.partition("::")[0] for name in focus.symbols)):
        if path in index.files:
            weights[path] = weights.get(path, 0.0) + 2 * most
    total = sum(weights.values())
    return {path: weight / total for path, weight in weights.items()} if total else {}


def _pushed(index: CodeIndex, start: Mapping[str, float]) -> dict[str, float]:
    """Personalised PageRank by forward push: what is below `_LEAST` stays where it is."""
    rank: dict[str, float] = {}
    rest = dict(start)
    waiting = deque(sorted(start, key=lambda path: (-start[path], path)))
    queued = set(waiting)
    edges: dict[str, list[tuple[str, float]]] = {}
    while waiting:
        path = waiting.popleft()
        queued.discard(path)
        weight = rest.get(path, 0.0)
        if weight < _LEAST:
            continue
        rest[path] = 0.0
        if path not in edges:
            edges[path] = _edges(index, path)
        rank[path] = rank.get(path, 0.0) + _STAY * weight
        for target, share in edges[path]:
            rest[target] = rest.get(target, 0.0) + (1 - _STAY) * weight * share
            if rest[target] >= _LEAST and target not in queued:
                queued.add(target)
                waiting.append(target)
    for path, weight in rest.items():
        rank[path] = rank.get(path, 0.0) + _STAY * weight
    return {path: round(weight, 12) for path, weight in rank.items()}


def _edges(index: CodeIndex, path: str) -> list[tuple[str, float]]:
    """The files that define what a file uses, each with its share."""
    facts = index.files[path]
    weights: dict[str, float] = {}
    for name in facts.outside:
        if name in BUILTINS:
            continue
        definers = index.definers.get(name, ())
        if not definers or len(definers) > _DEFINERS:
            continue
        for target in definers:
            if target != path and not is_test(target):
                weights[target] = weights.get(target, 0.0) + (0.2 if name.startswith("_") else 1.0) / len(
                    definers
                )
    total = sum(math.sqrt(weight) for weight in weights.values())
    return [(target, math.sqrt(weight) / total) for target, weight in sorted(weights.items())]
