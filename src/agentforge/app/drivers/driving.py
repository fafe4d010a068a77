"""Driving a task until it is over or waits for a person, by whichever engine it has."""

import time
from contextlib import suppress

from agentforge.app.drivers.driver import open_driver
from agentforge.app.drivers.following import TICK_S
from agentforge.app.drivers.holdups import rests
from agentforge.app.drivers.notifying import announce
from agentforge.app.drivers.remote import drive_remotely, watched
from agentforge.app.evidence.tracing import telling_collector
from agentforge.app.models.change import resume_with
from agentforge.app.people.answers import answer, may_ask
from agentforge.app.people.deciding import DECISIONS, take_edits
from agentforge.app.people.messages import expiring, is_answered, overdue
from agentforge.app.ports import UNWATCHED, Ask, Messages, Watcher, no_messages
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UserError
from agentforge.core.events import Event
from agentforge.core.inputs import ChangeModel
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.store.task.engine import read_engine
from agentforge.store.task.lock import LockTaken, not_driven
from agentforge.store.user.start_permissions import StartPermissions


def resume(  # noqa: PLR0913  # what a person can say when they continue
    task: OpenTask,
    watcher: Watcher = UNWATCHED,
    *,
    ask: Ask | None = None,
    permissions: StartPermissions | None = None,
    change: ChangeModel | None = None,
    no_wait: bool = False,
    detach: bool = False,
) -> State:
    """Drives a task that was stopped; one that failed, was aborted or can be tried again is put back to work
    first. What a person changed by hand in a version that is presented is taken in. `permissions` replace
    what was allowed when it was started, `change` its model; with `no_wait` no quota is waited for from now
    on. One that is completed stays as it is: whoever repeats the command is shown its result again.
    """
    if task.state.status == "completed":
        return task.state
    take_edits(task)
    late = overdue(task)
    messages = resume_with(change, no_wait=no_wait) if late is None else expiring(late)
    return drive(task, watcher, messages, ask=ask, permissions=permissions, detach=detach)


def drive(
    task: OpenTask,
    watcher: Watcher = UNWATCHED,
    messages: Messages = no_messages,
    *,
    ask: Ask | None = None,
    permissions: StartPermissions | None = None,
    detach: bool = False,
) -> State:
    """Drives until the task is over or waits; with `detach` also where it only waits for a batch.

    `messages` are put on record first. With `ask` a person who is there is asked for permissions on the way.
    """
    state = _drive_once(task, watcher, messages, permissions, detach=detach)
    while ask is not None and may_ask(task):
        waiting = state.open_escalation
        assert waiting is not None
        words = ask(state)
        if words is None and not is_answered(task, waiting.id):
            break
        if words is None:  # somebody else has answered while it was asked here
            state = _go_on(task, watcher)
            continue
        try:
            taken = answer(task, waiting.id, words)
        except UserError as error:
            if waiting.kind not in DECISIONS:
                raise
            watcher.notice(
                f"error: {error}", "bad"
            )  # the question is still open, unless somebody was quicker
            state = task.refresh()
            continue
        for note in taken.notes:
            watcher.notice(note)
        state = _drive_once(task, watcher) if taken.free else task.refresh()
    return state


def _go_on(task: OpenTask, watcher: Watcher) -> State:
    """After an answer that came from elsewhere: drives on, or shows what another process makes of it."""
    while True:
        with watched(task, watcher):
            while _is_driven(task):
                task.refresh()
                time.sleep(TICK_S)
            if rests(task.refresh()):
                return task.state
        with suppress(LockTaken):
            return _drive_once(task, watcher)


def _is_driven(task: OpenTask) -> bool:
    with not_driven(task.files.lock) as free:
        return not free


def _drive_once(
    task: OpenTask,
    watcher: Watcher,
    messages: Messages = no_messages,
    permissions: StartPermissions | None = None,
    *,
    detach: bool = False,
) -> State:
    def listener(_: dict[str, Json], events: tuple[Event, ...], state: State) -> None:
        watcher.happened(events, state)

    def progress(text: str) -> None:
        watcher.notice(f"  {text}", "quiet")

    if read_engine(task.files).engine == "temporal":
        with telling_collector(task, progress):
            return drive_remotely(task, watcher, messages, permissions)
    before = task.state
    with (
        telling_collector(task, progress),
        open_driver(task, listener=listener, progress=progress) as driver,
    ):
        for key, message in messages(task.state, task.journal.length):
            driver.tell(key, message)
        if permissions is not None:
            driver.say(permissions)
        try:
            state = driver.run(detach=detach)
        except UserError:
            watcher.notice(f"{task.task_id} stopped. `agentforge continue {task.task_id}` resumes it.", "bad")
            raise
    announce(task, before, progress)
    return state
