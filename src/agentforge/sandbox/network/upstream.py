"""The proxies of the user's own environment: our proxy goes through them where the user's programs would, and
keeps their passwords.
"""

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit

from agentforge.core.errors import Unusable
from agentforge.sandbox.network.destinations import is_address, normal_host

Scheme = Literal["http", "https"]
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass(frozen=True, slots=True)
class Upstream:
    """One proxy, reached over plain TCP."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Which proxy a request goes through, if any."""

    http: Upstream | None = None
    https: Upstream | None = None
    exempt: tuple[str, ...] = ()

    def for_host(self, scheme: Scheme, host: str) -> Upstream | None:
        """The proxy on the way to a normal host. To this machine there is none: a proxy elsewhere would look
        on its own.
        """
        if _is_here(host) or any(_covers(word, host) for word in self.exempt):
            return None
        return self.http if scheme == "http" else self.https


def read_upstreams(environ: Mapping[str, str]) -> Upstreams:
    """As curl, pip and uv read them: small letters first, one for all schemes last."""
    both = _value(environ, "ALL_PROXY")
    words = (word.strip().lower() for word in _value(environ, "NO_PROXY").split(","))
    return Upstreams(
        http=_upstream(_value(environ, "HTTP_PROXY") or both),
        https=_upstream(_value(environ, "HTTPS_PROXY") or both or environ.get("PIP_PROXY", "")),
        exempt=tuple(word for word in words if word),
    )


def own_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The user's variables about proxies, as they are: for a run without walls."""
    return {name: value for name, value in environ.items() if name.upper() in VARIABLES}


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name.lower()) or environ.get(name) or ""


def _upstream(address: str) -> Upstream | None:
    if not address:
        return None
    mend = "Set the variable to an address such as `http://proxy.example:3128`, or unset it for AgentForge."
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if not host:
        raise Unusable("The address of a proxy in your environment cannot be read.", mend)
    if parts.scheme != "http":
        raise Unusable(
            f"The proxy of your environment speaks {parts.scheme}, and set-up can only go through one "
            "that speaks http.",
            mend,
        )
    known = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    secret = None if parts.username is None else "Basic " + base64.b64encode(known.encode()).decode("ascii")
    return Upstream(host, port or 80, secret)


def _is_here(host: str) -> bool:
    if is_address(host):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def _covers(word: str, host: str) -> bool:
    """Whether a word of `NO_PROXY` means this host: a name and all below it, an address, or a whole
    network.
    """
    if word == "*":
        return True
    if is_address(host):
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(word, strict=False)
        except ValueError:
            return False
    name = normal_host(word.partition(":")[0].lstrip("*").lstrip("."))
    return name is not None and (host == name or host.endswith(f".{name}"))
