"""The file in which AO keeps what it knows of a session, in the two formats that its releases use.

The newer one is `<session>.json`: one object, changed under the lock `<session>.json.lock`. The older one is
`<session>`: lines of `key=value` without a lock. No version number tells them apart, the files do. What is
not ours in a file stays as it is, and a file that has nothing new to be told is not touched: AO takes its
time of change for a sign of life.
"""

import contextlib
import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from agentforge.system.files import write_atomic
from agentforge.system.unlinked import folder_unlinked, read_unlinked

_SESSION = re.compile(r"[A-Za-z0-9_-]+")
_STALE_S = 30.0
"""After this AO takes a lock away from whoever made it, and so do we."""
_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.25

WriteOutcome: TypeAlias = Literal["written", "unchanged", "not_ready", "locked"]
Pause: TypeAlias = Callable[[float], None]


class CorruptMetadata(ValueError):
    """A file of the newer format that is not a JSON object."""


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """What became of a change, and the values that the file had before."""

    outcome: WriteOutcome
    before: Mapping[str, str] = field(default_factory=dict)
    set_aside: str = ""
    """The name under which a file that could not be read is kept."""


@dataclass(frozen=True, slots=True)
class _MetadataFile:
    folder: Path
    name: str
    is_json: bool

    @property
    def path(self) -> Path:
        return self.folder / self.name


def is_session(name: str) -> bool:
    """Whether AO would give a session this name; any other could lead out of the folder."""
    return _SESSION.fullmatch(name) is not None


def read_session(folder: Path, session: str) -> dict[str, str]:
    """What AO knows of a session, as strings; nothing if there is no such file, or if it cannot be read."""
    folder = Path(os.path.realpath(folder))
    file = _find(folder, session)
    if file is None:
        return {}
    try:
        return _strings(file, _text(file))
    except CorruptMetadata:
        return {}


