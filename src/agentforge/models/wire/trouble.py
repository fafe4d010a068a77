"""From what the library raised to a `ModelTrouble`: its kind, one sentence, and whether it may be tried again
or was perhaps billed.
"""

import re

from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelTimeoutError,
    UserError,
)

from agentforge.models.base import ModelTrouble
from agentforge.models.wire.endpoint import Endpoint, Outgoing
from agentforge.models.wire.http import WireWatch
from agentforge.models.wire.quota import of_a_day, parsed_body, wait_told
from agentforge.system.secrets.redact import redact

_SAID_CHARS = 300
_LOOKED_AT = 8000
"""Redaction comes before the cut: half of a key has no shape."""
_NO_SUCH_MODEL = re.compile(
    r"invalid model|unknown model|model\b.{0,120}\b(?:not found|does not exist|not exist)", re.IGNORECASE
)
_WINDOW = re.compile(
    r"context (?:length|window|size)|exceed_context_size|prompt is too long|too many tokens", re.IGNORECASE
)
_NO_TOOLS = re.compile(
    r"\btools?\b.{0,80}(?:not support|unsupported|requires?\b|not enabled)|not support.{0,40}\btools?\b",
    re.IGNORECASE,
)
_NO_SCHEMA = re.compile(
    r"json_schema|response_format|responseSchema|response_schema|structured output|grammar", re.IGNORECASE
)


def trouble_of(
    error: BaseException, endpoint: Endpoint, outgoing: Outgoing | None, watch: WireWatch
) -> ModelTrouble:
    """Turns the failure of one request into a `ModelTrouble` with its kind and sentence."""
    where = f"the model server at {endpoint.host}"
    if watch.went_astray:
        return ModelTrouble(
            "unreachable", f"{endpoint.host} is not on this machine, and nothing else may be asked here."
        )
    if 300 <= watch.status < 400:
        sentence = (
            f"{_capital(where)} sends us to another address ({watch.status}), which is not "
            "followed; check its base URL."
        )
        return ModelTrouble("bad_request", sentence)
    match error:
        case UserError() if not watch.sent:
            # The library knows that this model cannot do it; the sentence is its own and holds nothing of the
            # request.
            return ModelTrouble(
                "bad_request",
                f"{endpoint.model} cannot be asked in this way. {' '.join(str(error).split())[:_SAID_CHARS]}",
            )
        case ModelHTTPError():
            return _status_trouble(error, endpoint, outgoing, watch)
        case ModelConnectionError(phase="connect" | "pool"):
            question = (
                "is the model server running?"
                if endpoint.loopback
                else "is there a network, and is the address right?"
            )
            return ModelTrouble(
                "unreachable", f"Nothing answers at {endpoint.host}; {question}", retryable=True
            )
        case ModelTimeoutError() | TimeoutError():
            return timeout(endpoint, sent=watch.sent)
        case ModelConnectionError():
            sentence = f"The connection to {where} broke before the reply was complete."
            return ModelTrouble("unreachable", sentence, retryable=True, maybe_billed=True)
        case _ if 400 <= watch.status < 500:
            return ModelTrouble("bad_request", f"{_capital(where)} refused the request ({watch.status}).")
        case _ if watch.html:
            sentence = (
                f"{_capital(where)} answers with a web page and not with a reply; check its base "
                "URL and what is between."
            )
            return ModelTrouble("server", sentence, retryable=True, maybe_billed=True)
        case _:
            sentence = f"What {where} answers is no reply on the {endpoint.provider.wire} wire."
            return ModelTrouble("server", sentence, retryable=True, maybe_billed=True)


def timeout(endpoint: Endpoint, *, sent: bool = True) -> ModelTrouble:
    """The trouble of a call that was not answered in time."""
    sentence = f"The model server at {endpoint.host} did not answer within {endpoint.timeout_s} s."
    return ModelTrouble("timeout", sentence, retryable=True, maybe_billed=sent)


