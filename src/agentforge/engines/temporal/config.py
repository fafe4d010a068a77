"""Where the Temporal server is and how to speak to it. The user's own affair: no repository can say any of
it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentforge.core.errors import UsageError

ADDRESS = "127.0.0.1:7233"
KEY = "TEMPORAL_API_KEY"
_ADDRESS = re.compile(r"[^\s/@]+:\d{1,5}")
_ONE_WORD = re.compile(r"[!-~]*")


@dataclass(frozen=True, slots=True)
class Tls:
    """The paths of the certificates for TLS, and the name that the server's must have."""

    cert: str = ""
    key: str = ""
    ca: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """What a worker and a command need to know of the server."""

    address: str = ADDRESS
    namespace: str = "default"
    tls: Tls | None = None
    api_key: str = field(default="", repr=False)
    queue: str = "agentforge"
    host_silence_s: int = 600
    """After so many seconds without a sign of it, the host of a task counts as lost."""
    metrics: str = ""
    """Where a worker offers its metrics, as `host:port`; empty for nowhere."""
    program: str = ""
    """The `temporal` that `server dev` starts, if not the one on PATH."""
    key_name: str = KEY
    """The variable that the key comes from."""


def read_config(value: Mapping[str, Any], environ: Mapping[str, str], source: str) -> Config:
    """The mapping `temporal` of the user's file, valid under its contract, under the usual variables."""
    key_name = str(value.get("api_key_env") or KEY)
    if value.get("api_key_env") and not environ.get(key_name):
        raise UsageError(
            f"{source}: temporal.api_key_env names {key_name}, which is not set.", f"Export {key_name}."
        )
    if not _ONE_WORD.fullmatch(environ.get(key_name, "")):
        raise UsageError(
            f"{key_name} holds no key: a key is one word of plain letters, digits and signs.",
            f"Export {key_name} again.",
        )
    address = environ.get("TEMPORAL_ADDRESS") or str(value.get("address") or ADDRESS)
    if not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"{address!r} cannot be the address of a Temporal server.",
            f"Write host and port, say, {ADDRESS}.",
        )
    return Config(
        address=address,
        namespace=environ.get("TEMPORAL_NAMESPACE") or str(value.get("namespace") or "default"),
        tls=_tls(value["tls"], source) if value.get("tls", False) is not False else None,
        api_key=environ.get(key_name, ""),
        queue=str(value.get("queue") or "agentforge"),
        host_silence_s=value.get("host_silence_s", 600),
        metrics=str(value.get("metrics") or ""),
        program=str(value.get("program") or ""),
        key_name=key_name,
    )


def _tls(value: Mapping[str, str] | Literal[True], source: str) -> Tls:
    tls = Tls() if value is True else Tls(**value)
    if bool(tls.cert) != bool(tls.key):
        raise UsageError(f"{source}: temporal.tls: has both `cert` and `key`, or neither.")
    for name in ("cert", "key", "ca"):
        path = getattr(tls, name)
        if path and not Path(path).expanduser().is_file():
            raise UsageError(f"{source}: temporal.tls.{name}: there is no file {path}.")
    return tls
