"""Mistral's chat completions."""

import httpx2
from mistralai.client import Mistral
from pydantic_ai.models.mistral import MistralModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.mistral import MistralProvider

from agentforge.models.wire.batch_mistral import BatchMistralModel
from agentforge.models.wire.endpoint import Endpoint, Outgoing
from agentforge.models.wire.http import PLACEHOLDER, trusted

MARKS = False


def make_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> BatchMistralModel:
    """The library's model for Mistral's chat completions, with batches."""
    # The SDK adds the version to the path itself.
    server = endpoint.provider.base_url.removesuffix("/v1")
    # It wants a client for calls that block as well, and would make one that follows redirects.
    unused = httpx2.Client(verify=trusted(from_environment=True))
    client = Mistral(
        api_key=PLACEHOLDER,
        server_url=server,
        client=unused,
        async_client=http,
        timeout_ms=endpoint.timeout_s * 1000,
    )
    return BatchMistralModel(endpoint.model, provider=MistralProvider(mistral_client=client))


def settings(endpoint: Endpoint, outgoing: Outgoing) -> MistralModelSettings:  # noqa: ARG001 - the shape all makers have
    """Its cache finds equal prefixes by itself."""
    return MistralModelSettings()


def profile(endpoint: Endpoint) -> ModelProfile | None:
    """What the library knows about a model of this name."""
    return MistralProvider.model_profile(endpoint.model)
