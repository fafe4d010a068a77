"""A task that workers drive: handed over to the Temporal server, followed through its journal, and told when
somebody spoke to it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agentforge import __version__
from agentforge.app.drivers.connection import connected, workflow_name
from agentforge.app.drivers.driver import open_driver
from agentforge.app.drivers.ended_workflows import end_reason, ended_by_stranger
from agentforge.app.drivers.following import TICK_S, Follower
from agentforge.app.drivers.holdups import SLOW_S, Case, nobody
from agentforge.app.ports import UNWATCHED, Messages, Watcher, no_messages
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.events import Event
from agentforge.core.machine import TERMINAL
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.engine import Driven, EngineName, read_engine, write_engine
from agentforge.store.task.lock import DriverLock, LockTaken
from agentforge.store.user.start_permissions import StartPermissions
from agentforge.store.user.task_tokens import hand_over_proof, signed_message
from agentforge.system.secrets.redact import redact

if TYPE_CHECKING:
    from agentforge.engines.temporal.client import Connection

PATIENCE_S = 10.0
"""How long a worker that is about to let a task go is waited for."""
_MEMO = 2000


def check_driven_by(task: OpenTask, wanted: EngineName | None) -> None:
    """Refuses to drive a task of the other engine."""
    now = read_engine(task.files)
    if wanted is not None and wanted != now.engine:
        raise UsageError(
            f"{task.task_id} runs on the engine {now.engine}.",
            f"Leave --engine out, or take it over with `agentforge continue {task.task_id} --engine "
            f"{wanted} --take-over`.",
        )


def take_over(task: OpenTask, engine: EngineName | None = None) -> list[str]:
    """Makes this machine and `engine` (the task's own, if None) the ones that drive it; first it is proved
    that nothing runs. Returns what a person should know.
    """
    before = read_engine(task.files)
    chosen, notes = engine or before.engine, list[str]()
    with DriverLock(task.files.lock, task.site.clock):
        if before.engine == "temporal":
            try:
                with connected() as line:
                    run = line.look(workflow_name(task)).run
                    line.terminate(
                        workflow_name(task), end_reason(task, run, f"taken over by the engine {chosen}")
                    )
            except UserError as error:  # away, or closed to us: the lock has proved enough
                notes.append(
                    f"{error.sentence} If it comes back, its workflow finds the task taken over and ends."
                )
        write_engine(task.files, Driven(chosen))
    return notes


def check_engine(engine: EngineName, *, detach: bool) -> None:
    """Before a task is recorded: whoever shall drive it is there."""
    if engine == "temporal":
        with connected():
            return
    if detach:
        raise UsageError(
            "--detach needs --engine temporal or --batch.",
            "Add one of them, or leave --detach out: the task then runs while the command does.",
        )


def may_be_left(task: OpenTask) -> bool:
    """Whether a task of the local engine may be left while its calls wait, or it waits for another task."""
    state = task.state
    waits = (
        state.depends
        or state.delivery == "batch"
        or any(flight.delivery == "batch" for flight in state.flights)
    )
    return waits and read_engine(task.files).engine == "local"


def hand_over(
    task: OpenTask, messages: Messages = no_messages, permissions: StartPermissions | None = None
) -> UserError | None:
    """Gives the task to the workers and returns; what stands in the way if there is no worker now."""
    if read_engine(task.files).engine != "temporal":
        check_engine("local", detach=True)
    with connected() as line:
        _hand_over(task, line, messages, permissions)
        if not line.pollers(line.config.queue):
            return nobody(Case(task.task_id, read_engine(task.files), line.config)).error()
    return None


def drive_remotely(
    task: OpenTask,
    watcher: Watcher,
    messages: Messages = no_messages,
    permissions: StartPermissions | None = None,
) -> State:
    """Hands the task over and follows it until it is over or waits for a person."""
    with connected() as line, watched(task, watcher):
        if task.state.status not in TERMINAL:
            _tell_ended(task, line, watcher)
        try:
            _hand_over(task, line, messages, permissions)
        except Unusable:
            watcher.notice(
                f"{task.task_id} is recorded; `agentforge continue {task.task_id}` hands it to the workers.",
                "bad",
            )
            raise
        return _follow(task, line, watcher)


def _tell_ended(task: OpenTask, line: "Connection", watcher: Watcher) -> None:
    """Says that somebody else ended the workflow, before another one begins."""
    if why := ended_by_stranger(task, line.look(workflow_name(task))):
        watcher.notice(f"{why[0].upper()}{why[1:]}; {task.task_id} goes on from its record.", "bad")


def follow(task: OpenTask, watcher: Watcher = UNWATCHED) -> State:
    """Follows a task that workers drive, until it is over or waits for a person."""
    with connected() as line, watched(task, watcher):
        return _follow(task, line, watcher)


def tell_workers(task: OpenTask) -> str:
    """Tells the workflow that there is a message; returns what a person should know if that failed."""
    if read_engine(task.files).engine != "temporal":
        return ""
    stays = f"Your message is recorded; `agentforge continue {task.task_id}` uses it."
    if task.refresh().status in TERMINAL:
        stays = "Your message is recorded; the workflow ends when it receives it."
    try:
        with connected() as line:
            if line.look(workflow_name(task)).found == "running" and not _ensure_workflow(task, line):
                return "No worker answered; the next one that runs the task receives your message."
    except UserError as error:
        return f"{error.sentence} {stays}" if isinstance(error, Unusable) else f"{error} {stays}"
    return ""


@contextmanager
def watched(task: OpenTask, watcher: Watcher) -> Iterator[None]:
    """Shows what is read of the journal while the block runs."""

    def listener(_: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        watcher.happened(events, state)

    task.journal.listeners.append(listener)
    try:
        yield
    finally:
        task.journal.listeners.remove(listener)


def _follow(task: OpenTask, line: "Connection", watcher: Watcher) -> State:
    def hand_over_again() -> None:
        _hand_over(task, line)

    try:
        return Follower(
            task.journal,
            line,
            workflow_name(task),
            watcher,
            hand_over_again,
            partial(ended_by_stranger, task),
        ).follow()
    except KeyboardInterrupt:
        watcher.notice(f"The workers continue with {task.task_id}.")
        raise


def _hand_over(
    task: OpenTask,
    line: "Connection",
    messages: Messages = no_messages,
    permissions: StartPermissions | None = None,
) -> None:
    """Puts a person's messages on record, then sees to it that a workflow runs and knows of them."""
    _record(task, messages, permissions)
    _ensure_workflow(task, line)


def _ensure_workflow(task: OpenTask, line: "Connection") -> bool:
    """A workflow runs that knows what is on record. One that cannot be told makes place for another, which
    reads it.

    False if it has work out that nobody answers for: whoever takes that up reads the journal, too.
    """
    from agentforge.engines.temporal.workflow import Task

    name = workflow_name(task)
    look = line.look(name)
    if look.found == "running":
        if not look.is_stuck(SLOW_S) and _hint(line, name, signed(task, {"kind": "look"})):
            return True
        if look.is_busy or look.host_lost:
            return False
        line.terminate(name, end_reason(task, look.run, "your message could not be sent to a worker"))
    state = task.refresh()
    if state.status in TERMINAL:
        return True
    top = str(task.site.git.top)
    proof = hand_over_proof(task.site.home, top, task.task_id)
    silence = line.config.host_silence_s
    work = Task(task.task_id, top, __version__, host_silence_s=silence, proof=proof)
    line.begin(name, work, {"request": redact(state.request)[0][:_MEMO], "repository": top})
    return True


def signed(task: OpenTask, said: Mapping[str, str]) -> dict[str, str]:
    """A message to the workflow of a task, with the code that only this user can make for it."""
    return signed_message(task.site.home, str(task.site.git.top), task.task_id, said)


def _hint(line: "Connection", name: str, said: Mapping[str, str]) -> bool:
    """Whether a worker looked into the inbox. Where none is, nobody is waited for."""
    return bool(line.pollers(line.config.queue)) and line.tell(name, said) is not None


def _record(task: OpenTask, messages: Messages, permissions: StartPermissions | None) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        state = task.refresh()
        if permissions is None and not messages(state, task.journal.length):
            return
        try:
            with open_driver(task) as driver:
                for key, message in messages(task.state, task.journal.length):
                    driver.tell(key, message)
                if permissions is not None:
                    driver.say(permissions)
        except LockTaken:
            if time.monotonic() > deadline:
                raise
            time.sleep(TICK_S)
        else:
            return
