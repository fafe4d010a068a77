"""What the world owes a task: imperative, each with a deterministic key. Performing one is safe to repeat.

`seat` names the reviewer of a panel whose step it is; empty for the one who works.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentforge.core.pipeline import GateName

Uses = Literal["nothing", "worktree", "network"]


@dataclass(frozen=True, slots=True)
class Prepare:
    """Make the worktree stand at the recorded tree; take a person's edits in where the task was halted."""

    key: str
    halted: bool
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class TakeBaseline:
    """Build the environment and run every configured check on the base."""

    key: str
    uses: Uses = "nothing"


@dataclass(frozen=True, slots=True)
class Assemble:
    """Rebuild the step's whole context from state."""

    key: str
    uses: Uses = "worktree"
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One model call. The only effect that calls a model."""

    key: str
    ordinal: int
    """How many answers of this stage are on record."""
    uses: Uses = "network"
    seat: str = ""
    live: bool = False
    """A batch was late with it: no other one is waited for."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next try."""

    key: str
    seconds: int
    uses: Uses = "nothing"
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Perform the reply's actions through the role's bridge."""

    key: str
    uses: Uses = "worktree"
    seat: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Run the steering checks on the tree that `Act` left."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Judge:
    """A verdict of one gate, on a pristine checkout."""

    key: str
    gate: GateName
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Commit:
    """Write the finals and the stage's commit, and save the task under its ref."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Deliver:
    """Put the branch and the evidence in place."""

    key: str
    uses: Uses = "worktree"


@dataclass(frozen=True, slots=True)
class Await:
    """A person owes an answer. No driver performs this; when only this is owed, the driver ends."""

    key: str
    escalation: str
    uses: Uses = "nothing"


Effect: TypeAlias = (
    Prepare | TakeBaseline | Assemble | Ask | Pause | Act | Check | Judge | Commit | Deliver | Await
)
