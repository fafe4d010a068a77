"""What a step is shown before it asks: definitions and a few lines of prose, never whole files. Pure.

The named places first, and the definitions that a request's words point at; then the head of the file that
will be edited and the tests nearest to it. Callers and callees come as signatures, in one text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from agentforge.context.candidates import Place, Text, is_around, picked, pointed_at
from agentforge.context.code_index import CodeIndex, is_test, last_part, path_terms, tests_of
from agentforge.context.excerpts import by_worth, densest
from agentforge.context.named import TreeFacts, is_outcome
from agentforge.context.ranking import Focus, Ranking, rank, symbol_worth
from agentforge.context.request_words import request_stems
from agentforge.languages.facts import has_facts
from agentforge.languages.lexed import after_notice, stems, without_documentation
from agentforge.languages.names import BUILTINS, references
from agentforge.languages.servers.told import NOTHING, ToldUses
from agentforge.languages.tests import is_run, shares_fixtures
from agentforge.languages.values import Symbol
from agentforge.tools.base import OpenedRange

MAX_SYMBOLS = 6
MAX_LONG = 160
"""Lines of a definition that are shown at once; of a longer class the head, and its methods that matter."""
ROOM = 260
"""Lines that are shown in all."""
HEAD, IMPORTS = 30, 50
"""Lines of a head, and of that of a file that will be edited: where its imports end must be seen."""
PROSE = 40
_GUESSED, _MAPPED, _LOOKED_AT = 4, 4, 80
_GUESSED_LINES = 60
_METHODS, _FEWER = 4, 2
"""Methods of a long class that is named, and of one that is not."""
_FIELDS = 80
_HELPERS, _HELPERS_ROOM = 8, 72
"""Definitions beside what is shown that it uses, and their lines together."""
_AROUND_USE = 16
_CALLERS = 2
"""So few places that use what is named are opened where there is room: a change often belongs there."""
_VALUE = 6
"""Lines of a value that are shown with who uses it."""
_HELPER_LINES = 40
_HEADS = 2
LONG_HEAD, LONG_BODY = 12, 60
"""Lines of a long function that say how it is called, and that matter."""
_TESTS = 2
_TESTED = 4
_USERS = 12
_ASKED = 12
"""Definitions that a language server is asked about."""
_SIGNATURES = 8
_BODY = 40
UNNAMED_HEAD, _UNNAMED = 14, 24
"""Lines of the head of a test file whose tests have no names, and around the use that is shown of it."""

_DECLARED = re.compile(r"\s+(?P<name>\w+)\s*[:=]")
_FIXTURES = 2
_FIXTURE = 40
_NAME = re.compile(r"[A-Za-z_]\w*")
_IMPORT = re.compile(r"(?:import|from|use|using|package|require|#include|export)\b|[)}]|\w+ .*\brequire\(")
"""A line at the left margin that takes something in, or ends where that takes several lines."""
_AFTER_IMPORTS = 8
"""Lines behind the imports of a file: its first constants."""
_COPIED = 3
"""Fewer lines that two files share are chance."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """What is opened for a step, and who uses and is used by it."""

    places: tuple[OpenedRange, ...] = ()
    relations: str = ""
    """Signatures of callers and callees."""
    pointed: tuple[str, ...] = ()
    """`path::name` of what the words of the request point at, open or not; a map has them first."""
    asked: tuple[Place, ...] = ()
    """The definitions whose uses matter: of these a language server is asked."""
    by_server: bool = False
    """Whether a language server has told who uses one of them."""


def focus_of(request: str, facts: TreeFacts, paths: Iterable[str] = ()) -> Focus:
    """What a request and its named places ask a map to show."""
    return Focus(request, tuple(dict.fromkeys((*facts.named_paths, *paths))), facts.named_symbols)


def seeds(index: CodeIndex, focus: Focus, text: Text, told: ToldUses = NOTHING) -> Seeds:
    """The first places of a step. `text` reads a file of the tree; `told` is what a language server said of
    uses.
    """
    ranking = rank(index, focus)
    named = [
        (path, symbol)
        for path, _, name in (each.partition("::") for each in focus.symbols[:MAX_SYMBOLS])
        for symbol in index.files[path].symbols
        if symbol.name == name
    ]
    shown = _Opening(index, ranking, text, frozenset(re.findall(r"\w+", focus.request)))
    inside = [
        (path, symbol)
        for path in focus.paths
        if has_facts(path) and path not in {known for known, _ in named}
        for symbol in _best_of(path, index, ranking, text, _GUESSED if not named else 2)
    ]
    sure = [each for each in (*named, *inside) if not is_outcome(each[1].name)]
    guessed = _guessed(index, ranking, sure, text)
    chosen = [*sure, *guessed[: 2 if sure else _GUESSED]]
    groups = [
        *(shown.of(path, symbol, MAX_LONG) for path, symbol in named),
        *(shown.of(path, symbol, _GUESSED_LINES, _FEWER) for path, symbol in inside[:1]),
        *(around(path, text(path), focus.request) for path in focus.paths if not has_facts(path)),
    ]
    edited = list(dict.fromkeys(path for path, _ in sure or chosen if not is_test(path)))
    groups += [[head] for path in edited[:_HEADS] if (head := _head(path, index, text, IMPORTS)).end > 2]
    tests = _tests(index, ranking, sure[:_TESTED] or chosen[:1], text, told)
    nearest = [place for place in tests if place.path == tests[0].path or shares_fixtures(place.path)]
    groups += [[place] for place in nearest]
    groups += [shown.of(path, symbol, _GUESSED_LINES, _FEWER) for path, symbol in inside[1:]]
    if sure:
        owners = {(path, symbol.name.rpartition(".")[0]) for path, symbol in sure}
        groups += [[each] for each in _helpers(shown, list(_within(groups)), owners)]
        groups += [[place] for each in named[:_TESTED] for place in _where_used(index, *each, text, told)]
    groups += [[place] for place in tests if place not in nearest]
    groups += [
        shown.of(path, symbol, _GUESSED_LINES, _FEWER)
        for path, symbol in chosen
        if (path, symbol) not in (*named, *inside)
    ]
    groups, copies = _once(groups, text)
    places = _within(groups)
    pointed = tuple(f"{path}::{symbol.name}" for path, symbol in guessed)
    about = tuple(each for each in (*sure, *guessed) if each[1].kind != "variable")[:_ASKED]
    relations = _relations(index, sure or chosen[:2], text, tuple(places), told)
    lines = [relations, *(said for place, said in copies.items() if place in places)]
    by_server = any(told.uses(path, symbol.name) for path, symbol in (sure or chosen)[:_TESTED])
    return Seeds(tuple(places), "\n".join(filter(None, lines)), pointed, about, by_server)


def _once(
    groups: Iterable[Iterable[OpenedRange]], text: Text
) -> tuple[list[list[OpenedRange]], dict[OpenedRange, str]]:
    """The groups without lines that another file has just so, as what is built from it does; and of what is
    kept, where else it stands.
    """
    first: dict[str, OpenedRange] = {}
    kept: list[list[OpenedRange]] = []
    copies: dict[OpenedRange, str] = {}
    for group in groups:
        own: list[OpenedRange] = []
        for place in group:
            lines = "\n".join((text(place.path) or "").splitlines()[place.start - 1 : place.end]).strip()
            known = first.setdefault(lines, place)
            if known.path == place.path or lines.count("\n") < _COPIED:
                own.append(place)
                continue
            where = f"{place.path} lines {place.start}-{place.end}"
            said = copies.get(known)
            copies[known] = (
                f"{said}, {where}"
                if said
                else f"{known.path} lines {known.start}-{known.end} stand just so in {where}"
            )
        kept.append(own)
    return kept, copies


def _within(groups: Iterable[Iterable[OpenedRange]]) -> dict[OpenedRange, None]:
    """The first groups of places, the most important first, as far as there is room; the first of all is
    always there.
    """
    places: dict[OpenedRange, None] = {}
    room = ROOM
    for group in groups:
        new = [each for each in group if each not in places]
        size = sum(each.end - each.start + 1 for each in new)
        if size <= room or not places:
            room -= size
            places |= dict.fromkeys(new)
    return places


def around(path: str, text: str | None, request: str) -> list[OpenedRange]:
    """The lines of prose that share most with the request: those around its densest line."""
    lines = (text or "").splitlines()
    if not lines:
        return []
    if len(lines) <= PROSE:
        return [OpenedRange(path, 1, len(lines))]
    at = densest(lines, request_stems(request), PROSE)
    return [OpenedRange(path, at + 1, min(at + PROSE, len(lines)))]


def _guessed(index: CodeIndex, ranking: Ranking, sure: Sequence[Place], text: Text) -> list[Place]:
    """The definitions that the request's words point at, the best first."""
    said = {stem for _, symbol in sure for part in symbol.name.split(".") for stem in stems(part)}
    unsaid = {each: weight for each, weight in ranking.rarity.items() if each not in said}
    found = pointed_at(index, ranking, text, unsaid)
    if sure:
        found = [each for each in found if each[2].end - each[2].start <= _GUESSED_LINES]
    return picked(index, found[:_LOOKED_AT], _MAPPED, sure)


