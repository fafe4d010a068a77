"""Any server that speaks OpenAI's chat completions: one HTTP request per ask, native tool calls.

Light to import: what needs the optional extra is `openai_wire`, loaded with the first request.
"""

from dataclasses import dataclass, field
from importlib.util import find_spec

from agentforge.core.errors import Unusable
from agentforge.models.base import REFUSED, Answer, Request, Reservation, Usage, render_blocks, rough_tokens
from agentforge.models.native_calls import REPORT, Call, parse_calls, recorded_calls
from agentforge.models.prices import Prices
from agentforge.models.reply_text import MAX_REPLY_BYTES

OPENAI_URL = "https://api.openai.com/v1"
"""Where a model lives if nothing else is said."""


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """One model of one server."""

    name: str
    """The model's name, as the server knows it."""
    base_url: str
    api_key: str | None = field(repr=False)
    """Servers of one's own often need none."""
    timeout_s: int
    """For the whole call, from connecting to the last byte."""
    prices: Prices | None

    def __post_init__(self) -> None:
        if find_spec("pydantic_ai") is None or find_spec("openai") is None:
            raise Unusable("The OpenAI wire needs an optional part that is not installed.", "Run: pip install 'agentforge[openai]'")

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """All of the input at the full price, and the longest output that the request allows."""
        tokens = input_tokens + request.max_output_tokens
        return Reservation(tokens, self.prices.worst(input_tokens, request.max_output_tokens) if self.prices else None)

    def ask(self, request: Request) -> Answer:
        """Send the request once."""
        from agentforge.models.openai_wire import Endpoint, Outgoing, TooLong, send  # noqa: PLC0415 - a second of imports

        user = render_blocks(request.blocks)
        tools = (*request.tools, REPORT) if request.tools else ()
        endpoint = Endpoint(self.name, self.base_url, self.api_key, self.timeout_s)
        came = send(endpoint, Outgoing(request.system, user, tools, request.max_output_tokens))
        if isinstance(came, TooLong):
            return self._too_long(request, user)
        usage = came.usage or _estimate(request, user, came.text, came.calls)
        refused = came.stop == "refused"
        reply, mistake = (None, REFUSED) if refused else parse_calls(came.text, came.calls, cut_off=came.stop == "length")
        text = recorded_calls(came.text, came.calls, reply, mistake)
        return Answer(text, reply, mistake, usage, self._cost(usage), came.model or self.name, came.stop)

    def _too_long(self, request: Request, user: str) -> Answer:
        """The answer to a reply that was not read to its end; nobody counted it, so it costs all that was allowed."""
        usage = Usage(rough_tokens(request.system + user), request.max_output_tokens)
        mistake = f"The reply is far longer than {MAX_REPLY_BYTES:,} bytes and was not read. Send fewer or smaller actions."
        return Answer("", None, mistake, usage, self._cost(usage), self.name, "end")

    def _cost(self, usage: Usage) -> int | None:
        return self.prices.cost(usage) if self.prices else None


def _estimate(request: Request, user: str, text: str, calls: tuple[Call, ...]) -> Usage:
    """For a server that does not count."""
    output = text + "".join(call.name + call.arguments for call in calls)
    return Usage(rough_tokens(request.system + user), rough_tokens(output))
