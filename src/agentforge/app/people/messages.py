"""What a person says to a task: on record at once where no driver runs, else through the inbox of the one
that does.
"""

import getpass
import time
from collections.abc import Sequence

from agentforge.app.drivers.driver import open_driver
from agentforge.app.ports import Messages
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import PolicyError, StateInvalid, UsageError
from agentforge.core.inputs import Abort, Expired, Message, Resolution, Resume
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State
from agentforge.core.statuses import spell_status
from agentforge.core.values import RETRYABLE, Escalation, Feedback
from agentforge.store.task import inbox
from agentforge.store.task.times import stamp
from agentforge.system.secrets.redact import redact

PATIENCE_S = 5.0
"""How long a driver that is about to end gets to take a message in."""
_TICK_S = 0.1


def resume_where_halted(state: State, length: int) -> Sequence[tuple[str, Message]]:
    """`Resume` for a halted task. One that was killed needs no word, and one that waits for an answer needs
    another.
    """
    waiting = state.open_escalation
    answered_only = state.status == "blocked" and waiting is not None and waiting.kind not in RETRYABLE
    if answered_only or (state.status not in TERMINAL and state.status != "blocked"):
        return ()
    return ((f"resume/{length}", Resume(person())),)


def overdue(task: OpenTask) -> str | None:
    """The open question that nobody has answered in time, if there is one."""
    waiting = task.state.open_escalation
    if waiting is None or not waiting.timeout_s:
        return None
    return waiting.id if task.journal.waited_s(waiting.id) >= waiting.timeout_s else None


def expiring(identity: str) -> Messages:
    """What puts on record that nobody answered this question in time."""

    def messages(state: State, _: int) -> Sequence[tuple[str, Message]]:
        waiting = state.open_escalation
        is_open = waiting is not None and waiting.id == identity
        return ((f"expired/{identity}", Expired(identity)),) if is_open else ()

    return messages


def abort(task: OpenTask, reason: str = "") -> bool:
    """Ends the task now, or tells the driver that runs. True if the end is on record; False if the driver has
    not come to it yet.
    """
    message = Abort(person(), redact(reason)[0])
    _check_not_over(task)
    try:
        with open_driver(task) as driver:
            driver.tell(f"abort/{driver.journal.length}", message)
    except PolicyError:  # a driver holds the task
        state = task.refresh()
        _check_not_over(task)
        name = f"abort-{state.segment}"
        inbox.send(task.files, message, name)
        return _taken_in(task, f"inbox/{name}")
    return True


def _check_not_over(task: OpenTask) -> None:
    if task.state.status in TERMINAL:
        raise UsageError(
            f"{task.task_id} {spell_status(task.state.status)} already; there is nothing to abort.",
            f"`agentforge status {task.task_id}` shows how it ended.",
        )


def send_answer(task: OpenTask, identity: str, answer: str, feedback: Feedback | None = None) -> bool:
    """Puts the answer on record; the first one counts. True if no driver runs, so that somebody must drive
    on.
    """
    open_question(task.state, identity)
    message, key = Resolution(identity, redact(answer)[0], person(), feedback), f"inbox/{identity}"
    opened = dict(task.journal.times.opened).get(identity, "")
    shown = inbox.shown_at(task.files, identity)
    seen = inbox.QuestionTimes(opened, shown, stamp(task.site.clock()))
    if not inbox.send(task.files, message, identity, seen):
        raise UsageError(
            f"{identity} of {task.task_id} already has an answer, and the first one counts.",
            f"`agentforge continue {task.task_id}` uses it if no process is running the task.",
        )
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with open_driver(task) as driver:
                driver.tell(key, message)
        except PolicyError:
            task.refresh()
            if task.journal.known(key) or time.monotonic() > deadline:
                return False  # it has the answer, or finds it in the inbox at its next look
            time.sleep(_TICK_S)
        except StateInvalid:
            inbox.refuse(task.files, key)
            raise
        else:
            return True


def open_question(state: State, identity: str) -> Escalation:
    """The question with this name; refuses an answer that nobody waits for, before anything is written."""
    found = next((item for item in state.escalations if item.id == identity), None)
    if found is None:
        known = ", ".join(item.id for item in state.escalations) or "none"
        raise UsageError(
            f"{state.task_id} has no escalation {identity}; it has {known}.",
            "`agentforge escalations list` shows them.",
        )
    if found.answer is not None:
        raise UsageError(
            f"{identity} was already answered by {found.by}: {found.answer[:80]!r}.",
            "The first answer counts.",
        )
    return found


def is_answered(task: OpenTask, identity: str) -> bool:
    """Whether a question has its answer by now, from whomever."""
    return any(item.id == identity and item.answer is not None for item in task.refresh().escalations)


def person() -> str:
    """The name of the account that runs this process; answers are recorded under it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return "a person"


def _taken_in(task: OpenTask, key: str) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        task.refresh()
        if task.journal.known(key):
            return True
        time.sleep(_TICK_S)
    return False
