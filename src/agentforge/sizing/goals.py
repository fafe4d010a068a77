"""Which pipeline a request asks for, from its leading words alone. Pure; only `start` uses it, and says what
it found.

Words are matched whole: "Add a prefix option" is no fix, "special characters" is no specification.
"""

from typing import Literal

from agentforge.sizing.triage import words

Goal = Literal["design", "implement"]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POLITE = _set(
    "please can could would will you we i i'd should must need needs want to let's lets kindly also just "
    "first help me us now"
)
_DETERMINERS = _set("a an the our my your its this that these those some new")
_DESIGNS = _set("design architect specify plan")
_ALSO_NOUNS = _set("design plan")
_WRITES = _set("write draft propose sketch outline prepare")
_DOCUMENTS = _set("specification spec design architecture")
_GOES_ON = _set("for of that which how to document doc")
"""What can follow a document that is asked for: "write a spec for X", never "write spec tests"."""
_BUILDS = _set("implement build add create write code develop make do deliver ship fix change")
_FINITE = _set(
    "is are was were be has have had does do did should must shall can can't cannot could would will "
    "won't needs doesn't don't isn't "
    "aren't fails fail crashes crash breaks break raises returns return looks look shows show uses use "
    "gets get"
)
"""Words that make the one before them a subject: "Plan B is broken" plans nothing."""
_SIDE = _set("that which who where when so because for with to if")
"""Words that open another clause, whose verbs say nothing of the first word."""


def classify_goal(request: str) -> tuple[Goal, str]:
    """The pipeline, and why. The leading verb decides; what asks for a design and its making is to be
    made.
    """
    said = [word.strip(".'-/") for word in words(request)]
    while said and said[0] in _POLITE:
        said = said[1:]
    if not said:
        return "implement", "no verb says otherwise"
    first, rest = said[0], said[1:]
    asks = _is_verb(first, rest) if first in _DESIGNS else first in _WRITES and _names_document(rest)
    if not asks:
        return "implement", "it does not begin by asking for a design"
    if built := _then_builds(rest):
        return "implement", f"“{first}”, but also “{built}”"
    return "design", f"it begins with “{first}”"


def _is_verb(first: str, rest: list[str]) -> bool:
    """Whether a word that can be a noun too asks for something here."""
    if first not in _ALSO_NOUNS or (rest and rest[0] in _DETERMINERS):
        return True
    clause = next((place for place, word in enumerate(rest) if word in _SIDE), len(rest))
    return not _FINITE.intersection(rest[:clause])


def _names_document(rest: list[str]) -> bool:
    """`a spec for …`, with at most one word between the article and the document."""
    while rest and rest[0] in _DETERMINERS:
        rest = rest[1:]
    at = next((place for place, word in enumerate(rest[:2]) if word in _DOCUMENTS), None)
    return at is not None and (len(rest) == at + 1 or rest[at + 1] in _GOES_ON)


def _then_builds(rest: list[str]) -> str:
    """The verb behind `and` or `then` that asks for more than words; empty if none does."""
    for place, word in enumerate(rest):
        after = next((later for later in rest[place + 1 :] if later not in ("then", "also")), "")
        if word in ("and", "then") and after in _BUILDS:
            return after
    return ""
