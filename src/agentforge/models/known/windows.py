"""How much a model reads: from the families of open models, or from the published list. An unknown window is
None.
"""

from agentforge.models.known.families import classify
from agentforge.models.known.providers import Provider


def window_of(provider: Provider | None, model: str) -> int | None:
    """How many tokens the context and the reply of a model may have together, if that is known."""
    if provider is None:
        return None
    if provider.local:
        family = classify(model)
        return family.context_tokens if family else None
    return _published(provider, model)


def _published(provider: Provider, model: str) -> int | None:
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - 170 ms, and only there with an extra
    except ImportError:
        return None
    try:
        _, found = get_snapshot().find_provider_model(model, None, None, provider.base_url)
    except LookupError:
        return None
    return found.context_window
