"""When things happened, taken from the envelopes of the journal: the rules know no clock, people want one."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentforge.core.events import (
    Escalated,
    Event,
    IterationPresented,
    Moved,
    Resolved,
    StageAccepted,
    TaskForked,
    UserDecision,
)
from agentforge.core.machine import TERMINAL
from agentforge.core.replacing import replace
from agentforge.store.task.moments import Clock, seconds_between, stamp, utc_now

__all__ = ["Clock", "Times", "seconds_between", "stamp", "utc_now"]


@dataclass(frozen=True, slots=True)
class Times:
    """The times that views show, each as `stamp` spells it."""

    created_at: str = ""
    updated_at: str = ""
    forked_at: str = ""
    """When a fork left the task whose steps it shares; empty for every other one."""
    ended_at: str = ""
    """Set while the task is in a terminal state."""
    accepted: tuple[tuple[str, str], ...] = ()
    """Stage and time, in order of acceptance."""
    opened: tuple[tuple[str, str], ...] = ()
    """Escalation and time of the question."""
    answered: tuple[tuple[str, str], ...] = ()
    """Escalation and time of the answer."""
    presented: tuple[tuple[str, str], ...] = ()
    """Round (`spec/1`) and time at which a version was presented."""
    decided: tuple[tuple[str, str], ...] = ()
    """Round and time of the decision about it."""

    @property
    def began_at(self) -> str:
        """When its own work began. What a fork shares was done, and took its time, in another task."""
        return self.forked_at or self.created_at

    def after(self, timestamp: str, events: Iterable[Event]) -> "Times":
        """These times, with what one more line of the journal adds."""
        times = replace(self, created_at=self.created_at or timestamp, updated_at=timestamp)
        for event in events:
            match event:
                case StageAccepted(stage=stage):
                    times = replace(times, accepted=(*times.accepted, (stage, timestamp)))
                case Escalated(escalation):
                    times = replace(times, opened=(*times.opened, (escalation.id, timestamp)))
                case Resolved(identity):
                    times = replace(times, answered=(*times.answered, (identity, timestamp)))
                case IterationPresented(stage, number):
                    times = replace(times, presented=(*times.presented, (f"{stage}/{number}", timestamp)))
                case UserDecision(stage, number):
                    times = replace(times, decided=(*times.decided, (f"{stage}/{number}", timestamp)))
                case TaskForked():
                    times = replace(times, forked_at=timestamp)
                case Moved(_, status):
                    times = replace(times, ended_at=timestamp if status in TERMINAL else "")
                case _:
                    pass
        return times
