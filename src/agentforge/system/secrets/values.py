"""The same redaction for data: every text in a value, however deep, and what only its name tells."""

import json
from functools import lru_cache

from agentforge.core.reply import Json
from agentforge.system.secrets import known
from agentforge.system.secrets.redact import hints_at, redact

_SHORTEST = 6
_LONG = 400
"""Characters of a text that was most likely searched by itself before it became part of a value."""


def clean(value: Json) -> Json:
    """The value without secrets; the value itself if there is none in it."""
    # One look at the whole is far quicker than one at each of a thousand words, and finds what any of them
    # would: line breaks that are written out are edges, too.
    long: list[str] = []
    whole = json.dumps(_without_long(value, "", long), ensure_ascii=False)
    if redact(whole)[1] == 0 and not any(redact(text)[1] for text in long):
        return value
    return _clean(value)


def clean_words(value: Json) -> Json:
    """The same for many short texts of which most were there the last time: each is looked at by itself, and
    remembered.
    """
    return _clean(value)


def _without_long(value: Json, name: str, long: list[str]) -> Json:
    """The value with nothing in the place of its long texts, which are looked at by themselves: what is kept
    of a step was searched when it came in. Where its name tells something, a text stays.
    """
    match value:
        case str() if len(value) >= _LONG and not _tells(name):
            long.append(value)
            return ""
        case list():
            return [_without_long(item, name, long) for item in value]
        case dict():
            return {key: _without_long(item, key, long) for key, item in value.items()}
        case _:
            return value


@lru_cache(maxsize=256)
def _tells(name: str) -> bool:
    """Whether what has this name may be a secret because of it."""
    return hints_at(f'"{name}": "')


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
    return _word(text, name, known.spellings()) if len(text) < _LONG else _cleaned(text, name)


@lru_cache(maxsize=2048)
def _word(text: str, name: str, _: tuple[str, ...]) -> str:
    """A short text, as long as the same keys are known."""
    return _cleaned(text, name)


def _cleaned(text: str, name: str) -> str:
    found, count = redact(text)
    if count == 0 and name and (kind := _by_its_name(name, text)):
        return kind
    return found


def _by_its_name(name: str, text: str) -> str:
    """`[REDACTED:kind]` if the text is a secret because it has this name."""
    before = f'"{name}": "'
    spelled, count = redact(f'{before}{text}"')
    return spelled.removeprefix(before).removesuffix('"') if count and spelled.startswith(before) else ""
