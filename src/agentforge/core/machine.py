"""The machine: everything that says where a task can go from where it is.

Theory of operation
-------------------
A task is a value, `State`. It changes in one way only: something arrives (an `Input`), `decide` says what
that means (events), and `evolve` folds the events into the next state. Then `pending` says what the world
owes the task (effects, each with a key); an engine performs them, and what they end in arrives as the next
input.

    input ──decide──▶ events ──evolve──▶ state ──pending──▶ effects ──perform──▶ outcome ──▶ input …

Three things say where a task is:

    its status    one of ten, for people: is it running, blocked, over? `LEGAL_MOVES`
    its runs      who is at work. The worker's run goes through the stages. Each run beside it (a reviewer of
                  the stage's result, a debater who is heard before the stage's work begins) has it as its
                  parent, and it waits until they have handed in. `OWNERS`
    their points  what each run waits for: every point but one owes exactly one effect. `EFFECT_AT`

A step of a run is `assemble → ask → act → check`, and then again from `assemble`; a run that has all it owes
goes before the gates (`judge`, once for each gate, then `commit`), or hands in. The last stage ends in
`deliver`. `OUTCOMES` are what an effect can end in, `LEADS_TO` where a run can be then, `POINTS_AFTER` how
the events of that decision move it. What is in none of these tables does not happen: it is refused
(`state_invalid`), or becomes a question (`confused`).

`docs/machine.md` is drawn from this page by `scripts/make-docs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agentforge.core import statuses
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    RunEffect,
    TakeBaseline,
)
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    ContextAssembled,
    GateJudged,
    GateOpened,
    HandedIn,
    RunEvent,
    StageAccepted,
    StageEntered,
    StageReopened,
    StepClosed,
    StepOpened,
    WaitEnded,
)
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskLate,
    AskTrouble,
    Assembled,
    BaselineFailed,
    BaselineReady,
    CheckRan,
    CommitMade,
    DeliveryMade,
    DependenciesReady,
    DependencyLost,
    Elapsed,
    Judged,
    Outcome,
    Prepared,
    Unclassified,
)
from agentforge.core.reply import Signal
from agentforge.core.values import EscalationKind, Owner, Status

# ------------------------------------------------------------------ the task

LEGAL_MOVES: Mapping[Status, tuple[Status, ...]] = {
    "draft": ("planned", "cancelled"),
    "planned": ("approved", "cancelled", "blocked"),
    "approved": ("scheduled", "cancelled"),
    "scheduled": ("running", "cancelled", "blocked"),
    "running": ("verifying", "failed", "blocked", "cancelled"),
    "verifying": ("completed", "failed", "running"),
    "completed": ("draft",),
    "failed": ("draft",),
    "blocked": ("draft", "cancelled"),
    "cancelled": ("draft",),
}
"""The statuses of a task, and the moves between them. `Moved` is refused if it is none of these."""

TERMINAL = statuses.TERMINAL

# ------------------------------------------------------------------ its runs

View = Literal["accepted", "parent"]
"""What a run sees of the others. `accepted`: what the stages before handed over. `parent`: that, and its
parent's result as if it were accepted. Who works sees what those handed in who are heard first. Nobody sees
the steps of another, and nobody who is heard sees what is said beside it.
"""


@dataclass(frozen=True, slots=True)
class Ownership:
    """The rules of a kind of run: what it sees, and what becomes of its result."""

    sees: View
    writes: bool
    """Whether it may change the tree."""
    judged: bool
    """True: its result goes before the gates. False: it hands its result in to its parent, for them."""
    heard: bool = False
    """True: its parent's work begins when it has handed in, and sees that; it stays as long as the stage.
    False: it is about its parent's result, and gone when that changes.
    """


OWNERS: Mapping[Owner, Ownership] = {
    "worker": Ownership(sees="accepted", writes=True, judged=True),
    "reviewer": Ownership(sees="parent", writes=False, judged=False),
    "debater": Ownership(sees="accepted", writes=False, judged=False, heard=True),
}
"""A new kind of run (a node of a plan) is a new row here, and somebody who begins it."""

# ------------------------------------------------------------------ their points

Point = Literal["assemble", "ask", "pause", "act", "check", "judge", "commit", "deliver", "handed_in"]
"""What a run waits for."""
POINTS: tuple[Point, ...] = get_args(Point)

EFFECT_AT: Mapping[Point, type[RunEffect] | None] = {
    "assemble": Assemble,
    "ask": Ask,
    "pause": Pause,
    "act": Act,
    "check": Check,
    "judge": Judge,
    "commit": Commit,
    "deliver": Deliver,
    "handed_in": None,
}
"""What the world owes a run at each point. A run that has handed in waits for the others."""

OUTCOMES: Mapping[type[Effect], tuple[type[Outcome], ...]] = {
    Prepare: (Prepared,),
    TakeBaseline: (BaselineReady, BaselineFailed),
    Depend: (DependenciesReady, DependencyLost),
    Assemble: (Assembled,),
    Ask: (Answered, AskTrouble, AskLate),
    Pause: (Elapsed,),
    Act: (Acted,),
    Check: (CheckRan,),
    Judge: (Judged,),
    Commit: (CommitMade,),
    Deliver: (DeliveryMade,),
    Await: (),
}
"""What an effect can end in. Anything else is `Unclassified`, and a person is asked."""

Place: TypeAlias = Point | Literal["blocked", "failed", "completed"]
"""Where an outcome leads: to a point of the run, or the task waits for a person, or it is over."""

LEADS_TO: Mapping[type[Outcome], tuple[Place, ...]] = {
    Assembled: ("ask", "blocked"),
    Answered: ("act", "blocked"),
    AskTrouble: ("pause", "blocked", "failed"),
    AskLate: ("ask", "blocked"),
    Elapsed: ("ask", "blocked"),
    Acted: ("check", "assemble", "judge", "handed_in", "blocked"),
    CheckRan: ("assemble", "judge", "blocked"),
    Judged: ("judge", "commit", "assemble", "blocked"),
    CommitMade: ("assemble", "judge", "deliver", "blocked"),
    DeliveryMade: ("completed",),
    Unclassified: ("blocked",),
}
"""Where a run can be after an outcome of its effect. `assemble` is the next step, of this stage or of the
next; `blocked` may always mean that the next call does not fit the budget.
"""

POINTS_AFTER: Mapping[type[RunEvent], tuple[Point, ...]] = {
    StageEntered: ("assemble", "judge"),
    StepOpened: ("assemble",),
    ContextAssembled: ("ask",),
    AskFailed: ("pause", "ask"),
    WaitEnded: ("ask",),
    AskAnswered: ("act",),
    ActionsPerformed: ("check",),
    StepClosed: ("assemble",),
    GateOpened: ("judge",),
    GateJudged: ("judge", "commit"),
    StageReopened: ("commit",),
    HandedIn: ("handed_in",),
    StageAccepted: ("deliver",),
}
"""Where an event leaves its run. The second one is for: a stage that nobody works on; no other try; the last
gate has passed. Events that are not here leave it where it is.
"""

ASKS: Mapping[Signal, EscalationKind] = {
    "blocked_on_human": "question",
    "failure_terminal": "terminal",
    "new_tasks_discovered": "replan",
    "blocked_on_sibling": "replan",
}
"""Signals that a step can end in and that ask a person. Of the two others, `success` opens the gates if all
that is owed was handed in, and `failure_retryable` gives the attempt up.
"""


def check_move(before: Status, after: Status) -> None:
    """Raises `state_invalid`, naming the legal moves."""
    if after not in LEGAL_MOVES[before]:
        legal = ", ".join(LEGAL_MOVES[before])
        raise StateInvalid(f"state_invalid: a {before} task cannot become {after}; it can become {legal}.")


def check_place(outcome: Outcome, key: str, place: str) -> None:
    """Raises `state_invalid` where an outcome led a run to a place that is not in the table."""
    legal = LEADS_TO.get(type(outcome), ())
    if place not in legal:
        raise StateInvalid(
            f"state_invalid: {type(outcome).__name__} of {key} cannot lead to {place}; it can lead to "
            f"{', '.join(legal)}."
        )


def point_after(event: RunEvent, *, second: bool = False) -> Point:
    """Where an event leaves its run."""
    return POINTS_AFTER[type(event)][second]


def path(before: Status, target: Status) -> tuple[Status, ...]:
    """The shortest way between two statuses by legal moves, the first one left out. Nothing passes through
    `draft`.
    """
    ways: dict[Status, tuple[Status, ...]] = {before: ()}
    queue = [before]
    for here in queue:
        for nearby in LEGAL_MOVES[here]:
            if nearby not in ways and (nearby != "draft" or target == "draft"):
                ways[nearby] = (*ways[here], nearby)
                queue.append(nearby)
    if target not in ways:
        check_move(before, target)
    return ways[target]
