"""Does a provider answer, does it take the key, and which models has it? One look at its list of models, all
providers at once, with a hard end.

With the standard library alone: whoever asks wants to know in a second. Redirects are not followed, a server
of this machine is never reached through a proxy, and nothing that a server says is repeated.
"""

import json
import re
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import Final, Literal
from urllib.parse import quote

from agentforge.models.known.local import NoRedirect, astray
from agentforge.models.known.providers import Provider, Wire
from agentforge.models.provider_model import installed
from agentforge.models.wrap.clock import REAL
from agentforge.system.installation import install_command

PROBE_S: Final = 1.5
_MAX_BODY: Final = 4 << 20

_MAX_ERROR: Final = 64 << 10
_MOST: Final = 5000
_PAGE: Final[Mapping[Wire, str]] = {"anthropic": "?limit=1000", "google": "?pageSize=1000"}
"""The whole list at once, where it comes in short pages otherwise."""
_NO_KEY: Final = re.compile(rb"API_KEY_INVALID|API key not valid")
"""How Google says that a key is wrong, with the status of a bad request."""

ProbeState = Literal[
    "ok",
    "no_key",
    "wrong_key",
    "may_not_list",  # a key may be good for calls and for nothing else
    "not_installed",
    "unreachable",
    "late",
    "html",
    "failing",
]


@dataclass(frozen=True, slots=True)
class ProviderProbe:
    """Whether a provider can be asked, and what to do if not."""

    provider: Provider
    state: ProbeState
    detail: str
    next_step: str = ""
    models: tuple[str, ...] = ()
    """The names in its list, as they are asked for."""
    whole: bool = False
    """Whether the list has them all, so that another name is none of its models."""

    @property
    def ok(self) -> bool:
        """Whether it could be asked now."""
        return self.state == "ok"


