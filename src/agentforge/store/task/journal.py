"""The journal: the append-only record of every decision, and `advance`, the one way to add to it."""

import contextlib
import os
import threading
from collections.abc import Callable, Container, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from agentforge.core.audit import step_entry
from agentforge.core.decide import Decision, decide
from agentforge.core.effects import Effect
from agentforge.core.errors import StateInvalid, Unusable, UsageError
from agentforge.core.events import EVENT_TYPES, Discarded, Event, StepClosed, event_from_json, event_to_json
from agentforge.core.evolve import evolve
from agentforge.core.inputs import Create, Input, OwedAgain
from agentforge.core.pending import pending
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.layout import TaskFiles, is_plain_name
from agentforge.store.task.lines import (
    JournalLine,
    complete,
    is_readable,
    parse_lines,
    parse_more,
    readable,
    spell_header,
    spell_line,
)
from agentforge.store.task.progress import Progress
from agentforge.store.task.times import Clock, Times, seconds_between, stamp
from agentforge.store.task.upcast import VERSION
from agentforge.system.bounded import LARGEST, read_open
from agentforge.system.canon import digest
from agentforge.system.files import append_durable, create_exclusive, disk_errors
from agentforge.system.secrets.values import clean
from agentforge.system.unlinked import open_unlinked, read_unlinked

Listener: TypeAlias = Callable[[dict[str, Json], tuple[Event, ...], State], None]
"""Told after each append: the line, its events, the state they led to."""


def read_lines(
    path: Path, wanted: Container[str] = frozenset(EVENT_TYPES), most: int | None = None
) -> list[JournalLine]:
    """The complete lines of a journal, or so many of them from its start, checked against the chain, with the
    kinds of events that are wanted.
    """
    return list(islice(parse_lines(complete(_read(path)), path, wanted), most))


