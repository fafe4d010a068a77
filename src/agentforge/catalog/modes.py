"""The modes: how much a task may spend on a stage, and whether it may change anything. The numbers are
data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, get_args

from agentforge.catalog.policies import check_keys, read_policy, refusal
from agentforge.core.errors import UsageError

ModeName = Literal[
    "fast", "balanced", "execute", "heavy", "debug", "architect", "offline-safe", "plan", "audit"
]
MODE_NAMES: tuple[ModeName, ...] = get_args(ModeName)

USUAL: ModeName = "balanced"

USUAL_STEPS = 4
"""The cap under which a stage has just the steps that its definition gives it."""

MAX_STEPS = 100
"""No stage has more, in whatever mode."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How much a pipeline may do and spend: a row of `policies/modes.yaml`."""

    name: ModeName
    description: str
    steps: int
    """A stage's own number of steps is multiplied by this and divided by four."""
    writes: bool = True
    """False: nothing in the repository is changed, by any tool."""
    local_only: bool = False
    """True: only models on this machine are asked."""
    pipeline: str | None = None
    """The pipeline that this mode runs when nobody names one."""

    mutants: int = 0
    """How many mistakes are put into the changed lines, to see whether the new tests notice."""

    adds: str | None = None
    """A stage that this mode puts behind the last one that makes the change."""

    def scaled(self, max_steps: int) -> int:
        """The steps of a stage in this mode."""
        return max(1, min(MAX_STEPS, -(-max_steps * self.steps // USUAL_STEPS)))


def mode_named(name: str) -> Mode:
    """A mode, or a `UsageError` that lists them."""
    found = next((known for known in MODE_NAMES if known == name), None)
    if found is None:
        raise UsageError(f"There is no mode {name!r}.", f"The modes are {', '.join(MODE_NAMES)}.")
    return modes()[found]


@cache
def modes() -> Mapping[ModeName, Mode]:
    """Every mode, read when first asked for."""
    return modes_from(read_policy("modes"))


def modes_from(document: Any) -> Mapping[ModeName, Mode]:  # noqa: ANN401  a document is any YAML
    """The modes of a document: all nine, and no key that has no meaning."""
    entries = document["modes"]
    if list(entries) != list(MODE_NAMES):
        raise refusal("modes.yaml", f"the modes are {', '.join(MODE_NAMES)}, in this order")
    for name, entry in entries.items():
        check_keys(f"modes.yaml: {name}", entry, {item.name for item in fields(Mode)} - {"name"})
    return {name: Mode(name=name, **entries[name]) for name in MODE_NAMES}
