"""What a worker needs of everything else: tasks that can be opened. Loads nothing of Temporal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from agentforge.core.effects import Effect
from agentforge.engines.local import DrivenJournal, Ports


@dataclass(frozen=True, slots=True)
class Ref:
    """The id of a task and the checkout that it belongs to."""

    task_id: str
    repository: str
    proof: str = field(default="", compare=False, repr=False)
    """By which a worker knows that its own user handed the task over."""


class Session(Protocol):
    """A task whose driver's lock this process holds."""

    @property
    def journal(self) -> DrivenJournal:
        """The journal, open for writing."""

    @property
    def ports(self) -> Ports:
        """The ports that the local engine would be given for this task."""

    def owed(self) -> tuple[Effect, ...]:
        """What the world owes the task now."""

    def settle(self) -> None:
        """Nothing runs and the task rests: what a person finds is what is on record."""

    def close(self) -> None:
        """Closes the task's files and releases its lock."""


class Tasks(Protocol):
    """The tasks that this host can see."""

    def host_of(self, ref: Ref, mine: str) -> str:
        """The queue of the host that has the task; this one takes it if no other has. Empty if the task is
        not to be seen from here.
        """

    def admits(self, ref: Ref) -> bool:
        """Whether the user of this host handed the task over, and no stranger who reaches the server."""

    def is_elsewhere(self, ref: Ref, mine: str) -> bool:
        """Whether the task is on record as another host's."""

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> Session:
        """Takes the lock. Raises `LockTaken` while another process has it, and refuses a task that this host
        has no more.
        """

    def message(self, ref: Ref, said: dict[str, str]) -> str:
        """Puts a person's words into the task's inbox; the answer is why not, or nothing."""
