"""Rules about the options of a debate: they are a choice that somebody can make and name."""

import re
from collections.abc import Mapping

from agentforge.catalog.debates import debate_rules
from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.rules.subject import Subject

_WORDS = re.compile(r"\w+")


def options_are_a_choice(subject: Subject) -> list[str]:
    """Three or more, none with a name that another one contains: who names one names no other."""
    if subject.artifact.get("derived"):
        return []
    names, least = _names(subject.artifact), debate_rules().least_options
    if len(names) < least:
        return [f"options: there are {len(names)}, and a debate has {least} or more"]
    flat = [f" {' '.join(_WORDS.findall(name.casefold()))} " for name in names]
    wrong = [
        f"options: `{name}` has no word in it"
        for name, words in zip(names, flat, strict=True)
        if not words.strip()
    ]
    wrong += [
        f"options: `{outer}` contains the name of the option `{inner}`; give each words of its own"
        for at, inner in enumerate(names)
        for other, outer in enumerate(names)
        if at != other
        and flat[at].strip()
        and flat[at] in flat[other]
        and (flat[at] != flat[other] or at < other)
    ]
    return wrong


def decision_is_an_option(subject: Subject) -> list[str]:
    """What was chosen is an option of the plan, by its name: nothing else was argued about."""
    if subject.artifact.get("derived"):
        return []
    decided = subject.artifact.get("final_decision")
    chosen = str(decided.get("option", "")) if isinstance(decided, dict) else ""
    return _strange(subject, "final_decision.option", chosen)


def argues_for_an_option(subject: Subject) -> list[str]:
    """What is argued for is an option of the plan, by its name: for another nobody can decide."""
    return _strange(subject, "option", str(subject.artifact.get("option", "")))


def _strange(subject: Subject, where: str, given: str) -> list[str]:
    names = _names(subject.inputs.get("options", {}))
    if given in names:
        return []
    listed = "; ".join(f"`{name}`" for name in names) or "none: there is no plan"
    return [f"{where}: `{given}` is no option of the plan; it has {listed}"]


def _names(plan: Mapping[str, Json]) -> list[str]:
    return [str(option.get("name", "")) for option in objects(plan, "options")]
