"""The model of a person who has named none: their key says which provider, the provider's row which model."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentforge.models.known.providers import Provider
from agentforge.models.provider_model import installed
from agentforge.store.user.keys import KeySource, KeyStore


@dataclass(frozen=True, slots=True)
class UsualModel:
    """A model that nobody named, and the key that leads to it."""

    spec: str
    key: str
    """The variable in the environment, or the place, that holds the key."""
    others: tuple[str, ...] = ()
    """Further keys that would have done, in their order."""

    @property
    def sentence(self) -> str:
        """Why this model is used, in one line, and how to choose another."""
        rest = f" ({', '.join(self.others)} would be next)" if self.others else ""
        why = f"{self.spec} is used because of {self.key}{rest}"
        return f"You named no model; {why}. `agentforge setup` chooses."


def usual_model(providers: Mapping[str, Provider], keys: KeyStore) -> UsualModel | None:
    """The usual model of the first provider with a key: those in the environment before those that are kept,
    each in the order of the providers. One whose library is missing comes after the others.
    """
    found = [
        (provider, source)
        for provider in providers.values()
        if provider.usual_model and (source := keys.source(provider.name, provider.key_env)) is not None
    ]
    if not found:
        return None
    found.sort(key=lambda each: (not installed(each[0].extra), each[1] != "environment"))
    (first, source), rest = found[0], found[1:]
    others = tuple(_key(provider, kept) for provider, kept in rest)
    return UsualModel(f"{first.name}:{first.usual_model}", _key(first, source), others)


def _key(provider: Provider, source: KeySource) -> str:
    if source == "environment":
        return str(provider.key_env)
    return f"the {provider.name} key in {'your keychain' if source == 'keychain' else 'keys.yaml'}"
