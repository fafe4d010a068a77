"""Which option a decision takes, read from its words: what it turns down, and what it only compares, is not
chosen. Where the words contradict themselves, or name several and take none, nothing is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Literal

from agentforge.gates.debates.words import ChoiceWords, PlacedWord, choice_words, flat, read_words

Stance = Literal["turned down", "compared", "named", "chosen"]

_NEAR = 2
"""How many words after one that turns down or doubts a verb of choosing still belongs to it: `not to use`."""
_WINDOW = 40
"""How many words on each side of a name are looked at."""
_BEHIND = 6
"""How many words behind a name may still say what becomes of it."""
_RATIONALE = re.compile(r"(?im)^\W*rationale\b|\brationale\s*:")
_ARTICLES = frozenset({"the", "a", "an"})


@dataclass(frozen=True, slots=True)
class _Mention:
    at: int
    end: int
    name: str
    stance: Stance = "named"


def chosen_name(text: str, names: Mapping[str, Sequence[str]]) -> str | None:
    """The option that a text chooses, of those that `names` has with all that each is called. Of names within
    one another the longest counts.
    """
    for part in (_RATIONALE.split(text, maxsplit=1)[0], text):
        words = read_words(part)
        if found := _mentions(words, names):
            return _choice(words, found)
    return None


def _choice(words: list[PlacedWord], found: list[_Mention]) -> str | None:
    """What the mentions together say: what is chosen first; else the only one that is left; else the one that
    the text begins with, unless another sentence begins with another one.
    """
    down = {each.name for each in found if each.stance == "turned down"}
    taken = [each for each in found if each.stance == "chosen"]
    if taken:
        first = taken[0]
        clause = words[first.at].clause
        beside = {each.name for each in taken if words[each.at].clause == clause}
        others = {each.name for each in taken} - {first.name}
        return None if len(beside) > 1 or (first.name in down and others) else first.name
    left = [each for each in found if each.stance == "named" and each.name not in down]
    named = {each.name for each in left}
    if len(named) == 1:
        return left[0].name
    opening = [each for each in left if _opens(words, each.at)]
    leads = opening and _begins(words, opening[0].at)
    return opening[0].name if leads and {each.name for each in opening} == {opening[0].name} else None


def _begins(words: list[PlacedWord], at: int) -> bool:
    """Whether a text begins here."""
    return at <= len(_ARTICLES) and {word.text for word in words[:at]} <= _ARTICLES


def _clause_before(words: list[PlacedWord], at: int, back: int = 0) -> list[str]:
    """The words before a place in its clause, or in one before that; no more than the window."""
    clause = words[at].clause - back
    return [word.text for word in words[max(0, at - _WINDOW) : at] if word.clause == clause]


def _opens(words: list[PlacedWord], at: int) -> bool:
    """Whether a name is the first of its clause, which follows no comma."""
    return set(_clause_before(words, at)) <= _ARTICLES and words[at].follows != ","


def _mentions(words: list[PlacedWord], names: Mapping[str, Sequence[str]]) -> list[_Mention]:
    spelled = sorted(
        ((flat(each), option) for option, called in names.items() for each in called),
        key=lambda row: -len(row[0]),
    )
    texts = [word.text for word in words]
    places: list[_Mention] = []
    at = 0
    while at < len(texts):
        for name, option in spelled:
            if len("".join(name)) > 1 and texts[at : at + len(name)] == name:
                places.append(_Mention(at, at + len(name), option))
                at += len(name)
                break
        else:
            at += 1
    enumerated = _enumerated(words, places)
    found: list[_Mention] = []
    for place, after in zip_longest(places, places[1:]):
        last = found[-1] if found else None
        stance = _stance(words, place, last, after, listed=place.at in enumerated)
        found.append(replace(place, stance=stance))
    return found


def _enumerated(words: list[PlacedWord], places: list[_Mention]) -> frozenset[int]:
    """The places of the names that begin an item, a row, or a line as its label, where several do: a list of
    options chooses none of them.
    """
    first = {word.line: at for at, word in reversed(list(enumerate(words)))}
    heads = [
        each
        for each in places
        if first[words[each.at].line] == each.at and (words[each.at].item or _is_label(words, each))
    ]
    several = len({each.name for each in heads}) > 1
    return frozenset(each.at for each in heads) if several else frozenset()


def _is_label(words: list[PlacedWord], place: _Mention) -> bool:
    """Whether a colon follows a name."""
    behind = words[place.end] if place.end < len(words) else None
    return behind is not None and behind.line == words[place.at].line and behind.follows == ":"


def _stance(
    words: list[PlacedWord], place: _Mention, last: _Mention | None, after: _Mention | None, *, listed: bool
) -> Stance:
    """What the words around a name say of it, from the name before it to the one behind."""
    known, here = choice_words(), words[place.at]
    until = after.at if after is not None else len(words)
    if here.struck:
        return "turned down"
    if here.box:
        return "chosen" if here.box == "x" else "turned down"
    line = [word for word in words[place.end : min(until, place.end + _WINDOW)] if word.line == here.line]
    if listed:
        said = {word.text for word in line}
        out, taken = said & (known.is_out | known.others), said & (known.is_chosen | known.wins)
        return "turned down" if out else "chosen" if taken else "compared"
    if here.below & (known.others | known.compares):
        return "compared"
    behind = _said_behind([word.text for word in line if word.clause == here.clause], known)
    if behind == "turned down":
        return behind
    stance = _said_before(words, place, last, after, known)
    if stance == "named" and _stands_alone(words, place):
        stance = _said_by_label(words, place.at, known)
    return behind or stance if stance == "named" else stance


def _said_before(
    words: list[PlacedWord],
    place: _Mention,
    last: _Mention | None,
    after: _Mention | None,
    known: ChoiceWords,
) -> Stance:
    """What the words of its clause before a name say of it, beginning with the name before."""
    here = words[place.at]
    start = max(0, place.at - _WINDOW)
    stance: Stance = "named"
    if last is not None and words[last.at].clause == here.clause:
        start = last.end
        if {word.text for word in words[start : place.at]} <= known.joins:
            stance = last.stance
    elif last is not None and here.follows == "," and _goes_on(words, place, last, after, known):
        return last.stance
    clause = [word.text for word in words[start : place.at] if word.clause == here.clause]
    return _read(clause, stance, known)


def _read(clause: list[str], stance: Stance, known: ChoiceWords) -> Stance:
    since = -_NEAR - 1
    argued = False
    for number, word in enumerate(clause):
        last = clause[number - 1] if number else ""
        behind = clause[number + 1] if number + 1 < len(clause) else ""
        if (
            word in known.turns_down
            or (word == "instead" and behind == "of")
            or (word == "no" and number + 1 == len(clause))
        ):
            stance, since = "turned down", number
        elif word in known.begins and last not in known.doubts:
            stance, argued, since = "named", False, -_NEAR - 1
        elif word in known.argues:
            stance, argued = "compared", True
        elif word in known.doubts:
            stance, since = "compared", number
        elif (word in known.chooses or (word in known.verb_is and last in known.names)) and not argued:
            stance = "chosen" if number - since > _NEAR else stance
        elif word in known.compares and stance == "named":
            stance = "compared"
    return stance


def _goes_on(
    words: list[PlacedWord], place: _Mention, last: _Mention, after: _Mention | None, known: ChoiceWords
) -> bool:
    """Whether a name behind a comma goes on with the list that the last one was in."""
    here = words[place.at]
    clause = _clause_before(words, place.at)
    if words[last.at].clause != here.clause - 1 or not set(clause) <= known.joins:
        return False
    if last.stance == "turned down":
        opened = known.lists.intersection(_clause_before(words, last.at))
        return bool(opened) or words[last.at].follows == ","
    if last.stance != "compared":
        return False
    between = (
        [word.text for word in words[place.end : min(after.at, place.end + _WINDOW)]]
        if after is not None
        else []
    )
    ends = 0 < len(between) < _WINDOW and set(between) <= known.joins
    return ends or not {"and", "or"}.isdisjoint(clause)


def _said_behind(after: list[str], known: ChoiceWords) -> Stance | None:
    """What the words behind a name say of it: `was considered and rejected`, `it is`, `is the fallback`."""
    near = after[:_BEHIND]
    if known.loses.intersection(after[:1]):
        return "turned down"
    if known.wins.intersection(after[:1]) or after[:2] == ["it", "is"]:
        return "chosen"
    if after[:1] == ["only"] and known.doubts.intersection(after[1:2]):
        return "turned down"
    if known.verb_is.intersection(after[:2]):
        taken = known.chooses | known.is_chosen | {"used", "taken"}
        if any(one == "not" and other in taken for one, other in pairwise(after)):
            return "turned down"
        if known.is_out.intersection(near):
            return "turned down"
        if known.is_chosen.intersection(near) and not known.others.intersection(near):
            return "chosen"
    return "compared" if known.others.intersection(near) - {"not"} else None


def _stands_alone(words: list[PlacedWord], place: _Mention) -> bool:
    """Whether a name is a whole clause."""
    behind = words[place.end] if place.end < len(words) else None
    ends = behind is None or behind.clause != words[place.end - 1].clause
    return ends and set(_clause_before(words, place.at)) <= _ARTICLES


def _said_by_label(words: list[PlacedWord], at: int, known: ChoiceWords) -> Stance:
    """What the label before a name says of it. A name that a text begins with is chosen."""
    here = words[at]
    if here.follows != ":":
        return "chosen" if _begins(words, at) else "named"
    label = set(_clause_before(words, at, back=1))
    if label & known.others:
        return "compared"
    return "chosen" if label & known.names else "named"
