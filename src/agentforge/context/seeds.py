"""What a step is shown before it asks: definitions and a few lines of prose, never whole files. Pure.

The named places first, and the definitions that a request's words point at; then the head of the file that
will be edited and the tests nearest to it. Callers and callees come as signatures, in one text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agentforge.context.code_index import CodeIndex, is_test, last_part, tests_of
from agentforge.context.named import TreeFacts
from agentforge.context.ranking import Focus, Ranking, rank, request_stems, symbol_worth
from agentforge.languages.facts import has_facts
from agentforge.languages.lexed import stems, terms_in
from agentforge.languages.names import BUILTINS, references
from agentforge.languages.tests import shares_fixtures
from agentforge.languages.values import Symbol
from agentforge.tools.base import OpenedRange

MAX_SYMBOLS = 6
MAX_LONG = 160
"""Lines of a definition that are shown at once; of a longer class the head, and its methods that matter."""
HEAD = 30
PROSE = 40
_GUESSED = 4
_GUESSED_LINES = 90
_TESTS = 2
_USERS = 12
_SIGNATURES = 16
_BODY = 60
_FIXTURES = 2
_FIXTURE = 40
_NAME = re.compile(r"[A-Za-z_]\w*")

Text = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Seeds:
    """What is opened for a step, and who uses and is used by it."""

    places: tuple[OpenedRange, ...] = ()
    relations: str = ""
    """Signatures of callers and callees."""


def focus_of(request: str, facts: TreeFacts, paths: Iterable[str] = ()) -> Focus:
    """What a request and its named places ask a map to show."""
    return Focus(request, tuple(dict.fromkeys((*facts.named_paths, *paths))), facts.named_symbols)


def seeds(index: CodeIndex, focus: Focus, text: Text) -> Seeds:
    """The first places of a step. `text` reads a file of the tree."""
    ranking = rank(index, focus)
    named = [
        (path, symbol)
        for path, _, name in (each.partition("::") for each in focus.symbols[:MAX_SYMBOLS])
        for symbol in index.files[path].symbols
        if symbol.name == name
    ]
    chosen = [*named, *_guessed(index, ranking, focus, named)]
    places: dict[OpenedRange, None] = {}
    for path, symbol in chosen:
        most = MAX_LONG if (path, symbol) in named else _GUESSED_LINES
        places |= dict.fromkeys(_shown(path, symbol, index, ranking, most))
    edited = list(dict.fromkeys(path for path, _ in chosen))
    for path in focus.paths:
        if not has_facts(path):
            places |= dict.fromkeys(around(path, text(path), focus.request))
        elif path not in edited:
            best = _best_of(path, index, ranking, 2)
            edited.append(path)
            places |= dict.fromkeys(
                place for each in best for place in _shown(path, each, index, ranking, _GUESSED_LINES)
            )
    places |= dict.fromkeys(_head(path, index) for path in edited[:3] if not is_test(path))
    places |= dict.fromkeys(_tests(index, ranking, chosen, text))
    return Seeds(tuple(places), _relations(index, named or chosen[:2], text))


def around(path: str, text: str | None, request: str) -> list[OpenedRange]:
    """The lines of prose that share most with the request: those around its densest line."""
    lines = (text or "").splitlines()
    if not lines:
        return []
    wanted = frozenset(request_stems(request))
    if len(lines) <= PROSE:
        return [OpenedRange(path, 1, len(lines))]
    scores = [len(wanted & terms_in(line[:2000])) for line in lines[:20_000]]
    window = sum(scores[:PROSE])
    best, at = window, 0
    for start in range(1, max(1, len(scores) - PROSE + 1)):
        window += scores[start + PROSE - 1] - scores[start - 1]
        if window > best:
            best, at = window, start
    return [OpenedRange(path, at + 1, min(at + PROSE, len(lines)))]


def _guessed(
    index: CodeIndex, ranking: Ranking, focus: Focus, named: Sequence[tuple[str, Symbol]]
) -> list[tuple[str, Symbol]]:
    """The definitions that the request's words point at; fewer where places are named."""
    files = [path for path in ranking.best()[:12] if index.files[path].symbols and not is_test(path)]
    if not files or not ranking.rarity:
        return []
    top = ranking.files[files[0]] or 1.0
    said = {stem for _, symbol in named for part in symbol.name.split(".") for stem in stems(part)}
    unsaid = {each: weight for each, weight in ranking.rarity.items() if each not in said}
    scored = []
    for path in files:
        share = ranking.files[path] / top
        for symbol in index.files[path].symbols:
            worth = symbol_worth(symbol, unsaid)
            if worth and symbol.kind != "variable":
                scored.append((round(worth * (0.3 + share), 9), path, symbol))
    scored.sort(key=lambda each: (-each[0], each[1], each[2].start))
    best: list[tuple[str, Symbol]] = []
    for _, path, symbol in scored:
        if len(best) < (1 if focus.symbols else _GUESSED) and not _is_around(path, symbol, (*named, *best)):
            best.append((path, symbol))
    return best


def _is_around(path: str, symbol: Symbol, known: Iterable[tuple[str, Symbol]]) -> bool:
    """Whether a definition is one of these, or holds one, or is within one."""
    return any(
        path == other_path and symbol.start <= other.end and other.start <= symbol.end
        for other_path, other in known
    )