class Journal:
    """A task's journal, open. Only the holder of the driver's lock may open it for writing."""

    def __init__(self, files: TaskFiles, clock: Clock, fd: int | None) -> None:
        self.files = files
        self.state = State()
        self.head = ""
        self.length = 0
        self.times = Times()
        self.progress = Progress()
        self.size = 0
        """Bytes that count."""
        self.listeners: list[Listener] = []
        self._clock = clock
        self._fd = fd
        self._keys: set[str] = set()
        self._broken: Unusable | None = None
        self._lock = threading.RLock()

    @classmethod
    def create(cls, files: TaskFiles, create: Create, clock: Clock) -> Self:
        """A new journal whose first line is the task's creation; file and line appear together."""
        now = stamp(clock())
        header = spell_header(create.spec.task_id, str(clean(create.spec.request)), now)
        decision = decide(State(), create)
        body, _, _ = _body(State(), decision, 1, now, "create")
        line, _ = spell_line(body, digest(header))
        if not create_exclusive(files.journal, header + line):
            raise StateInvalid(f"state_invalid: {create.spec.task_id} exists already.")
        return cls.open(files, clock, write=True)

    @classmethod
    def open(cls, files: TaskFiles, clock: Clock, *, write: bool) -> Self:
        """Replay a journal. A writer also cuts a torn tail; a reader never changes a byte."""
        journal = cls(files, clock, None)
        journal._replay(complete(_read(files.journal)))
        if write:
            journal._open_for_writing()
        return journal

    @contextlib.contextmanager
    def writing(self) -> Iterator[Self]:
        """For the holder of the driver's lock, who has read the journal already: it takes in what was
        appended since, and is open for writing until the end of the block.
        """
        self.catch_up()
        self._open_for_writing()
        try:
            yield self
        finally:
            self.close()

    def known(self, key: str) -> bool:
        """Whether the outcome with this key is on record. A discarded one is not: its effect may be owed
        again.
        """
        return key in self._keys

    def waited_s(self, escalation: str) -> int:
        """How long a question has been open, in whole seconds; 0 where its time is not known."""
        return seconds_between(dict(self.times.opened).get(escalation, ""), stamp(self._clock()))

    def advance(self, key: str, given: Input) -> tuple[Effect, ...]:
        """Record what an input means, in one line, and say what is owed now. A known key changes nothing.

        No engine could get past an effect that is owed although its outcome is on record: a person is asked.
        """
        with self._lock:
            if self._broken is not None:
                raise Unusable(self._broken.sentence, self._broken.next_step)
            if not self.known(key):
                self._decide(key, given)
            owed = pending(self.state)
            again = next((effect.key for effect in owed if self.known(effect.key)), None)
            if again is None:
                return owed
            self._decide(f"{again}/owed-again/{self.length}", OwedAgain(again))
            return pending(self.state)

    def _decide(self, key: str, given: Input) -> None:
        decision = decide(self.state, given, key)
        if decision.events:
            self._append(key, decision)

    def catch_up(self) -> None:
        """For a reader: takes in what the driver has appended since, and tells the listeners."""
        with disk_errors():
            fd = open_unlinked(self.files.journal, os.O_RDONLY)
            with open(fd, "rb") as file:  # noqa: PTH123 - a descriptor is no path
                os.lseek(fd, self.size, os.SEEK_SET)
                data = complete(read_open(file.fileno(), LARGEST, str(self.files.journal)))
        for line in parse_more(data, self.files.journal, self.head, self.length):
            state, _ = _fold(self.state, line.events)
            self._take(line.body["hash"], line.key, line.timestamp, line.events, state)
            for listener in self.listeners:
                listener(dict(line.body), line.events, state)
        self.size += len(data)

    def close(self) -> None:
        """Closes the file; nothing can be appended afterwards."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _replay(self, data: bytes) -> None:
        for line in parse_lines(data, self.files.journal):
            try:
                state, _ = _fold(self.state, line.events)
            except StateInvalid as error:
                raise Unusable(
                    f"{self.files.journal}: entry {line.seq} does not follow from those before it: {error}"
                ) from error
            self._take(line.body["hash"], line.key, line.timestamp, line.events, state)
        if not self.length:
            raise Unusable(
                f"{self.files.journal} holds no task.",
                "Move the file away, then `agentforge continue` restores what was saved.",
            )
        if not is_plain_name(self.state.task_id):  # whoever reads pastes it into a shell
            raise Unusable(
                f"{self.files.journal} is about a task with a name that no task can have.", "Move it away."
            )
        self.size = len(data)

    def _open_for_writing(self) -> None:
        """Opens the file and cuts a torn tail; its last line must still be where it was when it was read."""
        with disk_errors():
            fd = open_unlinked(self.files.journal, os.O_RDWR | os.O_APPEND)
            end = f'"{self.head}"}}\n'.encode()
            if os.pread(fd, len(end), self.size - len(end)) != end:
                os.close(fd)
                raise Unusable(
                    f"Something else wrote to {self.files.journal}.", f"{self._go_on[:-1]} reads it again."
                )
            if os.fstat(fd).st_size != self.size:
                os.ftruncate(fd, self.size)
                os.fsync(fd)
        self._fd = fd

    def _append(self, key: str, decision: Decision) -> None:
        timestamp = stamp(self._clock())
        body, events, state = _body(self.state, decision, self.length + 1, timestamp, key)
        line, head = spell_line(body, self.head)
        self._write(line)
        self.size += len(line)
        self._take(head, key, timestamp, events, state)
        for listener in self.listeners:
            listener({**body, "hash": head}, events, state)

    def _take(self, head: Json, key: str, timestamp: str, events: tuple[Event, ...], state: State) -> None:
        self.state, self.head, self.length = state, str(head), self.length + 1
        self.times = self.times.after(timestamp, events)
        self.progress.take(timestamp, events, state)
        if not any(isinstance(event, Discarded) for event in events):
            self._keys.add(key)

    def _write(self, line: bytes) -> None:
        fd = self._fd
        assert fd is not None, "the journal is open for reading"
        self._check_file(fd)
        try:
            append_durable(fd, line)
        except BaseException as error:
            # Whatever part of the line is there, it was never decided. If the cut fails too, a part without
            # its newline does not count.
            with contextlib.suppress(OSError):
                os.ftruncate(fd, self.size)
            sentence = (
                error.sentence
                if isinstance(error, Unusable)
                else f"The journal of {self.files.task_id} could not be written: {error}."
            )
            self._broken = Unusable(sentence, error.next_step if isinstance(error, Unusable) else self._go_on)
            if isinstance(error, OSError):
                raise self._broken from error
            raise

    def _check_file(self, fd: int) -> None:
        """The path must still be this file, as long as we left it: nobody reads what is written to a removed
        one.
        """
        ours = os.fstat(fd)
        try:
            there = self.files.journal.lstat()
        except (FileNotFoundError, NotADirectoryError):
            there = None
        if there is None or not os.path.samestat(ours, there):
            self._broken = Unusable(
                "The task's files were removed while it ran.",
                f"{self._go_on[:-1]} restores them from the last accepted stage.",
            )
            raise self._broken
        if ours.st_size != self.size:
            self._broken = Unusable(
                f"Something else wrote to {self.files.journal}.", f"{self._go_on[:-1]} reads it again."
            )
            raise self._broken

    @property
    def _go_on(self) -> str:
        return f"`agentforge continue {self.files.task_id}`."


def _body(
    state: State, decision: Decision, seq: int, timestamp: str, key: str
) -> tuple[dict[str, Json], tuple[Event, ...], State]:
    """The line's object without its hashes, the events as a reader will see them, and where they lead."""
    events = decision.events
    recorded: list[Json] = [event_to_json(event) for event in events]
    kept = clean(recorded if is_readable(recorded) else [readable(event) for event in recorded])
    if isinstance(kept, list) and kept is not recorded:
        # A replay must find what was decided on, so the events become what may be written before the state
        # follows them.
        recorded = kept
        events = tuple(event_from_json(event) for event in recorded if isinstance(event, dict))
    after, closing = _fold(state, events)
    why = str(clean(readable(decision.why)))
    head: dict[str, Json] = {
        "seq": seq,
        "timestamp": timestamp,
        "key": key,
        "why": why,
        "v": VERSION,
        "events": recorded,
    }
    return {**head, **step_entry(closing, events)}, events, after


def _fold(state: State, events: tuple[Event, ...]) -> tuple[State, State]:
    """The state after the events, and the one that the step among them closed in: the entry of the step
    describes that.
    """
    closing: State | None = None
    for event in events:
        if closing is None and isinstance(event, StepClosed):
            closing = state
        state = evolve(state, event)
    return state, closing or state


def _read(path: Path) -> bytes:
    try:
        with disk_errors():
            return read_unlinked(path)
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"There is no journal at {path}.", "`agentforge status` lists the tasks.") from None
