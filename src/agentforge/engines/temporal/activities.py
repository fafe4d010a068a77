"""Effects as activities: each takes its lease, is performed once, and is on record before it answers.

A worker keeps the tasks that are open here (`OpenTasks`), each with its lock, its journal and what flies for
it. A second attempt at an effect joins the first if that still runs here; waits, with a pulse, while
another process has the task; and finds the effect known, or no longer owed, if it came too late.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from agentforge.core.effects import Await, Pause
from agentforge.core.errors import PolicyError, StateInvalid, Unusable, UserError
from agentforge.core.inputs import DriverStarted, Elapsed, Expired, Outcome, Parked
from agentforge.core.machine import OUTCOMES, TERMINAL
from agentforge.engines.temporal.answers import answer_of, family_of
from agentforge.engines.temporal.port import Ref, Session, Tasks
from agentforge.engines.temporal.threads import in_thread
from agentforge.engines.temporal.workflow import ActivityReport, Order
from agentforge.store.task.lock import LockTaken
from agentforge.system.secrets.redact import redact

FAMILIES = tuple(family_of(kind) for kind in OUTCOMES)
PULSE_S = 1.0
ELSEWHERE = timedelta(milliseconds=500)
"""Until another worker may look whether it has the task."""
IDLE_S = 3.0
"""How long a task stays open with nothing in flight."""
MOST_REFUSED, LONGEST_NAME = 200, 200
"""Of what strangers send, so much is said: they must not fill a screen or a log."""
TRIES = 3
"""Of an effect, when the world fails: disk, tool or network."""


@dataclass(frozen=True, slots=True)
class Host:
    """The worker on whose queue a task's activities run."""

    queue: str
    """Where what belongs to this host is found."""
    version: str
    attributes: bool = False
    """Whether the server knows our search attributes."""


@dataclass(slots=True)
class _RunningEffect:
    """One effect that is being performed in this process."""

    task: "asyncio.Task[ActivityReport]"
    called_off: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class _OpenTask:
    """One task that is open here."""

    ref: Ref
    gate: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while it is opened or closed."""
    session: Session | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Held from a decision until what is owed then is read: an answer never mixes two moments."""
    flying: dict[str, _RunningEffect] = field(default_factory=dict)
    guests: int = 0
    """Who else reads or writes here."""
    idle: asyncio.TimerHandle | None = None
    progress: str = ""


