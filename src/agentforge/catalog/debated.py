"""A debate in front of a stage: where a line wants one, and the stages that hold it."""

from collections.abc import Callable, Sequence
from typing import Literal

from agentforge.catalog.extends import Document
from agentforge.catalog.line import Parts
from agentforge.core.errors import UsageError

Debated = Literal["named", "always", "never", "below"]
"""Whether a debate is held. `named`: where a stage has the gate `debate`, if the decision is not a minor one;
`always`: there, or before the requirements, whatever the decision is; `never`: not even where it is named;
`below`: that was settled in the lane that the task began in.
"""

GATE = "debate"
STAGES = ("options", "debate")
"""Who says what is to be decided, and who decides it."""
SETTLED = (
    "where a debate was held, what `debate_synthesis` decided is settled, and the options that it did not "
    "choose are out. Everything keeps to the decision."
)
"""What everybody in the stage is told whose work comes after a debate."""
LEFT_OUT = "it was left out with --no-debate"


def with_debate(
    stages: Sequence[Document],
    wanted: Debated,
    defined: Callable[[], Sequence[Document]],
    parts: Parts,
    pipeline: str,
) -> list[Document]:
    """The stages of a line, with a debate in front of the one that has the gate `debate`: what is decided
    there is among what that stage begins with. `defined` are the stages that hold one. A `UsageError` says
    why there can be none.
    """
    if any(stage.get("debaters") for stage in stages):
        if wanted == "never":
            raise UsageError(
                f"The pipeline {pipeline} is a debate itself.", "Leave --no-debate out, or take another one."
            )
        return [*stages]
    named = [at for at, stage in enumerate(stages) if GATE in stage["gates"]]
    if len(named) > 1:
        both = " and ".join(str(stages[at]["name"]) for at in named[:2])
        raise UsageError(f"The pipeline {pipeline} wants two debates, for {both}; it can have one.")
    plain = [_without_gate(stage) for stage in stages]
    if wanted == "below":
        return plain
    if wanted == "never":
        return [{**stage, "undebated": LEFT_OUT} if at in named else stage for at, stage in enumerate(plain)]
    if not named and wanted == "named":
        return plain
    at = named[0] if named else _specifies(stages, parts, pipeline)
    held = _held(plain[:at], defined(), forced=wanted == "always")
    decided = [item["contract"] for item in held[-1]["produces"]]
    after = {
        **plain[at],
        "requires": [*plain[at].get("requires", []), *decided],
        "purpose": f"{plain[at].get('purpose', '')} {SETTLED}".strip(),
    }
    return [*plain[:at], *held, after, *plain[at + 1 :]]


def _without_gate(stage: Document) -> Document:
    return {**stage, "gates": [gate for gate in stage["gates"] if gate != GATE]}


def _specifies(stages: Sequence[Document], parts: Parts, pipeline: str) -> int:
    """The place of the stage in which somebody writes the requirements."""
    for at, stage in enumerate(stages):
        if stage["role"] and any(parts(item["contract"]) == "requirements" for item in stage["produces"]):
            return at
    raise UsageError(
        f"The pipeline {pipeline} has nothing to debate here: nobody writes a specification in it.",
        'Leave --debate out, or ask `agentforge debate "QUESTION" --options A --options B --options C`.',
    )


def _held(before: Sequence[Document], defined: Sequence[Document], *, forced: bool) -> list[Document]:
    """The stages of the debate: each is given what was made before it in this line."""
    made = {item["contract"] for stage in before for item in stage["produces"]}
    held = []
    for stage in defined:
        given = {**stage, "requires": [name for name in stage.get("requires", []) if name in made]}
        if not forced:
            given["skip_if"] = stage["skippable_if"]
        held.append(given)
        made |= {item["contract"] for item in stage["produces"]}
    return held