def _best_of(path: str, index: CodeIndex, ranking: Ranking, most: int) -> list[Symbol]:
    found = [each for each in index.files[path].symbols if symbol_worth(each, ranking.rarity)]
    return sorted(found, key=lambda each: (-symbol_worth(each, ranking.rarity), each.start))[:most]


def _shown(path: str, symbol: Symbol, index: CodeIndex, ranking: Ranking, most: int) -> list[OpenedRange]:
    """A definition whole; of a long one its head, and of a long class the methods that matter."""
    if symbol.end - symbol.start < most:
        return [OpenedRange(path, symbol.start, symbol.end, symbol.name)]
    if symbol.kind != "class":
        return [OpenedRange(path, symbol.start, symbol.start + most - 1)]
    inner = [each for each in index.files[path].symbols if each.name.startswith(f"{symbol.name}.")]
    best = sorted(inner, key=lambda each: (-symbol_worth(each, ranking.rarity), each.start))[:3]
    first = min((each.start for each in inner), default=symbol.end)
    head = OpenedRange(path, symbol.start, max(symbol.start, min(first - 1, symbol.start + HEAD)))
    return [
        head,
        *(OpenedRange(path, each.start, min(each.end, each.start + most - 1), each.name) for each in best),
    ]


def _head(path: str, index: CodeIndex) -> OpenedRange:
    """The imports of a file and what else stands before its first definition."""
    first = min(
        (each.start for each in index.files[path].symbols if each.kind != "variable"), default=HEAD + 1
    )
    return OpenedRange(path, 1, max(1, min(HEAD, first - 1)))


def _tests(
    index: CodeIndex, ranking: Ranking, chosen: Sequence[tuple[str, Symbol]], text: Text
) -> list[OpenedRange]:
    """The tests nearest to what will change: of the test files that use it most, the tests that do."""
    names = [last_part(symbol.name) for _, symbol in chosen[:3]]
    found: list[OpenedRange] = []
    for path in tests_of(index, names)[:_TESTS]:
        source = text(path)
        used = [line for name, line in references(source or "", path) if name in names]
        symbols = [each for each in index.files[path].symbols if each.kind in ("function", "method")]
        hits = [
            (sum(each.start <= line <= each.end for line in used), symbol_worth(each, ranking.rarity), each)
            for each in symbols
        ]
        hits = sorted((hit for hit in hits if hit[0]), key=lambda hit: (-hit[1], -hit[0], hit[2].start))
        for _, _, best in hits[:1]:
            found.append(OpenedRange(path, best.start, min(best.end, best.start + _BODY - 1), best.name))
            found += _fixtures(index, path, best, source or "")
        if hits:
            found.append(_head(path, index))
    return found


def _fixtures(index: CodeIndex, path: str, test: Symbol, source: str) -> list[OpenedRange]:
    """What a test uses of the files that the tests around it share, the nearest file first."""
    used = set(_NAME.findall("\n".join(source.splitlines()[test.start - 1 : test.end])))
    shared = [
        each for each in index.files if shares_fixtures(each) and path.startswith(each.rpartition("/")[0])
    ]
    found: dict[str, OpenedRange] = {}
    for each in sorted(shared, key=lambda known: (-known.count("/"), known)):
        for symbol in index.files[each].symbols:
            if symbol.kind == "function" and symbol.name in used:
                end = min(symbol.end, symbol.start + _FIXTURE - 1)
                found.setdefault(symbol.name, OpenedRange(each, symbol.start, end, symbol.name))
    return list(found.values())[:_FIXTURES]


def _relations(index: CodeIndex, chosen: Sequence[tuple[str, Symbol]], text: Text) -> str:
    """Who calls what will change, and what that calls, by signature."""
    lines: list[str] = []
    for path, symbol in chosen[:2]:
        lines += _callers(index, path, symbol, text)
        lines += _callees(index, path, symbol, text)
    return "\n".join(dict.fromkeys(lines[: 2 * _SIGNATURES]))


def _callers(index: CodeIndex, path: str, symbol: Symbol, text: Text) -> list[str]:
    name = last_part(symbol.name)
    found = []
    for user in [each for each in index.users(name) if not is_test(each)][:_USERS]:
        lines = [line for used, line in references(text(user) or "", user) if used == name]
        for each in index.files[user].symbols:
            inside = any(each.start < line <= each.end for line in lines)
            if inside and each.kind in ("function", "method") and (user, each.name) != (path, symbol.name):
                found.append(f"{user}:{each.start} uses {symbol.name}: {_said(each)}")
    return found[:_SIGNATURES]


def _callees(index: CodeIndex, path: str, symbol: Symbol, text: Text) -> list[str]:
    used = dict.fromkeys(
        name
        for name, line in references(text(path) or "", path)
        if symbol.start <= line <= symbol.end and name not in BUILTINS
    )
    found = []
    for name in used:
        definers = [each for each in index.symbols_named(name) if not is_test(each[0])]
        near = [each for each in definers if each[0] == path] or definers
        if len(near) == 1 and near[0][1].kind in ("class", "function", "method") and near[0][1] != symbol:
            found.append(f"{symbol.name} uses {near[0][0]}:{near[0][1].start}: {_said(near[0][1])}")
    return found[:_SIGNATURES]


def _said(symbol: Symbol) -> str:
    owner, _, own = symbol.name.rpartition(".")
    said = symbol.signature.replace(f"def {own}", f"def {symbol.name}", 1) if owner else symbol.signature
    return said[:120]
