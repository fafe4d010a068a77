"""Where a run may go on the network: names and ports as people write them, and whether a request asks for one
of them.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentforge.core.errors import UsageError

USUAL_PORTS = (443, 80)
LONGEST_NAME = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Of a host that ends so, every resolver makes an address: `127.1`, `0x7f000001` and `2130706433` are all this
# machine.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Destination:
    """One place that a run may reach."""

    host: str
    """A name or an address, normal; with `*.` before it, every name below."""
    port: int | None = None
    """None: the usual ones, 443 and 80."""
    private: bool = False
    """Whether it may be on this machine or on its own network. Only for places that come from the user's own
    configuration, or from the installer itself: a name that a repository chose could be made to lead to a
    service of this machine.
    """

    def admits(self, host: str, port: int) -> bool:
        """Whether a normal `host` and a port are this place."""
        if port not in (USUAL_PORTS if self.port is None else (self.port,)):
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:]) and not is_address(host)
        return host == self.host

    def __str__(self) -> str:
        """`host`, or `host:port` where the port is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


def destination(text: str, *, private: bool = False) -> Destination:
    """`host`, `host:port`, `*.suffix` or an address, as a person writes it."""
    found = split_authority(text if not text.startswith("*.") else text[2:])
    if found is None or (text.startswith("*.") and is_address(found[0])):
        raise UsageError(
            f"{text!r} is not a place on the network.", "Write `host`, `host:port` or `*.suffix`."
        )
    return Destination(f"*.{found[0]}" if text.startswith("*.") else found[0], found[1], private)


def destinations(texts: Iterable[str], *, private: bool = False) -> tuple[Destination, ...]:
    """Each of them once, in order."""
    return tuple(dict.fromkeys(destination(text, private=private) for text in texts))


def of_address(url: str, *, private: bool = False) -> Destination | None:
    """Where an `http` or `https` address leads; None for one that leads nowhere on the network."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    known = normal_host(f"[{host}]" if ":" in host else host)
    if parts.scheme not in ("http", "https") or known is None:
        return None
    return Destination(known, port or (443 if parts.scheme == "https" else None), private)


def admitted(places: Iterable[Destination], host: str, port: int) -> Destination | None:
    """The place that a request asks for, if it is one of `places`; the most trusted of those that fit."""
    fitting = [place for place in places if place.admits(host, port)]
    return max(fitting, key=lambda place: place.private, default=None)


def split_authority(text: str) -> tuple[str, int | None] | None:
    """The normal host and the port of `host:port`; None if it is anything else, such as one with a user's
    name before it.
    """
    host, colon, port = text, "", ""
    if not text.endswith("]") and (":" in text):
        host, colon, port = text.rpartition(":")
    known = normal_host(host)
    if known is None or (colon and not (_PORT.fullmatch(port) and 0 < int(port) < 65536)):
        return None
    return known, int(port) if colon else None


def normal_host(text: str) -> str | None:
    """A host as it is compared: lower case, an address in its one spelling; None if it is no host, or one
    written to be misread.
    """
    if text.startswith("[") and text.endswith("]"):
        try:
            return str(ipaddress.IPv6Address(text[1:-1])) if "%" not in text else None
        except ValueError:
            return None
    lower = text.lower()
    labels = lower.split(".")
    if not text.isascii() or len(text) > LONGEST_NAME or not all(map(_LABEL.fullmatch, labels)):
        return None
    if not _NUMBER.fullmatch(labels[-1]):
        return lower
    try:
        return str(ipaddress.IPv4Address(lower))
    except ValueError:
        return None


def is_address(host: str) -> bool:
    """Whether a normal host is an address and not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_public(address: str) -> bool:
    """Whether an address is on the open network: not this machine, not its own network, and no disguise of
    one of those.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        disguises = (
            found.ipv4_mapped,
            found.sixtofour,
            found.teredo[1] if found.teredo else None,
            _translated(found),
        )
        inner = next((each for each in disguises if each is not None), None)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The address of the older kind that a translator on the way makes of it."""
    inside = address in ipaddress.IPv6Network("64:ff9b::/96")
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if inside else None
