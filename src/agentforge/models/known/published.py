"""The names of models that a published list has of a provider, for people who choose one."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from agentforge.models.known.providers import Provider

_NO_CHAT = re.compile(
    r"embed|tts|image|audio|realtime|transcribe|whisper|moderation|\bocr\b|[-.]live\b|robotics|search|"
    r"instruct|davinci|curie|babbage|^ada|^ft:|:free|computer-use|dall-e|sora|imagen|veo|voxtral|banana|omni",
    re.IGNORECASE,
)
"""What the names of models have that do not write code."""


def published_models(provider: Provider) -> tuple[str, ...]:
    """The models that the price list has for this address; none without the list, or for another server."""
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - 170 ms, and only there with an extra
    except ImportError:
        return ()
    try:
        found = get_snapshot().find_provider(None, None, provider.base_url)
    except LookupError:
        return ()
    names = (model.id for model in found.models if not model.deprecated)
    # What Google sells of others has another address.
    foreign = "claude" if provider.wire == "google" else " "
    return tuple(name for name in names if writes_code(name) and foreign not in name)


def writes_code(name: str) -> bool:
    """Whether a model of that name may be one for text, and not for sound, pictures or vectors."""
    return not _NO_CHAT.search(name)


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """The names by how much they are like the wanted one, the nearest first."""
    low = wanted.lower()
    return sorted(names, key=lambda name: (-SequenceMatcher(None, low, name.lower()).ratio(), name))
