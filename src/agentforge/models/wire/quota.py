"""How long a provider asks to wait, and whether what it refuses for is a quota: each says so in its own way.

`Retry-After` is the usual one. Google writes a delay into the body; Anthropic and OpenAI name in headers when
a limit that is used up begins again; some say it in words alone.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from pydantic_ai.exceptions import ModelHTTPError

_LIMITS = ("anthropic-ratelimit-", "x-ratelimit-")
_SPAN = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_IN_WORDS = re.compile(r"(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+)", re.IGNORECASE)
_A_DAY = re.compile(r"per\s?-?_?day|PerDay|\bRPD\b|\bTPD\b|daily (?:limit|quota)", re.IGNORECASE)
_DEEPEST = 6


def wait_told(error: ModelHTTPError) -> int | None:
    """How long the provider asked to wait, in whole seconds; None if it did not say."""
    told = (
        [error.retry_after] if error.retry_after is not None else [*_from_body(error), *_from_headers(error)]
    )
    finite = [seconds for seconds in told if math.isfinite(seconds) and seconds >= 0]
    return math.ceil(max(finite)) if finite else None


def of_a_day(error: ModelHTTPError) -> bool:
    """Whether what is used up is the quota of a day, and not that of a minute."""
    return any(_A_DAY.search(text) for text in _texts(parsed_body(error.body)))


def _from_body(error: ModelHTTPError) -> Iterator[float]:
    for key, value in _pairs(parsed_body(error.body)):
        if key == "retryDelay" and isinstance(value, str) and (seconds := span(value)) is not None:
            yield seconds
    for text in _texts(parsed_body(error.body)):
        found = _IN_WORDS.search(text)
        if found is not None and (seconds := span(found[1])) is not None:
            yield seconds


def _from_headers(error: ModelHTTPError) -> Iterator[float]:
    """Of the limits that have nothing left: when each begins again."""
    headers: Mapping[str, str] = {name.lower(): value for name, value in (error.headers or {}).items()}
    for name, value in headers.items():
        if name.startswith(_LIMITS) and "remaining" in name and value.strip() == "0":
            reset = headers.get(name.replace("remaining", "reset"), "")
            if (seconds := _moment(reset) if "T" in reset else span(reset)) is not None:
                yield seconds


def span(text: str) -> float | None:
    """`6h12m0.5s`, `350ms` or `34s` in seconds; None for anything else."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in found.groups())
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds + milliseconds / 1000


def _moment(text: str) -> float | None:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def parsed_body(body: object) -> object:
    """The body of an error: some SDKs give it as they read it, some as text."""
    if not isinstance(body, str):
        return body
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value


def _pairs(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Every key of a body with what it holds, however deep; a body is as deep as its sender likes."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key), item
            yield from _pairs(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:50]:
            yield from _pairs(item, depth + 1)


def _texts(value: object) -> Iterator[str]:
    return (item[:2000] for _, item in _pairs(value) if isinstance(item, str))