def probe_all(
    providers: Iterable[Provider], keys: Callable[[Provider], str | None], within_s: float = PROBE_S
) -> tuple[ProviderProbe, ...]:
    """Looks at all of them at once, and waits for nobody longer than that."""
    wanted = list(providers)
    found: dict[str, ProviderProbe] = {}
    until = REAL.now() + within_s
    threads = []
    for provider in wanted:
        key = keys(provider)
        if (known := _before(provider, key)) is not None:
            found[provider.name] = known
            continue
        threads.append(threading.Thread(target=_put, args=(found, provider, key, within_s), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(max(0.0, until - REAL.now()))
    # A thread may still end late: what counts is what is there now.
    return tuple(found.get(provider.name) or _late(provider, within_s) for provider in wanted)


def has_model(provider: Provider, key: str | None, model: str, within_s: float = PROBE_S) -> bool | None:
    """Whether a provider knows a name that is not in its list, as it may be an alias; None: it does not
    say.
    """
    try:
        with _open(provider, f"{_listing(provider)}/{quote(model, safe='')}", key, within_s):
            return True
    except urllib.error.HTTPError as error:
        with error:
            return False if error.code == 404 else None
    except (OSError, HTTPException, ValueError):
        return None


def _before(provider: Provider, key: str | None) -> ProviderProbe | None:
    """What is wrong with a provider without asking it; None if nothing is."""
    if not installed(provider.extra):
        return ProviderProbe(
            provider,
            "not_installed",
            "its library is not installed",
            f"Run: {install_command(provider.extra)}",
        )
    if provider.needs_key and not key:
        return ProviderProbe(
            provider,
            "no_key",
            "there is no key for it",
            f"Set {provider.key_env}, or run `agentforge auth login {provider.name}`.",
        )
    return None


def _put(found: dict[str, ProviderProbe], provider: Provider, key: str | None, within_s: float) -> None:
    found[provider.name] = _look(provider, key, within_s)


def _look(provider: Provider, key: str | None, within_s: float) -> ProviderProbe:
    try:
        if astray(provider):
            return ProviderProbe(
                provider,
                "unreachable",
                f"{provider.host} is not on this machine",
                "Write its address as 127.0.0.1.",
            )
        with _open(provider, _listing(provider) + _PAGE.get(provider.wire, ""), key, within_s) as response:
            return _read(provider, response.headers.get_content_type(), response.read(_MAX_BODY))
    except urllib.error.HTTPError as error:
        with error:
            return _refused(provider, error)
    except (OSError, HTTPException, ValueError) as error:
        return _unreached(provider, error, within_s)


def _open(provider: Provider, url: str, key: str | None, within_s: float) -> HTTPResponse:
    request = urllib.request.Request(url, headers=_headers(provider, key))  # noqa: S310 - providers have http addresses only
    proxies = urllib.request.ProxyHandler({}) if provider.local else urllib.request.ProxyHandler()
    opened: HTTPResponse = urllib.request.build_opener(proxies, NoRedirect()).open(request, timeout=within_s)
    return opened


def _listing(provider: Provider) -> str:
    """Where it lists its models. The SDKs of some add the version to the path, so their addresses have
    none.
    """
    base = provider.base_url.rstrip("/")
    match provider.wire:
        case "anthropic" | "mistral":
            return f"{base.removesuffix('/v1')}/v1/models"
        case "google":
            return f"{base.removesuffix('/v1beta')}/v1beta/models"
        case _:
            return f"{base}/models"


def _headers(provider: Provider, key: str | None) -> dict[str, str]:
    headers = {"accept": "application/json", "user-agent": "agentforge"}
    match provider.wire:
        case "anthropic":
            headers["anthropic-version"] = "2023-06-01"
            headers |= {"x-api-key": key} if key else {}
        case "google":
            headers |= {"x-goog-api-key": key} if key else {}
        case _:
            headers |= {"authorization": f"Bearer {key}"} if key else {}
    return headers


def _read(provider: Provider, kind: str, body: bytes) -> ProviderProbe:
    if kind == "text/html" or body.lstrip()[:1] == b"<":
        return _html(provider)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ProviderProbe(
            provider,
            "failing",
            f"what answers at {provider.host} is no model server",
            _address_step(provider),
        )
    names = _names(value)
    count = len(names)
    whole = isinstance(value, dict) and not value.get("has_more") and not value.get("nextPageToken")
    detail = f"answers; {count} model{'' if count == 1 else 's'}" if count else "answers"
    return ProviderProbe(provider, "ok", detail, models=names, whole=whole and bool(names))


def _names(value: object) -> tuple[str, ...]:
    """The names of a list, as they are asked for. They are data of a stranger."""
    rows = (value.get("data") or value.get("models") or []) if isinstance(value, dict) else []
    found: dict[str, None] = {}
    for row in rows[:_MOST] if isinstance(rows, list) else ():
        name = (row.get("id") or row.get("name")) if isinstance(row, dict) else None
        if isinstance(name, str) and 0 < len(name) <= 300 and name.isprintable():
            found[name.removeprefix("models/")] = None
    return tuple(found)


def _refused(provider: Provider, error: urllib.error.HTTPError) -> ProviderProbe:
    code, kind = error.code, error.headers.get_content_type()
    if code in (401, 403) or (code == 400 and _NO_KEY.search(error.read(_MAX_ERROR))):
        step = f"Renew it: `agentforge auth login {provider.name}`" + (
            f", or set {provider.key_env}." if provider.key_env else "."
        )
        state: ProbeState = "may_not_list" if code == 403 else "wrong_key"
        return ProviderProbe(provider, state, f"{provider.host} does not take the key ({code})", step)
    if kind == "text/html" and code != 404:
        return _html(provider)
    if code in (404, 405, 429):
        return ProviderProbe(provider, "ok", f"answers, without a list of its models ({code})")
    if 300 <= code < 400:
        return ProviderProbe(
            provider,
            "failing",
            f"{provider.host} sends us to another address ({code})",
            _address_step(provider),
        )
    return ProviderProbe(provider, "failing", f"{provider.host} answers {code}")


def _html(provider: Provider) -> ProviderProbe:
    return ProviderProbe(
        provider, "html", f"{provider.host} answers with a web page", _address_step(provider)
    )


def _unreached(provider: Provider, error: Exception, within_s: float) -> ProviderProbe:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return _late(provider, within_s)
    if isinstance(reason, socket.gaierror):
        return ProviderProbe(
            provider,
            "unreachable",
            f"{provider.host} cannot be found",
            "Is there a network? Is the address right?",
        )
    if isinstance(reason, ssl.SSLError):
        return ProviderProbe(
            provider,
            "unreachable",
            f"no safe connection to {provider.host} can be made",
            _address_step(provider),
        )
    if isinstance(error, HTTPException | ValueError):
        return ProviderProbe(
            provider,
            "failing",
            f"what answers at {provider.host} is no model server",
            _address_step(provider),
        )
    step = "Is the server running?" if provider.local else "Is there a network?"
    return ProviderProbe(provider, "unreachable", f"nothing answers at {provider.host}", step)


def _late(provider: Provider, within_s: float) -> ProviderProbe:
    return ProviderProbe(provider, "late", f"{provider.host} did not answer within {within_s:g} s")


def _address_step(provider: Provider) -> str:
    setting = f"`providers.{provider.name}.base_url`"
    place = f"{provider.address_env} or {setting}" if provider.address_env else setting
    return f"Check {place}, its path included."