class OpenTasks:
    """The tasks that are open in this process."""

    def __init__(self, tasks: Tasks, host: Host, say: Callable[[str], None] = lambda _: None) -> None:
        self._tasks, self._host, self._say = tasks, host, say
        self._held: dict[Ref, _OpenTask] = {}
        self._named: set[Ref] = set()
        """Of these it was said that they are worked on."""
        self._admitted: set[tuple[Ref, str]] = set()
        """What was handed over with the token of its task."""
        self._refused: set[tuple[str, str, str]] = set()
        """What of strangers was refused, and said so."""
        self._later: set[asyncio.Task[None]] = set()

    def begin(self) -> Callable[..., Any]:
        """The activity that both queues offer: where is the task, and what is owed?"""

        @activity.defn(name="begin")
        async def begin(order: Order) -> ActivityReport:
            with _user_errors_as_failures():
                return await self._begin(order)

        return begin

    def all(self) -> list[Callable[..., Any]]:
        """The activities that the queue of this host offers."""

        @activity.defn(name="hear")
        async def hear(order: Order) -> ActivityReport:
            with _user_errors_as_failures():
                return await self._hear(order)

        return [self.begin(), hear, *map(self._family, FAMILIES)]

    async def clear(self) -> None:
        """Calls off what is being performed, and closes every task."""
        for held in self._held.values():
            self._call_off(held)
        flights = [flight.task for held in self._held.values() for flight in held.flying.values()]
        if flights:
            await asyncio.wait(flights, timeout=5)
        for held in list(self._held.values()):
            await self._close(held)

    def _family(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=name)
        async def effect(order: Order) -> ActivityReport:
            return await self._effect(order)

        return effect

    async def _begin(self, order: Order) -> ActivityReport:
        if _numbers(order.version) > _numbers(self._host.version):
            raise ApplicationError(
                f"The task was handed out by AgentForge {order.version}, and the worker "
                f"{self._host.queue} is {self._host.version}.",
                "Upgrade it and start it again.",
                type="OldWorker",
            )
        ref = _ref(order)
        if not await self._admits(ref) and not await self._is_elsewhere(ref):
            sentence, next_step = self._stranger(ref, "hand-over")
            # Another worker may be the one whose user handed it over.
            raise ApplicationError(sentence, next_step, type="Stranger", next_retry_delay=ELSEWHERE)
        queue = await in_thread(lambda: self._tasks.host_of(ref, self._host.queue))
        if not queue:
            sentence = f"{order.repository} has no task {order.task_id} on the host of {self._host.queue}."
            next_step = "Start `agentforge worker` on the machine, and as the user, that has this repository."
            raise ApplicationError(sentence, next_step, type="NotHere", next_retry_delay=ELSEWHERE)
        if queue != self._host.queue:
            return ActivityReport(-1, queue=queue, attributes=self._host.attributes)
        answer = await self._visit(ref, None)
        return replace(answer, queue=queue, attributes=self._host.attributes)

    async def _hear(self, order: Order) -> ActivityReport:
        said, ref = order.said or {}, _ref(order)
        await self._check(ref)
        refused = ""
        if said.get("kind", "look") != "look":
            refused = await in_thread(
                lambda: self._tasks.message(ref, {key: str(value) for key, value in said.items()})
            )
            if refused:
                self._stranger(ref, str(said["kind"]), refused)
        return await self._visit(ref, refused)

    async def _admits(self, ref: Ref) -> bool:
        known = (ref, ref.proof)
        if known not in self._admitted and await in_thread(lambda: self._tasks.admits(ref)):
            self._admitted.add(known)
        return known in self._admitted

    async def _is_elsewhere(self, ref: Ref) -> bool:
        """Whether another host has the task: that one looks who handed it over."""
        return await in_thread(lambda: self._tasks.is_elsewhere(ref, self._host.queue))

    async def _check(self, ref: Ref) -> None:
        """What comes to this host's own queue was handed over by its user, or is refused."""
        if not await self._admits(ref):
            raise PolicyError(*self._stranger(ref, "order"))

    def _stranger(self, ref: Ref, what: str, why: str = "") -> tuple[str, str]:
        """What is refused, and the next step; said here once for each kind, however often it is tried."""
        task = ref.task_id[:LONGEST_NAME]
        sentence = why or f"The {what} of {task} was refused: it does not carry the task's token."
        told = (task, ref.repository[:LONGEST_NAME], what)
        if told not in self._refused and len(self._refused) < MOST_REFUSED:
            self._refused.add(told)
            self._say(f"{task}: {sentence}")
        return (
            sentence,
            f"`agentforge continue {task}`, by the user of this worker, hands it over again.",
        )

    async def _visit(self, ref: Ref, refused: str | None) -> ActivityReport:
        """Takes in what people said, and tells what is owed."""
        held = self._here(ref)
        held.guests += 1

        async def look() -> ActivityReport:
            try:
                session = await self._opened(held)
                answer, told = await in_thread(lambda: _listen(held, session))
            finally:
                held.guests -= 1
                await self._leave(held)
            return replace(answer, refused=refused or told) if refused is not None else answer

        return await self._watched(held, asyncio.create_task(look()))

    async def _effect(self, order: Order) -> ActivityReport:
        ref = _ref(order)
        with _user_errors_as_failures():
            await self._check(ref)
        held = self._here(ref)
        flight = held.flying.get(order.key)
        if flight is None:
            flight = _RunningEffect(asyncio.create_task(self._fly(held, order.key)))
            flight.task.add_done_callback(_look_at)
            held.flying[order.key] = flight
        try:
            return await self._watched(held, flight.task)
        except asyncio.CancelledError:
            details = activity.cancellation_details()
            # Who is late is not called off: the next attempt joins this one, or finds its key on record.
            if details is None or details.cancel_requested or details.worker_shutdown:
                self._call_off(held)
                await asyncio.wait([flight.task], timeout=PULSE_S * 5)
            if details is not None and details.worker_shutdown:
                raise ApplicationError("The worker was stopped.", type="Stopped") from None
            raise

    async def _fly(self, held: _OpenTask, key: str) -> ActivityReport:
        flight, failed = held.flying[key], True
        if len(held.flying) == 1:
            held.progress = ""  # what the last effect did is no news
        try:
            session = await self._opened(held)
            answer = await in_thread(lambda: _perform(held, session, flight, key))
            failed = False
        finally:
            del held.flying[key]
            # The next try reads everything anew: what failed, or was called off, may be what is open here.
            await self._leave(held, at_once=failed or flight.called_off.is_set())
        return answer

    async def _watched(self, held: _OpenTask, task: "asyncio.Task[ActivityReport]") -> ActivityReport:
        """Waits with a pulse that carries progress; takes in what people said meanwhile."""
        silence = activity.info().heartbeat_timeout
        pulse = min(PULSE_S, silence.total_seconds() / 3) if silence else PULSE_S
        while True:
            done, _ = await asyncio.wait([task], timeout=pulse)
            if done:
                break
            activity.heartbeat(redact(held.progress)[0])
            session = held.session
            if session is not None and not held.gate.locked():
                held.guests += 1
                try:
                    await in_thread(lambda: _listen(held, session))  # noqa: B023  # awaited here
                except UserError as trouble:
                    held.progress = trouble.sentence  # the effect meets the same, and tells it
                finally:
                    held.guests -= 1
                    await self._leave(held)
        error = task.exception()
        if error is None:
            return task.result()
        raise _failure(error)

    async def _opened(self, held: _OpenTask) -> Session:
        """The open task; waits while another process has it. Who asks is counted among its guests or flights
        already.
        """
        if held.idle is not None:
            held.idle.cancel()
            held.idle = None

        def progress(sentence: str) -> None:
            held.progress = sentence

        async with held.gate:
            while held.session is None:
                try:
                    held.session = await in_thread(
                        lambda: _open(self._tasks, held.ref, self._host.queue, progress)
                    )
                except LockTaken as error:
                    held.progress = error.sentence
                    await asyncio.sleep(PULSE_S / 2)
            if held.ref not in self._named and not _rests(held.session):
                self._named.add(held.ref)
                self._say(f"{held.ref.task_id}: at work, in {held.ref.repository}")
            return held.session

    async def _leave(self, held: _OpenTask, *, at_once: bool = False) -> None:
        """Nothing in flight: a task that rests is closed at once, any other one if nothing comes for a
        while.
        """
        if held.flying or held.guests:
            return
        if at_once or held.session is None or _rests(held.session):
            await self._close(held)
        elif held.idle is None:
            held.idle = asyncio.get_running_loop().call_later(IDLE_S, self._close_later, held)

    def _close_later(self, held: _OpenTask) -> None:
        held.idle = None
        task = asyncio.create_task(self._close(held))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _close(self, held: _OpenTask) -> None:
        async with held.gate:
            session = held.session
            if not held.flying and not held.guests and session is not None:
                held.session = None
                await in_thread(lambda: _put_away(session))
                if held.ref in self._named and (end := _ending(session)):
                    self._named.discard(held.ref)
                    self._say(f"{held.ref.task_id}: {end}")
            if not held.flying and not held.guests and self._held.get(held.ref) is held:
                del self._held[held.ref]

    def _call_off(self, held: _OpenTask) -> None:
        with held.turn:
            for flight in held.flying.values():
                flight.called_off.set()
        if held.session is not None:
            held.session.ports.withdraw()

    def _here(self, ref: Ref) -> _OpenTask:
        return self._held.setdefault(ref, _OpenTask(ref))


