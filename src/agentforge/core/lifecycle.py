"""The life of an artifact: four states, what may be done in each, and how it gets from one to another."""

from collections.abc import Mapping
from typing import Literal

from agentforge.core.errors import StateInvalid
from agentforge.core.runs import Run
from agentforge.core.state import State
from agentforge.core.values import ACCEPTS, ArtifactRef

ArtifactState = Literal["draft", "pending_review", "approved", "final"]
Operation = Literal[
    "update",
    "validate",
    "approve",
    "revise",
    "reject",
    "exit",
    "proceed",
    "extend",
    "read",
    "export",
    "reference",
]

OPERATIONS: Mapping[ArtifactState, tuple[Operation, ...]] = {
    "draft": ("update", "validate"),
    "pending_review": ("approve", "revise", "reject", "exit", "extend"),
    "approved": ("proceed", "extend"),
    "final": ("read", "export", "reference"),
}
"""What may be done with an artifact. `extend` of one that is pending is to approve it, and then to extend."""

TRANSITIONS: Mapping[ArtifactState, tuple[ArtifactState, ...]] = {
    "draft": ("pending_review",),  # all gates passed
    "pending_review": ("draft", "approved", "final"),  # a person asks for changes; approves; leaves with it
    "approved": ("final", "draft"),  # the pipeline ends; what is built on it was rejected
    "final": (),
}
"""Where an artifact can go. A stage that nobody looks at passes through `pending_review`, and the automatic
decision is on record with its acceptance.
"""


def artifact_state(state: State, contract: str, phase: str) -> ArtifactState | None:
    """Where the newest version of an artifact is; None while there is none. What was handed over stays final
    when it is looked at again: another version of it has a life of its own.
    """
    run = state.worker
    if run is not None and run.point != "deliver" and (contract, phase) in _owed(state, run):
        again = run.point == "commit" and all(ref in state.finals for ref in run.finals)
        return "final" if again and run.finals else _under_way(state, run)
    newest = accepted_ref(state, contract, phase)
    if newest is None:
        return None
    return "final" if newest in state.finals else "approved"


def check_lives(before: State, after: State) -> None:
    """Raises `state_invalid` where an event took an artifact from one state to another that does not follow
    it. A final is left where it is: what comes after it is another version.
    """
    if before.runs is after.runs and before.accepted is after.accepted:
        return
    if _in_one_draft(before, after):
        return
    products = (item for stage in after.pipeline.stages for item in stage.products)
    for contract, phase in {(item.contract, item.phase) for item in products}:
        was, now = artifact_state(before, contract, phase), artifact_state(after, contract, phase)
        if was in (None, "final", now) or now is None:
            continue
        if now == "approved" and len(before.accepted) == len(after.accepted):
            continue  # a draft was left: what was accepted before it counts again
        if now not in TRANSITIONS[was]:
            raise StateInvalid(
                f"state_invalid: the {contract} of {after.task_id} cannot go from {was} to {now}; it can go "
                f"to {', '.join(TRANSITIONS[was])}."
            )


def _in_one_draft(before: State, after: State) -> bool:
    """Whether one stage was at work on its drafts all along, and nothing else was accepted or handed over.
    Most events are of this kind, and take no artifact anywhere.
    """
    was, now = before.worker, after.worker
    return (
        was is not None
        and now is not None
        and was.stage == now.stage
        and not {was.point, now.point} & {"commit", "deliver"}
        and before.accepted is after.accepted
        and before.finals is after.finals
        and before.pipeline is after.pipeline
    )


def accepted_ref(state: State, contract: str, phase: str) -> ArtifactRef | None:
    """The newest accepted artifact of a boundary."""
    found = [ref for item in state.accepted for ref in item.finals]
    return next((ref for ref in reversed(found) if (ref.contract, ref.phase) == (contract, phase)), None)


def check_operation(state: State, contract: str, phase: str, wanted: Operation) -> None:
    """Raises `state_invalid` where this may not be done with an artifact, naming what may."""
    now = artifact_state(state, contract, phase)
    if now is None:
        raise StateInvalid(f"state_invalid: {state.task_id} has no {contract} yet.")
    if wanted not in OPERATIONS[now]:
        raise StateInvalid(
            f"state_invalid: the {contract} of {state.task_id} is {now}, so nobody can {wanted} it; "
            f"possible now: {', '.join(OPERATIONS[now])}."
        )


def _owed(state: State, run: Run) -> set[tuple[str, str]]:
    """What the stage of a run owes; nothing where its lane was left."""
    stages = [stage for stage in state.pipeline.stages if stage.name == run.stage]
    return {(product.contract, product.phase) for stage in stages for product in stage.products}


def _under_way(state: State, run: Run) -> ArtifactState:
    if run.point != "commit":
        return "draft"
    last = state.last_shown(run.stage)
    return "approved" if last is not None and last.decision in ACCEPTS else "pending_review"
