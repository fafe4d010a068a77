"""Telling somebody that a task waits or is over: a program of theirs, or an address.

What is sent to an address is signed, so that whoever gets it can tell that it is from here: the header
`X-AgentForge-Signature` is `sha256=` and the HMAC of the time, a dot and the body, under the shared secret.
"""

import hashlib
import hmac
import http.client
import os
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agentforge.core.errors import Unusable
from agentforge.system import processes

TRIES = 5
_FIRST_PAUSE_S = 0.2
_TIMEOUT_S = 5.0
_PROGRAM_S = 30.0
_OK = range(200, 300)


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is told, and the secret that it shares with us."""

    url: str
    secret: str = ""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What the header of a signed message says."""
    made = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={made.hexdigest()}"


def post(hook: Webhook, identity: str, body: bytes, pause: Callable[[float], None] = time.sleep) -> str:
    """Sends a message, up to five times with longer and longer pauses; returns why it could not be delivered,
    or nothing. The identity is the same each time, so that a receiver can drop what it has.
    """
    why = ""
    for number in range(TRIES):
        if number:
            pause(_FIRST_PAUSE_S * 2**number)
        why = _post_once(hook, identity, body)
        if not why:
            return ""
    return why


def _post_once(hook: Webhook, identity: str, body: bytes) -> str:
    parts = urlsplit(hook.url)
    headers = {"Content-Type": "application/json", "X-AgentForge-Delivery": identity}
    if hook.secret:
        now = str(int(time.time()))
        headers |= {
            "X-AgentForge-Timestamp": now,
            "X-AgentForge-Signature": signature(hook.secret, now, body),
        }
    where = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    connection = _connect(parts.scheme, parts.hostname or "", parts.port)
    try:
        connection.request("POST", where, body, headers)
        answer = connection.getresponse()
        answer.read(1024)
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    # A redirect is not followed: nobody has said that what is beyond it may be told.
    return "" if answer.status in _OK else f"it answered {answer.status}"


def _connect(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
    return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)


def run(argv: Sequence[str], body: bytes) -> str:
    """Hands a message to a program of the user's, on its standard input; returns why it failed, or ""."""
    try:
        done = processes.run(argv, cwd=Path.home(), env=os.environ, timeout_s=_PROGRAM_S, input=body)
    except Unusable as error:
        return error.sentence
    if done.timed_out:
        return f"it did not end within {_PROGRAM_S:.0f} seconds"
    return "" if done.code == 0 else f"it ended with code {done.code}"
