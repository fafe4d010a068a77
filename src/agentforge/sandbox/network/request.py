"""The head of a request to the proxy: read strictly, since two readers that disagree about it are how
requests are smuggled.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agentforge.sandbox.network.destinations import split_authority

LONGEST_HEAD = 32_768
MOST_FIELDS = 100
END = b"\r\n\r\n"
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([!-~]{1,8000}) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[ \t]*([\t -~\x80-\xff]*?)[ \t]*")
_LENGTH = re.compile(r"[0-9]{1,18}")
_PATH = re.compile(r"[!-~]*")
# Between two neighbours only, by the rules of the protocol; and what would make a third party speak on the
# same connection.
NOT_PASSED_ON = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "host",
    }
)

Status = Literal[400, 403, 407, 411, 414, 431, 502, 504]
Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bad:
    """Why a request is not carried out."""

    status: Status
    sentence: str
    wanted: str = ""
    """The place it asked for, as far as it is known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be carried out, if its place is allowed."""

    method: str
    host: str
    port: int
    path: str
    """Empty for a tunnel."""
    fields: Fields
    length: int
    """Of the body that follows."""

    @property
    def is_tunnel(self) -> bool:
        """Whether bytes are to be carried both ways without a look at them."""
        return not self.path

    @property
    def place(self) -> str:
        """Host and port in one word."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def field(self, name: str) -> str | None:
        """The value of a header field, by its name in lower case."""
        return next((value for key, value in self.fields if key.lower() == name), None)

    def head(self, *, absolute: bool, authorization: str | None = None) -> bytes:
        """As it is sent on: to the place itself, or as it came, to a proxy that stands before it."""
        authority = self.place.removesuffix(":80")
        lines = [
            f"{self.method} {f'http://{authority}' if absolute else ''}{self.path} HTTP/1.1",
            f"Host: {authority}",
        ]
        named = {word.strip().lower() for word in (self.field("connection") or "").split(",")}
        lines += (
            f"{key}: {value}"
            for key, value in self.fields
            if key.lower() not in NOT_PASSED_ON | (named - {"content-length"})
        )
        lines += [f"Proxy-Authorization: {authorization}"] if authorization else []
        return "\r\n".join((*lines, "Connection: close", "", "")).encode("latin-1")


def read_request(head: bytes) -> Asked | Bad:
    """The request that a head (without the empty line at its end) makes."""
    first, *rest = head.split(b"\r\n")
    line = _LINE.fullmatch(first)
    fields = read_fields(rest)
    if line is None or fields is None:
        return Bad(400, "This is not a request that the proxy understands.")
    method, target = line[1].decode("ascii"), line[2].decode("ascii")
    if method.upper() == "CONNECT":
        return _tunnel(method, target, fields)
    return _plain(method, target, fields)


def read_fields(lines: list[bytes]) -> Fields | None:
    """Header fields; None if one is not what the protocol says, such as one that goes on in the next line."""
    if len(lines) > MOST_FIELDS:
        return None
    found = [_FIELD.fullmatch(line) for line in lines]
    if not all(found):
        return None
    return tuple((match[1].decode("ascii"), match[2].decode("latin-1")) for match in found if match)


def _tunnel(method: str, target: str, fields: Fields) -> Asked | Bad:
    place = split_authority(target)
    if method != "CONNECT" or place is None or place[1] is None:
        return _unreadable(target)
    if _values(fields, "transfer-encoding") or _values(fields, "content-length") not in ((), ("0",)):
        return Bad(400, "A tunnel has no body.", target)
    return Asked(method, place[0], place[1], "", fields, 0)


def _plain(method: str, target: str, fields: Fields) -> Asked | Bad:
    scheme, mark, rest = target.partition("://")
    authority, path = re.split(r"(?=[/?#])|$", rest, maxsplit=1)
    if scheme.lower() != "http" or not mark:
        return Bad(400, "The proxy carries tunnels, and requests whose address begins with http.")
    place = split_authority(authority)
    if place is None or "#" in path or not _PATH.fullmatch(path) or urlsplit(target).netloc != authority:
        return _unreadable(authority)
    host, port = place[0], place[1] or 80
    said = _values(fields, "host")
    if len(said) > 1 or any(
        split_authority(text) not in ((host, port), (host, None if port == 80 else port)) for text in said
    ):
        return Bad(400, "The request names two hosts.", authority)
    if _values(fields, "transfer-encoding"):
        return Bad(411, "The proxy carries a body only if its length is said.", authority)
    lengths = _values(fields, "content-length")
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        return Bad(400, "The length of the body cannot be read.", authority)
    return Asked(
        method,
        host,
        port,
        path if path.startswith("/") else f"/{path}",
        fields,
        int(lengths[0]) if lengths else 0,
    )


def _unreadable(place: str) -> Bad:
    return Bad(403, "The host that the request names cannot be read.", place)


def _values(fields: Fields, name: str) -> tuple[str, ...]:
    return tuple(value for key, value in fields if key.lower() == name)
