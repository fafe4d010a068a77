"""Nearly JSON, as weak models write it, read where it can mean one thing only: line breaks inside a text, a
comma before a closing bracket, the quotes of Python, YAML.
"""

import ast
import re

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.models.reply.json_text import BadJson, check_depth, read_loosely, skip_blank
from agentforge.system import strict_yaml

MAX_MENDED = 400_000
"""Characters of a broken text that are read a second time."""

_STRING_OR_COMMA = re.compile(r'"(?>(?:[^"\\]++|\\.)*)"?+|,(?=[ \t\r\n]*+[\]}])', re.DOTALL)
_PYTHON = re.compile(r"[\[{][ \t\r\n]*+(?:'|\{[ \t\r\n]*+')")
_YAML_KEY = re.compile(
    r"\A\s*(?:---\s*\n)?(?:thought|notes|actions|artifacts|signal|summary|tool_calls)[ ]*:"
)


def read_nearly(text: str, why: BadJson) -> Json:
    """The value that a broken JSON text means; raises what was wrong with it where that is open."""
    if len(text) > MAX_MENDED:
        raise why
    start = skip_blank(text, 0)
    if _PYTHON.match(text, start):
        return _python(text[start:], why)
    try:
        value, end = read_loosely(_without_last_commas(text), start)
    except BadJson:
        raise why from None
    if skip_blank(_without_last_commas(text), end) != len(_without_last_commas(text)):
        raise why
    return value


def looks_like_yaml(text: str) -> bool:
    """Whether a text begins as a reply in YAML does."""
    return _YAML_KEY.match(text) is not None


def read_yaml(text: str) -> Json:
    """The mapping or list that a YAML text is; None if it is none."""
    if len(text) > MAX_MENDED:
        return None
    try:
        value = strict_yaml.load(text, "the reply", floats="text")
    except UsageError:
        return None
    return value if isinstance(value, dict | list) else None


def _without_last_commas(text: str) -> str:
    return _STRING_OR_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text)


def _python(text: str, why: BadJson) -> Json:
    """A dict as Python prints it: its strings have escapes of their own, so nothing else may read it."""
    try:
        check_depth(text, 0)
        return _plain(ast.literal_eval(text.strip()))
    except (BadJson, ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise why from None


def _plain(value: object) -> Json:
    match value:
        case bool() | None | int():
            return value
        case str():
            value.encode()  # half of a surrogate pair is no text
            return value
        case float():
            return repr(value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items() if _is_key(key)}
        case _:
            raise TypeError


def _is_key(key: object) -> bool:
    if not isinstance(key, str):
        raise TypeError
    return True
