"""Tasks with the real journal, the real rules and the real lock, whose effects are answered at once: what is
left is the engine.
"""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.app.drivers.hosting import HostedTasks
from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Handover,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.inputs import (
    Acted,
    Answered,
    AskStarted,
    AskTrouble,
    Assembled,
    CommitMade,
    Create,
    DeliveryMade,
    Elapsed,
    Judged,
    Message,
    Outcome,
    Prepared,
    Resolution,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Pipeline, Product, Stage
from agentforge.core.spec import TaskSpec
from agentforge.core.state import State
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    Budget,
    Price,
    Question,
    ReplyDigest,
    Usage,
)
from agentforge.engines.local import Ports, drive
from agentforge.engines.temporal.port import Ref
from agentforge.store.layout import TaskFiles
from agentforge.store.task import inbox
from agentforge.store.task.engine import Driven, read_engine, write_engine
from agentforge.store.task.journal import Journal, read_lines
from agentforge.store.task.lock import DriverLock
from agentforge.store.task.times import utc_now

MANY = 10**9
WORK = Stage(
    "work",
    "software_developer",
    (Product("implementation", "green"),),
    gates=("contracts",),
    max_steps=MANY,
    mistakes=MANY,
)
DELIVER = Stage(
    "deliver", None, (Product("delivery_report", "deliver"),), gates=("contracts",), verifying=True
)
Meddle = Callable[[Effect], Outcome | None]
"""May answer in place of the usual outcome, or wait."""


def found_task(place: Path, name: str = "task-1") -> TaskFiles:
    """A new task; no repository, because nothing here touches one."""
    files = TaskFiles(place / ".agentforge" / "tasks" / name)
    files.root.mkdir(parents=True)
    pipeline = Pipeline("implement", "small", (WORK, DELIVER))
    create = Create(
        TaskSpec(name, "Work", "c0", "t0", "light", "none", "cat0", pipeline, Budget(MANY, MANY), Price(0, 0))
    )
    Journal.create(files, create, utc_now).close()
    write_engine(files, Driven("temporal"))
    return files


def keys(files: TaskFiles) -> list[str]:
    """Of every line, in order."""
    return [line.key for line in read_lines(files.journal)]


def read_state(files: TaskFiles) -> State:
    with Journal.open(files, utc_now, write=False) as journal:
        return journal.state


def follow(files: TaskFiles) -> Callable[[], State]:
    """The state whenever it is asked for. Reads only what is new: a look at a long journal costs nothing."""
    journal = Journal.open(files, utc_now, write=False)

    def look() -> State:
        journal.catch_up()
        return journal.state

    return look


@dataclass(slots=True)
class Light:
    """A host's tasks. `steps` is how many steps of work each has; `ask` is where the first one asks a
    person.
    """

    steps: int = 1
    asks_person: bool = False
    troubles: int = 0
    """Calls that fail before the first answer, each followed by a pause."""
    meddle: Meddle = lambda _: None
    blind: bool = False
    """Sees no task."""
    performed: list[str] = field(default_factory=list)
    opened: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def host_of(self, ref: Ref, mine: str) -> str:
        files = files_of(ref)
        if self.blind or not files.journal.is_file():
            return ""
        host = read_engine(files).host
        if not host:
            write_engine(files, Driven("temporal", mine))
        return host or mine

    def admits(self, ref: Ref) -> bool:
        return True

    def is_elsewhere(self, ref: Ref, mine: str) -> bool:
        return False

    def open(self, ref: Ref, mine: str, progress: Callable[[str], None]) -> "LightSession":
        with self.lock:
            self.opened += 1
        return LightSession(self, files_of(ref))

    def message(self, ref: Ref, said: dict[str, str]) -> str:
        return HostedTasks().message(ref, said)