def _open(tasks: Tasks, ref: Ref, mine: str, progress: Callable[[str], None]) -> Session:
    session = tasks.open(ref, mine, progress)
    try:
        # Whatever flew before this process had the lock is gone.
        session.journal.advance(f"driver/{session.journal.length}", DriverStarted())
    except BaseException:
        session.close()
        raise
    return session


def _perform(held: _OpenTask, session: Session, flight: _RunningEffect, key: str) -> ActivityReport:
    """One effect, in a thread. If it is not owed, it was done or withdrawn, and only what is owed is told."""
    with held.turn:
        effect = next((each for each in session.owed() if each.key == key), None)
        state = session.journal.state
    if effect is not None and not flight.called_off.is_set():
        try:
            outcome: Outcome | Expired = (
                Elapsed()
                if isinstance(effect, Pause)
                else Expired(effect.escalation)
                if isinstance(effect, Await)
                else session.ports.perform(effect, state)
            )
        except UserError:
            if session.journal.state.status not in TERMINAL:
                raise
        else:
            with held.turn:
                if not flight.called_off.is_set() or session.journal.state.status in TERMINAL:
                    # What a killed child said is nobody's outcome, except for the bill of a task that is
                    # over.
                    session.journal.advance(key, outcome)
            if isinstance(outcome, Parked):
                with held.turn:
                    return answer_of(session, parked=key)
    with held.turn:
        return answer_of(session)


