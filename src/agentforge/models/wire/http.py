"""One HTTP client per request, of our making: the key is put on last, the body is capped, no redirect is
followed, and where only this machine may be asked nothing else is connected to.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Final
from urllib.parse import urlsplit

import httpx2

from agentforge.models.base import MAX_REPLY_BYTES
from agentforge.models.known.providers import Wire, is_loopback
from agentforge.models.wire.endpoint import Endpoint
from agentforge.system.quiet import hush_logs

PLACEHOLDER: Final = "none"
"""What an SDK is told as its key. It never learns the real one, so none of its errors, logs or traces can
hold it.
"""

_MAX_BODY: Final = 4 * MAX_REPLY_BYTES
"""Escaped twice, a reply of the size we read may be this long on the wire; what is longer is not read to its
end.
"""

_CREDENTIALS: Final = ("authorization", "x-api-key", "x-goog-api-key", "proxy-authorization", "cookie")
_ACCOUNT: Final = ("openai-organization", "openai-project")
_COMPRESSED: Final = "content-encoding"


class WireWatch:
    """What is known of one request besides its answer."""

    def __init__(self, max_body: int = _MAX_BODY) -> None:
        self.max_body = max_body
        self.sent = False
        self.status = 0
        self.html = False
        self.too_long = False
        self.went_astray = False
        """A connection to somewhere else than this machine was refused."""


@cache
def trusted(*, from_environment: bool) -> ssl.SSLContext:
    """Whose certificates are good. Reading them takes longer than a whole request to a server near by."""
    return httpx2.create_ssl_context(trust_env=from_environment)


def open_client(endpoint: Endpoint, watch: WireWatch) -> httpx2.AsyncClient:
    """The client for one request; its connections belong to the event loop that runs now."""
    hush_logs()

    async def seal(request: httpx2.Request) -> None:
        _seal(request, endpoint)
        watch.sent = True

    async def look(response: httpx2.Response) -> None:
        watch.status = response.status_code
        watch.html = response.headers.get("content-type", "").lower().startswith("text/html")
        # Nobody asked for a compressed body, and a small one can hold gigabytes: left as it is, it is no
        # reply.
        response.headers.pop(_COMPRESSED, None)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _CappedStream(response.stream, watch)

    return httpx2.AsyncClient(
        transport=_transport(endpoint, watch),
        event_hooks={"request": [seal], "response": [look]},
        timeout=endpoint.timeout_s,
        follow_redirects=False,
        # A proxy of the environment is for what is outside; servers on this machine are reached directly.
        trust_env=not endpoint.loopback,
        verify=trusted(from_environment=not endpoint.loopback),
        headers={"accept-encoding": "identity"},
    )


def _transport(endpoint: Endpoint, watch: WireWatch) -> httpx2.AsyncBaseTransport | None:
    """None where the client's own will do, which knows the proxies of the environment."""
    if not endpoint.loopback and endpoint.wrap is None:
        return None
    transport: httpx2.AsyncBaseTransport = httpx2.AsyncHTTPTransport(
        trust_env=not endpoint.loopback, verify=trusted(from_environment=not endpoint.loopback)
    )
    if endpoint.loopback:
        transport = _LoopbackOnly(transport, watch)
    if endpoint.wrap is not None:
        transport = endpoint.wrap(transport)
    return transport


def _seal(request: httpx2.Request, endpoint: Endpoint) -> None:
    """Leave no credential on the request but the one that is meant for this server."""
    drop = _CREDENTIALS if endpoint.official else (*_CREDENTIALS, *_ACCOUNT)
    for name in drop:
        request.headers.pop(name, None)
    # A provider may name the address of an upload: it gets no key unless it is the provider itself.
    if endpoint.api_key is not None and request.url.host == urlsplit(endpoint.provider.base_url).hostname:
        name, value = _credential(endpoint.provider.wire, endpoint.api_key)
        request.headers[name] = value


def _credential(wire: Wire, key: str) -> tuple[str, str]:
    match wire:
        case "anthropic":
            return "x-api-key", key
        case "google":
            return "x-goog-api-key", key
        case _:
            return "authorization", f"Bearer {key}"


class _LoopbackOnly(httpx2.AsyncBaseTransport):
    """Connects to this machine and to nothing else, by address and not by name."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, watch: WireWatch) -> None:
        self._inner = inner
        self._watch = watch

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not await _resolves_here(request.url.host, request.url.port):
            self._watch.went_astray = True
            raise httpx2.ConnectError("not on this machine", request=request)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _resolves_here(host: str, port: int | None) -> bool:
    if not is_loopback(host):
        return False
    if host.lower() != "localhost":
        return True
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(is_loopback(str(address[0])) for *_, address in found)


class _CappedStream(httpx2.AsyncByteStream):
    """Stops reading a body that is too long, so that no server can fill the memory."""

    def __init__(self, inner: httpx2.AsyncByteStream, watch: WireWatch) -> None:
        self._inner = inner
        self._watch = watch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._watch.max_body:
                self._watch.too_long = True
                raise httpx2.ReadError("the body is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