def known_sessions(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """The sessions of a folder with what AO knows of them, by name; at the end those of the older format that
    have ended, which it moves into an archive.
    """
    folder = Path(os.path.realpath(folder))
    archive = folder / "archive"
    named = sorted({name.removesuffix(".json") for name in _plain_files(folder)})
    open_ones = [(name, read_session(folder, name)) for name in named if is_session(name)]
    ended = [_MetadataFile(archive, name, is_json=False) for name in _plain_files(archive)]
    return open_ones + [(file.name.rpartition("_")[0], _pairs(_text(file))) for file in ended]


def _plain_files(folder: Path) -> list[str]:
    """The names of the files of a folder, without links, in order; none if there is no such folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def write_keys(
    folder: Path, session: str, wanted: Mapping[str, str], *, wait_s: float = 2.0, pause: Pause = time.sleep
) -> MetadataChange:
    """Gives the keys these values in the file of a session; a key without a value is taken out.

    A file that is missing or empty is one that AO is about to write: nothing is done. A file of the newer
    format that cannot be read is set aside under the name that AO would give it, and written again.
    """
    folder = Path(os.path.realpath(folder))
    file = _find(folder, session)
    if file is None:
        return MetadataChange("not_ready")
    with contextlib.suppress(CorruptMetadata):
        if (settled := _settled(file, _text(file), wanted)) is not None:
            return settled
    if not file.is_json:
        return _write(file, wanted)
    with _locked(file, wait_s, pause) as is_ours:
        return _write(file, wanted) if is_ours else MetadataChange("locked")


def _find(folder: Path, session: str) -> _MetadataFile | None:
    for name in (f"{session}.json", session):
        try:
            first = read_unlinked(folder / name).lstrip()[:1]
        except (FileNotFoundError, NotADirectoryError):
            continue
        return _MetadataFile(folder, name, name.endswith(".json") or first == b"{")
    return None


def _text(file: _MetadataFile) -> str:
    try:
        return read_unlinked(file.path).decode("utf-8", errors="surrogateescape")
    except FileNotFoundError:  # set aside, or archived, meanwhile
        return ""


def _settled(file: _MetadataFile, text: str, wanted: Mapping[str, str]) -> MetadataChange | None:
    """What can be said without writing; None if the file has to change."""
    if not text.strip():
        return MetadataChange("not_ready")
    before = _strings(file, text)
    is_same = all(before.get(key, "") == value for key, value in wanted.items())
    return MetadataChange("unchanged", before) if is_same else None


def _write(file: _MetadataFile, wanted: Mapping[str, str]) -> MetadataChange:
    text, aside = _text(file), ""
    try:
        settled = _settled(file, text, wanted)
    except CorruptMetadata:
        aside = f"{file.name}.corrupt-{time.time_ns() // 1_000_000}"
        with folder_unlinked(file.folder) as folder:
            os.rename(file.name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        text, settled = "{}", None
    if settled is not None:
        return settled
    before = _strings(file, text)
    made = _json_with(text, wanted) if file.is_json else _lines_with(text, wanted)
    # Its temporary name starts with a dot and has no suffix: no release lists such a file as a session.
    write_atomic(file.path, made, durable=False)
    return MetadataChange("written", before, aside)


def _strings(file: _MetadataFile, text: str) -> dict[str, str]:
    """The values of a file as AO shows them: an object as its JSON, everything else as a string."""
    if not file.is_json:
        return _pairs(text)
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in _object(text or "{}").items()
        if value is not None
    }


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptMetadata from error
    if not isinstance(found, dict):
        raise CorruptMetadata
    return found


def _json_with(text: str, wanted: Mapping[str, str]) -> bytes:
    merged = {**_object(text), **wanted}
    kept = {key: value for key, value in merged.items() if key not in wanted or value}
    try:
        return _bytes(json.dumps(kept, indent=2, ensure_ascii=False) + "\n")
    except UnicodeEncodeError:  # half of a character, which only an escape can write
        return _bytes(json.dumps(kept, indent=2) + "\n")


def _bytes(text: str) -> bytes:
    """As it was read: what is not UTF-8 comes out as it came in."""
    return text.encode("utf-8", errors="surrogateescape")


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for line in text.split("\n"):
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#") and key.strip():
            found[key.strip()] = value.strip()
    return found


def _lines_with(text: str, wanted: Mapping[str, str]) -> bytes:
    """The lines of others as they are; ours where they were, and new ones at the end."""
    left = dict(wanted)
    lines = []
    for line in text.removesuffix("\n").split("\n"):
        key = line.strip().partition("=")[0].strip()
        if key not in wanted or line.strip().startswith("#"):
            lines.append(line)
        elif value := left.pop(key, ""):
            lines.append(f"{key}={value}")
    lines += [f"{key}={value}" for key, value in left.items() if value]
    return _bytes("\n".join(lines) + "\n")


@contextlib.contextmanager
def _locked(file: _MetadataFile, wait_s: float, pause: Pause) -> Iterator[bool]:
    """AO's own lock, held for the time of one change; False if somebody else has held it all along."""
    name = f"{file.name}.lock"
    with folder_unlinked(file.folder) as folder:
        if not _take(folder, name, wait_s, pause):
            yield False
            return
        try:
            yield True
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def _take(folder: int, name: str, wait_s: float, pause: Pause) -> bool:
    until = time.monotonic() + wait_s
    length = _FIRST_PAUSE_S
    while True:
        try:
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))
        except OSError as error:
            if error.errno != errno.EEXIST:
                raise
        else:
            return True
        if _is_stale(folder, name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            continue
        if time.monotonic() >= until:
            return False
        pause(length)
        length = min(2 * length, _LONGEST_PAUSE_S)


def _is_stale(folder: int, name: str) -> bool:
    try:
        return time.time() - os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime > _STALE_S
    except FileNotFoundError:
        return False
