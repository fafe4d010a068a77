"""Google's `generateContent`."""

import httpx2
from google.genai.client import Client
from google.genai.types import HttpOptions
from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.google import GoogleProvider

from agentforge.models.wire.endpoint import Endpoint, Outgoing
from agentforge.models.wire.http import PLACEHOLDER, trusted

MARKS = False


def make_model(endpoint: Endpoint, http: httpx2.AsyncClient) -> GoogleModel:
    """The library's model for Google's `generateContent`."""
    # The SDK adds the version to the path itself.
    options = HttpOptions(
        base_url=endpoint.provider.base_url.removesuffix("/v1beta"),
        # It wants a client for calls that block as well.
        httpx_client=httpx2.Client(verify=trusted(from_environment=True)),
        httpx_async_client=http,
        timeout=endpoint.timeout_s * 1000,
    )
    client = Client(vertexai=False, api_key=PLACEHOLDER, http_options=options)
    return GoogleModel(endpoint.model, provider=GoogleProvider(client=client))


def settings(endpoint: Endpoint, outgoing: Outgoing) -> GoogleModelSettings:  # noqa: ARG001 - the shape all makers have
    """Its cache finds equal prefixes by itself."""
    return GoogleModelSettings()


def profile(endpoint: Endpoint) -> ModelProfile | None:
    """What the library knows about a model of this name."""
    return GoogleProvider.model_profile(endpoint.model)
