"""A task driven by a process of its own, which outlives whoever started it.

The process is the command `agentforge continue`; its last words are kept in the user's directory until the
next one is started.
"""

import os
import subprocess
import threading

from agentforge.app.drivers.driver_words import driver_log
from agentforge.app.drivers.remote import tell_workers
from agentforge.app.people.answers import Taken, answer
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import Unusable
from agentforge.core.machine import TERMINAL
from agentforge.core.values import Feedback
from agentforge.store.task.engine import read_engine
from agentforge.system.files import disk_errors, make_own_directory
from agentforge.system.installation import own_command


def continue_apart(task: OpenTask) -> None:
    """Starts a process that drives the task until it is over or waits for a person. If another one does so
    already, the new one says so and ends.
    """
    words = ["continue", task.task_id, "--json"]
    if read_engine(task.files).engine == "temporal":
        words.append("--detach")
    place = driver_log(task.site.home, task.site.git.top, task.task_id)
    make_own_directory(place.parent)
    with disk_errors():
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        child = subprocess.Popen(
            own_command(*words),
            cwd=task.site.git.top,
            stdin=subprocess.DEVNULL,
            stdout=fd,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise Unusable(f"No process could be started: {error.strerror}.", _by_hand(task)) from error
    finally:
        os.close(fd)
    threading.Thread(target=child.wait, daemon=True).start()  # nobody else hears of its end


def answer_apart(task: OpenTask, identity: str, words: str, feedback: Feedback | None = None) -> Taken:
    """Answers a question; where nobody drives the task, a process of its own does from now on."""
    taken = answer(task, identity, words, feedback)
    if taken.free and task.refresh().status not in TERMINAL:
        continue_apart(task)
        return taken
    note = tell_workers(task)
    return Taken(taken.free, (*taken.notes, note)) if note else taken


def _by_hand(task: OpenTask) -> str:
    return f"`agentforge continue {task.task_id}` resumes it."
