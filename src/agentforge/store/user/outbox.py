"""The user's outbox: requests that wait for a batch, the batches they are in, and the results until somebody
has taken them.

~/.agentforge/batches/<box>/         what may share a batch: one provider, model and credential
    requests/<id>.json               on disk before anything is submitted; removed when its task has the
                                     answer on record
    sent/<name>.json                 the intent with its ids, then the ticket, then the end
    results/<name>.jsonl             one line per request, written once
    lock                             held by whoever talks to the provider

Files and `flock` only: any process can go on where another was killed.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agentforge.core.reply import Json
from agentforge.store.layout import plain_name
from agentforge.system.files import append_durable, create_exclusive, disk_errors, write_atomic

KEPT_MS = 30 * 24 * 3_600_000
"""No provider keeps results for longer."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One request in the outbox, without its body."""

    id: str
    owner: str
    """The task, in a form that no other one has."""
    key: str
    """Of the effect."""
    group: str
    at_ms: int
    """When it was put here."""
    tries: int = 0
    """How often it was submitted in vain."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A batch: about to be submitted, submitted, or over."""

    name: str
    at_ms: int
    ids: Mapping[str, int]
    """Each request with the number of its try."""
    group: str
    ticket: str = ""
    """The provider's name for it; empty: nobody knows whether it was submitted."""
    handle: str = ""
    ended: bool = False
    look_ms: int = 0
    """When to look at it next."""
    looks: int = 0
    failures: int = 0
    """Of the last looks, or of submissions whose end nobody knows; in a row."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Box:
    """The requests and batches of one provider, model and key: only these may share a batch."""

    root: Path
    now_ms: Callable[[], int] = _now_ms

    @contextmanager
    def turn(self, *, wait: bool = False) -> Iterator[bool]:
        """Whether this caller may talk to the provider now: one at a time, in all processes."""
        with disk_errors():
            self._make(self.root)
            fd = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(fd)

    # ------------------------------------------------------------------ requests

    def put(self, waiting: Waiting, body: str) -> bool:
        """Puts a request in; False if it is there already. It is on the disk when this returns."""
        with disk_errors():
            self._make(self.root / "requests")
        return create_exclusive(
            self._request(waiting.id), _spelled(replace(waiting, size=len(body)), body.encode())
        )

    def request(self, identity: str) -> Waiting | None:
        """The request, if somebody still waits for it."""
        return _head(self._request(identity))

    def requests(self) -> list[Waiting]:
        """All of them, the oldest first; without their bodies."""
        found = [_head(place) for place in _listing(self.root / "requests")]
        return sorted((item for item in found if item is not None), key=lambda item: (item.at_ms, item.id))

    def body(self, identity: str) -> str:
        """What is sent for it; empty if nobody waits any more."""
        try:
            return self._request(identity).read_bytes().partition(b"\n")[2].decode()
        except FileNotFoundError:
            return ""

    def again(self, identity: str) -> None:
        """Its batch did not answer it: it waits for another one."""
        if (item := self.request(identity)) is not None and (body := self.body(identity)):
            write_atomic(
                self._request(identity), _spelled(replace(item, tries=item.tries + 1), body.encode())
            )

    def forget(self, identity: str) -> None:
        """Nobody waits for it: what comes for it is not taken."""
        with disk_errors():
            self._request(identity).unlink(missing_ok=True)

    def waits_for(self, identity: str) -> bool:
        """Whether somebody still waits for the answer to a request."""
        return self._request(identity).exists()

    # ------------------------------------------------------------------ batches

    def intend(self, items: Iterable[Waiting]) -> BatchRecord:
        """Records, on the disk, a batch that is about to be submitted."""
        items = list(items)
        name = f"{self.now_ms():013}-{secrets.token_hex(6)}"
        sent = BatchRecord(name, self.now_ms(), {item.id: item.tries for item in items}, items[0].group)
        self.write(sent)
        return sent

    def write(self, sent: BatchRecord) -> None:
        """Stores the record of a batch as it is now."""
        write_atomic(self._sent(sent.name), json.dumps({**asdict(sent), "ids": dict(sent.ids)}).encode())

    def batches(self) -> list[BatchRecord]:
        """All that are not cleared away, the oldest first."""
        found = [_batch(place) for place in _listing(self.root / "sent")]
        return sorted((sent for sent in found if sent is not None), key=lambda sent: sent.name)

    def batch_of(self, waiting: Waiting) -> BatchRecord | None:
        """The batch that holds this try of a request."""
        return next((sent for sent in self.batches() if sent.ids.get(waiting.id) == waiting.tries), None)

    def unsent(self) -> list[Waiting]:
        """The requests that are in no batch."""
        held = {(name, tries) for sent in self.batches() for name, tries in sent.ids.items()}
        return [item for item in self.requests() if (item.id, item.tries) not in held]

    def end(self, sent: BatchRecord, results: Iterable[tuple[str, Mapping[str, Json]]]) -> None:
        """Keeps the results, then says that it is over. One line at a time: a batch may be long."""
        place = self.root / "results" / f"{sent.name}.jsonl"
        temporary = place.with_name(f".tmp-{secrets.token_hex(8)}")
        with disk_errors():
            self._make(place.parent)
            with temporary.open("xb") as file:
                for identity, result in results:
                    file.write(json.dumps({"id": identity, **result}).encode() + b"\n")
                file.flush()
                append_durable(file.fileno(), b"")
            temporary.replace(place)
            _sync(place.parent)
        self.write(replace(sent, ended=True))

    def result(self, sent: BatchRecord, identity: str) -> dict[str, Any] | None:
        """What came for a request; None if its batch is not over, or has nothing for it. The first line
        counts.
        """
        start = b'{"id": "' + identity.encode() + b'"'
        try:
            with (self.root / "results" / f"{sent.name}.jsonl").open("rb") as file:
                line = next((line for line in file if line.startswith(start)), None)
        except FileNotFoundError:
            return None
        value: dict[str, Any] | None = None if line is None else json.loads(line)
        return value

    def clear(self, sent: BatchRecord) -> None:
        """Removes a batch and its results, once all of its requests are answered or given up."""
        with disk_errors():
            (self.root / "results" / f"{sent.name}.jsonl").unlink(missing_ok=True)
            self._sent(sent.name).unlink(missing_ok=True)

    def _make(self, place: Path) -> None:
        """A directory for the user alone: prompts may hold what their repository does."""
        self.root.parent.mkdir(parents=True, exist_ok=True)
        self.root.mkdir(mode=0o700, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)

    def _request(self, identity: str) -> Path:
        return self.root / "requests" / f"{plain_name(identity)}.json"

    def _sent(self, name: str) -> Path:
        return self.root / "sent" / f"{plain_name(name)}.json"


@dataclass(frozen=True, slots=True)
class Outbox:
    """All boxes of a user, one directory each."""

    root: Path
    now_ms: Callable[[], int] = field(default=_now_ms)

    def box(self, name: str) -> Box:
        """The box of that name, whether or not it exists yet."""
        return Box(self.root / plain_name(name), self.now_ms)

    def boxes(self) -> list[Box]:
        """Every box that exists."""
        places = (
            sorted(place for place in self.root.iterdir() if place.is_dir()) if self.root.is_dir() else []
        )
        return [Box(place, self.now_ms) for place in places]

    def find(self, identity: str) -> Box | None:
        """Where a request is, if it is anywhere: another key than today's may have put it there."""
        return next((box for box in self.boxes() if box.waits_for(identity)), None)

    def tidy(self, owner: str, keys: Iterable[str]) -> None:
        """Gives up what a task put here and does not wait for any more, and what nobody came back for."""
        wanted = set(keys)
        for box in self.boxes():
            for item in box.requests():
                stale = item.at_ms < self.now_ms() - KEPT_MS
                if stale or (item.owner == owner and item.key not in wanted):
                    box.forget(item.id)
            with box.turn() as mine:
                for sent in box.batches() if mine else ():
                    if sent.ended and not any(box.waits_for(name) for name in sent.ids):
                        box.clear(sent)


def _spelled(item: Waiting, body: bytes) -> bytes:
    """What is known of a request in the first line, so that nobody has to read all of it."""
    return json.dumps(asdict(item)).encode() + b"\n" + body


def _head(path: Path) -> Waiting | None:
    try:
        with path.open("rb") as file:
            return Waiting(**json.loads(file.readline()))
    except FileNotFoundError:
        return None


def _batch(path: Path) -> BatchRecord | None:
    try:
        return BatchRecord(**json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None


def _listing(place: Path) -> Iterator[Path]:
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    yield Path(entry.path)
    except FileNotFoundError:
        return


def _sync(place: Path) -> None:
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
