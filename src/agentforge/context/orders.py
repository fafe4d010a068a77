"""Orders to an assistant in text from outside: who is addressed, how, and with what command. Pure, bounded.

Read from `catalog/policies/orders.yaml`. A name is searched first; what stands before and behind it then
tells whether it is spoken to, and whether that is a command. Each name is looked at within a fixed distance,
and few of a sentence, so time grows with length alone.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from agentforge.catalog.policies import check_keys, read_policy, refusal

_BACK, _AHEAD = 120, 420
"""How far from a name an order may begin and end."""
_LONGEST, _MOST_NAMES = 300, 3
"""How much of a sentence is looked at as one, and how many names of a kind in it."""
_SELDOM = 3
"""As often may a text name such that is not about them."""
_BLANK, _SAME_SENTENCE = r"[ \n]", r"(?:(?:[^.!?\f]|[.!?](?![ \n\f])){0,90}?)"
_HEADING = r"(?:only|notes?|notice|instructions?|directives?|rules?)\b"
_NO_LETTER = r"(?<![^\W\u0e00-\uffff])"
"""Not in the middle of a word, where words have blanks between them."""
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[ ~]")
_WORD = re.compile(r"\{([a-z_]+)\}")
_GAP = re.compile(
    r"(?:[ \t]*\r?\n[ \t]*(?:(?:#+|//+!?|/?\*+/?|--+|;+|>+|<!--|\"\"\"|'''|\||%+)[ \t]*)*)+"
    r"|[ \t\xa0]{2,}|[\t\xa0]"
)
_LONG_NAME = re.compile(r"(?<![a-z0-9_])[a-z0-9]++(?:_[a-z0-9]++){4,}")
_ENDS = re.compile(r"[.!?](?=[ \n])|\f")


class Address(NamedTuple):
    """A way to address somebody with a command: what stands around the name."""

    before: re.Pattern[str] | None
    after: re.Pattern[str]
    near: re.Pattern[str] | None
    seldom: bool
    """Only in a text that hardly speaks of such."""


class Tongue(NamedTuple):
    """What assistants are called in another language, and what commands them."""

    names: str
    orders: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Orders:
    """The policy `orders`, ready to search with."""

    names: re.Pattern[str]
    """Every name, each kind of them a group."""
    ways: Mapping[str, Sequence[Address]]
    """By the kind of the name."""
    foreign: re.Pattern[str]
    """The names of other languages, each language a group."""
    tongues: Mapping[str, Tongue]


@cache
def known() -> Orders:
    """The policy, read when first asked for."""
    return orders_from(read_policy("orders"))


def orders_from(document: Mapping[str, Any]) -> Orders:
    """The names and ways of a document. A kind or a word that is not there is refused."""
    check_keys("orders.yaml", document, ("words", "names", "ways", "tongues"))
    words: dict[str, str] = {}
    for name, entries in document["words"].items():
        words[name] = _either(entries, words)
    kinds = {kind: _either(entries, words) for kind, entries in document["names"].items()}
    ways: dict[str, list[Address]] = {kind: [] for kind in kinds}
    for row in document["ways"]:
        check_keys(f"orders.yaml: {row['way']}", row, ("way", "who", "before", "after", "near", "seldom"))
        check_keys(f"orders.yaml: {row['way']}", row["who"].split(), kinds)
        before, near = row["before"], row.get("near", "")
        way = Address(
            _compiled(f"(?:{before})\\Z", words) if before else None,
            _compiled(row["after"], words),
            _compiled(near, words) if near else None,
            row.get("seldom", False),
        )
        for kind in row["who"].split():
            ways[kind].append(way)
    tongues = {
        f"t{at}": Tongue(_either(row["names"], words), re.compile(_NO_LETTER + _either(row["orders"], words)))
        for at, row in enumerate(document["tongues"])
    }
    return Orders(
        re.compile(
            rf"(?<![\w./-]){_groups(kinds)}(?!(?!{_HEADING})\w|-(?!{_HEADING})|\.\w|{words['part_of']})"
        ),
        ways,
        re.compile(_NO_LETTER + _groups({name: tongue.names for name, tongue in tongues.items()})),
        tongues,
    )


def given(lowered: str, drawn: str) -> Iterator[tuple[int, int, bool]]:
    """Where the first order stands, in small letters, or in those as which a reader would take them."""
    for text, is_drawn, search in ((drawn, True, _spoken_to), (lowered, False, _in_other_languages)):
        if (place := search(_spaced(text))) is not None:
            places = _places(text)
            yield places[place[0]], places[place[1] - 1] + 1, is_drawn


def _spoken_to(text: str) -> tuple[int, int] | None:
    policy = known()
    names = list(policy.names.finditer(text))
    counts = Counter(name.lastgroup for name in names)
    sentences = _Sentences(text)
    looked: Counter[tuple[int, str | None]] = Counter()
    for name in names:
        start, end = name.span()
        here = (sentences.at(start), name.lastgroup)
        looked[here] += 1
        if looked[here] > _MOST_NAMES:
            continue
        for way in policy.ways[name.lastgroup or ""]:
            if way.seldom and counts[name.lastgroup] > _SELDOM:
                continue
            if way.before is not None and not way.before.search(text, max(0, start - _BACK), start):
                continue
            if (said := way.after.match(text, end, end + _AHEAD)) is None:
                continue
            if way.near is None or sentences.have(way.near, start):
                return start, max(end, said.end())
    return None


def _in_other_languages(text: str) -> tuple[int, int] | None:
    policy = known()
    sentences = _Sentences(text)
    for name in policy.foreign.finditer(text):
        first, last = sentences.around(name.start(), 0)
        order = policy.tongues[name.lastgroup or ""].orders.search(text, first, last)
        if order is not None:
            return min(name.start(), order.start()), max(name.end(), order.end())
    return None


class _Sentences:
    """The sentences of a text, long ones in parts; what was looked for in one is not looked for again."""

    def __init__(self, text: str) -> None:
        self._text = text
        ends = [0, *(each.end() for each in _ENDS.finditer(text)), len(text)]
        parts = (range(first, last, _LONGEST) for first, last in pairwise(ends))
        self._starts = [start for part in parts for start in part] or [0]
        self._known: dict[tuple[re.Pattern[str], int], bool] = {}

    def at(self, place: int) -> int:
        """Which one a place is in."""
        return max(0, bisect(self._starts, place) - 1)

    def around(self, place: int, behind: int = 1) -> tuple[int, int]:
        """Where the sentence of a place begins, and where those behind it end."""
        at = self.at(place)
        last = at + behind + 1
        return self._starts[at], self._starts[last] if last < len(self._starts) else len(self._text)

    def have(self, pattern: re.Pattern[str], place: int) -> bool:
        """Whether something stands in the sentence of a place, or in the one behind it."""
        key = (pattern, self.at(place))
        if key not in self._known:
            self._known[key] = pattern.search(self._text, *self.around(place)) is not None
        return self._known[key]


def _spaced(text: str) -> str:
    """One blank for each gap, one sign for each break of lines and of paragraphs."""
    return _GAP.sub(_gap, _LONG_NAME.sub(lambda name: name[0].replace("_", " "), text))


def _gap(found: re.Match[str]) -> str:
    lines = found[0].count("\n")
    return "\f" if lines > 1 else "\n" if lines else " "


def _places(text: str) -> list[int]:
    """For each letter of what is searched, where it stands in the text. Made only where one was found."""
    places: list[int] = []
    last = 0
    for gap in _GAP.finditer(text):
        places += [*range(last, gap.start()), gap.start()]
        last = gap.end()
    return [*places, *range(last, len(text))]


def _either(entries: Sequence[str], words: Mapping[str, str]) -> str:
    return f"(?:{'|'.join(_filled(each, words) for each in entries)})"


def _groups(patterns: Mapping[str, str]) -> str:
    return f"(?:{'|'.join(f'(?P<{name}>{pattern})' for name, pattern in patterns.items())})"


def _compiled(pattern: str, words: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(_filled(pattern, words))


def _filled(text: str, words: Mapping[str, str]) -> str:
    """A pattern with the words in their places; a blank is any gap, `~` a few words of a sentence."""
    if missing := [name for name in _WORD.findall(text) if name not in words]:
        raise refusal("orders.yaml", f"there is no word `{missing[0]}`")
    return _WORD.sub(lambda found: words[found[1]], _PIECE.sub(_spelled, text))


def _spelled(piece: re.Match[str]) -> str:
    found = piece[0]
    if found[0] == "[":
        return found.replace(" ", " \\n")
    return {" ": _BLANK, "~": _SAME_SENTENCE}.get(found, found)
