"""What goes over a wire and what comes back, as values that know no library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from agentforge.core.reply import Json
from agentforge.models.base import OfferedTool, Stop, Usage
from agentforge.models.known.providers import Provider
from agentforge.models.reply.native_calls import ToolCall

Held: TypeAlias = Literal["", "5m", "1h"]
"""For how long a prompt cache is asked to hold what is marked; empty: nothing is marked."""
Wrap: TypeAlias = Callable[[Any], Any]
"""From one transport of the HTTP library to another around it: a place for recording and replay."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server, model and key that a wire asks."""

    provider: Provider
    model: str
    api_key: str | None = field(repr=False)
    local_only: bool = False
    """Connect to nothing but this machine, whatever the address resolves to."""
    wrap: Wrap | None = None

    @property
    def loopback(self) -> bool:
        """Whether no byte may leave this machine."""
        return self.local_only or self.provider.local

    @property
    def timeout_s(self) -> int:
        """How many seconds the whole call may take."""
        return self.provider.timeout_s

    @property
    def host(self) -> str:
        """The server as a person may see it."""
        return self.provider.host

    @property
    def official(self) -> bool:
        """Whether it is OpenAI itself: other servers know fewer names, and are told nothing of the person's
        account there.
        """
        return str(urlsplit(self.provider.base_url).hostname).endswith((".openai.com", ".openai.azure.com"))


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What to send: a system text, and one text of the user."""

    system: str
    pieces: tuple[str, ...]
    """The user's text; between two pieces is a place where a prompt cache should be marked."""
    tools: tuple[OfferedTool, ...]
    schema: Mapping[str, Json] | None
    """Holds the whole reply to this shape, if the model replies so."""
    max_output_tokens: int
    held: Held = "5m"

    @property
    def user(self) -> str:
        """All pieces of the user's text, joined."""
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a wire read from the server's response."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: Stop
    usage: Usage | None
    """Absent if the server did not count."""
    model: str | None


@dataclass(frozen=True, slots=True)
class TooLong:
    """The reply was longer than anything we read."""
