"""The owner's conventions (AGENTS.md and its like) reduced to what a stage needs. Pure.

A file is read rule by rule: a point of a list, a paragraph, a piece of code. Those that share words with what
the stage makes are kept under their headings, the most telling ones first if there is no room for all.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from agentforge.catalog.policies import check_keys, read_policy, refusal, words, words_by_name
from agentforge.core.pipeline import PARTS, Part
from agentforge.languages.documents.outline import headings

MAX_FILES = 6
MAX_CHARS = 60_000
"""Of one file."""
RULE_CHARS = 600
"""Of a longer rule its first sentences are told."""
TOLD_CHARS = 2_400
"""Of all files together, about 600 tokens."""
_POINT = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+")
_WORD = re.compile(r"[a-z]+")
_PATH = re.compile(r"`[^`\n]*/[^`\n]*`|\]\([^)\n]*\)")
"""A path or an address, whose parts say nothing about the rule."""
_ADDRESS = re.compile(r"\s{0,3}\[[^\]^][^\]]*\]:\s")
"""Where a link of the text leads, which is no rule."""
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_JUDGES: Mapping[Part, tuple[Part, ...]] = {"review": ("tests", "change"), "security": ("change",)}


@dataclass(frozen=True, slots=True)
class ConventionsPolicy:
    """`policies/conventions.yaml`, ready to be asked."""

    files: frozenset[str]
    folders: frozenset[str]
    needs: Mapping[str, frozenset[str]]


class _Rule(NamedTuple):
    order: int
    path: str
    heading: str
    text: str
    worth: int


@cache
def conventions_policy() -> ConventionsPolicy:
    """The policy, read when first asked for."""
    where, document = "conventions.yaml", read_policy("conventions")
    check_keys(where, document, ConventionsPolicy.__dataclass_fields__)
    needs = words_by_name(f"{where}: needs", document["needs"])
    if unknown := sorted(set(needs) - set(PARTS)):
        raise refusal(where, f"`{unknown[0]}` is no part of the work")
    return ConventionsPolicy(
        words(f"{where}: files", document["files"]), words(f"{where}: folders", document["folders"]), needs
    )


def speaks_for_owner(path: str) -> bool:
    """Whether a file of this name holds the owner's conventions, where the base commit has it."""
    return path.rpartition("/")[2] in conventions_policy().files


def convention_files(paths: Iterable[str], about: Collection[str] = ()) -> list[str]:
    """The files that speak for the owner: those of the whole project, then those above places that the
    request is about, the nearest last.
    """
    above = {
        place[:at] for place in about for at in range(len(place)) if place[at] == "/"
    }  # every folder on the way to it
    known = {"": 0, **dict.fromkeys(conventions_policy().folders, 1)}
    found = []
    for path in paths:
        folder = path.rpartition("/")[0]
        if speaks_for_owner(path) and (folder in known or folder in above):
            found.append((known.get(folder, 2 + folder.count("/")), path))
    return [path for _, path in sorted(found)][:MAX_FILES]


def reduced(texts: Mapping[str, str], parts: Collection[Part]) -> dict[str, str]:
    """Of each file what the stage needs that makes these parts; nothing of one that says nothing about
    them.
    """
    needed = [need for part in parts for need in _JUDGES.get(part, (part,))]
    wanted = frozenset(word for need in needed for word in conventions_policy().needs.get(need, frozenset()))
    rules: dict[str, _Rule] = {}
    for path, text in texts.items():
        for heading, said in _rules(text[:MAX_CHARS]):
            worth = 2 * _shared(heading, wanted) + _shared(said, wanted)
            if worth and said not in rules:  # one file is often a copy of another
                rules[said] = _Rule(len(rules), path, heading, said, worth)
    room, kept = TOLD_CHARS, []
    for rule in sorted(rules.values(), key=lambda each: (-each.worth, each.order)):
        if len(rule.text) <= room:
            room -= len(rule.text)
            kept.append(rule)
    return {path: _listed(rule for rule in sorted(kept) if rule.path == path) for path in texts}


def _listed(rules: Iterable[_Rule]) -> str:
    """Rules in the order of their file, each heading once above its own."""
    lines: list[str] = []
    heading = ""
    for rule in rules:
        if rule.heading and rule.heading != heading:
            lines.append(f"{rule.heading}:")
        heading = rule.heading
        lines.append(rule.text)
    return "\n".join(lines)


def _shared(text: str, wanted: Collection[str]) -> int:
    """How many of the wanted beginnings some word of the text has."""
    said = set(_WORD.findall(_PATH.sub(" ", text).lower()))
    return sum(any(word.startswith(start) for word in said) for start in wanted)


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Each rule with the heading that it stands under."""
    lines = text.replace("\r\n", "\n").split("\n")
    titles = {at: head.title for head in headings(text) for at in range(head.line, head.last + 1)}
    heading = ""
    block: list[str] = []
    fenced = False
    for number, line in enumerate(lines, 1):
        if number in titles and not fenced:
            yield from _told(heading, block)
            block, heading = [], titles[number]
            continue
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (not line.strip() or _POINT.match(line)):
            yield from _told(heading, block)
            block = []
        if line.strip() and (fenced or not _ADDRESS.match(line)):
            block.append(line)
    yield from _told(heading, block)


def _told(heading: str, block: list[str]) -> Iterator[tuple[str, str]]:
    text = "\n".join(block).strip("\n")
    if len(text) > RULE_CHARS:
        text = "".join(text[:RULE_CHARS].rpartition(". ")[:2]).rstrip()
    if text and not text.endswith(":"):  # what only announces the next lines says nothing without them
        yield heading, text
