"""The text of a journal: one YAML document with a header, and below it one JSON object per line, chained by
hashes.

    task_id: …                                      the first line's `prev` is the hash of the header
    actions:
    - {"seq":1, … ,"prev":"…","hash":"…"}           hash = sha256(prev + the line's object without its hash)

A line counts when its newline is there. Every byte before the last newline is under a hash.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from agentforge.core.errors import Unusable, UsageError
from agentforge.core.events import EVENT_TYPES, Event, event_from_json
from agentforge.core.reply import Json
from agentforge.store.task.upcast import TooNew, upcast
from agentforge.system import strict_yaml
from agentforge.system.canon import canonical, digest, quote

FORMAT = 1
"""The version of the file itself; events have their own."""

_LIST = b"actions:\n"
_BULLET = b"- "
_HASH = re.compile(rb',"hash":"([0-9a-f]{64})"\}')
_HASH_LENGTH = len(',"hash":""}') + 64
_HEADER_KEYS = ("task_id", "request", "started_at", "format")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One decision as the journal holds it."""

    body: Mapping[str, Json]
    """The whole object, with `prev` and `hash`."""
    events: tuple[Event, ...]

    @property
    def seq(self) -> int:
        """The position of the line in its journal, counted from 1."""
        return int(str(self.body["seq"]))

    @property
    def timestamp(self) -> str:
        """When the decision was taken, in UTC."""
        return str(self.body["timestamp"])

    @property
    def key(self) -> str:
        """The key of the effect or message whose outcome was decided on."""
        return str(self.body["key"])

    @property
    def why(self) -> str:
        """The reason for the decision, for people."""
        return str(self.body["why"])

    @property
    def hash(self) -> str:
        """The end of the chain up to here."""
        return str(self.body["hash"])


def readable(value: Json) -> Json:
    """The value without halves of surrogate pairs, which no YAML can hold; each becomes U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [readable(item) for item in value]
    if isinstance(value, dict):
        return {str(readable(key)): readable(item) for key, item in value.items()}
    return value


def is_readable(value: Json) -> bool:
    """Whether `readable` would change nothing."""
    return "\\ud" not in quote(value) or readable(value) == value


def spell_document(value: Json) -> bytes:
    """A file for people: block YAML that reads back as `readable(value)`."""
    return strict_yaml.dump(value).encode()


def spell_header(task_id: str, request: str, started_at: str) -> bytes:
    """The header, up to where lines begin."""
    values: tuple[Json, ...] = (task_id, str(readable(request)), started_at, FORMAT)
    return (
        "".join(f"{key}: {quote(value)}\n" for key, value in zip(_HEADER_KEYS, values, strict=True)).encode()
        + _LIST
    )


def spell_line(body: Mapping[str, Json], prev: str) -> tuple[bytes, str]:
    """The bytes of a line, and its hash. The keys keep their order, so that a person reads the number and the
    reason first.
    """
    parts = [_spell_key(key) + canonical(value) for key, value in {**body, "prev": prev}.items()]
    text = b"{" + b",".join(parts)
    found = digest(prev.encode() + text + b"}")
    return b"%s%s" % (_BULLET, text) + f',"hash":"{found}"}}\n'.encode(), found


@lru_cache(maxsize=64)  # every line has the same few
def _spell_key(key: str) -> bytes:
    return quote(key).encode() + b":"


def complete(data: bytes) -> bytes:
    """The data up to its last newline: a line that was cut off by a crash does not count."""
    return data[: data.rfind(b"\n") + 1]


def parse_lines(
    data: bytes, path: Path, wanted: Container[str] = frozenset(EVENT_TYPES)
) -> Iterator[JournalLine]:
    """The lines of a journal's complete part, each checked against the chain. Damage is named by file and
    line.

    Reading an event takes longer than all the rest: who needs a few kinds of them says which.
    """
    start = data.find(b"\n" + _LIST) + 1 + len(_LIST)
    if start <= len(_LIST):
        _damaged(path, 1, "it has no header")
    _check_header(data[:start], path)
    number = data.count(b"\n", 0, start)
    prev = digest(data[:start])
    for seq, text in enumerate(data[start:].split(b"\n")[:-1], 1):
        body = _parse_line(text, seq, prev, path, number + seq)
        prev = str(body["hash"])
        yield JournalLine(body, _events(body, path, number + seq, wanted))


def parse_more(data: bytes, path: Path, prev: str, length: int) -> Iterator[JournalLine]:
    """As `parse_lines`, for what follows the first `length` lines, the last of which has the hash `prev`."""
    for seq, text in enumerate(data.split(b"\n")[:-1], length + 1):
        number = len(_HEADER_KEYS) + 1 + seq
        body = _parse_line(text, seq, prev, path, number)
        prev = str(body["hash"])
        yield JournalLine(body, _events(body, path, number, frozenset(EVENT_TYPES)))


def _check_header(header: bytes, path: Path) -> None:
    try:
        value = strict_yaml.load(header.decode(), str(path))
    except (UnicodeDecodeError, UsageError) as error:
        _damaged(path, 1, f"its header cannot be read ({error})")
    found = value.get("format") if isinstance(value, dict) else None
    if isinstance(found, int) and found > FORMAT:
        _too_new(path, 1, f"format {found}")
    if not isinstance(value, dict) or tuple(value) != (*_HEADER_KEYS, "actions"):
        _damaged(path, 1, "its header is not that of a journal")


def _parse_line(text: bytes, seq: int, prev: str, path: Path, number: int) -> dict[str, Json]:
    ending = _HASH.fullmatch(text, len(text) - _HASH_LENGTH)
    if not text.startswith(_BULLET) or ending is None:
        _damaged(path, number, "it is not a line of a journal")
    if digest(prev.encode() + text[len(_BULLET) : -_HASH_LENGTH] + b"}") != ending[1].decode():
        _damaged(path, number, "its hash is wrong")
    try:
        body: dict[str, Json] = json.loads(
            text[len(_BULLET) :].decode()
        )  # of bytes it would guess the encoding
    except ValueError:
        _damaged(path, number, "it is not JSON")
    if body.get("seq") != seq or body.get("prev") != prev:
        _damaged(path, number, "a line before it is missing")
    return body


def _events(body: dict[str, Any], path: Path, number: int, wanted: Container[str]) -> tuple[Event, ...]:
    try:
        recorded = [upcast(body["v"], event) for event in body["events"]]
        # A kind that nobody knows must not be passed over: it may mean anything.
        return tuple(
            event_from_json(event)
            for event in recorded
            if event["type"] in wanted or event["type"] not in EVENT_TYPES
        )
    except TooNew as error:
        _too_new(path, number, str(error))
    except KeyError as error:
        _too_new(path, number, f"{error} is not known")
    except ValueError as error:
        # The hash is right, so the bytes are as they were written: by a program that knows more than this
        # one.
        _too_new(path, number, str(error))


def _damaged(path: Path, number: int, what: str) -> NoReturn:
    raise Unusable(
        f"The journal is damaged: {path}, line {number}: {what}. Nothing was changed.",
        f"Move the file away; `agentforge continue {path.parent.name}` then restores the last accepted "
        "stage.",
    )


def _too_new(path: Path, number: int, what: str) -> NoReturn:
    raise Unusable(
        f"{path}, line {number}, was written by a newer version of AgentForge ({what}).",
        "Upgrade AgentForge, then try again.",
    )
