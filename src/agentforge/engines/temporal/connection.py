"""A connection to the Temporal server, and its troubles in sentences."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.runtime import LoggingConfig, PrometheusConfig, Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.engines.temporal.config import Config, Tls
from agentforge.engines.temporal.refusals import NOT_THERE, hung_up, nobody, not_let_in, refusal_of

CONNECT_S = 5
LOOK_S = 1
REFUSED = (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED)
_AWAY = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)
_QUIET = LoggingConfig("ERROR,temporalio_client=OFF")
"""A server that is away fills pages in the library's own words; we say it in ours."""


async def connect(config: Config, runtime: Runtime | None = None) -> Client:
    """A client that has spoken to the server, in a namespace that exists."""
    begun = time.monotonic()
    with sentences(config):
        while True:
            try:
                return await _connect(config, runtime)
            except (RPCError, RuntimeError) as error:
                # A server that has just been started says so; one that is not there is told at once.
                patience: float = 0
                if "not healthy" in str(error):
                    patience = CONNECT_S
                elif hung_up(str(error), for_no_reason=True):
                    patience = LOOK_S
                if time.monotonic() > begun + patience:
                    raise
            await asyncio.sleep(0.1)


async def ailment(client: Client, config: Config) -> str:
    """Why a worker gets nothing from the server now; empty if it answers and lets us in."""
    try:
        wanted = DescribeNamespaceRequest(namespace=client.namespace)
        await client.workflow_service.describe_namespace(wanted, timeout=timedelta(seconds=LOOK_S))
    except RPCError as error:
        if error.status in _AWAY:
            return (
                f"the server at {config.address} does not answer; start it again, and "
                "this worker continues by itself"
            )
        if error.status in (*REFUSED, RPCStatusCode.NOT_FOUND):
            return (
                f"{sentence_of(error, config)} This worker continues once that is "
                "fixed; with another key, restart it."
            )
    return ""


async def _connect(config: Config, runtime: Runtime | None) -> Client:
    call = Client.connect(
        config.address,
        namespace=config.namespace,
        api_key=config.api_key or None,
        tls=_tls(config.tls) if config.tls is not None else None,
        connect_timeout=timedelta(seconds=CONNECT_S),
        runtime=runtime,
    )
    # Who takes the connection and says nothing is, for the library, worth half a minute.
    client = await asyncio.wait_for(call, CONNECT_S + 1)
    await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=config.namespace), timeout=timedelta(seconds=CONNECT_S)
    )
    return client


@contextmanager
def sentences(config: Config) -> Iterator[None]:
    """What goes wrong between here and the server, for a person."""
    try:
        yield
    except RPCError as error:
        raise sentence_of(error, config) from error
    except TimeoutError as error:
        raise nobody(config) from error
    except RuntimeError as error:
        # The library's word for a connection that was never made.
        if "connect" not in str(error).lower():
            raise
        raise refusal_of(str(error), config) from error
    except ValueError as error:
        raise UsageError(
            f"{config.address!r} cannot be the address of a Temporal server: {error}.",
            "Write, say, 127.0.0.1:7233.",
        ) from error


def sentence_of(error: RPCError, config: Config) -> UserError:
    """The error of a call to the server as one sentence with the next step."""
    if error.status == RPCStatusCode.NOT_FOUND and "amespace" in error.message:
        return UsageError(
            f"The Temporal server at {config.address} has no namespace {config.namespace!r}.",
            "Correct `temporal.namespace` in your config.yaml (or TEMPORAL_NAMESPACE), or have it made.",
        )
    if error.status in _AWAY:
        return Unusable(f"The Temporal server at {config.address} does not answer.", NOT_THERE)
    if error.status in REFUSED:
        return not_let_in(error.message, config)
    return Unusable(f"The Temporal server at {config.address} refused: {error.message}.")


def runtime_for(config: Config, *, quiet: bool) -> Runtime | None:
    """What a worker needs beside the library's own: metrics, which are offered once because nobody gives the
    port back, and silence.
    """
    if not quiet and not config.metrics:
        return None
    logs = _QUIET if quiet else LoggingConfig.default
    try:
        offered = PrometheusConfig(bind_address=config.metrics) if config.metrics else None
        return Runtime(telemetry=TelemetryConfig(logging=logs, metrics=offered))
    except ValueError as error:
        sentence = f"Metrics cannot be offered at {config.metrics!r}: {error}."
        raise UsageError(
            sentence,
            "Correct `temporal.metrics` in your config.yaml; each worker of a machine needs its own.",
        ) from error


def _tls(tls: Tls) -> TLSConfig:
    return TLSConfig(
        server_root_ca_cert=_read("ca", tls.ca),
        domain=tls.domain or None,
        client_cert=_read("cert", tls.cert),
        client_private_key=_read("key", tls.key),
    )


def _read(name: str, path: str) -> bytes | None:
    """A file of certificates or of a key. The library takes any other one for an empty one."""
    if not path:
        return None
    try:
        text = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise UsageError(f"temporal.tls.{name}: {path} cannot be read: {error.strerror}.") from error
    wanted = b"PRIVATE KEY-----" if name == "key" else b"-----BEGIN CERTIFICATE-----"
    if wanted not in text:
        what = "private key" if name == "key" else "certificate"
        raise UsageError(
            f"temporal.tls.{name}: {path} holds no {what}.",
            "Name a file in the format PEM in your config.yaml.",
        )
    return text
