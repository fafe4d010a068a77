"""One request through `pydantic-ai`, and what became of it. Retries of the SDKs are off: one call here is one
HTTP request.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, cast

import httpx2
from pydantic_ai import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    UserPromptPart,
)
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import AgentRunError, ContentFilterError, UserError
from pydantic_ai.messages import CachePoint, UserContent
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from agentforge.models.base import OfferedTool, Stop, Usage
from agentforge.models.known.providers import Wire
from agentforge.models.reply.native_calls import ToolCall
from agentforge.models.wire.endpoint import Endpoint, Incoming, Outgoing, TooLong
from agentforge.models.wire.http import WireWatch, open_client
from agentforge.models.wire.trouble import trouble_of

MOST_MARKS = 3
"""A provider takes four cache marks; one belongs to the system text and the tools before it."""

_LIBRARY = (AgentRunError, UserError)
_BAD_BODIES = (AssertionError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
"""What the libraries raise over a body that is none of theirs. Before anything was sent, these are faults of
ours.
"""


class Maker(Protocol):
    """What each provider's module is: from an endpoint to the library's model of it."""

    def make_model(self, endpoint: Endpoint, http: httpx2.AsyncClient) -> Model:
        """The model, to be asked with this client."""
        ...

    def settings(self, endpoint: Endpoint, outgoing: Outgoing) -> ModelSettings:
        """The settings of the library that a call on this wire needs."""
        ...

    def profile(self, endpoint: Endpoint) -> ModelProfile | None:
        """What the library knows of the model by its name."""
        ...

    @property
    def MARKS(self) -> bool:  # noqa: N802 - a constant of a module
        """Whether places for the prompt cache are marked; elsewhere the provider finds them by itself."""
        ...


def send(endpoint: Endpoint, outgoing: Outgoing) -> Incoming | TooLong:
    """Make the one request, or raise `ModelTrouble`. Has its own event loop, so it may run in any thread that
    has none.
    """
    watch = WireWatch()
    maker(endpoint)  # What takes long to load is loaded before the time runs.
    try:
        return incoming(asyncio.run(_send(endpoint, outgoing, watch)))
    except ContentFilterError:
        return Incoming("", (), "refused", None, None)
    except (TimeoutError, *_LIBRARY) as error:
        failure: Exception = error
    except _BAD_BODIES as error:
        if not watch.sent:
            raise
        failure = error
    if watch.too_long:
        return TooLong()
    # Raised outside of `except`: what the library knows of the request is no context of our error.
    raise trouble_of(failure, endpoint, outgoing, watch)


@asynccontextmanager
async def connected(endpoint: Endpoint, watch: WireWatch) -> AsyncIterator[Model]:
    """The library's model of this endpoint, for as long as its client is open."""
    async with open_client(endpoint, watch) as http:
        yield maker(endpoint).make_model(endpoint, http)


def request_settings(endpoint: Endpoint, outgoing: Outgoing) -> ModelSettings:
    """The settings of one request, for callers that send it by other ways."""
    common = ModelSettings(max_tokens=outgoing.max_output_tokens, max_retries=0, timeout=endpoint.timeout_s)
    return cast("ModelSettings", {**common, **maker(endpoint).settings(endpoint, outgoing)})


def messages(endpoint: Endpoint, outgoing: Outgoing) -> list[ModelRequest]:
    """The system text and the user's, with cache marks where the wire has them."""
    system = [SystemPromptPart(outgoing.system)] if outgoing.system else []
    return [ModelRequest(parts=[*system, UserPromptPart(_user(endpoint, outgoing))])]


def parameters(outgoing: Outgoing) -> ModelRequestParameters:
    """The tools, or the schema that holds the reply."""
    if outgoing.schema is None:
        return ModelRequestParameters(function_tools=[_definition(tool) for tool in outgoing.tools])
    shape = OutputObjectDefinition(json_schema=dict(outgoing.schema), name="reply", strict=False)
    return ModelRequestParameters(output_mode="native", output_object=shape)


def incoming(response: ModelResponse) -> Incoming:
    """What of a response is ours: text, calls, why it ended, and the count. Thoughts are left out; their
    tokens are in the count.
    """
    text = "\n\n".join(part.content for part in response.parts if isinstance(part, TextPart))
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    calls = [ToolCall(_clean(part.tool_name), _arguments(part)) for part in parts]
    stop = _stop(response)
    if stop == "length" and parts and isinstance(parts[-1].args, dict):
        # Such a wire shows no cut: what arrived of the last call's arguments looks whole, and may be a part.
        calls[-1] = ToolCall(calls[-1].name, "")
    return Incoming(_clean(text), tuple(calls), stop, _usage(response), response.model_name)


def maker(endpoint: Endpoint) -> Maker:
    """The module of the endpoint's wire, loaded now."""
    return load(endpoint.provider.wire)


def load(wire: Wire) -> Maker:
    """The module of a wire with the library that it needs."""
    match wire:
        case "openai":
            from agentforge.models.wire import openai  # noqa: PLC0415 - each SDK is an extra, and half a second

            return openai
        case "openai-responses":
            from agentforge.models.wire import openai_responses  # noqa: PLC0415

            return openai_responses
        case "anthropic":
            from agentforge.models.wire import anthropic  # noqa: PLC0415

            return anthropic
        case "mistral":
            from agentforge.models.wire import mistral  # noqa: PLC0415

            return mistral
        case "google":
            from agentforge.models.wire import google  # noqa: PLC0415

            return google


async def _send(endpoint: Endpoint, outgoing: Outgoing, watch: WireWatch) -> ModelResponse:
    async with asyncio.timeout(endpoint.timeout_s), connected(endpoint, watch) as model:
        return await model_request(
            model,
            messages(endpoint, outgoing),
            model_settings=request_settings(endpoint, outgoing),
            model_request_parameters=parameters(outgoing),
        )


def _user(endpoint: Endpoint, outgoing: Outgoing) -> str | list[UserContent]:
    if len(outgoing.pieces) < 2 or not outgoing.held or not maker(endpoint).MARKS:
        return outgoing.user
    first = len(outgoing.pieces) - 1 - MOST_MARKS
    content: list[UserContent] = ["".join(outgoing.pieces[: max(first, 0) + 1])]
    for piece in outgoing.pieces[max(first, 0) + 1 :]:
        content += [CachePoint(ttl=outgoing.held), piece]
    return content if outgoing.pieces[-1] else content[:-1]


def _definition(tool: OfferedTool) -> ToolDefinition:
    # Not strict: the strict mode rewrites schemas, and optional arguments would become required.
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema), strict=False
    )


def _arguments(part: ToolCallPart) -> str:
    return _clean(part.args_as_json_str() if isinstance(part.args, dict) else part.args or "")


def _stop(response: ModelResponse) -> Stop:
    return cast("dict[str | None, Stop]", {"length": "length", "content_filter": "refused"}).get(
        response.finish_reason, "end"
    )


def _usage(response: ModelResponse) -> Usage | None:
    """As counted, whatever a server makes of it: nothing below zero, and the parts within the whole."""
    counted = response.usage
    counts = (
        counted.input_tokens,
        counted.output_tokens,
        counted.cache_read_tokens,
        counted.cache_write_tokens,
    )
    read, output, cached, written = (max(0, int(count)) for count in counts)
    usage = Usage(max(read, cached + written), output, cached, written)
    return usage if usage != Usage() else None


def _clean(text: str) -> str:
    """Half a surrogate pair can be sent in JSON and cannot be written down."""
    return text.encode("utf-8", "replace").decode()
