"""OpenAI's chat completions, and the many servers that speak them."""

import hashlib

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from agentforge.models.wire.endpoint import Endpoint, Outgoing
from agentforge.models.wire.http import PLACEHOLDER

MARKS = False


def make_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> OpenAIChatModel:
    """The library's model for chat completions."""
    return OpenAIChatModel(
        endpoint.model,
        provider=OpenAIProvider(openai_client=client(endpoint, http)),
        profile=own_names(endpoint),
    )


def settings(endpoint: Endpoint, outgoing: Outgoing) -> OpenAIChatModelSettings:
    """OpenAI finds the same prefix again by itself; the key leads equal prefixes to the same place."""
    return (
        OpenAIChatModelSettings(openai_prompt_cache_key=prefix_key(outgoing))
        if endpoint.official
        else OpenAIChatModelSettings()
    )


def profile(endpoint: Endpoint) -> ModelProfile | None:
    """A name says something on OpenAI's own server only; elsewhere it is whatever its owner chose."""
    return OpenAIProvider.model_profile(endpoint.model) if endpoint.official else None


def own_names(endpoint: Endpoint) -> OpenAIModelProfile | None:
    """OpenAI itself wants `max_completion_tokens`; other servers may ignore that name, and then nothing
    limits the output.
    """
    return None if endpoint.official else OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def client(endpoint: Endpoint, http: httpx2.AsyncClient) -> AsyncOpenAI:
    """The SDK's client, on top of our own HTTP client."""
    return AsyncOpenAI(
        base_url=endpoint.provider.base_url, api_key=PLACEHOLDER, max_retries=0, http_client=http
    )


def prefix_key(outgoing: Outgoing) -> str:
    """Names what every request of a role and stage begins with."""
    return hashlib.sha256(outgoing.system.encode("utf-8", "replace")).hexdigest()[:32]
