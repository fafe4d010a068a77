"""Anthropic's messages."""

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider

from agentforge.models.wire.endpoint import Endpoint, Outgoing
from agentforge.models.wire.http import PLACEHOLDER

MARKS = True


def make_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> AnthropicModel:
    """The library's model for Anthropic's messages."""
    client = AsyncAnthropic(
        base_url=endpoint.provider.base_url,
        api_key=PLACEHOLDER,
        max_retries=0,
        http_client=http,
        timeout=endpoint.timeout_s,
    )
    return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))


def settings(endpoint: Endpoint, outgoing: Outgoing) -> AnthropicModelSettings:  # noqa: ARG001 - the shape all makers have
    """A cache mark after the system text covers the tools before it; without one the tools carry it."""
    if not outgoing.held:
        return AnthropicModelSettings()
    if outgoing.system:
        return AnthropicModelSettings(anthropic_cache_instructions=outgoing.held)
    return AnthropicModelSettings(anthropic_cache_tool_definitions=outgoing.held if outgoing.tools else False)


def profile(endpoint: Endpoint) -> ModelProfile | None:
    """What the library knows about a model of this name."""
    return AnthropicProvider.model_profile(endpoint.model)
