"""What a gate hands back."""

from dataclasses import dataclass

from agentforge.core.reply import Json
from agentforge.core.values import GateStatus, Question


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate found, with the record that proves it."""

    status: GateStatus
    reasons: tuple[str, ...]
    record: dict[str, Json]
    question: Question | None = None
    """What a person must say before it can pass."""
    ask_after: int = 0
    """So many rounds of feedback come before the question."""
