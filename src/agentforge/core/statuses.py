"""The statuses in which a task has ended: all that a list of tasks must know of the rules."""

TERMINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})
"""Nothing is owed here. Only a person's `resume` leads out, through `draft`."""

_SAID = {"failed": "has failed", "cancelled": "was aborted", "blocked": "needs your answer"}


def spell_status(status: str) -> str:
    """What a task is, as the second half of a sentence: `has failed`, `is running`."""
    return _SAID.get(status, f"is {status}")
