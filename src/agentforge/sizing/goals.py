"""What a request is for, from its leading words and from what is handed in with it. Pure; only `start` uses
it, and says what it found.

Words are matched whole: "Add a prefix option" is no fix, "special characters" is no specification.
"""

from itertools import pairwise
from typing import Literal, get_args

from agentforge.core.pipeline import Part
from agentforge.core.values import VIOLATION
from agentforge.sizing.triage import words

Goal = Literal[
    "design", "implement", "test", "review", "fix", "document", "research", "write", "analyse", "curate"
]
GOALS: tuple[Goal, ...] = get_args(Goal)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POLITE = _set(
    "please can could would will you we i i'd should must need needs want to let's lets kindly also just "
    "first help me us now"
)
_DETERMINERS = _set("a an the our my your its this that these those some new all each every")
_DESIGNS = _set("design architect specify plan")
_REVIEWS = _set("review analyze analyse assess")
_DOCUMENTS = _set("document")
_FIXES = _set("fix repair resolve")
_TESTS = _set("test")
_RESEARCHES = _set("research")
_ANALYSES = _set("analyze analyse")
_CURATES = _set("curate")
_TIDIES = _set("clean deduplicate normalise normalize tidy")
"""What is done to data, where a file of data is named; else it is code."""
_ALSO_NOUNS = _set("design plan review document test fix research")
_WRITES = _set("write draft propose sketch outline prepare")
_SPECIFICATIONS = _set("specification spec design architecture")
_TEXTS = _set("article essay post whitepaper memo newsletter announcement briefing editorial paper")
_ABOUT = _set("report summary overview")
"""Texts too, but only about something: "write a report to disk" asks for code."""
_PAPERS = _set("document documents table tables chart figure findings notes page")
_ON_DOCUMENTS = _set("research write analyse curate")
_DATA = (".csv", ".tsv", ".jsonl", ".ndjson")
_MANUALS = _set("docs documentation manual tutorial guide")
_GOES_ON = _set("for of that which how to on about document doc")
"""What can follow a document that is asked for: "write a spec for X", never "write spec tests"."""
_BUILDS = _set(
    "implement build add create write code develop make do deliver ship fix change repair refactor"
) | {"mend"}
_FINITE = _set(
    "is are was were be has have had does do did should must shall can can't cannot could would will "
    "won't needs doesn't don't isn't "
    "aren't fails fail crashes crash breaks break raises returns return looks look shows show uses use "
    "gets get"
)
"""Words that make the one before them a subject: "Plan B is broken" plans nothing."""
_SIDE = _set("that which who where when so because for with to if how what why whether")
"""Words that open another clause, whose verbs say nothing of the first word."""


def classify_goal(request: str, given: frozenset[Part] = frozenset()) -> tuple[Goal, str]:
    """The goal, and why. What is handed in says it first, then the leading verb; what asks for words and for
    their making is to be made.
    """
    said = [word.strip(".'-/") for word in words(request)]
    while said and said[0] in _POLITE:
        said = said[1:]
    first, rest = (said[0], said[1:]) if said else ("", [])
    if first in _FIXES and (violation := VIOLATION.search(request)):
        return "fix", f"it names the violation {violation[0]}"
    tests = _asks_for_tests(first, rest)
    if given:
        if tests and "tests" not in given:
            return "test", f"it begins with “{first}”, and a specification is handed in"
        return "implement", "what is handed in is to be built"
    if tests:
        return "implement", "it asks for tests, and no specification is handed in"
    if not said:
        return "implement", "no verb says otherwise"
    return _by_verb(first, rest)


def _by_verb(first: str, rest: list[str]) -> tuple[Goal, str]:
    goal = _asked_for(first, rest)
    if goal is None:
        return "implement", "the request asks for a change"
    if built := _then_builds(rest, texts=goal in _ON_DOCUMENTS):
        return "implement", f"“{first}”, but also “{built}”"
    return goal, f"it begins with “{first}”"


def _asked_for(first: str, rest: list[str]) -> Goal | None:
    if first in _DESIGNS:
        return "design" if _is_verb(first, rest) else None
    if first in _RESEARCHES:
        return "research" if _is_verb(first, rest) else None
    if first in _CURATES or (first in _TIDIES and _names_data(rest)):
        return "curate"
    if first in _ANALYSES and _names_data(rest):
        return "analyse"
    if first in _REVIEWS:
        return "review" if _is_verb(first, rest) and _acts_on(first, rest) else None
    if first in _DOCUMENTS:
        return "document" if _acts_on(first, rest) else None
    if first in _WRITES:
        if _names(rest, _SPECIFICATIONS):
            return "design"
        if _names(rest, _MANUALS):
            return "document"
        about = _names(rest, _TEXTS) or _names(rest, _ABOUT, _set("on about"))
        return "write" if about or _fills_a_document(rest) else None
    return None


def _asks_for_tests(first: str, rest: list[str]) -> bool:
    if first in _TESTS:
        return _acts_on(first, rest)
    return first in {"write", "add"} and bool(_set("test tests").intersection(rest[:2]))


def _acts_on(first: str, rest: list[str]) -> bool:
    """Whether an object follows: an article, a place, or a question. "Document upload" is a thing."""
    if first not in _ALSO_NOUNS:
        return True
    return bool(rest) and (
        rest[0] in _DETERMINERS
        or rest[0] in {"how", "what", "why", "whether"}
        or bool(set("/._:") & set(rest[0]))
    )


def _is_verb(first: str, rest: list[str]) -> bool:
    """Whether a word that can be a noun too asks for something here."""
    if first not in _ALSO_NOUNS or (rest and rest[0] in _DETERMINERS):
        return True
    clause = next((place for place, word in enumerate(rest) if word in _SIDE), len(rest))
    return not _FINITE.intersection(rest[:clause])


def _names_data(rest: list[str]) -> bool:
    """Whether a file of data is named."""
    return any(word.endswith(_DATA) for word in rest) or bool(_set("dataset datasets").intersection(rest))


def _fills_a_document(rest: list[str]) -> bool:
    """`a short welcome page for … in pages/welcome.md`: a text, and the document that it goes into."""
    kinds = _TEXTS | _ABOUT | _set("page letter notes chapter introduction text")
    goes_on = _set("for of on about in into as")
    clause = next((place for place, word in enumerate(rest[:6]) if word in ("that", "which", "to")), 6)
    named = any(word in kinds and then in goes_on for word, then in pairwise(rest[:clause]))
    into = any(
        word in ("in", "into", "as") and then.endswith((".md", ".rst", ".adoc"))
        for word, then in pairwise(rest)
    )
    return named and into


def _names(rest: list[str], documents: frozenset[str], then: frozenset[str] = _GOES_ON) -> bool:
    """`a spec for …`, with at most one word between the article and the document."""
    while rest and rest[0] in _DETERMINERS:
        rest = rest[1:]
    at = next((place for place, word in enumerate(rest[:2]) if word in documents), None)
    if at is None:
        return False
    return rest[at + 1] in then if len(rest) > at + 1 else then is _GOES_ON


def _then_builds(rest: list[str], *, texts: bool) -> str:
    """The verb behind `and` or `then` that asks for more than words; empty if none does. With `texts`,
    writing is what is asked for anyway.
    """
    for place, word in enumerate(rest):
        later = [each for each in rest[place + 1 :] if each not in ("then", "also")]
        if word not in ("and", "then") or not later or later[0] not in _BUILDS:
            continue
        if not texts or not (later[0] == "write" or (_TEXTS | _ABOUT | _PAPERS).intersection(later[1:4])):
            return later[0]
    return ""
