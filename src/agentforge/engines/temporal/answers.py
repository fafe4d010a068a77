"""What an activity answers: the state of a task, as a dispatcher without rules can use it."""

from typing import assert_never

from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.machine import TERMINAL
from agentforge.engines.temporal.port import Session
from agentforge.engines.temporal.workflow import ActivityReport, Owed

BATCH_LOOK_S = 60
"""Until a call that waits in a batch is looked after again."""


def answer_of(session: Session, parked: str = "") -> ActivityReport:
    """What is owed now, and in short where the task stands. `parked` is a call that waits in a batch."""
    state = session.journal.state
    waiting = state.open_escalation
    return ActivityReport(
        length=session.journal.length,
        owed=[_spell(effect, wait=BATCH_LOOK_S if effect.key == parked else 0) for effect in session.owed()],
        status=state.status,
        stage=state.worker.stage if state.worker else "",
        goal=state.pipeline.name if state.task_id else "",
        waits=waiting.id if waiting else "",
        over=state.status in TERMINAL,
    )


def _spell(effect: Effect, wait: int) -> Owed:
    return Owed(
        effect.key, family_of(effect), effect.uses, effect.seconds if isinstance(effect, Pause) else wait
    )


def family_of(effect: Effect) -> str:  # noqa: C901  # one arm per effect is the point
    """The activity that performs it; a pause is the workflow's own timer, and then `elapsed`."""
    match effect:
        case Prepare():
            return "prepare"
        case TakeBaseline():
            return "baseline"
        case Assemble():
            return "assemble"
        case Ask():
            return "ask"
        case Pause():
            return "elapsed"
        case Act():
            return "act"
        case Check():
            return "check"
        case Judge():
            return "judge"
        case Commit():
            return "commit"
        case Deliver():
            return "deliver"
        case Await():
            return "await"
        case _:
            assert_never(effect)
