"""The bytes of OpenAI's chat completions, through `pydantic-ai`. Import it only where a request is about to be sent.

Retries of the SDK are off: one call here is one HTTP request, and every failure is a `ModelTrouble`.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, cast
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic_ai import ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart, ToolDefinition, UserPromptPart
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from agentforge.models.base import MAX_REPLY_BYTES, ModelTrouble, Stop, ToolSpec, Usage
from agentforge.models.native_calls import Call

_MAX_BODY: Final = 4 * MAX_REPLY_BYTES
"""Escaped twice, a reply of the size we read may be this long on the wire; what is longer is not read to its end."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom to ask."""

    model: str
    base_url: str
    api_key: str | None
    timeout_s: int

    @property
    def host(self) -> str:
        """The server as a person may see it: no path, no user name, no key."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What to send: always two messages."""

    system: str
    user: str
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Incoming:
    """What came back."""

    text: str
    calls: tuple[Call, ...]
    stop: Stop
    usage: Usage | None
    """Absent if the server did not count."""
    model: str | None


@dataclass(frozen=True, slots=True)
class TooLong:
    """The reply was longer than anything we read."""


def send(endpoint: Endpoint, outgoing: Outgoing) -> Incoming | TooLong:
    """Make the one request. Has its own event loop, so it may run in any thread that has none."""
    cap = _Cap()
    try:
        response = asyncio.run(_send(endpoint, outgoing, cap))
    except TimeoutError:
        raise _timeout(endpoint) from None
    except (ModelAPIError, UnexpectedModelBehavior) as error:
        if cap.exceeded:
            return TooLong()
        raise _trouble(error, endpoint) from error
    return _incoming(response)


async def _send(endpoint: Endpoint, outgoing: Outgoing, cap: "_Cap") -> ModelResponse:
    settings = ModelSettings(max_tokens=outgoing.max_output_tokens)
    parameters = ModelRequestParameters(function_tools=[_definition(tool) for tool in outgoing.tools])
    message = ModelRequest(parts=[SystemPromptPart(outgoing.system), UserPromptPart(outgoing.user)])
    # A client per request: its connections belong to this event loop, which ends with the request.
    transport = DefaultAsyncHttpxClient(event_hooks={"response": [cap.watch]}, timeout=endpoint.timeout_s)
    async with (
        asyncio.timeout(endpoint.timeout_s),
        AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key or "none", max_retries=0, http_client=transport) as client,
    ):
        model = OpenAIChatModel(endpoint.model, provider=OpenAIProvider(openai_client=client), profile=_profile(endpoint))
        return await model_request(model, [message], model_settings=settings, model_request_parameters=parameters)


def _definition(tool: ToolSpec) -> ToolDefinition:
    # Not strict: the strict mode rewrites schemas, and optional arguments would become required.
    return ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema), strict=False)


def _profile(endpoint: Endpoint) -> OpenAIModelProfile | None:
    """OpenAI itself wants `max_completion_tokens`; other servers may ignore that name, and then nothing limits the output."""
    if str(urlsplit(endpoint.base_url).hostname).endswith((".openai.com", ".openai.azure.com")):
        return None
    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def _incoming(response: ModelResponse) -> Incoming:
    text = "\n\n".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(Call(_clean(part.tool_name), _arguments(part)) for part in response.parts if isinstance(part, ToolCallPart))
    counted = response.usage
    usage = Usage(counted.input_tokens, counted.output_tokens, counted.cache_read_tokens)
    return Incoming(_clean(text), calls, _stop(response), usage if usage != Usage() else None, response.model_name)


def _arguments(part: ToolCallPart) -> str:
    return _clean(part.args_as_json_str() if isinstance(part.args, dict) else part.args or "")


def _stop(response: ModelResponse) -> Stop:
    return cast("dict[str | None, Stop]", {"length": "length", "content_filter": "refused"}).get(response.finish_reason, "end")


def _clean(text: str) -> str:
    """Text that can be written as UTF-8: JSON escapes can smuggle in half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def _trouble(error: ModelAPIError | UnexpectedModelBehavior, endpoint: Endpoint) -> ModelTrouble:
    where = f"the model server at {endpoint.host}"
    match error:
        case ModelHTTPError():
            return _status_trouble(error, endpoint)
        case ModelTimeoutError():
            return _timeout(endpoint)
        case ModelConnectionError(phase="connect" | "pool"):
            return ModelTrouble("unreachable", f"Nothing answers at {endpoint.host}; is the model server running?", retryable=True)
        case ModelConnectionError():
            sentence = f"The connection to {where} broke before the reply was complete."
            return ModelTrouble("unreachable", sentence, retryable=True, maybe_billed=True)
        case _:
            return ModelTrouble("server", f"The answer of {where} is no chat completion.", retryable=True, maybe_billed=True)


def _status_trouble(error: ModelHTTPError, endpoint: Endpoint) -> ModelTrouble:
    where, status = f"The model server at {endpoint.host}", error.status_code
    wait = math.ceil(error.retry_after) if error.retry_after is not None else None
    said = _said(error, endpoint)
    match status:
        case 401 | 403:
            return ModelTrouble("auth", f"{where} does not accept the API key, or the key may not use {endpoint.model} ({status}).")
        case 429 if isinstance(error, ModelQuotaExceededError):
            return ModelTrouble("rate_limit", f"{where} says that the account's quota is used up.")
        case 429:
            return ModelTrouble("rate_limit", f"{where} asks to slow down (429).", retryable=True, retry_after_s=wait)
        case 408:
            return _timeout(endpoint)
        case 404:
            return ModelTrouble("bad_request", f"{where} knows no model {endpoint.model}, or its address is wrong (404).{said}")
        case _ if status >= 500:
            return ModelTrouble("server", f"{where} failed ({status}).{said}", retryable=True, maybe_billed=True, retry_after_s=wait)
        case _:
            return ModelTrouble("bad_request", f"{where} refused the request ({status}).{said}")


def _said(error: ModelHTTPError, endpoint: Endpoint) -> str:
    """The server's own words, if it gave any; never the key."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    if not isinstance(message, str) or not message.strip():
        return ""
    if endpoint.api_key:
        message = message.replace(endpoint.api_key, "[key]")
    return f" It says: {' '.join(_clean(message).split())[:300]}"


def _timeout(endpoint: Endpoint) -> ModelTrouble:
    sentence = f"The model server at {endpoint.host} did not answer within {endpoint.timeout_s} s."
    return ModelTrouble("timeout", sentence, retryable=True, maybe_billed=True)


class _Cap:
    """Stops reading a body that is too long, so that no server can fill the memory."""

    def __init__(self) -> None:
        self.exceeded = False

    async def watch(self, response: httpx2.Response) -> None:
        """Put the limit around the body before anything reads it."""
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _CappedStream(response.stream, self)


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, cap: _Cap) -> None:
        self._inner = inner
        self._cap = cap

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > _MAX_BODY:
                self._cap.exceeded = True
                raise httpx2.ReadError("the body is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
