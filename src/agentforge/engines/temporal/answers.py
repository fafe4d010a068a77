"""What an activity answers: the state of a task, as a dispatcher without rules can use it."""

import math
import time
from collections.abc import Mapping

from agentforge.core.effects import Await, Depend, Effect, Pause, TakeBaseline
from agentforge.core.machine import TERMINAL
from agentforge.engines.temporal.port import Session
from agentforge.engines.temporal.workflow import ActivityReport, Owed

BATCH_LOOK_S = 60
"""Until a call that waits in a batch is looked after again."""
TASK_LOOK_S = 10
"""Until another task, which this one waits for, is looked at again."""

_OTHER_NAMES: Mapping[type[Effect], str] = {TakeBaseline: "baseline", Pause: "elapsed"}
"""Activities that are not named after their effect. Workflows under way know all of these names: none
changes.
"""


def answer_of(session: Session, parked: str = "") -> ActivityReport:
    """What is owed now, and in short where the task stands. `parked` is what still waits: a call in a batch,
    or the task itself for another one.
    """
    state = session.journal.state
    waiting = state.open_escalation
    return ActivityReport(
        length=session.journal.length,
        owed=[_spell(session, effect, parked=effect.key == parked) for effect in session.owed()],
        status=state.status,
        stage=state.worker.stage if state.worker else "",
        goal=state.pipeline.name if state.task_id else "",
        waits=waiting.id if waiting else "",
        over=state.status in TERMINAL,
    )


def _spell(session: Session, effect: Effect, *, parked: bool) -> Owed:
    seconds = 0
    if isinstance(effect, Await) and effect.seconds:
        seconds = max(1, effect.seconds - session.journal.waited_s(effect.escalation))
    if isinstance(effect, Pause):
        seconds = math.ceil(effect.left(time.time()))
    elif parked:
        seconds = TASK_LOOK_S if isinstance(effect, Depend) else BATCH_LOOK_S
    return Owed(effect.key, family_of(type(effect)), effect.uses, seconds)


def family_of(kind: type[Effect]) -> str:
    """The activity that performs effects of this kind; a pause is the workflow's own timer, and then
    `elapsed`.
    """
    return _OTHER_NAMES.get(kind, kind.__name__.lower())