def _best_of(path: str, index: CodeIndex, ranking: Ranking, text: Text, most: int) -> list[Symbol]:
    """The definitions of a named file that the request is about; none stands inside another."""
    lines = without_documentation(text(path) or "").splitlines()
    every = [each for each in index.files[path].symbols if each.kind != "variable"]
    best: list[Symbol] = []
    for each in by_worth(every, lines, ranking):
        if len(best) < most and not is_around(path, each, ((path, known) for known in best)):
            best.append(each)
    return best


@dataclass(frozen=True, slots=True)
class _Opening:
    """How a definition is shown: whole, or what of it matters."""

    index: CodeIndex
    ranking: Ranking
    text: Text
    said: frozenset[str]
    """The words of the request."""

    def of(self, path: str, symbol: Symbol, most: int, methods: int = _METHODS) -> list[OpenedRange]:
        """Of a long function its head and the lines that matter, of a long class its head and the methods."""
        if symbol.end - symbol.start < most:
            return [OpenedRange(path, symbol.start, symbol.end, symbol.name)]
        lines = without_documentation(self.text(path) or "").splitlines()
        if symbol.kind != "class":
            body = lines[symbol.start + LONG_HEAD - 1 : symbol.end]
            size = min(most - LONG_HEAD, LONG_BODY)
            at = symbol.start + LONG_HEAD + densest(body, self.ranking.rarity, size)
            return [
                OpenedRange(path, symbol.start, symbol.start + LONG_HEAD - 1),
                OpenedRange(path, at, min(at + size - 1, symbol.end)),
            ]
        inner = [
            each
            for each in self.index.files[path].symbols
            if each.name.startswith(f"{symbol.name}.") and each.kind != "variable"
        ]
        first = min((each.start for each in inner), default=symbol.end)
        head = OpenedRange(path, symbol.start, max(symbol.start, min(first - 1, symbol.start + HEAD)))
        best = by_worth(inner, lines, self.ranking)[:methods]
        return [
            head,
            *(cut(path, each, min(most, LONG_BODY)) for each in best),
            *(self._fields(path, symbol, inner, lines) if methods == _METHODS else ()),
        ]

    def _fields(
        self, path: str, symbol: Symbol, inner: Sequence[Symbol], lines: Sequence[str]
    ) -> list[OpenedRange]:
        """What a class declares outside of its methods, where the request speaks of it."""
        within = {line for each in inner for line in range(each.start, each.end + 1)}
        declared = [
            number
            for number in range(symbol.start + HEAD, min(symbol.end, len(lines)) + 1)
            if number not in within
            and (found := _DECLARED.match(lines[number - 1]))
            and found["name"] in self.said
        ]
        if not declared:
            return []
        start = max((each.end + 1 for each in inner if each.end < declared[0]), default=symbol.start)
        end = min((each.start - 1 for each in inner if each.start > declared[0]), default=symbol.end)
        if end - start >= _FIELDS:
            start, end = max(start, declared[0] - PROSE // 4), min(end, declared[-1] + PROSE // 4)
        return [OpenedRange(path, start, min(end, start + _FIELDS - 1))]


def cut(path: str, symbol: Symbol, most: int) -> OpenedRange:
    """A definition whole, or its first lines."""
    if symbol.end - symbol.start < most:
        return OpenedRange(path, symbol.start, symbol.end, symbol.name)
    return OpenedRange(path, symbol.start, symbol.start + most - 1)


def _where_used(
    index: CodeIndex, path: str, symbol: Symbol, text: Text, told: ToldUses
) -> Iterator[OpenedRange]:
    """The places that use a definition, where hardly any do: of a long function the lines around the use."""
    uses = told.uses(path, symbol.name) or _uses_by_name(index, path, symbol, text)
    callers = [
        each
        for each in _callers(index, path, symbol, text, told)
        if each[0] != path or not symbol.start <= each[1].start <= symbol.end
    ]
    for user, each in callers if len(callers) <= _CALLERS else ():
        line = next(line for line in uses[user] if each.start < line <= each.end)
        if each.end - each.start <= 2 * _AROUND_USE:
            yield OpenedRange(user, each.start, each.end, each.name)
        else:
            start = max(each.start, line - _AROUND_USE)
            yield OpenedRange(user, start, min(each.end, line + _AROUND_USE))


def _helpers(
    shown: _Opening, places: Sequence[OpenedRange], owners: AbstractSet[tuple[str, str]]
) -> Iterator[OpenedRange]:
    """Values, functions and classes of the same file that what is shown uses, and methods beside it: to
    change one place, one must read them. Of those that are long, what matters.
    """
    for path in dict.fromkeys(place.path for place in places if not is_test(place.path)):
        open_here = [place for place in places if place.path == path]
        lines = (shown.text(path) or "").splitlines()
        used = Counter(
            said
            for name, line in references(shown.text(path) or "", path)
            if any(place.start <= line <= place.end for place in open_here)
            for said in _spoken_as(name, lines[line - 1])
        )
        closed = [
            symbol
            for symbol in shown.index.files[path].symbols
            if used[_called_as(path, symbol, owners)]
            and not any(place.start <= symbol.start <= place.end for place in open_here)
        ]
        for symbol in closed:
            if symbol.kind == "variable" and symbol.end - symbol.start < _VALUE:
                yield OpenedRange(path, symbol.start, symbol.end, symbol.name)
        found = [symbol for symbol in closed if symbol.kind in ("function", "class", "method")]
        found.sort(
            key=lambda each: (
                -used[_called_as(path, each, owners)],
                each.kind == "class",
                each.end - each.start,
                each.start,
            )
        )
        room = _HELPERS_ROOM
        for symbol in found[:_HELPERS]:
            opened = shown.of(path, symbol, _HELPER_LINES, _FEWER)
            room -= sum(each.end - each.start + 1 for each in opened)
            yield from opened if room >= 0 else ()


def _spoken_as(name: str, line: str) -> Iterator[str]:
    """How a line speaks of a name: `name`, `self.name`, neither where it is of something else."""
    if re.search(rf"\b(?:self|cls|this)\.{name}\b", line):
        yield f"self.{name}"
    if re.search(rf"(?<![\w.]){name}\b", line):
        yield name


def _called_as(path: str, symbol: Symbol, owners: AbstractSet[tuple[str, str]]) -> str:
    """How the code beside it calls a definition: a method of the same class by `self`."""
    owner, _, own = symbol.name.rpartition(".")
    return f"self.{own}" if owner and symbol.kind == "method" and (path, owner) in owners else symbol.name


def _head(path: str, index: CodeIndex, text: Text, most: int = HEAD) -> OpenedRange:
    """The imports of a file and what else stands before its first definition, but for a notice at its top."""
    start = after_notice(text(path) or "")
    first = min(
        (each.start for each in index.files[path].symbols if each.kind != "variable"), default=start + most
    )
    end = max(start, min(start + most - 1, first - 1))
    lines = (text(path) or "").splitlines()[start - 1 : end]
    last = max((at for at, line in enumerate(lines) if _IMPORT.match(line)), default=end)
    return OpenedRange(path, start, min(end, start + last + _AFTER_IMPORTS))


def _tests(
    index: CodeIndex,
    ranking: Ranking,
    chosen: Sequence[tuple[str, Symbol]],
    text: Text,
    told: ToldUses = NOTHING,
) -> list[OpenedRange]:
    """The tests nearest to what will change: of the test files that use it most, the tests that do."""
    names = [last_part(symbol.name) for _, symbol in chosen]
    owners = frozenset(owner for _, symbol in chosen if (owner := _owner(symbol)))
    found: list[OpenedRange] = []
    known = _tests_told(index, chosen, told)
    files = list(known)[:_TESTS] or _test_files(index, ranking, names, owners, [path for path, _ in chosen])
    for path in files:
        source = text(path)
        every = [each for each in references(source or "", path) if each[0] in names or each[0] in owners]
        used = known.get(path) or [line for name, line in every if name in names]
        spoken = [line for name, line in every if name in owners]
        symbols = [each for each in index.files[path].symbols if each.kind in ("function", "method")]
        hits = [
            _Hit(
                each,
                sum(each.start <= line <= each.end for line in used),
                any(each.start <= line <= each.end for line in spoken),
                symbol_worth(each, ranking.rarity),
            )
            for each in symbols
            if not last_part(each.name).startswith("_")
        ]
        using = [hit for hit in hits if hit.uses or hit.of_class]
        using = using or [hit for hit in hits if hit.worth] or hits
        for best in [hit.test for hit in sorted(using, key=_Hit.order)[:1]]:
            found.append(cut(path, best, _BODY))
            found += _fixtures(index, path, best, source or "")
        if using:
            found.append(_head(path, index, text))
        elif source:
            near = densest(source.splitlines(), ranking.rarity, _UNNAMED) + 1 + _UNNAMED // 2
            found += _unnamed(path, source, used or [near], ranking)
    return found


def _tests_told(index: CodeIndex, chosen: Sequence[Place], told: ToldUses) -> dict[str, list[int]]:
    """The test files of which a language server told that they use one of these, with the lines that do;
    those that use most of them first.
    """
    found: dict[str, list[int]] = {}
    for path, symbol in chosen:
        for user, lines in told.uses(path, symbol.name).items():
            if is_test(user) and user in index.files:
                found.setdefault(user, []).extend(lines)
    return dict(sorted(found.items(), key=lambda each: (not is_run(each[0]), -len(each[1]), each[0])))


@dataclass(frozen=True, slots=True)
class _Hit:
    """A test, and how near it is to what will change."""

    test: Symbol
    uses: int
    """How often it uses a name of it."""
    of_class: bool
    """Whether it speaks of a class that a name belongs to: `x.update()` may be of any."""
    worth: float

    def order(self) -> tuple[bool, int, bool, float, int, int]:
        """The nearest first: what uses both, then what speaks of the class."""
        both = (self.uses > 0) + self.of_class
        beside = "test" not in self.test.name.lower()
        return beside, -both, not self.of_class, -self.worth, -self.uses, self.test.start


def _owner(symbol: Symbol) -> str:
    """The class that a method belongs to."""
    return last_part(symbol.name.rpartition(".")[0])


def _unnamed(path: str, source: str, used: Sequence[int], ranking: Ranking) -> list[OpenedRange]:
    """Tests without names, as callbacks are: the head of their file, which shows how they are written, and
    the lines around the use that shares most with the request.
    """
    lines = source.splitlines()
    near = [line for line in used if line > UNNAMED_HEAD] or list(used)
    best = max(near, key=lambda line: (_shared(lines, line, ranking), -line))
    start = max(UNNAMED_HEAD + 1, best - _UNNAMED // 2)
    head = OpenedRange(path, 1, min(UNNAMED_HEAD, len(lines)))
    return (
        [OpenedRange(path, start, min(len(lines), start + _UNNAMED - 1)), head]
        if start <= len(lines)
        else [head]
    )


def _shared(lines: Sequence[str], line: int, ranking: Ranking) -> float:
    """How much the lines around one share with the request."""
    around_it = lines[max(0, line - 1 - _UNNAMED // 2) : line + _UNNAMED // 2]
    words = {stem for each in around_it for name in _NAME.findall(each) for stem in stems(name)}
    return round(sum(weight for stem, weight in ranking.rarity.items() if stem in words), 9)


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


def _test_files(
    index: CodeIndex, ranking: Ranking, names: Sequence[str], owners: AbstractSet[str], paths: Sequence[str]
) -> list[str]:
    """The test files to look into: those that use one of these names, of methods together with their class
    where some do; else the one called after the file, or that the request's words point at: tests may speak a
    language of the project's own.
    """
    if using := tests_of(index, names, ranking.files):
        return ([each for each in using if owners & index.files[each].names] or using)[:_TESTS]
    stem_of = frozenset(stems(paths[0].rpartition("/")[2].partition(".")[0])) if paths else frozenset()
    tests = [path for path in ranking.best() if is_test(path) and index.files[path].symbols]
    called = [path for path in tests if stem_of and stem_of <= path_terms(path)]
    return (called or tests[:1])[:1]


def _relations(
    index: CodeIndex,
    chosen: Sequence[tuple[str, Symbol]],
    text: Text,
    places: Sequence[OpenedRange],
    told: ToldUses = NOTHING,
) -> str:
    """Who calls what will change, and what that calls, by signature, each once and below its file; nothing
    that is open anyway.
    """
    open_here = {(place.path, line) for place in places for line in range(place.start, place.end + 1)}
    callers: dict[Place, list[str]] = {}
    callees: dict[Place, list[str]] = {}
    for path, symbol in chosen[:2]:
        for each in _callers(index, path, symbol, text, told):
            if (each[0], each[1].start) not in open_here:
                callers.setdefault(each, []).append(symbol.name)
        for each in _callees(index, path, symbol, text, open_here):
            callees.setdefault(each, []).append(symbol.name)
    return "\n".join([*_grouped(callers, "Using {}"), *_grouped(callees, "Used by {}")])


def _grouped(found: Mapping[Place, Sequence[str]], title: str) -> Iterator[str]:
    """Definitions under what they have to do with, and under their file."""
    groups: dict[tuple[str, str], list[Symbol]] = {}
    for (path, symbol), about in found.items():
        groups.setdefault((", ".join(about), path), []).append(symbol)
    for (about, path), symbols in groups.items():
        yield f"{title.format(about)}, in {path}:"
        yield from (f"  {each.start}: {_said(each)}" for each in symbols)


def _callers(
    index: CodeIndex, path: str, symbol: Symbol, text: Text, told: ToldUses = NOTHING
) -> list[Place]:
    """Who uses a definition: as a language server told it, else by its name."""
    uses = told.uses(path, symbol.name) or _uses_by_name(index, path, symbol, text)
    users = [user for user in uses if user in index.files and not is_test(user)]
    found = []
    for user in users[:_USERS]:
        for each in index.files[user].symbols:
            inside = any(each.start < line <= each.end for line in uses[user])
            if inside and each.kind in ("function", "method") and (user, each.name) != (path, symbol.name):
                found.append((user, each))
    return found[:_SIGNATURES]


def _uses_by_name(index: CodeIndex, path: str, symbol: Symbol, text: Text) -> Mapping[str, Sequence[int]]:
    """The lines that have the name of a definition, by file, as far as text can tell that they mean it."""
    name = last_part(symbol.name)
    if name.startswith("__") and name.endswith("__"):  # nobody calls it by this name, and every class has it
        return {}
    users = [each for each in index.users(name) if not is_test(each)]
    owner = _owner(symbol)
    if owner and len(index.symbols_named(name)) > 1:
        # `x.update()` is that of this class only where somebody speaks of the class.
        users = [each for each in users if each == path or owner in index.files[each].names]
    found: dict[str, Sequence[int]] = {}
    for user in users[:_USERS]:
        lines = (text(user) or "").splitlines()
        uses = [line for used, line in references(text(user) or "", user) if used == name]
        found[user] = uses if owner else [line for line in uses if _is_meant(name, path, lines[line - 1])]
    return found


def _is_meant(name: str, path: str, line: str) -> bool:
    """Whether a line can mean the definition of a file: `name`, `module.name`, not `values.name`."""
    modules = "|".join(re.escape(part) for part in re.split(r"[/.]", path) if part)
    return re.search(rf"(?<![\w.]){name}\b|\b(?:{modules})\.{name}\b", line) is not None


def _callees(
    index: CodeIndex, path: str, symbol: Symbol, text: Text, open_here: AbstractSet[tuple[str, int]]
) -> list[Place]:
    """What a definition uses. A method of something else cannot be told by its name alone: `x.items()`; so a
    function of another file is not named where some class has a method of its name.
    """
    used = dict.fromkeys(
        name
        for name, line in references(text(path) or "", path)
        if symbol.start <= line <= symbol.end and name not in BUILTINS
    )
    owner = symbol.name if symbol.kind == "class" else symbol.name.rpartition(".")[0]
    found = []
    for name in used:
        known = [each for each in index.symbols_named(name) if not is_test(each[0])]
        own = (path, _method(index, path, owner, name))
        plain = [each for each in known if each[1].kind in ("class", "function") or each == own]
        near = [each for each in plain if each[0] == path]
        if not near and not any(each[1].kind == "method" for each in known):
            near = plain
        if len(near) == 1 and near[0][1] != symbol and (near[0][0], near[0][1].start) not in open_here:
            found.append(near[0])
    if symbol.kind == "class":
        found = [each for each in found if each[0] == path]
    return found[:_SIGNATURES]


def _method(index: CodeIndex, path: str, owner: str, name: str) -> Symbol | None:
    """The method of a class that a method beside it calls so."""
    return next(
        (each for each in index.files[path].symbols if owner and each.name == f"{owner}.{name}"), None
    )


def _said(symbol: Symbol) -> str:
    owner, _, own = symbol.name.rpartition(".")
    said = symbol.signature.replace(f"def {own}", f"def {symbol.name}", 1) if owner else symbol.signature
    return said[:120]
