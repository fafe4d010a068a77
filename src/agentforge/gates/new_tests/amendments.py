"""Criteria that prove wrong when their tests are written: amended in the suite, on record, and ruled on by
the reviewer.
"""

import re
from typing import Any

from agentforge.gates.flags import Flag
from agentforge.gates.rules.subject import Artifact, fold, name_of, parts

_PLACE = re.compile(r"(?:req-[0-9]{3}\.)?([0-9]+)")


def amended(specification: Artifact, suite: Artifact) -> dict[str, Any]:
    """The specification with the criteria that hold now."""
    if not parts(suite, "amends"):
        return dict(specification)
    requirements = []
    for requirement in parts(specification, "requirements"):
        criteria = [str(criterion) for criterion in parts(requirement, "acceptance_criteria")]
        for item in parts(suite, "amends"):
            place = _place(requirement, item, parts(requirement, "acceptance_criteria"))
            if place is not None:
                criteria[place] = str(item.get("now"))
        requirements.append({**requirement, "acceptance_criteria": criteria})
    return {**specification, "requirements": requirements}


def unknown_amendments(specification: Artifact, suite: Artifact) -> list[str]:
    """Amendments of what the specification does not say."""
    found = []
    for item in parts(suite, "amends"):
        places = (
            _place(requirement, item, parts(requirement, "acceptance_criteria"))
            for requirement in parts(specification, "requirements")
        )
        if all(place is None for place in places):
            found.append(
                f'amends: {item.get("requirement_ref")} has no criterion "{item.get("criterion")}"; quote '
                "its words, or name its place, as REQ-001.2"
            )
    return found


def amendment_flags(suite: Artifact) -> list[Flag]:
    """One flag for each criterion that RED amended: a reviewer must accept or reject it."""
    return [
        Flag(
            str(item.get("requirement_ref")),
            f'RED amended the criterion "{item.get("criterion")}" to "{item.get("now")}": '
            f"{item.get('reason')}",
            ruling=True,
        )
        for item in parts(suite, "amends")
    ]


def _place(requirement: Artifact, item: Artifact, criteria: list[Any]) -> int | None:
    """Which criterion of a requirement an amendment is about."""
    if name_of(requirement) != item.get("requirement_ref"):
        return None
    said = fold(str(item.get("criterion", "")))
    for place, text in enumerate(criteria):
        if fold(str(text)) == said:
            return place
    number = _PLACE.fullmatch(said)
    return int(number[1]) - 1 if number and 0 < int(number[1]) <= len(criteria) else None
