"""A user's keys for model providers, kept where only they can read them. Nothing here shows one."""

import os
from dataclasses import dataclass

from agentforge.app.models.configured import models_config
from agentforge.core.errors import UsageError
from agentforge.models.known.providers import Provider
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.user.keys import KeyStore, keys_file


@dataclass(frozen=True, slots=True)
class KeyState:
    """Whether there is a key for a provider, and where it is from."""

    provider: Provider
    source: str | None = None
    hint: str | None = None
    """How the key ends."""
    problem: str = ""
    """Why the keys of this user cannot be read."""


def key_states() -> list[KeyState]:
    """For every provider, whether there is a key and where it is kept."""
    keys = _keys()
    return [_state(provider, keys) for provider in _providers().values()]


def find_provider(name: str) -> Provider:
    """The provider with this name; an unknown name is refused with the known ones."""
    known = _providers()
    if name not in known:
        raise UsageError(
            f"{name[:80]!r} is not a provider.",
            f"Known: {', '.join(known)}; add others under `providers:` in your config.yaml.",
        )
    return known[name]


def keep_key(provider: Provider, text: str, *, in_file: bool = False) -> str:
    """Keeps a key and says where: in the system's keychain if there is one, else in a file of the user."""
    return _place(_keys().put(provider.name, text, in_file=in_file))


def forget_key(provider: Provider) -> list[str]:
    """Deletes the key wherever it is kept, and returns those places. The environment is left alone."""
    return [_place(place) for place in _keys().drop(provider.name)]


def _state(provider: Provider, keys: KeyStore) -> KeyState:
    try:
        key = keys.find(provider.name, provider.key_env)
    except UsageError as error:
        return KeyState(provider, problem=str(error))
    return KeyState(provider, key.source, key.hint) if key else KeyState(provider)


def _place(place: str) -> str:
    return "your keychain" if place == "keychain" else str(keys_file(_home()))


def _providers() -> dict[str, Provider]:
    return dict(models_config(home_path()).providers)


def _keys() -> KeyStore:
    return KeyStore.of(_home(), os.environ)


def _home() -> Home:
    return Home(home_path())
