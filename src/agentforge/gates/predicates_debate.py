"""Rules about the options of a debate: they are a choice that somebody can make and name."""

import re

from agentforge.gates.subject import Subject, parts

LEAST_OPTIONS = 3
_WORDS = re.compile(r"\w+")


def options_are_a_choice(subject: Subject) -> list[str]:
    """Three or more, each with a name that no other one contains: a decision that names one names no other."""
    if subject.artifact.get("derived"):
        return []
    names = [str(option.get("name", "")) for option in parts(subject.artifact, "options")]
    if len(names) < LEAST_OPTIONS:
        return [f"options: there are {len(names)}, and a debate has {LEAST_OPTIONS} or more"]
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
