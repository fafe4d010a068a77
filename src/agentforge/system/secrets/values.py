"""The same redaction for data: every text in a value, however deep, and what only its name tells."""

import json

from agentforge.core.reply import Json
from agentforge.system.secrets.redact import redact

_SHORTEST = 6


def clean(value: Json) -> Json:
    """The value without secrets; the value itself if there is none in it."""
    # One look at the whole is far quicker than one at each of a thousand words, and finds what any of them
    # would: line breaks that are written out are edges, too.
    if redact(json.dumps(value, ensure_ascii=False))[1] == 0:
        return value
    return _clean(value)


def _clean(value: Json, name: str = "") -> Json:
    match value:
        case str():
            return _text(value, name)
        case list():
            return [_clean(item, name) for item in value]
        case dict():
            return {_text(key): _clean(item, key) for key, item in value.items()}
        case _:
            return value


def _text(text: str, name: str = "") -> str:
    if len(text) < _SHORTEST:
        return text
    found, count = redact(text)
    if count == 0 and name and (kind := _by_its_name(name, text)):
        return kind
    return found


def _by_its_name(name: str, text: str) -> str:
    """`[REDACTED:kind]` if the text is a secret because it has this name."""
    before = f'"{name}": "'
    spelled, count = redact(f'{before}{text}"')
    return spelled.removeprefix(before).removesuffix('"') if count and spelled.startswith(before) else ""
