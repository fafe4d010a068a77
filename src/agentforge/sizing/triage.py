"""How big a request is, computed from its words and the tree before any model is asked. Pure.

Words are matched whole: "Add a prefix option" is not a fix, "special characters" is not a specification.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentforge.catalog.kinds import asked_for
from agentforge.context.named import TreeFacts
from agentforge.core.pipeline import Lane
from agentforge.languages.table import is_code

Complexity = Literal["trivial", "simple", "moderate", "complex", "epic"]
Action = Literal["create", "modify", "delete", "refactor", "fix", "analyze"]
GoalType = Literal["design", "implement", "test", "review", "fix", "document"]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ACTIONS: Mapping[Action, frozenset[str]] = {
    "fix": _set("fix fixes repair resolve correct debug patch solve"),
    "delete": _set("delete remove drop"),
    "refactor": _set(
        "refactor restructure simplify clean cleanup extract reorganize reorganise split deduplicate"
    ),
    "analyze": _set("analyze analyse review assess audit inspect investigate explain"),
    "create": _set("add create implement introduce write build support provide generate"),
    "modify": _set(
        "change update modify rename extend allow improve set bump use move replace increase decrease "
        "raise lower handle make adjust let"
    ),
}
_GOALS: Mapping[GoalType, frozenset[str]] = {
    "design": _set("design specify plan architect"),
    "fix": _ACTIONS["fix"],
    "test": frozenset({"test"}),
    "review": _ACTIONS["analyze"],
    "document": frozenset({"document"}),
}
_OBJECTS: Mapping[GoalType, frozenset[str]] = {
    "test": _set("test tests"),
    "document": _set("docs documentation readme docstring docstrings changelog"),
    "design": _set("design spec specification"),
}
_TROUBLE = _set(
    "bug bugs broken crash crashes crashed fails failing error errors wrong incorrect incorrectly "
    "regression typo misspelled raises"
)
_POLITE = _set(
    "please can could would you we i should must need needs want to the a an let's lets kindly also just"
)
_BROAD = _set(
    "architecture migrate migration rewrite redesign entire everywhere throughout across system "
    "framework subsystem feature features"
)
HOTFIX_WORDS = 40
HOTFIX_POINTS = 5
"""So many points of a list may be one correction."""
NO_CODE_WORDS = 120
"""A request for documents, data or settings may say what to write."""


@dataclass(frozen=True, slots=True)
class Triage:
    """Where a request starts, and why."""

    lane: Lane
    complexity: Complexity
    action: Action
    goal_type: GoalType
    reasons: tuple[str, ...]


def words(request: str) -> list[str]:
    """Lower-case words; an identifier or a path is one word."""
    return re.findall(r"[a-z0-9_][a-z0-9_./'-]*", request.lower())


def triage(request: str, facts: TreeFacts) -> Triage:
    """Lane, size and kind of a request."""
    said = [word.strip(".'-/") for word in words(request)]
    goal_type, action = _kind(said)
    complexity, why_size = _complexity(request, said, facts)
    lane, why_lane = _lane(request, said, facts)
    weakens = asked_for(request).weakens_tests
    told = (f"it asks for fewer or weaker tests: “{weakens}”",) if weakens else ()
    return Triage(
        lane,
        complexity,
        action,
        goal_type,
        (f"read as {_a_kind(goal_type, action)}", why_size, why_lane, *told),
    )


def _a_kind(goal: GoalType, action: Action) -> str:
    return goal if goal == action else f"{goal} ({action})"


def _kind(said: list[str]) -> tuple[GoalType, Action]:
    """The leading verb decides; a request without one is a fix if it tells of trouble."""
    rest = [word for word in said if word not in _POLITE]
    first = rest[0] if rest else ""
    action = next((name for name, verbs in _ACTIONS.items() if first in verbs), None)
    goal = next((name for name, verbs in _GOALS.items() if first in verbs), None)
    if goal is None and action in ("create", "modify", "refactor"):
        # "Add tests for X": the object within the next words says what is made.
        goal = next((name for name, objects in _OBJECTS.items() if objects.intersection(rest[1:3])), None)
    if goal is not None:
        return goal, action or ("analyze" if goal in ("design", "review") else "create")
    if action is not None:
        return ("fix" if action == "fix" else "review" if action == "analyze" else "implement"), action
    if _TROUBLE.intersection(said) or _ACTIONS["fix"].intersection(said):
        return "fix", "fix"
    later = next((name for word in rest for name, verbs in _ACTIONS.items() if word in verbs), None)
    return "implement", later if later is not None and later != "analyze" else "modify"


def _complexity(request: str, said: list[str], facts: TreeFacts) -> tuple[Complexity, str]:
    places = len(set(facts.named_paths) | {symbol.partition("::")[0] for symbol in facts.named_symbols})
    broad = sorted(_BROAD.intersection(said))
    points = _points(request)
    counted = (
        f"{len(said)} word{'s' * (len(said) != 1)}, {_named(places)}"
        + (f", {points} points" if points else "")
        + (f", “{broad[0]}”" if broad else "")
    )
    if len(said) > 400 or points > 15 or (len(broad) > 1 and len(said) > 150):
        return "epic", counted
    if len(said) > 200 or places > 5 or points > 7 or len(broad) > 1:
        return "complex", counted
    if len(said) > 80 or places > 2 or points > 2 or broad:
        return "moderate", counted
    return "simple", counted


def _named(places: int) -> str:
    return (
        "no existing file is named"
        if not places
        else f"{places} existing file{'s are' if places > 1 else ' is'} named"
    )


def _points(request: str) -> int:
    """How many points a request lists."""
    return len(re.findall(r"^\s*(?:[-*+]|\d+[.)])\s+\S", request, re.MULTILINE))


def _lane(request: str, said: list[str], facts: TreeFacts) -> tuple[Lane, str]:
    """A hotfix asks for no code, or names one place that exists, however many words it takes. What turns out
    larger goes on in a higher lane; what is delicate is read for security in every lane.
    """
    points = _points(request)
    places = set(facts.named_paths) | {symbol.partition("::")[0] for symbol in facts.named_symbols}
    places = places - facts.aside or places
    code = [path for path in places if is_code(path)]
    most = NO_CODE_WORDS if not code else HOTFIX_WORDS
    if (asked := asked_for(request)).kind == "no_code" and len(code) <= 1 and len(said) <= most:
        return "hotfix", f"hotfix: it asks for no code (“{asked.words}”)"
    places = set(code) or places  # a document that is named beside the code says what to do, not where
    if len(places) != 1:
        return "small", f"small because {_named(len(places))}, and a hotfix needs exactly one"
    if points > HOTFIX_POINTS:
        return "small", f"small: {points} points are more than one correction"
    if broad := sorted(_BROAD.intersection(said)):
        return "small", f"small: “{broad[0]}” is more than one place"
    return "hotfix", f"hotfix: one place is named, {next(iter(places))}"