def _status_trouble(  # noqa: C901 - a table of statuses
    error: ModelHTTPError, endpoint: Endpoint, outgoing: Outgoing | None, watch: WireWatch
) -> ModelTrouble:
    where, status = f"The model server at {endpoint.host}", error.status_code
    wait = wait_told(error)
    message = _message(error.body, endpoint)
    said = f" It says: {message}" if message else ""
    match error:
        case ModelAuthenticationError():
            return ModelTrouble(
                "auth",
                f"{where} does not accept the API key, or the key may not use {endpoint.model} ({status}).",
            )
        case ModelQuotaExceededError():
            return _quota(where, wait)
        case ModelRateLimitError() if of_a_day(error):
            return _quota(where, wait)
        case ModelRateLimitError():
            pause = f" and to wait {wait:,} s" if wait else ""
            return ModelTrouble(
                "rate_limit",
                f"{where} asks to slow down ({status}){pause}.",
                retryable=True,
                retry_after_s=wait,
            )
        case ModelOverloadedError():
            return ModelTrouble(
                "server", f"{where} is overloaded ({status}).{said}", retryable=True, retry_after_s=wait
            )
        case ModelNotFoundError():
            return _no_model(error, endpoint, said)
        case _ if status == 408:
            return timeout(endpoint)
        case _ if isinstance(error, ModelContextWindowExceededError) or _WINDOW.search(message):
            return ModelTrouble(
                "window",
                f"The request is longer than {endpoint.model} at {endpoint.host} reads ({status}).{said}",
            )
        case _ if hint := _other_means(message, endpoint, outgoing):
            return ModelTrouble("bad_request", f"{where} refused the request ({status}).{said} {hint}")
        case _ if status >= 500:
            said += " It answers with a web page." if watch.html else ""
            return ModelTrouble(
                "server",
                f"{where} failed ({status}).{said}",
                retryable=True,
                maybe_billed=True,
                retry_after_s=wait,
            )
        case _ if _NO_SUCH_MODEL.search(message):
            return _no_model(error, endpoint, said)
        case _:
            return ModelTrouble("bad_request", f"{where} refused the request ({status}).{said}")


def _quota(where: str, wait: int | None) -> ModelTrouble:
    again = f", and asks to wait {wait:,} s" if wait else ""
    return ModelTrouble(
        "quota", f"{where} says that the account's quota is used up{again}.", retry_after_s=wait
    )


def _no_model(error: ModelHTTPError, endpoint: Endpoint, said: str) -> ModelTrouble:
    sentence = (
        f"The model server at {endpoint.host} knows no model {endpoint.model}, or its address is "
        f"wrong ({error.status_code}).{said}"
    )
    if error.suggested_model_id:
        sentence += f" Is it {error.suggested_model_id}?"
    return ModelTrouble("no_model", sentence)


def _other_means(message: str, endpoint: Endpoint, outgoing: Outgoing | None) -> str | None:
    """Which setting to change, if the server cannot do what the request needs of it."""
    setting = f"`providers.{endpoint.provider.name}.reply`"
    if outgoing is not None and outgoing.tools and _NO_TOOLS.search(message):
        return (
            f"Set {setting} to `schema` or `text` in your config.yaml: this model takes no tool calls here."
        )
    if outgoing is not None and outgoing.schema is not None and _NO_SCHEMA.search(message):
        return f"Set {setting} to `text` in your config.yaml: this model takes no schema here."
    return None


def _message(body: object, endpoint: Endpoint) -> str:
    """The server's own words, if it gave any, in one short line; never the key."""
    text = _words(parsed_body(body))
    if endpoint.api_key:
        text = text.replace(endpoint.api_key, "[key]")
    text = text.encode("utf-8", "replace").decode()
    return " ".join(redact(text[:_LOOKED_AT])[0].split())[:_SAID_CHARS]


def _words(value: object) -> str:
    """The message, wherever the provider's own shape of an error keeps it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(words for item in value[:3] if (words := _words(item)))
    if isinstance(value, dict):
        for key in ("error", "message", "detail", "msg"):
            if key in value and (words := _words(value[key])):
                return words
    return ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
