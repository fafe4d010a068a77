"""Who may import whom, as a project tells its own tools: dependency-cruiser, eslint-plugin-boundaries.

Only what stands in JSON is read: settings that are programs would have to be run. Of patterns, those that
name a folder or a file; a rule that says more is left to the tool itself.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentforge.languages.described import Read
from agentforge.languages.readings import ClosedWay

_CRUISER = ".dependency-cruiser.json"
_ESLINT = (".eslintrc.json", ".eslintrc")
_PLAIN = re.compile(r"\^?(?P<place>[\w@-]+(?:(?:/|\\/|\.|\\\.)[\w@-]+)*)/?(?:\(/\|\$\)|\$|/\.\*|/\.\+)?")


def closed_ways(read: Read) -> list[ClosedWay]:
    """Every way between files that one of these tools closes."""
    return [
        *_cruised(_json(read, _CRUISER)),
        *(way for name in _ESLINT for way in _bounded(_json(read, name))),
    ]


def _cruised(settings: Mapping[str, Any]) -> Iterator[ClosedWay]:
    rules = settings.get("forbidden")
    for rule in rules if isinstance(rules, list) else ():
        if not isinstance(rule, dict) or rule.get("severity") == "ignore":
            continue
        here, there = (rule.get(side) for side in ("from", "to"))
        if not isinstance(here, dict) or not isinstance(there, dict) or {*here, *there} - {"path"}:
            continue  # a circle, an orphan, an exception: more than a place
        sources, targets = _globs(here.get("path")), _globs(there.get("path"))
        if sources and targets:
            yield ClosedWay(f"dependency-cruiser: {rule.get('name', 'forbidden')}", sources, targets)


def _globs(said: object) -> tuple[str, ...]:
    """Regular expressions that are plain paths, as globs; empty if one of them is more than a path."""
    texts = said if isinstance(said, list) else [said]
    found = [_PLAIN.fullmatch(text) if isinstance(text, str) else None for text in texts]
    if not all(found):
        return ()
    places = [each["place"].replace("\\", "") for each in found if each]
    return tuple(place if re.search(r"\.\w{1,4}$", place) else f"{place}/**" for place in places)


def _bounded(settings: Mapping[str, Any]) -> Iterator[ClosedWay]:
    told, rules = settings.get("settings"), settings.get("rules")
    elements = told.get("boundaries/elements") if isinstance(told, dict) else None
    rule = rules.get("boundaries/element-types") if isinstance(rules, dict) else None
    if not isinstance(elements, list) or not isinstance(rule, list) or rule[0] in (0, "off") or len(rule) < 2:
        return
    kinds = {
        str(each["type"]): f"{str(each['pattern']).rstrip('*').rstrip('/')}/**"
        for each in elements
        if isinstance(each, dict) and isinstance(each.get("pattern"), str) and "type" in each
    }
    said = rule[1] if isinstance(rule[1], dict) else {}
    for kind, place in kinds.items():
        closed = {other for other in kinds if other != kind} if said.get("default") == "disallow" else set()
        for row in said.get("rules", ()):
            if kind in _names(row.get("from")):
                closed = (closed - _names(row.get("allow"))) | _names(row.get("disallow"))
        if targets := tuple(kinds[other] for other in sorted(closed) if other in kinds and other != kind):
            yield ClosedWay(f"eslint boundaries: {kind}", (place,), targets)


def _names(said: object) -> set[str]:
    return {str(each) for each in said if isinstance(each, str)} if isinstance(said, list) else {str(said)}


def _json(read: Read, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads((read(name) or b"{}").decode("utf-8", "replace"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
