"""The YAML at the head of a document: read strictly, and changed value by value."""

import re
from collections.abc import Mapping

from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml
from agentforge.system.strict_yaml import YamlValue
from agentforge.system.yaml_edit import set_values

_OPENING = re.compile("\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)


def span(text: str) -> tuple[int, int, int] | None:
    """Where the YAML begins and ends, and where the body begins; None if the document has no front matter
    that is closed.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    return opening.end(), closing.start(), closing.end()


def body_start(text: str) -> int:
    """Where the body of a document begins."""
    found = span(text)
    return found[2] if found else 0


def read(text: str, source: str) -> dict[str, YamlValue]:
    """The front matter as a mapping; empty where there is none. What is not a mapping, or opened and never
    closed, is a `UsageError` that names the source.
    """
    found = span(text)
    if found is None:
        if _OPENING.match(text):
            raise UsageError(f"{source}: its front matter is opened with `---` and never closed.")
        return {}
    value = strict_yaml.load(text[found[0] : found[1]], f"{source}, front matter", floats=True)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f"{source}: its front matter is not a mapping of keys to values.")
    return value


def changed(text: str, fields: Mapping[str, YamlValue]) -> str:
    """The document with these values in its front matter. A key such as `context.branch` is a key inside a
    mapping. Comments, order and everything else stay as they are.
    """
    found = span(text)
    if found is None:
        return f"---\n{_set_all('', fields)}---\n{text}"
    start, end, _ = found
    return text[:start] + _set_all(text[start:end], fields) + text[end:]


def _set_all(yaml: str, fields: Mapping[str, YamlValue]) -> str:
    return set_values(yaml, [(key.split("."), value) for key, value in fields.items()])
