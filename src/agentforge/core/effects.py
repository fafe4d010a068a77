"""What the world owes a task: imperative, each with a deterministic key. Performing one is safe to repeat.

An effect of a run is an `OfRun`: its outcome belongs to the run that it names.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentforge.core.pipeline import GateName
from agentforge.core.values import OfRun

Uses = Literal["nothing", "worktree", "network"]


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make the worktree equal to the recorded tree; take a person's edits in where the task was halted."""

    key: str
    halted: bool
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class TakeBaseline:
    """Build the environment and run every configured check on the base."""

    key: str
    uses: Uses = "nothing"


@dataclass(frozen=True, slots=True)
class Assemble(OfRun):
    """Rebuild the step's whole context from state."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Ask(OfRun):
    """One model call. The only effect that calls a model."""

    key: str
    ordinal: int
    """How many answers of this stage are on record."""
    uses: Uses = "network"
    live: bool = False
    """A batch was late with it: no other one is waited for."""


@dataclass(frozen=True, slots=True)
class Pause(OfRun):
    """Wait before the next try."""

    key: str
    seconds: int
    uses: Uses = "nothing"
    until: int = 0
    """When it is over, in seconds since 1970: whoever takes it up later waits for the rest. 0: `seconds`
    after it began.
    """

    def left(self, now: float) -> float:
        """How long to wait at this moment. A clock that was set back makes it no longer; `until` itself is up
        to a second later than `seconds` after it began, since it is a whole number.
        """
        rest = self.until - now
        return max(0.0, rest) if self.until and rest <= self.seconds + 1 else float(self.seconds)


@dataclass(frozen=True, slots=True)
class Act(OfRun):
    """Perform the reply's actions through the role's bridge."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Check(OfRun):
    """Run the steering checks on the tree that `Act` left."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Judge(OfRun):
    """A verdict of one gate, on a pristine checkout."""

    key: str
    gate: GateName
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Commit(OfRun):
    """Write the finals and the stage's commit, and save the task under its ref."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Deliver(OfRun):
    """Put the branch and the evidence in place."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Depend:
    """Wait until other tasks have come so far, and find the artifacts of others."""

    key: str
    uses: Uses = "nothing"


@dataclass(frozen=True, slots=True)
class Await:
    """A person owes an answer. No driver performs this; when only this is owed, the driver ends."""

    key: str
    escalation: str
    uses: Uses = "nothing"
    seconds: int = 0
    """How long, from when it was asked; 0: for ever."""


RunEffect: TypeAlias = Assemble | Ask | Pause | Act | Check | Judge | Commit | Deliver
Effect: TypeAlias = Prepare | TakeBaseline | Depend | RunEffect | Await