def _listen(held: _OpenTask, session: Session) -> tuple[ActivityReport, str]:
    """Takes in the inbox. The answer to the one who spoke is the last refusal, if there was one."""
    told = ""
    with held.turn:
        for key, message in session.ports.messages():
            if session.journal.known(key):
                continue
            try:
                session.journal.advance(key, message)
            except StateInvalid as error:
                session.ports.refused(key, error)
                told = str(error)
        if session.journal.state.status in TERMINAL and held.flying:
            session.ports.withdraw()
        return answer_of(session), told


def _rests(session: Session) -> bool:
    return session.journal.state.status in TERMINAL or all(
        isinstance(effect, Await) for effect in session.owed()
    )


def _ending(session: Session) -> str:
    """How a task rests, in a word or two; empty for one that will go on."""
    waiting = session.journal.state.open_escalation
    if not _rests(session):
        return ""
    return f"waits for an answer to {waiting.id}" if waiting is not None else session.journal.state.status


def _put_away(session: Session) -> None:
    try:
        if _rests(session):
            session.settle()
    finally:
        session.close()


def _failure(error: BaseException) -> BaseException:
    """For the workflow: whether another try makes sense, the sentence, the next step, the exit code. What the
    server keeps has no secret in it.
    """
    if isinstance(error, ApplicationError | asyncio.CancelledError):
        return error
    if isinstance(error, UserError):
        again = isinstance(error, Unusable) and activity.info().attempt < TRIES
        return ApplicationError(
            redact(error.sentence)[0],
            redact(error.next_step)[0],
            error.exit_code,
            type=type(error).__name__,
            non_retryable=not again,
        )
    return ApplicationError(
        f"{type(error).__name__}: {redact(str(error))[0][:500]}", "", 1, type="Defect", non_retryable=True
    )


@contextmanager
def _user_errors_as_failures() -> Iterator[None]:
    """Turns a `UserError` before an effect begins into the failure that the workflow is told of."""
    try:
        yield
    except UserError as error:
        raise _failure(error) from error


def _look_at(flight: "asyncio.Task[ActivityReport]") -> None:
    """Its failure was seen, even if every attempt that waited for it is gone."""
    if not flight.cancelled():
        flight.exception()


def _ref(order: Order) -> Ref:
    return Ref(order.task_id, order.repository, order.proof)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("+", maxsplit=1)[0].split(".") if part.isdigit()]
