"""One model of one provider, over whichever wire it speaks: one HTTP request per ask.

Light to import and to make: what needs an optional extra is `wire`, loaded with the first request.
"""

import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise

from agentforge.core.errors import Unusable, UsageError
from agentforge.models.base import (
    REFUSED,
    Answer,
    Block,
    Request,
    Reservation,
    Usage,
    render_blocks,
    rough_tokens,
    tool_tokens,
)
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import Extra, Provider, ReplyFormat
from agentforge.models.reply import format as formats
from agentforge.models.reply.native_calls import REPORT, recorded_calls
from agentforge.models.reply.text import MAX_REPLY_BYTES
from agentforge.models.wire.endpoint import Endpoint, Incoming, Outgoing, Wrap
from agentforge.system.installation import install_command

_MODULES: dict[Extra, tuple[str, ...]] = {
    "openai": ("pydantic_ai", "openai"),
    "anthropic": ("pydantic_ai", "anthropic"),
    "mistral": ("pydantic_ai", "mistralai"),
    "google": ("pydantic_ai", "google", "google.genai"),
}
_loading = threading.Lock()
"""Two threads that meet inside of one library, whose modules import each other, see it half loaded."""


@dataclass(frozen=True, slots=True)
class ProviderModel:
    """The `Model` that asks one model of one provider or server."""

    provider: Provider
    model: str
    """Its name, as the server knows it."""
    api_key: str | None = field(repr=False)
    """Servers of one's own often need none."""
    prices: Prices | None
    family: ReplyFormat | None = None
    """How models of its family reply, where that is known."""
    local_only: bool = False
    """Connect to nothing but this machine."""
    wrap: Wrap | None = None
    """Put around the transport of the HTTP library: a place for recording and replay."""

    def __post_init__(self) -> None:
        if not installed(self.provider.extra):
            raise Unusable(
                f"The {self.provider.extra} wire needs an optional part that is not installed.",
                f"Run: {install_command(self.provider.extra)}",
            )
        if self.api_key is not None and not (
            self.api_key.isascii() and self.api_key.isprintable() and self.api_key.strip()
        ):
            raise UsageError(
                f"The key of {self.provider.name} holds a character that no key has.",
                "Was it copied whole, and alone?",
            )
        if self.provider.reply not in (None, *formats.POSSIBLE[self.provider.wire]):
            possible = ", ".join(formats.POSSIBLE[self.provider.wire])
            raise UsageError(
                f"providers.{self.provider.name}.reply is {self.provider.reply!r}; this wire has {possible}."
            )

    @property
    def name(self) -> str:
        """As a person writes it: `provider:model`."""
        return f"{self.provider.name}:{self.model}"

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """All of the input at the full price, with the tools, and the longest output that the request
        allows.
        """
        # Where the server holds the reply to a schema, the tools are in the text and in the schema.
        times = 2 if (self.provider.reply or self.family) == "schema" else 1
        read, written = input_tokens + times * tool_tokens(request.tools), request.max_output_tokens
        return Reservation(read + written, self.prices.worst(read, written) if self.prices else None)

    def ask(self, request: Request) -> Answer:
        """Sends the request once; raises `ModelTrouble` if no reply came back."""
        load_library(self.provider)
        from agentforge.models.wire.send import send  # noqa: PLC0415 - loaded by now

        reply_format = self.reply_format()
        outgoing = self.outgoing(request, reply_format)
        came = send(self.endpoint, outgoing)
        if not isinstance(came, Incoming):
            return self._too_long(outgoing)
        return self.answer(outgoing, came, reply_format)

    @property
    def endpoint(self) -> Endpoint:
        """Server, model and key, as the wire needs them."""
        return Endpoint(self.provider, self.model, self.api_key, self.local_only, self.wrap)

    def reply_format(self) -> ReplyFormat:
        """How this model replies. Loads the wire where its library knows more than we do."""
        if self.provider.reply is not None or self.provider.local:
            return formats.choose(self.provider, family=self.family)
        load_library(self.provider)
        from agentforge.models.wire.send import maker  # noqa: PLC0415 - loaded by now

        profile = maker(self.endpoint).profile(self.endpoint) or {}
        return formats.choose(
            self.provider, tools=bool(profile.get("supports_tools", True)), family=self.family
        )

    def outgoing(self, request: Request, reply_format: ReplyFormat) -> Outgoing:
        """What is sent to the wire for a request, in this reply format."""
        calls = reply_format == "calls" and bool(request.tools)
        return Outgoing(
            system=request.system + formats.guide(reply_format, request.tools),
            pieces=pieces(request.blocks),
            tools=(*request.tools, REPORT) if calls else (),
            schema=formats.reply_schema(request.tools)
            if reply_format == "schema" and request.tools
            else None,
            max_output_tokens=request.max_output_tokens,
            held="5m" if any(block.cache for block in request.blocks) else "",
        )

    def answer(self, outgoing: Outgoing, came: Incoming, reply_format: ReplyFormat) -> Answer:
        """The answer that the wire's response holds, read in this reply format."""
        usage = came.usage or _estimate(outgoing, came)
        refused = came.stop == "refused"
        reply, mistake = (
            (None, REFUSED)
            if refused
            else formats.parse(reply_format, came.text, came.calls, cut_off=came.stop == "length")
        )
        text = recorded_calls(came.text, came.calls, reply, mistake)
        return Answer(text, reply, mistake, usage, self._cost(usage), came.model or self.model, came.stop)

    def _too_long(self, outgoing: Outgoing) -> Answer:
        """The answer to a reply that was not read to its end; nobody counted it, so it costs all that was
        allowed.
        """
        usage = Usage(rough_tokens(outgoing.system + outgoing.user), outgoing.max_output_tokens)
        mistake = (
            f"The reply is far longer than {MAX_REPLY_BYTES:,} bytes and was not read. Send fewer "
            "or smaller actions."
        )
        return Answer("", None, mistake, usage, self._cost(usage), self.model, "end")

    def _cost(self, usage: Usage) -> int | None:
        return self.prices.cost(usage) if self.prices else None


def load_library(provider: Provider) -> None:
    """Loads what its calls need, for a second of processor time; at once if it is loaded. From any thread."""
    with _loading:
        from agentforge.models.wire.send import load  # noqa: PLC0415 - that is what this is for

        load(provider.wire)


def installed(extra: Extra) -> bool:
    """Whether the SDK is there; loads nothing of it."""
    return all(find_spec(module) is not None for module in _MODULES[extra])


def pieces(blocks: tuple[Block, ...]) -> tuple[str, ...]:
    """The user's one text, cut after each block that ends a part which is expected again."""
    cuts = [at for at, block in enumerate(blocks[:-1], 1) if block.cache]
    bounds = [0, *cuts, len(blocks)]
    parts = [render_blocks(blocks[start:end]) for start, end in pairwise(bounds)]
    return tuple(part if at == 0 else f"\n\n{part}" for at, part in enumerate(parts))


def _estimate(outgoing: Outgoing, came: Incoming) -> Usage:
    """The usage of a call, estimated: for a server that does not count."""
    output = came.text + "".join(call.name + call.arguments for call in came.calls)
    return Usage(rough_tokens(outgoing.system + outgoing.user), rough_tokens(output))
