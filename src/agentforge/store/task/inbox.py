"""How people speak to a driver: one file per message, created by any process, and the first one wins."""

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agentforge.core.codec import decode, encode
from agentforge.core.errors import Unusable, UsageError
from agentforge.core.inputs import Abort, Message, Resolution, Resume
from agentforge.core.reply import Json
from agentforge.store.layout import TaskFiles, plain_name
from agentforge.store.task.lines import spell_document
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.files import create_exclusive
from agentforge.system.secrets.values import clean
from agentforge.system.unlinked import read_unlinked

_KINDS: dict[str, type[Message]] = {"resolution": Resolution, "resume": Resume, "abort": Abort}
_NAMES: dict[type[Message], str] = {kind: name for name, kind in _KINDS.items()}
_SUFFIX = ".yaml"
_SHOWN = ".shown"
_LONGEST = 1_000_000
_LONGEST_STAMP = 40
_STRANGERS = "strangers.log"
_MOST_STRANGERS = 100


class Received(NamedTuple):
    """A message and the key under which the journal knows it."""

    key: str
    message: Message


class QuestionTimes(NamedTuple):
    """When a person was asked, saw the question, and answered; empty where nobody knows."""

    opened_at: str = ""
    shown_at: str = ""
    answered_at: str = ""


def send(files: TaskFiles, message: Message, identity: str, times: QuestionTimes | None = None) -> bool:
    """Leave a message for the driver; False if one with this identity is there already."""
    body = encode(message)
    assert isinstance(body, dict)
    known: dict[str, Json] = {
        name: value for name, value in (times or QuestionTimes())._asdict().items() if value
    }
    record: dict[str, Json] = {"id": identity, "kind": _NAMES[type(message)], **body, **known}
    return create_exclusive(_path(files, identity), spell_document(clean(record)))


def note_shown(files: TaskFiles, identity: str, at: str) -> str:
    """Keeps when a person first saw a question, and returns it; a later look changes nothing."""
    place = files.inbox / f"{plain_name(identity)}{_SHOWN}"
    with contextlib.suppress(OSError):
        create_exclusive(place, at.encode())
    return shown_at(files, identity)


def shown_at(files: TaskFiles, identity: str) -> str:
    """When a person first saw a question; empty if nobody has."""
    try:
        text = read_unlinked(files.inbox / f"{plain_name(identity)}{_SHOWN}").decode("ascii", "replace")
    except OSError:
        return ""
    return text.strip()[:_LONGEST_STAMP]


def receive(files: TaskFiles, seen: Callable[[str], bool], report: Callable[[str], None]) -> list[Received]:
    """Messages whose keys are not `seen`, oldest first. What cannot be read is reported and moved aside.
    Consumed files stay.
    """
    found: list[tuple[int, str, Received]] = []
    for name in _names(files):
        identity = name.removesuffix(_SUFFIX)
        if seen(f"inbox/{identity}"):
            continue
        path = files.inbox / name
        try:
            info = path.lstat()
            message = _read(path, info)
            _check_versions(files, message)
        except FileNotFoundError:
            continue
        except (UsageError, ValueError, OSError) as error:
            refuse(files, f"inbox/{identity}")
            report(f"The message {path} was refused: {error}")
            continue
        found.append((info.st_mtime_ns, name, Received(f"inbox/{identity}", message)))
    return [received for _, _, received in sorted(found, key=lambda item: item[:2])]


def refuse(files: TaskFiles, key: str) -> None:
    """Move a message aside that makes no sense, so that it is not met again and its name is free."""
    name = key.removeprefix("inbox/")
    with contextlib.suppress(OSError):
        (files.inbox / f"{name}{_SUFFIX}").replace(files.inbox / f"{name}.refused")


def note_stranger(files: TaskFiles, kind: str, at: str) -> None:
    """Keeps that a message was refused because a stranger sent it: so many, and no word of theirs."""
    line = f"{at} {kind if kind in _KINDS else 'message'}\n".encode()
    path = files.inbox / _STRANGERS
    with contextlib.suppress(OSError):
        files.inbox.mkdir(exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(path, flags, 0o600)
        try:
            about = os.fstat(fd)
            if stat.S_ISREG(about.st_mode) and about.st_size < _MOST_STRANGERS * len(line):
                os.write(fd, line)
        finally:
            os.close(fd)


def strangers(files: TaskFiles) -> list[str]:
    """When a message of a stranger was refused, and of which kind; the oldest first."""
    try:
        text = read_unlinked(files.inbox / _STRANGERS).decode("ascii", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines()[:_MOST_STRANGERS] if line]


def _names(files: TaskFiles) -> list[str]:
    try:
        return [
            path.name
            for path in files.inbox.iterdir()
            if path.name.endswith(_SUFFIX) and not path.name.startswith(".")
        ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _path(files: TaskFiles, identity: str) -> Path:
    return files.inbox / f"{plain_name(identity)}{_SUFFIX}"


def _check_versions(files: TaskFiles, message: Message) -> None:
    """A version that somebody wrote by hand must be on record before a decision about it can count."""
    for ref in message.edited if isinstance(message, Resolution) else ():
        try:
            Pack(files.pack).get(ref.hash)
        except Unusable:
            raise ValueError(f"it names a {ref.contract} that is not on record") from None


def _read(path: Path, info: os.stat_result) -> Message:
    if not stat.S_ISREG(info.st_mode):
        raise ValueError("it is not a regular file")
    if info.st_size > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST} bytes")
    value = strict_yaml.load(read_unlinked(path).decode(), str(path))
    kind = _KINDS.get(str(value.get("kind"))) if isinstance(value, dict) else None
    if not isinstance(value, dict) or kind is None:
        raise ValueError(f"`kind` is none of {', '.join(_KINDS)}")
    ours = {"id", "kind", *QuestionTimes._fields}
    # Whoever wrote the file by hand did not redact it.
    return decode(kind, clean({key: item for key, item in value.items() if key not in ours}))
