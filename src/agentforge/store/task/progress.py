"""How far a task has come, folded from its journal line by line: one more line costs the same, however long
the task is.
"""

from collections import deque
from dataclasses import dataclass, field

from agentforge.core.digests import VerdictDigest
from agentforge.core.events import (
    ActionsPerformed,
    AskAnswered,
    AskFailed,
    AskLost,
    AskSent,
    AttemptFailed,
    Checked,
    Event,
    GateJudged,
    GateOpened,
    StageAccepted,
    StageEntered,
    StepClosed,
    StepOpened,
)
from agentforge.core.runs import WORKER
from agentforge.core.state import State
from agentforge.core.values import CheckDigest, GateStatus

RECENT_STEPS = 10
"""Steps that a phase shows, and over which recent errors are counted."""


@dataclass(frozen=True, slots=True)
class CurrentAction:
    """What is done now, or was done last."""

    step: int
    action: str
    target: str
    started_at: str


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step in a line."""

    step: int
    action: str
    target: str
    result: str
    summary: str


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """The newest verdict of a gate."""

    status: GateStatus
    reasons: tuple[str, ...]


@dataclass(slots=True)
class PhaseProgress:
    """One phase, over all of its attempts."""

    started_at: str
    entry_tree: str
    tree: str = ""
    """What it was accepted with; empty while it is under way."""
    ended_at: str = ""
    steps: int = 0
    recent: deque[StepLine] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))
    touched: dict[str, str] = field(default_factory=dict)
    """What actions were about that succeeded, and when last."""
    check: CheckDigest | None = None
    gates: dict[str, JudgedGate] = field(default_factory=dict)


@dataclass(slots=True)
class Progress:
    """How far a task has come."""

    phases: dict[str, PhaseProgress] = field(default_factory=dict)
    """In the order in which they began."""
    current: CurrentAction | None = None
    tests_passing: int | None = None
    """In the newest run of tests, whichever it was of."""
    tests_total: int | None = None
    tests_not_passing_before: int = 0
    """Of those that do not pass: how many did not on the base either."""
    conformance_passing: int | None = None
    """Of the checks that ran after the newest edit."""
    conformance_total: int | None = None
    errors: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))
    """The steps of the newest errors."""
    _summary: str = ""

    def take(self, timestamp: str, events: tuple[Event, ...], state: State) -> None:
        """One more line of the journal; `state` is where it led."""
        for event in events:
            self._take(timestamp, event, state)

    def errors_recent(self, step: int) -> int:
        """How many errors the last steps met."""
        return sum(1 for number in self.errors if number > step - RECENT_STEPS)

    def _take(self, timestamp: str, event: Event, state: State) -> None:  # noqa: C901, PLR0912 - one arm per event
        match event:
            case StageEntered(stage=stage, entry_tree=tree):
                self._enter(stage, timestamp, tree)
            case StageAccepted(_, stage, result) if stage in self.phases:
                self.phases[stage].tree, self.phases[stage].ended_at = result.tree, timestamp
            case StepOpened(_, step):
                self.current = CurrentAction(step, "assemble_context", "", timestamp)
                if (phase := self._phase(state)) is not None:
                    phase.steps += 1
            case AskSent():
                self._now("ask_model", "", timestamp, state)
            case AskAnswered(_, _, reply):
                self._summary = reply.summary
                self._note_error(state, wrong=bool(reply.mistake))
            case AskFailed() | AskLost() | AttemptFailed():
                self._note_error(state, wrong=True)
            case ActionsPerformed():
                self._acted(event, timestamp, state)
            case Checked(_, check):
                self._checked(check, state)
            case GateOpened():
                self._now("judge", "", timestamp, state)
            case GateJudged(run, verdict):
                if run == WORKER and (phase := self._phase(state)) is not None:
                    phase.gates[verdict.gate] = JudgedGate(verdict.status, verdict.reasons)
                self._count(verdict)
            case StepClosed():
                self._close(event, state)
            case _:
                pass

    def _enter(self, stage: str, timestamp: str, tree: str) -> None:
        phase = self.phases.setdefault(stage, PhaseProgress(timestamp, tree))
        phase.ended_at = phase.tree = ""
        phase.gates.clear()

    def _phase(self, state: State) -> PhaseProgress | None:
        return self.phases.get(state.worker.stage) if state.worker else None

    def _now(self, action: str, target: str, timestamp: str, state: State) -> None:
        self.current = CurrentAction(state.step, action, target, timestamp)

    def _note_error(self, state: State, *, wrong: bool) -> None:
        if wrong:
            self.errors.append(state.step)

    def _acted(self, event: ActionsPerformed, timestamp: str, state: State) -> None:
        phase = self._phase(state)
        results = event.done.results
        for item in results:
            if item.ok and item.target and phase is not None:
                phase.touched[item.target] = timestamp
        if results:
            self._now(results[-1].name, results[-1].target, timestamp, state)

    def _checked(self, check: CheckDigest, state: State) -> None:
        if (phase := self._phase(state)) is not None:
            phase.check = check
        self._count(check)
        for part in check.parts:
            if part.name == "conformance" and part.total is not None:
                self.conformance_passing, self.conformance_total = part.passing, part.total

    def _count(self, ran: CheckDigest | VerdictDigest) -> None:
        if ran.tests_passing is not None and ran.tests_total is not None:
            self.tests_passing, self.tests_total = ran.tests_passing, ran.tests_total
            self.tests_not_passing_before = ran.tests_not_passing_before

    def _close(self, event: StepClosed, state: State) -> None:
        self._note_error(state, wrong=event.mistake)
        phase, now = self._phase(state), self.current
        if phase is not None and now is not None and not event.outcome.startswith(("gate_", "answered")):
            result = "failed" if event.mistake else event.outcome
            phase.recent.append(StepLine(event.step, now.action, now.target, result, self._summary))
