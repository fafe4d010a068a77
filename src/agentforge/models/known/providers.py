"""Who answers: the providers we know, as data, and the ones a person adds. Addresses come from the person's
own environment and configuration, never from the repository that is worked on.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

from agentforge.core.errors import UsageError

Wire = Literal["openai", "openai-responses", "anthropic", "mistral", "google"]
"""The protocol a server speaks. `openai` is chat completions, which most servers of one's own speak too."""
ReplyFormat = Literal["calls", "schema", "text"]
"""How a model says its reply: native tool calls, JSON held to a schema by the server, or JSON in plain text.
"""
Extra = Literal["openai", "anthropic", "mistral", "google"]
"""The optional part of this package that holds the SDK."""

DEFAULT_TIMEOUT_S = 600
TIMEOUT_ENV = "AGENTFORGE_MODEL_TIMEOUT_S"
"""The person's own time limit for one call, where a provider has none of its own."""
SCRIPTED = "scripted"
"""The provider that reads its replies from a file; it has no address."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_EXTRAS: Mapping[Wire, Extra] = MappingProxyType(
    {
        "openai": "openai",
        "openai-responses": "openai",
        "anthropic": "anthropic",
        "mistral": "mistral",
        "google": "google",
    }
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A server of models, or a provider's service: how it is reached and what it needs."""

    name: str
    wire: Wire
    base_url: str = field(repr=False)
    """May hold a user name and a password: shown to nobody; `host` is."""
    key_env: str | None = None
    """The environment variable that may hold the key."""
    needs_key: bool = False
    """Whether it is sure to refuse without one."""
    address_env: str | None = None
    """The environment variable that may hold the address."""
    reply: ReplyFormat | None = None
    """How its models reply, if a person said so; else it is found out."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout_s: int = DEFAULT_TIMEOUT_S
    """For one whole call, from connecting to the last byte."""
    usual_model: str = ""
    """What is asked for where a person has its key and has named no model; empty: nothing."""

    @property
    def extra(self) -> Extra:
        """The optional part of AgentForge that must be installed for it."""
        return _EXTRAS[self.wire]

    @property
    def local(self) -> bool:
        """Whether it answers from this machine."""
        return is_loopback(urlsplit(self.base_url).hostname)

    @property
    def host(self) -> str:
        """The server as a person may see it: no path, no user name, no key."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _hosted(name: Wire, base_url: str, variables: str, usual_model: str = "") -> Provider:
    """A provider's service; its variables in the environment begin with one word."""
    return Provider(
        name,
        name,
        base_url,
        f"{variables}_API_KEY",
        needs_key=True,
        address_env=f"{variables}_BASE_URL",
        usual_model=usual_model,
    )


def _own(name: str, port: int, key_env: str, address_env: str) -> Provider:
    return Provider(name, "openai", f"http://127.0.0.1:{port}/v1", key_env, address_env=address_env)


BUILT_IN: tuple[Provider, ...] = (
    _hosted("anthropic", "https://api.anthropic.com", "ANTHROPIC", "claude-sonnet-5-5"),
    _hosted("openai", "https://api.openai.com/v1", "OPENAI", "gpt-6.1-sol"),
    _hosted("openai-responses", "https://api.openai.com/v1", "OPENAI"),
    _hosted("mistral", "https://api.mistral.ai", "MISTRAL", "mistral-medium-latest"),
    _hosted("google", "https://generativelanguage.googleapis.com", "GOOGLE", "gemini-3.8-flash"),
    _own("ollama", 11434, "OLLAMA_API_KEY", "OLLAMA_HOST"),
    _own("lmstudio", 1234, "LMSTUDIO_API_KEY", "LMSTUDIO_BASE_URL"),
    _own("vllm", 8000, "VLLM_API_KEY", "VLLM_BASE_URL"),
    _own("llamacpp", 8080, "LLAMACPP_API_KEY", "LLAMACPP_BASE_URL"),
)
"""In the order in which their keys are looked for where no model is named."""


def known(
    environ: Mapping[str, str], configured: Mapping[str, Mapping[str, Any]] | None = None
) -> Mapping[str, Provider]:
    """Every provider by name: the built-in ones at the addresses the environment gives, and those of the
    person's `providers:` (`configured`, valid under its contract), which may also change a built-in one. What
    cannot be used is a `UsageError`.
    """
    timeout_s = _timeout(environ.get(TIMEOUT_ENV, ""))
    found = {provider.name: replace(_placed(provider, environ), timeout_s=timeout_s) for provider in BUILT_IN}
    for name, entry in (configured or {}).items():
        found[name] = _configured(name, entry, found.get(name), timeout_s)
    return MappingProxyType(found)


def is_loopback(host: str | None) -> bool:
    """Whether the name or address means this very machine. Never by its looks: `127.0.0.1.example.org` is
    somewhere else.
    """
    if host is None:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _placed(provider: Provider, environ: Mapping[str, str]) -> Provider:
    given = environ.get(provider.address_env or "", "").strip()
    if not given:
        return provider
    address = _ollama_address(given) if provider.name == "ollama" else given
    # Another server than the provider's own may well need no key.
    return replace(provider, base_url=_address(address, provider.address_env or ""), needs_key=False)


def _ollama_address(given: str) -> str:
    """Its own variable may hold less than an address (`0.0.0.0`, `box:11434`), and never names the path."""
    parts = urlsplit(given if "//" in given else f"//{given}")
    host = parts.hostname or "127.0.0.1"
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - where a server listens is no place to ask
    host = f"[{host}]" if ":" in host else host
    try:
        port = parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return given
    return f"{parts.scheme or 'http'}://{host}:{port}{parts.path.rstrip('/').removesuffix('/v1')}/v1"


def _address(text: str, source: str) -> str:
    try:
        parts = urlsplit(text)
        usable = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in text):
        raise UsageError(f"{source} is no address of a model server.", "Write it as http://HOST:PORT/v1.")
    return text.rstrip("/")


def _timeout(text: str) -> int:
    if not text.strip():
        return DEFAULT_TIMEOUT_S
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1_000_000):
        raise UsageError(f"{TIMEOUT_ENV} is {text[:40]!r}, which is no number of seconds.")
    return int(text)


def _configured(name: str, entry: Mapping[str, Any], built_in: Provider | None, timeout_s: int) -> Provider:
    place = f"providers.{name}"
    if not _NAME.fullmatch(name) or name == SCRIPTED:
        raise UsageError(f"{place}: a provider's name is a short word of small letters, digits, `-` and `_`.")
    fields = dict(entry)
    if "base_url" in fields:
        fields["base_url"] = _address(fields["base_url"], f"{place}.base_url")
    if built_in is not None:
        needs_key = built_in.needs_key and "base_url" not in fields
        return replace(built_in, **fields, needs_key=needs_key)
    if "base_url" not in fields:
        raise UsageError(f"{place} has no `base_url`.", "A provider of your own needs its address.")
    return Provider(name, **{"wire": "openai", "timeout_s": timeout_s, **fields})
