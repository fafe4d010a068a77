"""YAML without surprises: the scalars of YAML 1.2, no duplicate keys, no aliases, no tags; and a writer whose
files read back equal.

Values are built from parser events, not nodes: events carry the place of every mistake, and deep nesting
cannot overflow a stack.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, overload

import yaml

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.canon import quote

YamlValue: TypeAlias = "str | int | float | bool | None | list[YamlValue] | dict[str, YamlValue]"

MAX_VALUES = 300_000
"""More keys and values than this are no document that anybody reads."""
MAX_DEPTH = 100
"""Deeper nesting is no configuration that a person wrote."""

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_TEXT_TAG = "tag:yaml.org,2002:str"

# Text that every YAML reader, of 1.1 too, takes for text when it stands alone.
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+@()-]*(?: [A-Za-z0-9_./+@()-]+)*")
_NOT_PLAIN = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNFIT = r"\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
_LITERAL = re.compile(rf"[^\s\x00-\x1f{_UNFIT}][^\x00-\x08\x0b-\x1f{_UNFIT}]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER = 1000
_LONG_KEY = 1000  # over 1,024 characters a key needs the explicit form


def load_file(path: Path) -> Json:
    """The document of a person's own settings; None if there is no file. One that cannot be read is a
    `UsageError` too.
    """
    try:
        return load_settings(read_bounded(path, SETTINGS_BYTES).decode(), str(path))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        there = next(each for each in path.parents if each.exists())
        raise UsageError(
            f"{there} is no directory, so there can be no {path}.",
            "Set HOME or AGENTFORGE_HOME to a directory of your own.",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.", "Fix or remove it.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", "Fix or remove it.") from None


@overload
def load(text: str, source: str, *, floats: Literal[False, "text"] = False) -> Json: ...
@overload
def load(text: str, source: str, *, floats: Literal[True]) -> YamlValue: ...
def load(text: str, source: str, *, floats: Literal[False, True, "text"] = False) -> "Json | YamlValue":
    """The one document in `text`; an empty one is None. Every mistake is a `UsageError` that starts with
    `source:line:column`.
    """
    builder = _Builder(source, floats)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark, problem = error.problem_mark or error.context_mark, error.problem or "not YAML"
        if mark is not None and _indented_by_tab(text, mark.line):
            problem = "the line is indented with a tab; YAML wants spaces"
        raise _mistake(source, mark, problem) from None
    except yaml.reader.ReaderError as error:
        before = text.encode(errors="surrogatepass")[: error.position].decode(errors="replace")
        raise _mistake_at(
            source, before, f"the character {_codepoint(error.character)} is not allowed here"
        ) from None
    except UnicodeEncodeError as error:
        raise _mistake_at(source, text[: error.start], "half of a surrogate pair is not text") from None
    return builder.document


def load_settings(text: str, source: str) -> Json:
    """As `load`, for what people write by hand: an amount such as 2.50 is kept as its text."""
    return load(text, source, floats="text")


def dump(value: object) -> str:
    """Block YAML in the order of insertion; text of several lines as a literal block. `load` reads it back
    equal.

    Only a lone surrogate, which no YAML can hold, becomes U+FFFD.
    """
    parts: list[str] = []
    _put(parts.append, value, 0, "")
    return "".join(parts).lstrip(" ")


def _events(text: str) -> Iterator[yaml.Event]:
    yield from yaml.parse(text, Loader=yaml.CSafeLoader)


class _Mark(Protocol):
    """A place as both parsers of PyYAML tell it."""

    line: int
    column: int


@dataclass(slots=True)
class _Open:
    """A list or mapping that is still being read."""

    value: "list[YamlValue] | dict[str, YamlValue]"
    key: str | None = None
    lines: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Builder:
    source: str
    floats: Literal[False, True, "text"]
    document: YamlValue = None
    stack: list[_Open] = field(default_factory=list)
    documents: int = 0
    values: int = 0

    def take(self, event: yaml.Event) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise self._mistake(event, f"more than {MAX_VALUES:,} values")
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._open({}, event)
            case yaml.SequenceStartEvent():
                self._open([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.stack.pop()
            case yaml.AliasEvent():
                raise self._mistake(event, f"the alias `*{event.anchor}` is not allowed; write the value out")
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise self._mistake(event, "a second document starts here; one file holds one")
            case _:
                pass

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        container = self.stack[-1] if self.stack else None
        value = self._resolve(event)
        if container is None or isinstance(container.value, list) or container.key is not None:
            self._put(value)
        elif not isinstance(value, str):
            raise self._mistake(event, f"the key `{event.value}` is not text; put it in quotes")
        elif value == "<<" and event.implicit[0]:
            raise self._mistake(event, "the merge key `<<` is not allowed; write the keys out")
        elif value in container.value:
            raise self._mistake(
                event, f"the key `{value}` is there twice (first in line {container.lines[value]})"
            )
        else:
            container.key = value
            container.lines[value] = event.start_mark.line + 1 if event.start_mark else 0

    def _open(
        self, value: "list[YamlValue] | dict[str, YamlValue]", event: yaml.CollectionStartEvent
    ) -> None:
        if event.tag is not None and not event.implicit:
            raise self._mistake(event, f"the tag `{event.tag}` is not allowed")
        if len(self.stack) == MAX_DEPTH:
            raise self._mistake(event, f"nested deeper than {MAX_DEPTH} levels")
        if self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None:
            raise self._mistake(event, "a key must be text")
        self._put(value)
        self.stack.append(_Open(value))

    def _put(self, value: YamlValue) -> None:
        if not self.stack:
            self.document = value
            return
        container = self.stack[-1]
        if isinstance(container.value, list):
            container.value.append(value)
        elif container.key is not None:
            container.value[container.key] = value
            container.key = None

    def _resolve(self, event: yaml.ScalarEvent) -> "str | int | float | bool | None":
        plain, quoted = event.implicit
        if not plain:
            if not quoted and event.tag not in ("!", _TEXT_TAG):
                raise self._mistake(event, f"the tag `{event.tag}` is not allowed")
            return str(event.value)
        text: str = event.value
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _INT.fullmatch(text):
            if len(text) > _LONGEST_NUMBER:
                raise self._mistake(
                    event, f"a number of {len(text)} digits is too long; put it in quotes if it is text"
                )
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if _FLOAT.fullmatch(text):
            if self.floats == "text":
                return text
            if not self.floats:
                raise self._mistake(
                    event,
                    f"`{text[:40]}` is a fraction, which is not allowed here; put it in quotes if it is text",
                )
            return float(
                text.replace(".inf", "inf").replace(".nan", "nan") if text[-1] not in "0123456789." else text
            )
        return text

    def _mistake(self, event: yaml.Event, problem: str) -> UsageError:
        return _mistake(self.source, event.start_mark, problem)


def _indented_by_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    return line < len(lines) and "\t" in lines[line][: -len(lines[line].lstrip()) or None]


def _mistake(source: str, mark: _Mark | None, problem: str) -> UsageError:
    place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
    return UsageError(f"{place}: {problem}.")


def _mistake_at(source: str, before: str, problem: str) -> UsageError:
    line = before.count("\n") + 1
    return UsageError(f"{source}:{line}:{len(before) - before.rfind(chr(10))}: {problem}.")


def _codepoint(character: str | int | bytes) -> str:
    return f"U+{(character if isinstance(character, int) else ord(character)):04X}"


def _put(put: Callable[[str], None], value: object, indent: int, after: str) -> None:
    """The lines of a value that stands after `after` (a key or a dash): on the same line, or as a block below
    it. Handed on one by one and not yielded: a task writes its views at every step.
    """
    pad = " " * indent
    below = after == ":"
    if isinstance(value, dict) and value:
        put("\n" if below else " ")
        first = pad if below else ""
        for key, item in value.items():
            spelled = _text(str(key))
            if len(spelled) > _LONG_KEY:
                put(f"{first}? {spelled}\n{pad}:")
            else:
                put(f"{first}{spelled}:")
            first = pad
            _put(put, item, indent + 2, ":")
    elif isinstance(value, list | tuple) and value:
        put("\n" if below else " ")
        first = pad if below else ""
        for item in value:
            put(f"{first}-")
            first = pad
            _put(put, item, indent + 2, "-")
    elif isinstance(value, str) and "\n" in value and _fits_literal(value):
        for part in _literal(value, pad or "  "):
            put(part)
    else:
        put(f" {_scalar(value)}\n")


@lru_cache(maxsize=4_096)
def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
        return value
    return quote(_SURROGATE.sub("\ufffd", value))


def _scalar(value: object) -> str:
    match value:
        case str():
            return _text(value) if len(value) < _LONG_KEY else _text.__wrapped__(value)
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value)
        case float():
            return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(str(value), str(value))
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            message = f"a {type(value).__name__} has no place in YAML"
            raise TypeError(message)


def _fits_literal(text: str) -> bool:
    """Whether a literal block holds exactly this text, without an indentation hint that readers disagree
    on.
    """
    return _LITERAL.fullmatch(text) is not None


def _literal(text: str, pad: str) -> Iterator[str]:
    body = text.rstrip("\n")
    newlines = len(text) - len(body)
    yield " |" + ("-", "", "+")[min(newlines, 2)] + "\n"
    for line in body.split("\n"):
        yield f"{pad}{line}\n" if line else "\n"
    yield "\n" * (newlines - 1)
