"""What git can tell without a process per question: objects never change, so one reader stays open and
answers are kept.
"""

import contextlib
import os
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

_KINDS = frozenset({b"blob", b"tree", b"commit", b"tag"})
_ID_DIGITS = (40, 64)
_CHUNK = 1 << 20
MOST_KEPT = 64 << 20
"""About so many bytes of answers are kept; the oldest go first."""

T = TypeVar("T")


class GitObject(NamedTuple):
    """One object of the repository: its id, its kind (`blob`, `tree`, `commit` or `tag`) and its content."""

    oid: str
    kind: str
    data: bytes


class ReaderLost(Exception):
    """The reader ended or fell silent: whoever asked does it in a process of its own, which says what is
    wrong.
    """


@dataclass(frozen=True, slots=True)
class ReaderCommand:
    """The command line, directory and environment of a `git cat-file --batch`."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]


def is_id(name: str) -> bool:
    """Whether a name is an object's whole id: what it stands for can never change."""
    return len(name) in _ID_DIGITS and not name.strip("0123456789abcdef")


class _ObjectHeader(NamedTuple):
    oid: str
    kind: str
    size: int


def _header(line: bytes) -> _ObjectHeader | None:
    """Parses the header of an answer; None if git has no such object."""
    fields = line.rsplit(b" ", 2)
    if len(fields) != 3 or fields[1] not in _KINDS or not fields[2].isdigit():
        return None
    return _ObjectHeader(fields[0].decode(), fields[1].decode(), int(fields[2]))


def parse(out: bytes) -> GitObject | None:
    """The one answer of a `cat-file --batch` that has ended."""
    line, _, body = out.partition(b"\n")
    header = _header(line)
    return GitObject(header.oid, header.kind, body[: header.size]) if header else None


class Reader:
    """One `git cat-file --batch` that stays open. It only reads, holds no lock, and ends when our end of its
    pipe is closed.

    So it is gone soon after a driver that was killed, and a new driver does not wait for it.
    """

    def __init__(self) -> None:
        self._mine = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._started_by = 0
        self._rest = b""
        self._end: Callable[[], object] = lambda: None

    def find(self, name: str, start: Callable[[], ReaderCommand], timeout_s: float) -> GitObject | None:
        """Looks up the object that a name stands for; None if there is none. The name has no line break."""
        with self._mine:
            try:
                child = self._ready(start)
                deadline = time.monotonic() + timeout_s
                _write(child, os.fsencode(name) + b"\n")
                header = _header(self._line(child, deadline))
                if header is None:
                    return None
                data = self._bytes(child, header.size + 1, deadline)[:-1]  # a line break follows the content
                return GitObject(header.oid, header.kind, data)
            except (OSError, ValueError) as error:
                self._close()
                raise ReaderLost(str(error)) from error
            except BaseException:
                self._close()  # an answer that was not read to its end would be taken for the next one's
                raise

    def _ready(self, start: Callable[[], ReaderCommand]) -> subprocess.Popen[bytes]:
        if self._child is None or self._started_by != os.getpid():
            how = start()
            self._child = subprocess.Popen(
                how.argv,
                cwd=how.cwd,
                env=dict(how.env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
            self._started_by, self._rest = os.getpid(), b""
            self._end = weakref.finalize(self, _end, self._child, self._started_by)
        return self._child

    def _line(self, child: subprocess.Popen[bytes], deadline: float) -> bytes:
        while b"\n" not in self._rest:
            self._rest += _read(child, deadline)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _bytes(self, child: subprocess.Popen[bytes], count: int, deadline: float) -> bytes:
        parts, missing = [self._rest], count - len(self._rest)
        while missing > 0:
            parts.append(_read(child, deadline))
            missing -= len(parts[-1])
        data = b"".join(parts)
        self._rest = data[count:]
        return data[:count]

    def _close(self) -> None:
        self._child = None
        self._end()


def _write(child: subprocess.Popen[bytes], data: bytes) -> None:
    assert child.stdin is not None
    while data:
        data = data[os.write(child.stdin.fileno(), data) :]


def _read(child: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert child.stdout is not None
    poll = select.poll()
    poll.register(child.stdout.fileno(), select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError("git does not answer")
    data = os.read(child.stdout.fileno(), _CHUNK)
    if not data:
        raise ConnectionError("git ended")
    return data


def _end(child: subprocess.Popen[bytes], started_by: int) -> None:
    """Ends a reader; one that was inherited over a fork is its starter's."""
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    if started_by == os.getpid():
        child.kill()
        child.wait()
    else:
        child.returncode = 0


@dataclass(slots=True)
class Known:
    """Answers that depend on nothing but object ids, each found once."""

    _answers: dict[Hashable, "_Answer"] = field(default_factory=dict)
    _size: int = 0
    _mine: threading.Lock = field(default_factory=threading.Lock)

    def once(self, key: Hashable, find: Callable[[], tuple[T, int]]) -> T:
        """The answer to a question; `find` says it, and about how large it is. One that is huge is not
        kept.
        """
        known = self._answers.get(key)
        if known is not None:
            value: T = known.value  # type: ignore[assignment]  # a key belongs to one kind of question
            return value
        value, size = find()
        if size <= MOST_KEPT // 4:
            self._keep(key, _Answer(value, size))
        return value

    def _keep(self, key: Hashable, answer: "_Answer") -> None:
        with self._mine:
            if key not in self._answers:
                self._answers[key] = answer
                self._size += answer.size
            while self._size > MOST_KEPT:
                self._size -= self._answers.pop(next(iter(self._answers))).size


class _Answer(NamedTuple):
    value: object
    size: int
