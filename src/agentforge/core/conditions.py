"""Conditions of a pipeline: a closed vocabulary of facts, joined by AND, OR and NOT."""

import re
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Literal, get_args

Fact = Literal[
    "no_ambiguities",
    "trivial_change",
    "nothing_worse",  # no function of the change got harder to read, and nothing was copied
    "delicate_change",
    "spec_provided",  # a specification was handed in with the request
    "tests_provided",
    "no_test_owed",  # the request asks for documents, data, settings, or for the same behaviour in other code
    "only_tests",  # the request asks for tests, and they are there
    "no_changelog",  # the project keeps neither a changelog nor release notes
    "options_provided",  # what is to be decided, and between what, was handed in
    "minor_decision",  # the analysis names few components, and no risk that is likely and grave
]
FACTS: tuple[Fact, ...] = get_args(Fact)

PROVIDED: Mapping[str, Fact] = {
    "requirements": "spec_provided",
    "tests": "tests_provided",
    "options": "options_provided",
}
"""What holds where this part of the work was handed in."""

NOTHING_OWED: tuple[Fact, ...] = ("no_test_owed", "only_tests")
"""What holds where a request owes nothing of a stage, so that there is nothing to work on."""

ALIASES: Mapping[str, str] = {
    "external_spec_provided": "spec_provided",
    "external_tests_provided": "tests_provided",
}
"""Other names that mean the same."""

_CONSTANTS = {"never": False, "always": True}

KNOWN_FACTS: tuple[str, ...] = (*FACTS, *ALIASES, *_CONSTANTS)
"""Every name that a condition may use."""

_OPERATORS = frozenset({"AND", "OR", "NOT", "(", ")"})
_OR = re.compile(r"\bOR\b", re.IGNORECASE)
_TOKEN = re.compile(r"\s*([()]|[A-Za-z_]+)")


def condition_problem(text: str) -> str:
    """What is wrong with a condition; empty if nothing is."""
    try:
        _Reader(text, frozenset()).read()
    except ValueError as error:
        return str(error)
    return ""


def facts_in(text: str) -> list[str]:
    """The names that a condition uses, known or not, as it spells them. A wrong sign raises `ValueError`."""
    return [word for word in _words(text) if word.upper() not in _OPERATORS]


def holds(text: str, facts: Collection[str]) -> bool:
    """Whether a condition is true. One without words never is; a wrong one raises `ValueError`."""
    return bool(text.strip()) and _Reader(text, frozenset(facts)).read()


def held(text: str, facts: Collection[str]) -> str:
    """What a true condition rests on: those of its facts that hold, else its own words."""
    known = [name for word in facts_in(text) if (name := ALIASES.get(word, word)) in facts]
    return ", ".join(dict.fromkeys(known)) or text


def narrowed(text: str, may: str) -> str:
    """The alternatives of a condition that hold only where `may` does; empty where there is none."""
    alternatives = [text] if "(" in text else _OR.split(text.strip())
    return " OR ".join(each.strip() for each in alternatives if goes_beyond(each, may) is None)


def goes_beyond(text: str, may: str) -> tuple[str, ...] | None:
    """The first state of affairs in which a condition holds and `may` does not; None where there is none."""
    named = {ALIASES.get(word, word) for word in (*facts_in(text), *facts_in(may))}
    facts = [fact for fact in FACTS if fact in named]  # no other one makes a difference
    cases = (case for size in range(len(facts) + 1) for case in combinations(facts, size))
    return next((case for case in cases if holds(text, case) and not holds(may, case)), None)


class _Reader:
    """OR binds weakest, then AND, then NOT."""

    def __init__(self, text: str, facts: frozenset[str]) -> None:
        self._text, self._facts = text, facts
        self._words = _words(text)

    def read(self) -> bool:
        value = self._either()
        if self._words:
            raise ValueError(f"`{self._words[0]}` does not belong in the condition `{self._text}`")
        return value

    def _either(self) -> bool:
        value = self._both()
        while self._take("OR"):
            value = self._both() or value
        return value

    def _both(self) -> bool:
        value = self._one()
        while self._take("AND"):
            value = self._one() and value
        return value

    def _one(self) -> bool:
        if self._take("NOT"):
            return not self._one()
        if self._take("("):
            value = self._either()
            if not self._take(")"):
                raise ValueError(f"a `)` is missing in the condition `{self._text}`")
            return value
        if not self._words:
            raise ValueError(f"the condition `{self._text}` ends too early")
        return self._fact(self._words.pop(0))

    def _fact(self, word: str) -> bool:
        name = ALIASES.get(word, word)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name not in FACTS:
            raise ValueError(f"`{word}` is not a known condition; use one of {', '.join(KNOWN_FACTS)}")
        return name in self._facts

    def _take(self, word: str) -> bool:
        found = bool(self._words) and self._words[0].upper() == word
        if found:
            self._words.pop(0)
        return found


def _words(text: str) -> list[str]:
    found, position = [], 0
    stripped = text.strip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ValueError(f"`{stripped[position]}` has no meaning in the condition `{text}`")
        found.append(match[1])
        position = match.end()
    return found
