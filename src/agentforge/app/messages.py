"""What a person says to a task: through the driver's own hand where none runs, else through the inbox."""

import getpass
import time
from collections.abc import Sequence

from agentforge.app.driver import driving
from agentforge.core.errors import PolicyError, StateInvalid, UsageError
from agentforge.core.inputs import Abort, Message, Resolution, Resume
from agentforge.core.state import TERMINAL, State
from agentforge.core.values import RETRYABLE
from agentforge.store import inbox
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.times import Times, stamp
from agentforge.system.redact import redact

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


def send_abort(site: Site, files: TaskFiles, reason: str) -> bool:
    """Ends the task now, or tells the driver that runs; True if it is on record already."""
    message = Abort(person(), redact(reason)[0])
    try:
        with driving(site, files) as driver:
            driver.tell(f"abort/{driver.journal.length}", message)
    except PolicyError:  # a driver holds the task
        journal = site.read(files)
        if journal.state.status in TERMINAL:
            raise StateInvalid(f"state_invalid: the task is {journal.state.status} already.") from None
        inbox.send(files, message, f"abort-{journal.state.segment}")
        return _taken_in(site, files, f"inbox/abort-{journal.state.segment}")
    return True


def send_answer(site: Site, files: TaskFiles, identity: str, answer: str) -> bool:
    """Puts the answer on record; the first one counts. True if no driver runs, so that somebody must drive
    on.
    """
    journal = site.read(files)
    check_open(journal.state, identity)
    message, key = Resolution(identity, redact(answer)[0], person()), f"inbox/{identity}"
    if not inbox.send(files, message, identity, _seen(journal.times, identity, site)):
        raise UsageError(
            f"{identity} of {files.task_id} has an answer already, and the first one counts.",
            f"`agentforge continue {files.task_id}` takes it up if no driver runs.",
        )
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with driving(site, files) as driver:
                driver.tell(key, message)
        except PolicyError:
            if site.read(files).known(key) or time.monotonic() > deadline:
                return False  # it has the answer, or finds it in the inbox at its next look
            time.sleep(_TICK_S)
        except StateInvalid:
            inbox.refuse(files, key)
            raise
        else:
            return True


def check_open(state: State, identity: str) -> None:
    """Refuses an answer that nobody waits for, before anything is written."""
    found = next((item for item in state.escalations if item.id == identity), None)
    if found is None:
        known = ", ".join(item.id for item in state.escalations) or "none"
        raise UsageError(
            f"{state.task_id} has no escalation {identity}; it has {known}.",
            "`agentforge escalations list` shows all.",
        )
    if found.answer is not None:
        raise UsageError(
            f"{identity} was answered already by {found.by}: {found.answer[:80]!r}.",
            "The first answer counts.",
        )


def _taken_in(site: Site, files: TaskFiles, key: str) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if site.read(files).known(key):
            return True
        time.sleep(_TICK_S)
    return False


def _seen(times: Times, identity: str, site: Site) -> inbox.Seen:
    return inbox.Seen(opened_at=dict(times.opened).get(identity, ""), answered_at=stamp(site.clock()))


def person() -> str:
    """The name of the account that runs this process; answers are recorded under it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        return "a person"
