"""Why a task of the Temporal engine does not go on, in words: one sentence and the next step. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from agentforge.core.errors import Unusable
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State
from agentforge.store.task.times import Clock, Times
from agentforge.system.visible import brief

if TYPE_CHECKING:
    from agentforge.engines.temporal.config import Config
    from agentforge.engines.temporal.look import Look, PendingActivity
    from agentforge.store.task.engine import Driven

SLOW_S = 5.0
"""Work that nobody has taken, or a worker that was not heard of, for longer is worth a line."""
_RESTART_S = 60
"""No worker takes that long to start again."""
_LONG_S = 120

Kind = Literal["away", "nobody", "host_lost", "silent", "tried"]


@dataclass(frozen=True, slots=True)
class Holdup:
    """What a task waits for that does not come by itself."""

    kind: Kind
    sentence: str
    next_step: str = ""
    subject: str = ""
    """Two of one kind and one subject are the same news."""

    @property
    def text(self) -> str:
        """The sentence and the next step in one line."""
        return " ".join(filter(None, (self.sentence, self.next_step)))

    def error(self) -> Unusable:
        """The same as an error that ends a command."""
        return Unusable(self.subject) if self.kind == "tried" else Unusable(self.sentence, self.next_step)


@dataclass(frozen=True, slots=True)
class Case:
    """A task, as far as its engine has to do with it."""

    task_id: str
    driven: "Driven"
    config: "Config"
    idle_s: float = 0
    """Seconds since something was recorded."""


def holdups(case: Case, look: "Look", *, workers: bool) -> list[Holdup]:
    """All that holds a running workflow up, worst first. `workers`: somebody polls the shared queue."""
    found: list[Holdup] = []
    if is_lost(case, look):
        found.append(lost(case, look))
    elif not workers:
        found.append(nobody(case))
    elif waiting := look.untaken(SLOW_S):
        found.append(_untaken(waiting))
    elif gone := look.silent(SLOW_S):
        found.append(_silent(gone))
    return found + [
        Holdup("tried", f"Trying again: {brief(trouble, 300)}", subject=trouble) for trouble in look.troubles
    ]


def is_lost(case: Case, look: "Look") -> bool:
    """The workflow says so; or would, if there were any worker that it could say it with."""
    if look.found != "running" or look.host_lost:
        return look.host_lost
    waiting = look.untaken(case.config.host_silence_s)
    # Once the server has given the host up, the workflow itself waits for a worker, and only the journal
    # knows since when.
    stuck = look.untaken(_RESTART_S)
    return waiting is not None or (
        stuck is not None and stuck.is_step and case.idle_s > case.config.host_silence_s
    )


def lost(case: Case, look: "Look") -> Holdup:
    """The host of the task is silent: a person has to decide whether it is gone."""
    waiting = look.untaken(0)
    since = f" No worker has picked up its work there for {span(waiting.seconds)}." if waiting else ""
    who = f"the worker {case.driven.host}, which runs {case.task_id}, does not answer."
    if not case.driven.host:
        who = f"no worker has started {case.task_id}, which is waiting on the queue {case.config.queue}."
    ways = (
        f"Start `agentforge worker` there, or take the task over: `agentforge continue {case.task_id} "
        "--take-over`."
    )
    return Holdup("host_lost", f"host_lost: {who}{since}", ways)


def nobody(case: Case) -> Holdup:
    """No worker listens on the task's queue."""
    return Holdup(
        "nobody",
        f"No worker is listening on the queue {case.config.queue} of {case.config.address}.",
        f"Start `agentforge worker` on this machine; {case.task_id} then continues by itself.",
    )


def _untaken(flight: "PendingActivity") -> Holdup:
    return Holdup(
        "silent",
        f"No worker has picked up its work "
        f"({flight.family}) from the queue {flight.queue} for {span(flight.seconds)}.",
        "Start `agentforge worker` there, unless all workers are busy; the task then continues by itself.",
        flight.queue,
    )


def _silent(flight: "PendingActivity") -> Holdup:
    return Holdup(
        "silent",
        f"The worker that runs its work ({flight.family}) has not been heard from for {span(flight.heard)}.",
        "If it has died, start `agentforge worker` there; the task then continues by itself.",
        flight.queue,
    )


def at_work(look: "Look") -> list[str]:
    """What workers do for the task, and how fresh that is."""
    return [
        f"now: {brief(flight.progress, 160) or flight.family}, for {span(flight.seconds)}"
        + (f", attempt {flight.attempt}" if flight.attempt > 1 else "")
        + f"; last heard from {span(flight.heard)} ago"
        for flight in look.flights
        if flight.taken and flight.heard <= SLOW_S
    ]


def span(seconds: float) -> str:
    """`7 s`, `12 min`, `3 h`."""
    if seconds < _LONG_S:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _LONG_S * 60 else f"{seconds / 3600:.0f} h"


def idle_s(times: Times, clock: Clock) -> float:
    """Seconds since the journal's last line."""
    return (clock() - datetime.fromisoformat(times.updated_at)).total_seconds() if times.updated_at else 0


def rests(state: State) -> bool:
    """Whether nothing can happen until a person answers, or ever again."""
    return state.status in TERMINAL or (state.status == "blocked" and state.open_escalation is not None)
