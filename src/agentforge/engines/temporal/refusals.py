"""Why no connection was made, or why the server lets us no further: the library's words in sentences, each
with the next step.

The library tells it only as text. What we do not know in it is said in general; a test holds the rest against
real handshakes.
"""

import re

from agentforge.core.errors import PolicyError, Unusable, UsageError, UserError
from agentforge.engines.temporal.config import Config

NOT_THERE = (
    "Start one with `agentforge server dev`, or correct `temporal.address` in your config.yaml "
    "(or TEMPORAL_ADDRESS)."
)
_FILES = {
    "KeyMismatch": "`temporal.tls.cert` and `temporal.tls.key` in your config.yaml do not belong together.",
    "PrivateKeyParseError": (
        "`temporal.tls.key` in your config.yaml names a file that holds no private key that can be read."
    ),
    "NoCertificatesPresented": (
        "`temporal.tls.cert` in your config.yaml names a file that holds no certificate that can be read."
    ),
}
_CODE = re.compile(r'code: (Unauthenticated|PermissionDenied), message: "([^"]{0,300})')
_PRESENTED = re.compile(r"presented: \[(.{0,300})")
_NAME = re.compile(r"DnsName\(\W*([\w.*-]{1,80})")
_ALERT = "fatal alert"


def refusal_of(text: str, config: Config) -> UserError:
    """The error for a connection that could not be made, from what the library says about it."""
    if found := _CODE.search(text):
        return not_let_in(found[2], config)
    for word, sentence in _FILES.items():
        if word in text:
            return UsageError(sentence, "Correct them.")
    if "InvalidCertificate" in text:
        return _not_trusted(text, config)
    if "InvalidContentType" in text:
        return _no_tls(config)
    if not hung_up(text):
        return nobody(config)
    return _unknown_to_it(text, config) if _secret(config) else _not_plain(config)


def hung_up(text: str, *, for_no_reason: bool = False) -> bool:
    """Whether somebody took the connection and then ended it. The reason that a server sends with it may be
    lost on the way.
    """
    ended = "after connection" in text and "transport::Error" in text
    return ended and not (for_no_reason and _ALERT in text)


def nobody(config: Config) -> UserError:
    """The error where no Temporal server answers at the address."""
    if not _secret(config):
        return Unusable(f"No Temporal server answers at {config.address}.", NOT_THERE)
    next_step = "Start it, or correct `temporal.address` in your config.yaml (or TEMPORAL_ADDRESS)."
    return Unusable(f"No Temporal server answers at {config.address} with TLS.", next_step)


def not_let_in(message: str, config: Config) -> PolicyError:
    """The server said no to a call. What it said never shows the key."""
    said = message.replace(config.api_key, "…") if config.api_key else message
    next_step = (
        f"Export its key as {config.key_name}, or name the variable that has it as "
        "`temporal.api_key_env` in your config.yaml."
    )
    if config.api_key:
        next_step = (
            f"See that {config.key_name} holds a key that is good for the namespace {config.namespace}."
        )
    return PolicyError(
        f"The Temporal server at {config.address} does not let us in: {said.strip().rstrip('.')}.", next_step
    )


def _not_trusted(text: str, config: Config) -> UserError:
    """We do not believe that it is the server."""
    ours = f"The certificate of the Temporal server at {config.address}"
    ca = config.tls.ca if config.tls is not None else ""
    if "NotValidForName" in text:
        wanted = (config.tls.domain if config.tls is not None else "") or config.address.rpartition(":")[0]
        shown = _PRESENTED.search(text)
        names = ", ".join(dict.fromkeys(_NAME.findall(shown[1]))) if shown else ""
        next_step = "Write the name that it is for as `temporal.tls.domain` in your config.yaml."
        return UsageError(f"{ours} is not for {wanted}{f', but for {names}' if names else ''}.", next_step)
    if "Expired" in text or "NotValidYet" in text:
        return Unusable(
            f"{ours} is not valid at this time.", "Have it renewed, or set the clock of this machine."
        )
    if "UnknownIssuer" in text:
        signed = f"was not signed by {ca}" if ca else "was not signed by anyone this machine trusts"
        return UsageError(
            f"{ours} {signed}.", "Name the file of its authority as `temporal.tls.ca` in your config.yaml."
        )
    return UsageError(
        f"{ours} cannot be trusted.", "Look at it, and at `temporal.tls.ca` in your config.yaml."
    )


def _unknown_to_it(text: str, config: Config) -> PolicyError:
    """It is the server, and it does not believe that we are we."""
    cert, server = (
        config.tls.cert if config.tls is not None else "",
        f"The Temporal server at {config.address}",
    )
    if not cert:
        wants = (
            "wants a certificate, and we have none"
            if "CertificateRequired" in text
            else "hung up; it may want a certificate"
        )
        return PolicyError(
            f"{server} {wants}.", "Name yours as `cert` and `key` of `temporal.tls` in your config.yaml."
        )
    why = ": it is out of date" if "Expired" in text else ""
    next_step = (
        "Have it signed by the authority that the server trusts, or name another one as "
        "`temporal.tls.cert` in your config.yaml."
    )
    return PolicyError(f"{server} does not take our certificate {cert}{why}.", next_step)


def _no_tls(config: Config) -> UsageError:
    if config.tls is not None:
        return UsageError(
            f"The Temporal server at {config.address} has no TLS.",
            "Take `tls` out of `temporal` in your config.yaml.",
        )
    return UsageError(
        f"The Temporal server at {config.address} has no TLS, and a key is sent only with it.",
        f"For a server without a key, unset {config.key_name}, and take `api_key_env` out of your "
        "config.yaml.",
    )


def _not_plain(config: Config) -> Unusable:
    return Unusable(
        f"What answers at {config.address} is no Temporal server without TLS.",
        "If it has TLS, write `tls: true` under `temporal` in your config.yaml; else correct "
        "`temporal.address` (or TEMPORAL_ADDRESS).",
    )


def _secret(config: Config) -> bool:
    return config.tls is not None or bool(config.api_key)
