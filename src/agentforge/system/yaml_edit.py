"""One value of a YAML mapping changed, and every other byte of its text kept: comments, order, quotes and
blank lines are a person's.

A value that is the same already changes nothing. Where a value is replaced, the comments inside it stay,
below the new one.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import yaml

from agentforge.core.errors import UsageError
from agentforge.system import strict_yaml
from agentforge.system.strict_yaml import YamlValue

_COMMENT = re.compile(r"#[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_KEY_END = re.compile(r"[^\S\r\n]*:")


@dataclass(slots=True)
class _Entry:
    """One key of a mapping: where its key, its colon and its value lie in the text."""

    column: int
    start: int
    after_colon: int
    end: int = 0
    block: bool = False
    """Whether the value is a mapping in block form, which another key can be put into."""
    children: "dict[str, _Entry]" = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


def set_values(text: str, values: Sequence[tuple[Sequence[str], YamlValue]]) -> str:
    """The text with values at paths of keys. What does not parse as a mapping is a `UsageError`."""
    document = _mapping(text)
    wanted, edited = document, text
    for path, value in values:
        if _at(wanted, path) != (value,):
            with contextlib.suppress(yaml.YAMLError):  # the edit before this one met such a form, see below
                edited = _edited(edited, wanted, path, value)
            wanted = _with(wanted, path, value)
    if edited == text:
        return text
    with contextlib.suppress(UsageError):
        if _mapping(edited) == wanted:
            return edited
    # A form that cannot be edited in place, such as a flow mapping over several lines: written out whole.
    kept = "".join(f"{comment}\n" for comment in _comments(text))
    return kept + strict_yaml.dump(wanted)


def _edited(text: str, document: Mapping[str, YamlValue], path: Sequence[str], value: YamlValue) -> str:
    entries = _entries(text)
    *parents, key = path
    for depth, name in enumerate(parents):
        entry = entries.get(name)
        if entry is None or not entry.block:
            merged = _at(_with(document, path, value), path[: depth + 1])
            assert merged is not None
            return _put(text, entries, name, merged[0])
        entries = entry.children
    return _put(text, entries, key, value)


def _put(text: str, entries: "dict[str, _Entry]", key: str, value: YamlValue) -> str:
    """Replace the value of a key, or add the key below the last one."""
    found = _NEWLINE.search(text)
    newline = found[0] if found else "\n"
    entry = entries.get(key)
    column = entry.column if entry else next((each.column for each in entries.values()), 0)
    lines = strict_yaml.dump({key: value}).rstrip("\n").split("\n")
    spelled = newline.join([lines[0], *(f"{' ' * column}{line}" if line else "" for line in lines[1:])])
    if entry is not None:
        inner = spelled[len(strict_yaml.dump({key: None}).split(":", 1)[0]) + 1 :]
        kept = "".join(f"{newline}{' ' * (column + 2)}{comment}" for comment in entry.comments)
        closing = newline if text[entry.after_colon : entry.end].endswith(("\n", "\r")) else ""
        return text[: entry.after_colon] + inner + kept + closing + text[entry.end :]
    at = max((each.end for each in entries.values()), default=len(text))
    if not text[:at].endswith(("\n", "\r")):
        rest = _NEWLINE.search(text, at)
        at = rest.end() if rest else len(text)
    before = text[:at]
    if before and not before.endswith(("\n", "\r")):
        before += newline
    return f"{before}{' ' * column}{spelled}{newline}{text[at:]}"


class _TextPlace(Protocol):
    """A place as both parsers of PyYAML tell it."""

    line: int
    column: int


class _Offsets:
    """Places in a text from the lines and columns that the parser tells."""

    def __init__(self, text: str) -> None:
        # The breaks of YAML 1.1, which libyaml counts.
        self._starts = [0, *(match.end() for match in re.finditer("\r\n|[\r\n\x85\u2028\u2029]", text))]

    def of(self, mark: _TextPlace | None) -> int:
        assert mark is not None
        return self._starts[mark.line] + mark.column


def _entries(text: str) -> "dict[str, _Entry]":
    """The keys of the outermost mapping, with their places."""
    offsets = _Offsets(text)
    events = iter(list(yaml.parse(text, Loader=yaml.CSafeLoader)))
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            return {} if event.flow_style else _read_mapping(text, offsets, events)[0]
    return {}


def _read_mapping(
    text: str, offsets: _Offsets, events: Iterator[yaml.Event]
) -> "tuple[dict[str, _Entry], int]":
    """The entries of a block mapping whose start was read, and where its last value ends."""
    entries: dict[str, _Entry] = {}
    last = 0
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        assert isinstance(event, yaml.ScalarEvent)
        colon = _KEY_END.match(text, offsets.of(event.end_mark))
        after = colon.end() if colon else offsets.of(event.end_mark)
        start = offsets.of(event.start_mark)
        entry = _Entry(event.start_mark.column if event.start_mark else 0, start, after)
        entry.end = _read_value(text, offsets, events, entry)
        last = entry.end
        entries[str(event.value)] = entry
    return entries, last


def _read_value(text: str, offsets: _Offsets, events: Iterator[yaml.Event], entry: _Entry) -> int:
    """Reads one value into its entry; where it ends, without what stands behind it."""
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return max(offsets.of(event.end_mark), entry.after_colon)
    if isinstance(event, yaml.MappingStartEvent) and not event.flow_style:
        entry.block = True
        entry.children, end = _read_mapping(text, offsets, events)
        entry.comments = _gap_comments(text, entry)
        return end
    assert isinstance(event, yaml.CollectionStartEvent)
    depth, last, spans = 1, offsets.of(event.end_mark), [(entry.after_colon, offsets.of(event.start_mark))]
    block = not event.flow_style
    while depth:
        event = next(events)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if not block:
                spans.append((last, offsets.of(event.start_mark)))
                last = offsets.of(event.end_mark)
        elif isinstance(event, yaml.ScalarEvent):
            spans.append((last, offsets.of(event.start_mark)))
            last = offsets.of(event.end_mark)
    gaps = (text[start:end] for start, end in spans if start < end)
    entry.comments = [found for gap in gaps for found in _COMMENT.findall(gap)]
    return max(last, entry.after_colon)


def _gap_comments(text: str, entry: _Entry) -> list[str]:
    """The comments between the entries of a block mapping, which would go with it."""
    found: list[str] = []
    at = entry.after_colon
    for child in entry.children.values():
        found += _COMMENT.findall(text[at : child.start])
        found += child.comments
        at = child.end
    return found


def _comments(text: str) -> list[str]:
    """Every comment of a text: what lies between its scalars is punctuation, blanks and comments."""
    offsets, at = _Offsets(text), 0
    found: list[str] = []
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent):
            found += _COMMENT.findall(text[at : offsets.of(event.start_mark)])
            at = offsets.of(event.end_mark)
    return found + _COMMENT.findall(text[at:])


def _mapping(text: str) -> dict[str, YamlValue]:
    document = strict_yaml.load(text, "front matter", floats=True)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError("front matter: keys and values are expected.")
    return document


def _at(document: Mapping[str, YamlValue], path: Sequence[str]) -> tuple[YamlValue] | None:
    """The value at a path; None if there is none."""
    value: YamlValue = dict(document)
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return (value,)


def _with(document: Mapping[str, YamlValue], path: Sequence[str], value: YamlValue) -> dict[str, YamlValue]:
    """The document with a value at a path; what is no mapping on the way gives way to one."""
    key, *rest = path
    if rest:
        inner = document.get(key)
        value = _with(inner if isinstance(inner, dict) else {}, rest, value)
    return {**document, key: value}
