"""Which option a decision takes, read from its words: what it turns down, and what it only compares, is not
chosen. Where the words contradict themselves, nothing is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from agentforge.documents.items import plain

Stance = Literal["turned down", "compared", "named", "chosen"]

_NOT = frozenset(
    {
        "not",
        "never",
        "neither",
        "nor",
        "against",
        "than",
        "without",
        "over",
        "avoid",
        "avoids",
        "avoiding",
        "reject",
        "rejects",
        "rejected",
        "rejecting",
        "drop",
        "drops",
        "dropping",
        "discard",
        "discards",
        "abandon",
        "abandons",
        "exclude",
        "excludes",
        "decline",
        "declines",
    }
)
_CHOOSES = frozenset(
    {
        "choose",
        "chooses",
        "chose",
        "chosen",
        "choosing",
        "use",
        "uses",
        "using",
        "take",
        "takes",
        "taking",
        "adopt",
        "adopts",
        "adopting",
        "select",
        "selects",
        "selected",
        "pick",
        "picks",
        "picked",
        "go",
        "goes",
        "going",
        "decide",
        "decided",
        "prefer",
        "prefers",
    }
)
_BEGINS_ANEW = frozenset({"we", "but", "so", "therefore", "hence"})
_LISTS = frozenset({"not", "neither", "never", "nor"})
_COMPARES = frozenset({"between", "compared", "considered", "weighed", "discussed", "among"})
_IS = frozenset({"is", "was", "are", "were", "be", "been", "gets"})
_OUT = frozenset({"rejected", "dropped", "discarded", "declined", "excluded", "abandoned", "out"})
_LOSES = frozenset({"loses", "lost"})
_NEAR = 2
"""How many words after one that turns down a verb of choosing still belongs to it: `not to use`."""
_WINDOW = 40
"""How many words on each side of a name are looked at."""
_PIECE = re.compile(
    r"\w+|(?P<end>[.!?;:](?=\W|$)|[\u2013\u2014()]|\n[ \t]*\n|\n[ \t]*[-*+][ \t]|[ \t]-[ \t])|(?P<comma>,)"
)
_RATIONALE = re.compile(r"(?im)^\W*rationale\b|\brationale\s*:")


class _Word(NamedTuple):
    text: str
    clause: int
    listed: bool
    """Whether its clause follows a comma."""


@dataclass(frozen=True, slots=True)
class _Mention:
    at: int
    end: int
    name: str
    stance: Stance


def chosen_name(text: str, names: Mapping[str, Sequence[str]]) -> str | None:
    """The option that a text chooses, of those that `names` has with all that each is called. Of names within
    one another the longest counts.
    """
    found = _mentions(_words(text), names)
    said = [each for each in found if each.stance in ("named", "chosen")]
    if not said:
        return None
    first = said[0]
    words = _words(text)
    beside = [each for each in said if words[each.at].clause == words[first.at].clause]
    taken = next((each for each in beside if each.stance == "chosen"), first).name
    decided = _mentions(_words(_RATIONALE.split(text, maxsplit=1)[0]), names)
    down = any(each.name == taken and each.stance == "turned down" for each in decided)
    other = any(each.name != taken and each.stance == "chosen" for each in decided)
    return None if down and other else taken


def flat(text: str) -> list[str]:
    """The words of a text, without markup and case."""
    return re.findall(r"\w+", plain(text).casefold())


def _words(text: str) -> list[_Word]:
    text = re.sub(r"n['\u2019]t\b|\bcannot\b", " not", text.casefold().replace("**", " "))
    found: list[_Word] = []
    clause, listed = 0, False
    for piece in _PIECE.finditer(text):
        if piece["end"] or piece["comma"]:
            clause, listed = clause + 1, bool(piece["comma"])
        else:
            found.append(_Word(piece[0], clause, listed))
    return found


def _mentions(words: list[_Word], names: Mapping[str, Sequence[str]]) -> list[_Mention]:
    spelled = sorted(
        ((flat(each), option) for option, called in names.items() for each in called),
        key=lambda row: -len(row[0]),
    )
    texts = [word.text for word in words]
    places: list[tuple[int, int, str]] = []
    at = 0
    while at < len(texts):
        for name, option in spelled:
            if len("".join(name)) > 1 and texts[at : at + len(name)] == name:
                places.append((at, at + len(name), option))
                at += len(name)
                break
        else:
            at += 1
    found: list[_Mention] = []
    for number, (start, end, option) in enumerate(places):
        until = places[number + 1][0] if number + 1 < len(places) else len(words)
        before = found[-1] if found else None
        stance = _stance(words, start, before)
        if _is_turned_down(
            [
                word.text
                for word in words[end : min(until, end + _WINDOW)]
                if word.clause == words[start].clause
            ]
        ):
            stance = "turned down"
        found.append(_Mention(start, end, option, stance))
    return found


def _stance(words: list[_Word], at: int, before: _Mention | None) -> Stance:
    """What the words of its clause before a name say of it."""
    near = words[max(0, at - _WINDOW) : at]
    clause = [word.text for word in near if word.clause == words[at].clause]
    if words[at].listed and before is not None and set(clause) <= {"or", "nor", "and"}:
        last = {word.text for word in near if word.clause == words[at].clause - 1}
        if before.stance == "turned down" and (last & _LISTS or words[before.at].listed):
            return "turned down"  # the list goes on
    stance: Stance = "named"
    since = 0
    for number, word in enumerate(clause):
        behind = clause[number + 1] if number + 1 < len(clause) else ""
        if (
            word in _NOT
            or (word == "instead" and behind == "of")
            or (word == "no" and number + 1 == len(clause))
        ):
            stance, since = "turned down", number
        elif word in _BEGINS_ANEW:
            stance = "named"
        elif word in _CHOOSES and (stance != "turned down" or number - since > _NEAR):
            stance = "chosen"
        elif word in _COMPARES and stance == "named":
            stance = "compared"
    return stance


def _is_turned_down(after: list[str]) -> bool:
    """Whether the words after a name turn it down: `was considered and rejected`, `is not chosen`."""
    if _LOSES.intersection(after[:1]):
        return True
    if not _IS.intersection(after[:2]):
        return False
    denied = any(
        one == "not" and other in _CHOOSES | {"used", "taken", "adopted"} for one, other in pairwise(after)
    )
    return denied or bool(_OUT.intersection(after[:6]))
