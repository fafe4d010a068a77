"""The statuses in which a task has ended: all that a list of tasks must know of the rules."""

TERMINAL: frozenset[str] = frozenset({"completed", "failed", "cancelled"})
"""Nothing is owed here. Only a person's `resume` leads out, through `draft`."""
