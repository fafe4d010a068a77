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
    """Where the newest version of an artifact is; None while there is none."""
    run = state.worker
    if run is not None and run.point != "deliver" and _is_of(state, run, contract, phase):
        under_way = _under_way(state, run)
        if under_way != "draft" or any((ref.contract, ref.phase) == (contract, phase) for ref in run.drafts):
            return under_way
    newest = accepted_ref(state, contract, phase)
    if newest is None:
        return None
    return "final" if newest in state.finals else "approved"


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


def _is_of(state: State, run: Run, contract: str, phase: str) -> bool:
    products = state.pipeline.stage(run.stage).products
    return any((product.contract, product.phase) == (contract, phase) for product in products)


def _under_way(state: State, run: Run) -> ArtifactState:
    if run.point != "commit":
        return "draft"
    last = state.last_shown(run.stage)
    return "approved" if last is not None and last.decision in ACCEPTS else "pending_review"