class LightSession:
    """One task, its lock held."""

    def __init__(self, host: Light, files: TaskFiles) -> None:
        self._host = host
        with ExitStack() as stack:
            stack.enter_context(DriverLock(files.lock))
            self.journal = stack.enter_context(Journal.open(files, utc_now, write=True))
            self._stack = stack.pop_all()
        self.ports = Ports(
            self._perform, self._messages, lambda key, _: inbox.refuse(files, key), lambda: None
        )

    def owed(self) -> tuple[Effect, ...]:
        return pending(self.journal.state)

    def settle(self) -> None:
        """There is nothing to put back."""

    def close(self) -> None:
        self._stack.close()

    def _messages(self) -> list[tuple[str, Message]]:
        return [*inbox.receive(self.journal.files, self.journal.known, lambda _: None)]

    def _perform(self, effect: Effect, state: State) -> Outcome:
        if (other := self._host.meddle(effect)) is not None:
            return other
        with self._host.lock:
            self._host.performed.append(effect.key)
        if isinstance(effect, Ask):
            self.journal.advance(
                f"{effect.key}/sent",
                AskStarted(RequestDigest("0" * 64, "light", worst_case(state, state.run_of(effect.run)))),
            )
            if state.worker is not None and state.worker.asks < self._host.troubles and state.step == 1:
                return AskTrouble("server", "busy", retryable=True, maybe_billed=False)
        return _outcome(effect, state, self._host)


def driven_locally(place: Path, host: Light) -> list[str]:
    """The lines of a task of its own, driven by the local engine."""
    files = found_task(place)
    for _ in range(2):
        session = LightSession(host, files)
        drive(session.journal, session.ports)
        session.close()
        if read_state(files).status == "blocked":
            inbox.send(files, Resolution("ESC-001", "this", "ada"), "ESC-001")
    return keys(files)


def files_of(ref: Ref) -> TaskFiles:
    return TaskFiles(Path(ref.repository) / ".agentforge" / "tasks" / ref.task_id)


# one arm per effect is the point
def _outcome(effect: Effect, state: State, host: Light) -> Outcome:  # noqa: C901
    done = state.step >= host.steps
    match effect:
        case Prepare():
            return Prepared(state.tree)
        case Assemble():
            return Assembled(ContextDigest("context", 500))
        case Ask():
            return Answered(
                ReplyDigest(
                    # every step says something of its own: the same twice would be a task that stands still
                    f"reply-{state.step}",
                    Usage(1000, 100),
                    Amount(1, 1100, 0),
                    1,
                    signal="success" if done else None,
                    summary="work",
                )
            )
        case Act():
            if host.asks_person and not state.escalations:
                question = Question("Which one?", ("this", "that"), "this")
                return Acted(
                    ActionResults("results", state.tree, (ActionDigest("escalate", ok=True),)),
                    question=question,
                )
            if not done:
                return Acted(
                    ActionResults(
                        "results",
                        state.tree,
                        (ActionDigest("read_file", ok=True, target="a.py"),),
                        seen=(f"{state.step:016x}",),
                    )
                )
            return Acted(
                ActionResults(
                    "results",
                    state.tree,
                    (ActionDigest("submit_artifact", ok=True),),
                    _refs(state.stage_of(state.run_of(effect.run)), f"hash-{state.step}"),
                )
            )
        case Judge():
            return Judged(
                VerdictDigest(
                    effect.gate,
                    "passed",
                    (),
                    "verdict",
                    _refs(state.stage_of(state.run_of(effect.run)), "final"),
                )
            )
        case Commit():
            return CommitMade(StageResult(state.tree, "c1"))
        case Deliver():
            return DeliveryMade(Handover("agentforge/task", "c1", "evidence"))
        case Pause(seconds=seconds):  # the local engine comes here; the other one has a timer
            time.sleep(seconds)
            return Elapsed()
        case TakeBaseline() | Depend() | Check() | Await():
            raise AssertionError(f"a light task owes no {effect}")


def _refs(stage: Stage, digest: str) -> tuple[ArtifactRef, ...]:
    return tuple(ArtifactRef(product.contract, product.phase, 1, digest) for product in stage.products)
