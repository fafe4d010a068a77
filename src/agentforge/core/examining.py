"""Checks of somebody who saw neither tests nor change: what a person says of one that fails, and what becomes
of them when the work is done again.
"""

from agentforge.core.decisions import Decisions, RunDecisions, send_back
from agentforge.core.pipeline import Stage
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.values import ArtifactRef, Escalation, agrees

ABOUT = "held-out check "
"""How a question about such a check is marked, so that its answer is found again."""
WRONG = "the check is wrong"
"""The answer that sets failing checks aside."""
SEND_BACK = "send it back"
"""The answer that sends the work back, with the example."""
KNOWN = "its checks were written before"
"""Why nobody is asked for checks a second time."""
EXAMPLE = "A person sends the work back with an example that it does not meet:"
"""How what the role is told begins."""
TOLD_CHARS = 1800


def is_about_checks(escalation: Escalation) -> bool:
    """Whether a question is about checks that the work does not meet."""
    return any(name.startswith(ABOUT) for name in escalation.question.about)


def sets_aside(answer: str) -> bool:
    """Whether an answer says that the check is wrong."""
    return agrees(answer) or " ".join(answer.lower().split()).startswith(WRONG)


def answered(decisions: Decisions, escalation: Escalation, answer: str) -> str:
    """A person ruled on checks that fail: the gate judges again without them, or the work goes back to who
    made it, with the example and what they say. The checks stay as they are for the next time.
    """
    own = decisions.of(WORKER)
    target = _maker(own.state, own.stage)
    if sets_aside(answer) or target is None:
        return "resumed: a person ruled on the checks, and the gate judges again"
    said = " ".join(answer.split())
    more = said if said.lower() != SEND_BACK else ""
    told = escalation.question.if_no[:TOLD_CHARS] + (f"\nThey said: {more}" if more else "")
    send_back(own, target.name, (told,), (told,), held_out=_checks(own))
    return "a person sends the work back with an example that it does not meet"


def known_checks(state: State, stage: Stage) -> tuple[ArtifactRef, ...]:
    """The checks that were written before for this task, where a stage owes such; they are not written
    twice.
    """
    if not stage.makes("examination"):
        return ()
    accepted = state.artifact_for("examination")
    return state.held_out or (() if accepted is None else (accepted,))


def _checks(own: RunDecisions) -> tuple[ArtifactRef, ...]:
    owed = {product.contract for product in own.stage.products}
    return tuple(ref for ref in own.run.drafts if ref.contract in owed)


def _maker(state: State, stage: Stage) -> Stage | None:
    """The first stage that makes the change before this one: it has the role that builds."""
    earlier = state.pipeline.stages[: state.pipeline.index(stage.name)]
    return next((item for item in earlier if item.makes("change")), None)
