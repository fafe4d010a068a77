"""The words of a decision, in their clauses: what each follows, where it stands, and what is struck out.

A table is read row by row, a list item by item; a heading, or a line that ends with a colon, says what the
rows and items below it are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from agentforge.catalog.policies import read_policy, section
from agentforge.documents.items import plain

_PIECE = re.compile(
    r"\w+|(?P<stop>[.!?;](?=\W|$)|[\u2013\u2014()]|[ \t]-[ \t])"
    r"|(?P<label>:(?=\W|$)|\|)|(?P<comma>,)|(?P<strike>~~)"
)
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,3}[.)])\s+(?:\[(?P<box>[ x])\]\s*)?|\s*\|")
_LABEL = re.compile(r"\W*\w+(?:[ -]\w+){0,2}:\s")
_RULE = re.compile(r"[\s|:-]*")
_MARKS = {"\u2705": " selected ", "\u2714": " selected ", "\u274c": " rejected ", "\u2716": " rejected "}


@dataclass(frozen=True, slots=True)
class ChoiceWords:
    """The words of `policies/choices.yaml`."""

    turns_down: frozenset[str]
    lists: frozenset[str]
    chooses: frozenset[str]
    names: frozenset[str]
    is_chosen: frozenset[str]
    wins: frozenset[str]
    loses: frozenset[str]
    verb_is: frozenset[str]
    is_out: frozenset[str]
    others: frozenset[str]
    compares: frozenset[str]
    argues: frozenset[str]
    doubts: frozenset[str]
    begins: frozenset[str]
    joins: frozenset[str]


@cache
def choice_words() -> ChoiceWords:
    """The words, read when first asked for."""
    return section(ChoiceWords, "choices.yaml", read_policy("choices"))


class PlacedWord(NamedTuple):
    """A word, and where it stands."""

    text: str
    clause: int
    follows: str
    """What its clause follows: a comma, a colon, or anything else, which is empty."""
    line: int
    item: int = 0
    """The number of the item or row that it is in; 0 outside of lists and tables."""
    box: str = ""
    """What the box of its item says: `x`, or a blank; empty without one."""
    struck: bool = False
    below: frozenset[str] = frozenset()
    """The words of the heading, and of the line, that say what its list is."""


def read_words(text: str) -> list[PlacedWord]:
    """The words of a text, clause by clause."""
    folded = text.casefold().replace("**", " ")
    for mark, word in _MARKS.items():
        folded = folded.replace(mark, word)
    folded = re.sub(r"n['\u2019]t\b|\bcannot\b", " not", folded)
    return list(_words(_lines(folded)))


def flat(text: str) -> list[str]:
    """The words of a text, without markup and case."""
    return re.findall(r"\w+", plain(text).casefold())


class _DecisionLine(NamedTuple):
    text: str
    item: int = 0
    box: str = ""
    below: frozenset[str] = frozenset()
    goes_on: bool = False
    """Whether it only goes on with the line before."""


def _lines(text: str) -> Iterator[_DecisionLine]:
    """Each line with its item, its box, and the words that stand above its list."""
    heading = opening = frozenset[str]()
    number, is_open = 0, False
    for line in text.splitlines():
        found = _ITEM.match(line)
        if not line.strip() or _RULE.fullmatch(line):
            is_open = False
            continue
        if found is not None:
            number += 1
            yield _DecisionLine(line[found.end() :], number, found["box"] or "", heading | opening)
        elif line.lstrip().startswith("#"):
            heading, opening = frozenset(flat(line)), frozenset()
            yield _DecisionLine(line)
        else:
            opening = frozenset(flat(line)) if line.rstrip().endswith(":") else frozenset()
            yield _DecisionLine(line, below=heading, goes_on=is_open and not _LABEL.match(line))
        is_open = True


def _words(lines: Iterator[_DecisionLine]) -> Iterator[PlacedWord]:
    clause, number, struck, follows = 0, 0, False, ""
    item, box, below = 0, "", frozenset[str]()
    for line in lines:
        if not line.goes_on:
            clause, number, follows = clause + 1, number + 1, ""
            item, box, below = line.item, line.box, line.below
        for piece in _PIECE.finditer(line.text):
            if piece["strike"]:
                struck = not struck
            elif piece["stop"] or piece["label"] or piece["comma"]:
                follows = ":" if piece["label"] else "," if piece["comma"] else ""
                clause += 1
            else:
                yield PlacedWord(piece[0], clause, follows, number, item, box, struck, below)
