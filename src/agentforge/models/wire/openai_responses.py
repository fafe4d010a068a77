"""OpenAI's responses. Nothing is kept on their side: every request holds its whole context."""

import httpx2
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from agentforge.models.wire import openai
from agentforge.models.wire.endpoint import Endpoint, Outgoing

MARKS = False


def make_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> OpenAIResponsesModel:
    """The library's model for OpenAI's responses."""
    return OpenAIResponsesModel(
        endpoint.model, provider=OpenAIProvider(openai_client=openai.client(endpoint, http))
    )


def settings(endpoint: Endpoint, outgoing: Outgoing) -> OpenAIResponsesModelSettings:
    """The settings of a call, the same as for chat completions."""
    found = OpenAIResponsesModelSettings(openai_store=False)
    if endpoint.official:
        found["openai_prompt_cache_key"] = openai.prefix_key(outgoing)
    return found


def profile(endpoint: Endpoint) -> ModelProfile | None:
    """What the library knows about a model of this name, as for chat completions."""
    return openai.profile(endpoint)
