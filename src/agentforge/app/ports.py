"""What a surface gives to the use cases: somebody who watches, and somebody who can be asked."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from agentforge.core.events import Event
from agentforge.core.inputs import Message
from agentforge.core.state import State

Tone = Literal["plain", "heading", "good", "caught", "bad", "quiet"]
"""What a sentence is: a surface may show it by a colour."""


class Watcher(Protocol):
    """Watches while a task is driven or followed. One that went away never stops a task."""

    def notice(self, text: str, tone: Tone = "plain") -> None:
        """A sentence about the driving itself."""

    def happened(self, events: Sequence[Event], state: State) -> None:
        """One decision was recorded; `state` is where it led."""


class Unwatched:
    """A watcher that ignores everything, for callers that want the result alone."""

    def notice(self, text: str, tone: Tone = "plain") -> None:
        """Does nothing."""

    def happened(self, events: Sequence[Event], state: State) -> None:
        """Does nothing."""


UNWATCHED = Unwatched()

Ask: TypeAlias = Callable[[State], str | None]
"""Puts the open question for permission to a person who is there: `allow`, `always` or `deny`; None leaves
it.
"""

Messages: TypeAlias = Callable[[State, int], Sequence[tuple[str, Message]]]
"""What a person says before a task is driven, each under its key, given the state and the length of the
journal.
"""


def no_messages(_state: State, _length: int) -> Sequence[tuple[str, Message]]:
    """For a task that is driven with nothing to tell it."""
    return ()
